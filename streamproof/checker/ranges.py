"""Declared ranges: finds the bounded integer that an action drove out of its range."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from streamproof.lang import Map, WrongDefinition
from streamproof.lang.model import Model, Role
from streamproof.lang.sorts import IntSort, MapSort, Range, RecordSort, Sort, sort_of
from streamproof.models.kit.trace import show

FindOutside: TypeAlias = Callable[[Any], str | None]
"""Gives what lies outside its range, as `field is value, outside lo..hi`; None if nothing does."""


def find_outside(model: Model[Any]) -> FindOutside | None:
    """Build the test of a model's states; None if nothing in them is bounded.

    The state's type is what the @init method says that it returns. Fields that are not of the
    language's sorts have no declared range and are skipped.

    Raises
    ------
    WrongDefinition : if a bound names something that is no integer of the model
    """
    for method in model.methods(Role.INIT):
        hints = typing.get_type_hints(getattr(type(model), method.name), include_extras=True)
        if "return" in hints:
            return _for_annotation(model, hints["return"])
    return None


def _for_annotation(model: Model[Any], annotation: Any) -> FindOutside | None:
    try:
        sort = sort_of(annotation)
    except WrongDefinition:
        sort = None
    if sort is not None:
        return _for_sort(model, sort)
    record = typing.get_origin(annotation) or annotation
    if not (isinstance(record, type) and dataclasses.is_dataclass(record)):
        return None
    # A state with, say, a frozenset in one field may still have bounded integers in the others.
    hints = typing.get_type_hints(record, include_extras=True)
    names = [field.name for field in dataclasses.fields(record)]
    return _for_fields({name: _for_annotation(model, hints[name]) for name in names})


def _for_sort(model: Model[Any], sort: Sort) -> FindOutside | None:
    match sort:
        case IntSort(Range() as bounds):
            return _for_range(bound(model, bounds.low), bound(model, bounds.high))
        case RecordSort(fields=fields):
            return _for_fields({name: _for_sort(model, part) for name, part in fields})
        case MapSort(value=value):
            inner = _for_sort(model, value)
            return _for_map(inner) if inner else None
        case _:
            return None


def bound(model: Model[Any], value: int | str) -> int:
    """Return a bound's number at the model's size.

    Raises
    ------
    WrongDefinition : if it names no integer attribute of the model
    """
    number = getattr(model, value, None) if isinstance(value, str) else value
    if isinstance(number, int):
        return number
    raise WrongDefinition(
        f"a range is bounded by {value!r}, which is {number!r} in {type(model).__name__}, so its "
        f"integers cannot be checked. Name an int field or property of the model"
    )


def _for_range(low: int, high: int) -> FindOutside:
    def outside(value: int) -> str | None:
        return None if low <= value <= high else f" is {value}, outside its range {low}..{high}"

    return outside


def _for_fields(parts: dict[str, FindOutside | None]) -> FindOutside | None:
    bounded = [(name, attrgetter(name), inner) for name, inner in parts.items() if inner]

    def outside(record: Any) -> str | None:
        for name, get, inner in bounded:
            if found := inner(get(record)):
                return f".{name}{found}"
        return None

    return outside if bounded else None


def _for_map(inner: FindOutside) -> FindOutside:
    def outside(entries: Map[Any, Any]) -> str | None:
        for key, value in entries.items():
            if found := inner(value):
                parts = key if isinstance(key, tuple) else (key,)
                return f"[{', '.join(map(show, parts))}]{found}"
        return None

    return outside
