"""Purity: on a sample of states every method must answer twice alike, with values of its sort.

A search asks each state once and believes the answer. A method that draws random numbers, reads a
clock or keeps a counter would make it visit other states every time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from streamproof.checker.declared import find_wrong_state
from streamproof.checker.forms import difference
from streamproof.checker.lasso import promises_of
from streamproof.checker.states import UnfitState, look_at
from streamproof.lang import StreamproofError, WrongDefinition
from streamproof.lang.model import Model, Role
from streamproof.models.trace import show

STATES_SAMPLED = 64
"""States that are looked at, nearest first: an impure method shows almost at once."""


class ImpureModel(StreamproofError, ValueError):
    """A method gave two answers to one question."""


def check_purity(model: Model[Any], *, states: int = STATES_SAMPLED) -> None:
    """Ask everything of the first states twice, and look at their fields.

    A method that fails ends the sample: the engine, which keeps the way there, reports it.

    Raises
    ------
    ImpureModel : if two answers differ
    UnfitState : if a state holds what is not of its declared sort, or can be no part of a state
    WrongDefinition : if a promise's answer is none
    """
    try:
        _sample(model, states)
    except (ImpureModel, UnfitState, WrongDefinition):
        raise
    except Exception:  # noqa: BLE001 - see above
        return


def _sample(model: Model[Any], states: int) -> None:
    wrong = find_wrong_state(model)
    found = dict.fromkeys(_twice("@init", lambda: list(islice(model.initial_states(), states))))
    waiting = list(found)
    for state in waiting:  # which grows meanwhile
        look_at(state, wrong)
        _ask_properties(model, state)
        for target in _targets(model, state):
            if len(found) < states and target not in found:
                found[target] = None
                waiting.append(target)


def _ask_properties(model: Model[Any], state: Any) -> None:
    for promise in promises_of(model):
        _twice(str(promise.call), functools.partial(promise.ask, state))
    for role in (Role.ALWAYS, Role.SOMETIMES, Role.FINAL):
        for method in model.methods(role):
            ask = getattr(model, method.name)
            for call in model.calls(method):
                _twice(str(call), functools.partial(ask, state, *call.arguments))


def _targets(model: Model[Any], state: Any) -> Iterator[Any]:
    """Take the steps that a state allows twice, and give where they lead."""
    first, second = ({move.call: move.target for move in model.moves(state)} for _ in range(2))
    for call in first | second:
        if call not in first or call not in second or _differ(first[call], second[call]):
            raise _impure(str(call), first.get(call), second.get(call))
    return (target for target in first.values() if target is not None)


def _twice(name: str, ask: Callable[[], Any]) -> Any:
    first, second = ask(), ask()
    if _differ(first, second):
        raise _impure(name, first, second)
    return first


def _differ(first: Any, second: Any) -> bool:
    return bool(first != second) or difference(first, second) is not None


def _impure(name: str, first: object, second: object) -> ImpureModel:
    return ImpureModel(
        f"{name} was asked twice about the same state and gave {show(first)}, then {show(second)}. "
        "A search would see other states each time, and a counterexample could not be run again. "
        "Let methods depend on the state and the model's fields alone: no random numbers, clocks, "
        "counters or NaN. Make what may come out either way a parameter of the action"
    )
