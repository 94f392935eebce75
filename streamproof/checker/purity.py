"""Purity: on a sample of states every method must answer twice alike, with values of its sort.

A search asks each state once and believes the answer. A method that draws random numbers, reads a
clock or keeps a counter would make it visit other states every time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from streamproof.checker.lasso import promises_of
from streamproof.lang import Element, Map, StreamproofError, WrongDefinition
from streamproof.lang.model import Model, Role
from streamproof.lang.sorts import (
    BoolSort,
    ElementSort,
    EnumSort,
    IntSort,
    MapSort,
    RecordSort,
    Sort,
)
from streamproof.lang.trace import state_sort_of
from streamproof.models.trace import show

_CLASSES: dict[type, type] = {BoolSort: bool, IntSort: int, ElementSort: Element}

STATES_SAMPLED = 64
"""States that are looked at, nearest first: an impure method shows almost at once."""


class ImpureModel(StreamproofError, ValueError):
    """A method gave two answers to one question."""


class WrongSort(StreamproofError, TypeError):
    """A state holds a value that is not of the sort that its field declares."""


def check_purity(model: Model[Any], *, states: int = STATES_SAMPLED) -> None:
    """Ask everything of the first states twice, and look at their fields.

    A method that fails ends the sample: the engine, which keeps the way there, reports it.

    Raises
    ------
    ImpureModel : if two answers differ
    WrongSort : if a field of a state is not of its sort
    WrongDefinition : if a promise's answer is none
    """
    try:
        _sample(model, states)
    except (ImpureModel, WrongSort, WrongDefinition):
        raise
    except Exception:  # noqa: BLE001 - see above
        return


def _sample(model: Model[Any], states: int) -> None:
    sort = _sort_of_states(model)
    found = dict.fromkeys(_twice("@init", lambda: list(islice(model.initial_states(), states))))
    waiting = list(found)
    for state in waiting:  # which grows meanwhile
        if sort is not None and (wrong := _find_wrong(sort, state)):
            raise WrongSort(
                f"in a state of {type(model).__name__}, {wrong.removeprefix('.')}. Two engines "
                "would read it differently. Give a value of the declared sort, or declare another"
            )
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
        if call not in first or call not in second or first[call] != second[call]:
            raise _impure(str(call), first.get(call), second.get(call))
    return (target for target in first.values() if target is not None)


def _twice(name: str, ask: Callable[[], Any]) -> Any:
    first, second = ask(), ask()
    if first != second:
        raise _impure(name, first, second)
    return first


def _impure(name: str, first: object, second: object) -> ImpureModel:
    return ImpureModel(
        f"{name} was asked twice about the same state and gave {show(first)}, then {show(second)}. "
        "A search would see other states each time, and a counterexample could not be run again. "
        "Let methods depend on the state and the model's fields alone: no random numbers, clocks, "
        "counters or NaN. Make what may come out either way a parameter of the action"
    )


def _sort_of_states(model: Model[Any]) -> Sort | None:
    try:
        return state_sort_of(type(model))
    except WrongDefinition:  # states may be any hashable values
        return None


def _find_wrong(sort: Sort, value: Any) -> str | None:
    """Give what is not of its sort, as `field is value, no bool`; None if nothing is."""
    for place, part, wanted in _scalars(sort, value):
        if not isinstance(part, wanted) or (wanted is int and isinstance(part, bool)):
            return (
                f"{place} is {show(part)}, which is {type(part).__name__} and not {wanted.__name__}"
            )
    return None


def _scalars(sort: Sort, value: Any, place: str = "") -> Iterator[tuple[str, Any, type]]:
    match sort:
        case RecordSort(cls, fields) if isinstance(value, cls):
            for name, part in fields:
                yield from _scalars(part, getattr(value, name), f"{place}.{name}")
        case RecordSort(cls):
            yield place, value, cls
        case MapSort(_, part) if isinstance(value, Map):
            for key, inner in value.items():
                keys = key if isinstance(key, tuple) else (key,)
                yield from _scalars(part, inner, f"{place}[{', '.join(map(show, keys))}]")
        case MapSort():
            yield place, value, Map
        case EnumSort(cls):
            yield place, value, cls
        case _:
            yield place, value, _CLASSES[type(sort)]
