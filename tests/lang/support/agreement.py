"""Two readings of one text: running it on plain values, and evaluating its traced form."""

from __future__ import annotations

import dataclasses
import typing
from collections import Counter
from types import ModuleType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamproof.lang import Disabled, Domain
from streamproof.lang.evaluate import World, after, enabled, evaluate, rebuild, world
from streamproof.lang.expr import Var
from streamproof.lang.form import ClaimForm, Command, TracedModel, TracedTransition
from streamproof.lang.model import STATES_TAKEN, Call, Method
from streamproof.lang.sorts import ElementSort, sort_of
from streamproof.lang.trace import AFTER, state_sort_of, trace_model
from tests.support.strategies import domains_of, models, states, tried, values

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


# --------------------------------------------------------------------------- on many states


def attempts(examples: int) -> list[tuple[int, int]]:
    """Return how many examples to try, and then, while nothing happens, ten times as many more.

    Hypothesis draws constants of the modules that are loaded, so that it takes a varying number.
    """
    return [(examples, 0), *((10 * examples, attempt) for attempt in range(1, 33))]


def agree_on_transition(module: ModuleType, transition: TracedTransition, examples: int) -> None:
    """Compare a transition on so many arbitrary arguments."""
    hints = typing.get_type_hints(getattr(module, transition.name), include_extras=True)
    sorts = [sort_of(hint) for part, hint in hints.items() if part != "return"]
    names = sorted(set().union(*map(element_sorts, sorts)))
    domains = {part: Domain.of(part, (f"{part}0", f"{part}1", f"{part}2")) for part in names}
    happened: Counter[str] = Counter()

    def agree(arguments):
        happened[assert_transition_agrees(module, transition, arguments, domains)] += 1

    # Arbitrary arguments seldom fit to a transition with many guards: then it takes more of them.
    for number, attempt in attempts(examples):
        if not happened["taken"]:
            tried(number, attempt)(
                given(st.tuples(*(values(sort, domains) for sort in sorts)))(agree)
            )()
    assert happened["taken"] > 0


def agree_on_action(model_class: Any, method: Method, examples: int) -> None:
    """Compare an action on so many arbitrary states."""
    traced = trace_model(model_class)
    happened: Counter[str] = Counter()

    def agree(model, state):
        for call in model.calls(method):
            happened[assert_action_agrees(traced, model, state, call)] += 1

    # Arbitrary states seldom fit to an action with many guards: then it takes more of them.
    for number, attempt in attempts(examples):
        if not happened["taken"]:
            tried(number, attempt)(given(models(model_class), states(model_class))(agree))()
    assert happened["taken"] > 0
    if any(command.guard for command in traced.commands_of(method.name)):
        assert happened.total() > happened["taken"] or len(traced.commands_of(method.name)) > 1


def agree_on_property(model_class: Any, method: Method, examples: int, *, both_ways: bool) -> None:
    """Compare a property on so many states, some of them walked to; on more until it varies.

    Some hold of nearly all states: that they also fail is then for a slow test to see, and not
    asked for by `both_ways`.
    """
    traced = trace_model(model_class)
    taken = STATES_TAKEN.get(method.role, 1)
    happened: set[tuple[bool, ...]] = set()

    def agree(model, state, other, data):
        # Some states are walked to, since arbitrary ones break a property almost always.
        before = data.draw(walks(model)) if data.draw(st.integers(0, 3)) == 3 else state
        given_states = (before,)
        if taken == 2:
            given_states = (before, data.draw(st.just(other) | steps(model, before)))
        for call in model.calls(method):
            happened.add(
                assert_property_agrees(traced, method.name, model, given_states, call.arguments)
            )

    given_all = given(models(model_class), states(model_class), states(model_class), st.data())
    for number, attempt in attempts(examples) if both_ways else [(examples, 0)]:
        if len(happened) <= 1:
            tried(number, attempt)(given_all(agree))()
    assert happened
    assert len(happened) > 1 or not both_ways, "the property answers alike on all states"


def walks(model):
    """Reach a state in a few steps."""
    state = st.sampled_from(list(model.initial_states()))
    for _ in range(3):
        state = state.flatmap(lambda reached: steps(model, reached))
    return state


def steps(model, state):
    """Take a step, or none if none is possible."""
    targets = [move.target for move in model.moves(state) if move.target is not None]
    return st.sampled_from(targets or [state])


def agree_on_start(model_class: Any, method: Method, examples: int) -> None:
    """Compare an initial state for so many arbitrary constants."""
    traced = trace_model(model_class)
    sort = state_sort_of(model_class)

    @tried(examples)
    @given(models(model_class))
    def agree(model):
        here = World(domains_of(model_class), {f: getattr(model, f) for f in vars(model)})
        for call in model.calls(method):
            (command,) = (part for part in traced.initial if part.name == method.name)
            bound = dict(zip(command.parameters, call.arguments, strict=True))
            updates = {update.variable: update for update in command.updates}

            def value(name, keys, updates=updates, bound=bound):
                update = updates[name]
                at = dict(zip(update.keys, keys, strict=True))
                return evaluate(update.value, here, {**bound, **at})

            plain = getattr(model, method.name)(*call.arguments)
            assert rebuild(sort, here.domains, value) == plain

    agree()
