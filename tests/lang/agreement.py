"""Two readings of one text: running it on plain values, and evaluating its traced form."""

from __future__ import annotations

import dataclasses
import typing
from types import ModuleType
from typing import Any

from streamproof.lang import Disabled
from streamproof.lang.evaluate import World, after, enabled, evaluate, world
from streamproof.lang.expr import Var
from streamproof.lang.form import ClaimForm, Command, TracedModel, TracedTransition
from streamproof.lang.model import Call
from streamproof.lang.sorts import ElementSort, sort_of
from streamproof.lang.trace import AFTER

DISABLED, BROKEN_CLAIM = "disabled", "broken claim"


def ran(function: Any, *arguments: Any) -> Any:
    """Run on plain values: the result, or that it is disabled or breaks a claim."""
    try:
        return function(*arguments)
    except Disabled:
        return DISABLED
    except AssertionError:
        return BROKEN_CLAIM


def taken(
    commands: tuple[Command, ...],
    claims: tuple[ClaimForm, ...],
    here: World,
    bound: dict[Var, Any],
) -> Command | str:
    """Find the one command that is enabled; at most one may be."""
    if any(all(evaluate(part, here, bound) for part in claim.broken_if) for claim in claims):
        return BROKEN_CLAIM
    live = [command for command in commands if enabled(command, here, bound)]
    assert len(live) <= 1, f"{len(live)} paths of {live[0].name} are possible at once"
    return live[0] if live else DISABLED


def assert_action_agrees(traced: TracedModel, model: Any, state: Any, call: Call) -> str:
    """Compare one action on one state; give what happened."""
    plain = ran(getattr(model, call.name), state, *call.arguments)
    here = world(model, state)
    commands = traced.commands_of(call.name)
    claims = tuple(claim for claim in traced.claims if claim.name == call.name)
    bound = dict(zip(parameters_of(commands, claims), call.arguments, strict=True))
    command = taken(commands, claims, here, bound)
    if isinstance(command, str):
        assert plain == command
        return command
    assert plain == after(command, traced.state_sort, here, bound)
    return "taken"


def parameters_of(commands: tuple[Command, ...], claims: tuple[ClaimForm, ...]) -> tuple[Var, ...]:
    return (*commands, *claims)[0].parameters


def assert_property_agrees(
    traced: TracedModel, name: str, model: Any, states: tuple[Any, ...], arguments: tuple[Any, ...]
) -> tuple[bool, ...]:
    """Compare a property's conjuncts on a state, or on the two states of a step."""
    (form,) = (form for form in traced.properties if form.name == name)
    later = {AFTER: states[1]} if len(states) > 1 else {}
    here = world(model, states[0], **later)
    bound = dict(zip(form.parameters, arguments, strict=True))
    evaluated = tuple(evaluate(part, here, bound) for _, part in form.conjuncts)
    assert plain_conjuncts(getattr(model, name)(*states, *arguments)) == evaluated
    return evaluated


def plain_conjuncts(answer: Any) -> tuple[bool, ...]:
    if isinstance(answer, tuple):
        return answer
    parts = answer.values() if isinstance(answer, dict) else [answer]
    return tuple(part is True for part in parts)


def assert_transition_agrees(
    module: ModuleType,
    traced: TracedTransition,
    arguments: tuple[Any, ...],
    domains: dict[str, Any],
) -> str:
    """Compare one transition of a protocol: state, effects and whether it is possible."""
    function = getattr(module, traced.name)
    hints = typing.get_type_hints(function, include_extras=True)
    names = list(hints)[: len(arguments)]
    result_sort = sort_of(typing.get_args(hints["return"])[0])
    roots = dict(zip(names, arguments, strict=True))
    here = World(domains, roots)
    parameters = parameters_of(traced.commands, traced.claims)
    bound = {parameter: roots[parameter.name] for parameter in parameters}
    plain = ran(function, *arguments)
    command = taken(traced.commands, traced.claims, here, bound)
    if isinstance(command, str):
        assert plain == command
        return command
    state, effects = plain
    assert state == after(command, result_sort, here, bound, root=names[0])
    assert [(type(effect).__name__, fields_of(effect)) for effect in effects] == [
        (effect.name, {name: evaluate(value, here, bound) for name, value in effect.fields})
        for effect in command.effects
    ]
    return "taken"


def fields_of(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def element_sorts(sort: Any) -> set[str]:
    """Name the element sorts inside a sort."""
    found = {sort.name} if isinstance(sort, ElementSort) else set()
    for part in [*getattr(sort, "keys", ()), *(s for _, s in getattr(sort, "fields", ()))]:
        found |= element_sorts(part)
    return found | (element_sorts(sort.value) if hasattr(sort, "value") else set())
