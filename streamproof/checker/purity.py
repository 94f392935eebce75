"""Purity: on a sample of states every method must answer twice alike, with values of its sort.

A search asks each state once and believes the answer. A method that draws random numbers, reads a
clock or keeps a counter would make it visit other states every time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from streamproof.checker.declared import FindWrong, find_wrong_state
from streamproof.checker.disturbed import changed_in_place, require_visible
from streamproof.checker.forms import difference, form_of
from streamproof.checker.lasso import Promise, promises_of
from streamproof.checker.orders import in_any_order, other_orders, truth_of
from streamproof.checker.states import UnfitState, acts_in_any_order, look_at
from streamproof.lang import Disabled, WrongDefinition
from streamproof.lang.computed import kept_otherwise
from streamproof.lang.impure import ImpureModel, require_pure
from streamproof.lang.model import Call, Model, Role
from streamproof.lang.surroundings import Surroundings, changed, look_around, surroundings
from streamproof.models.kit.trace import show

STATES_SAMPLED = 64
"""States that are looked at, nearest first: an impure method shows almost at once."""
CALLS_SAMPLED = 200_000
"""Calls of actions after which no further state is looked at, where there are very many."""


def check_purity(model: Model[Any], *, states: int = STATES_SAMPLED) -> None:
    """Ask everything of the first states twice, and look at their fields.

    A method that fails ends the sample: the engine, which keeps the way there, reports it.

    Raises
    ------
    ImpureModel : if two answers differ, if something beside the state was changed, or if the code
        uses a value that is no function of the state
    UnfitState : if a state holds what is not of its declared sort, or can be no part of a state
    WrongDefinition : if a promise's answer is none
    """
    before = surroundings(model)
    try:
        _sample(model, states)
    except (ImpureModel, UnfitState, WrongDefinition):
        raise
    except Exception:  # noqa: BLE001, S110 - see above
        pass
    require_unchanged(model, before)
    require_pure(type(model))
    require_visible(model)


def require_unchanged(model: Model[Any], before: Surroundings) -> None:
    """Refuse a model whose methods have changed something beside the state.

    Parameters
    ----------
    model, before : a model, and its `surroundings` before its methods were asked

    Raises
    ------
    ImpureModel : if something was changed
    """
    now = look_around(type(model), model)
    if found := changed(before, now.found) or kept_otherwise(now, before):
        what, old, new = found
        raise ImpureModel(
            f"{what} was {old} before the methods of {type(model).__name__} were asked, and is "
            f"{new} now. What they answer may depend on what was asked before. Let it be a field "
            "of the state, or use functools.cache for what is only remembered"
        )


def _sample(model: Model[Any], states: int) -> None:
    wrong = find_wrong_state(model)
    others = other_orders(model)  # the same model, with the sets in its fields in other orders
    starts = _twice("@init", functools.partial(_starts, model, states, wrong))
    for other in others:
        _alike("@init", starts, list(islice(other.initial_states(), states)))
    in_orders = acts_in_any_order(model) if wrong is None else []
    promises = promises_of(model)
    found = dict.fromkeys(starts)
    waiting = list(found)
    states = min(states, max(2, CALLS_SAMPLED // max(1, len(model.ground_actions))))
    for state in islice(waiting, states):  # which grows meanwhile
        look_at(state, wrong)
        before = form_of(state)
        _ask_properties(model, others, state, promises)
        for target in _targets(model, others, state, in_orders):
            if len(found) < states and target not in found:
                found[target] = None
                waiting.append(target)
        if form_of(state) != before:
            raise changed_in_place(state)


def _starts(model: Model[Any], states: int, wrong: FindWrong | None) -> list[Any]:
    """List the first initial states, once it is known that they can be compared."""
    found = list(islice(model.initial_states(), states))
    for state in found:
        look_at(state, wrong)
    return found


def _ask_properties(
    model: Model[Any], others: list[Any], state: Any, promises: tuple[Promise, ...]
) -> None:
    for promise in promises:
        ask = in_any_order(str(promise.call), promise.ask, truth_of)
        _twice(str(promise.call), functools.partial(ask, state))
    for role in (Role.ALWAYS, Role.SOMETIMES, Role.FINAL):
        for method in model.methods(role):
            ask = in_any_order(method.name, getattr(model, method.name), truth_of)
            for call in model.calls(method):
                first = _twice(str(call), functools.partial(ask, state, *call.arguments))
                for other in others:
                    second = getattr(other, method.name)(state, *call.arguments)
                    _alike(str(call), truth_of(first), truth_of(second))


def _targets(
    model: Model[Any],
    others: list[Any],
    state: Any,
    in_orders: list[tuple[Call, Callable[..., Any]]],
) -> Iterator[Any]:
    """Take the steps that a state allows twice, and give where they lead."""
    first = {move.call: move.target for move in model.moves(state)}
    for other in (model, *others):
        second = {move.call: move.target for move in other.moves(state)}
        for call in first | second:
            if call not in first or call not in second:
                raise _impure(str(call), first.get(call), second.get(call))
            _alike(str(call), first[call], second[call], of_one_form=other is model)
    for call, act in in_orders:
        with suppress(Disabled, AssertionError):
            act(state, *call.arguments)
    return (target for target in first.values() if target is not None)


def _twice(name: str, ask: Callable[[], Any]) -> Any:
    first = ask()
    _alike(name, first, ask(), of_one_form=True)
    return first


def _alike(name: str, first: Any, second: Any, *, of_one_form: bool = False) -> None:
    if first != second or (of_one_form and difference(first, second) is not None):
        raise _impure(name, first, second)


def _impure(name: str, first: object, second: object) -> ImpureModel:
    return ImpureModel(
        f"{name} was asked twice about the same state and gave {show(first)}, then {show(second)}. "
        "A search would see other states each time, and a counterexample could not be run again. "
        "Let methods depend on the state and the model's fields alone: no random numbers, clocks, "
        "counters or NaN, nor the order of a set. Make what may come out either way a parameter of "
        "the action"
    )
