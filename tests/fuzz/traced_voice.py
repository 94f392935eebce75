"""The traced form against the plain methods, on reached states and on arbitrary ones."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest

from streamproof.checker.properties import judge
from streamproof.lang import Domain, quantify
from streamproof.lang.evaluate import World, evaluate, rebuild, world
from streamproof.lang.model import STATES_TAKEN, Call, Role, promised
from streamproof.lang.quantify import observing_premises
from streamproof.lang.sorts import DomainSort
from streamproof.lang.trace import AFTER, field_sorts, trace_model
from tests.lang.support.agreement import after, ran, taken
from tests.support.strategies import built, scalars_in

REACHED, ARBITRARY, OTHERS, SIZES = 8, 6, 3, 3
"""States on which the two are compared: at the model's size, and at some others."""


def check_traced(model: Any, rng: Random) -> None:
    """Compare everything that a model's methods say with what their traced form says.

    The traced form is for any size: besides on the model's own states, they are compared on some of
    another size, with other constants.

    Raises
    ------
    AssertionError : if they differ
    """
    form = trace_model(type(model))
    states = [*reached(model, REACHED), *arbitrary(form, model, rng, ARBITRARY)]
    check_on(form, model, states, rng)
    for _ in range(SIZES):
        other = of_another_size(type(model), rng)
        if other is not None:
            check_on(form, other, arbitrary(form, other, rng, OTHERS), rng)


def check_on(form: Any, model: Any, states: list[Any], rng: Random) -> None:
    """Compare initial states, actions and properties at one size."""
    check_start(form, model)
    actions = [call for call, _ in model.ground_actions]
    for state in states:
        here = world(model, state)
        for call in actions:
            check_action(form, model, here, state, call)
    for asked in form.properties:
        takes = STATES_TAKEN.get(asked.role, 1)
        method = next(part for part in model.methods(asked.role) if part.name == asked.name)
        for call in model.calls(method):
            for state in states:
                others = [rng.choice(states)] if takes == 2 else []
                check_property(asked, model, (state, *others), call)


def of_another_size(cls: Any, rng: Random) -> Any:
    """Make a model with other domains and constants; None where an element is asked of none."""
    sorts = dict(field_sorts(cls))
    names = {part.element.name for part in sorts.values() if isinstance(part, DomainSort)}
    classes = {
        typing.get_args(hint)[0].__name__: typing.get_args(hint)[0]
        for hint in typing.get_type_hints(cls).values()
        if typing.get_origin(hint) is Domain
    }
    domains = {name: Domain(classes[name], rng.choice((0, 1, 2))) for name in sorted(names)}
    try:
        return cls(
            *(
                built(sort, domains, iter(rng.randbytes(scalars_in(sort, domains))))
                for sort in sorts.values()
            )
        )
    except ZeroDivisionError:
        return None


def check_start(form: Any, model: Any) -> None:
    """Compare the initial states: each comes from one path."""
    domains = world_of(model)
    here = World(domains, {name: getattr(model, name) for name in vars(model)})
    for method in model.methods(Role.INIT):
        for call in model.calls(method):
            commands = [part for part in form.initial if part.name == method.name]
            bound = dict(zip(commands[0].parameters, call.arguments, strict=True))
            command = taken(tuple(commands), (), here, bound)
            updates = {update.variable: update for update in command.updates}

            def value(name, keys, updates=updates, bound=bound):
                at = dict(zip(updates[name].keys, keys, strict=True))
                return evaluate(updates[name].value, here, {**bound, **at})

            found = rebuild(form.state_sort, domains, value)
            assert found == getattr(model, method.name)(*call.arguments), str(call)


def check_action(form: Any, model: Any, here: World, state: Any, call: Call) -> None:
    """Compare one action in one state."""
    plain = ran(getattr(model, call.name), state, *call.arguments)
    commands = form.commands_of(call.name)
    claims = tuple(part for part in form.claims if part.name == call.name)
    forms = (*commands, *claims)
    bound = dict(zip(forms[0].parameters, call.arguments, strict=True)) if forms else {}
    command = taken(commands, claims, here, bound)
    if not isinstance(command, str):
        command = after(command, form.state_sort, here, bound)
    assert plain == command, f"{call} in {state}: {plain} is not {command}"


def check_property(form: Any, model: Any, states: tuple[Any, ...], call: Call) -> None:
    """Compare one property, and when its premises hold."""
    here = world(model, states[0], **({AFTER: states[1]} if len(states) > 1 else {}))
    bound = dict(zip(form.parameters, call.arguments, strict=True))
    told = tuple(evaluate(part, here, bound) for _, part in form.conjuncts)
    premises: set[Any] = set()

    def observe(site: Any, premise: Any) -> None:
        premises.update([site] if premise else [])

    with asking_everything(), observing_premises(observe):
        answer = getattr(model, form.name)(*states, *call.arguments)
    place = f"{call} in {states}"
    assert plain_conjuncts(form, answer) == told, place
    assert {site for site, held in form.premises if evaluate(held, here, bound)} == premises, place


@contextmanager
def asking_everything() -> Iterator[None]:
    """Let quantifiers ask every element: a premise counts, though it was decided before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantify, "all", lambda found: all(list(found)), raising=False)
        patch.setattr(quantify, "any", lambda found: any(list(found)), raising=False)
        yield


def plain_conjuncts(form: Any, answer: Any) -> tuple[bool, ...]:
    """Read the plain answer as the traced form names it."""
    probe = Call(form.name, (), ())
    if form.role is Role.LEADS_TO:
        return tuple(judge(probe, part) is None for part in promised(form.name, answer))
    parts = answer.values() if isinstance(answer, dict) else [answer]
    return tuple(judge(probe, part) is None for part in parts)


def world_of(model: Any) -> dict[str, Any]:
    """Return a model's domains by the name of their sort."""
    return {value.name: value for value in vars(model).values() if type(value).__name__ == "Domain"}


def reached(model: Any, most: int) -> list[Any]:
    """List the states nearest to the start, and some behind them."""
    found = dict.fromkeys(model.initial_states())
    waiting = list(found)
    for state in waiting:
        for move in model.moves(state):
            if move.target is not None and move.target not in found:
                found[move.target] = None
                waiting.append(move.target)
        if len(found) > 4 * most:
            break
    return waiting[:: max(1, len(waiting) // most)][:most]


def arbitrary(form: Any, model: Any, rng: Random, most: int) -> list[Any]:
    """Make states that need not be reached; none where there is no element to put into one."""
    domains = world_of(model)
    size = scalars_in(form.state_sort, domains)
    try:
        return [built(form.state_sort, domains, iter(rng.randbytes(size))) for _ in range(most)]
    except ZeroDivisionError:
        return []
