"""Declared sorts: a value must be of the very class that its field declares.

A bool passes for an int in Python, as does a member of an `IntEnum`; an engine that packs states,
or the prover, would read it otherwise than a property that looks at its type.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeAlias

from streamproof.lang import Element, Map, WrongDefinition
from streamproof.lang.model import Model
from streamproof.lang.sorts import BoolSort, EnumSort, IntSort, MapSort, RecordSort, Sort
from streamproof.lang.trace import state_sort_of
from streamproof.models.trace import show

FindWrong: TypeAlias = Callable[[Any], str | None]
"""Gives what is not of its sort, as `.field is 1, which is int and not bool`; None if all is."""


def find_wrong_state(model: Model[Any]) -> FindWrong | None:
    """Build the test of a model's states; None where no sort is told, so that they may be any."""
    try:
        return find_wrong(state_sort_of(type(model)))
    except WrongDefinition:
        return None


def find_wrong(sort: Sort) -> FindWrong:
    """Build the test of values of a sort."""
    match sort:
        case RecordSort(cls, fields):
            return _for_record(cls, [(name, find_wrong(part)) for name, part in fields])
        case MapSort(_, part):
            return _for_map(find_wrong(part), {BoolSort: bool, IntSort: int}.get(type(part)))
        case BoolSort():
            return _for_class(bool)
        case IntSort():
            return _for_class(int)
        case EnumSort(cls):
            return lambda value: None if isinstance(value, cls) else _told(value, cls)
        case _:
            return lambda value: None if isinstance(value, Element) else _told(value, Element)


def _told(value: Any, wanted: type[Any]) -> str:
    return f" is {show(value)}, which is {type(value).__name__} and not {wanted.__name__}"


def _for_class(wanted: type[Any]) -> FindWrong:
    return lambda value: None if type(value) is wanted else _told(value, wanted)


def _for_record(cls: type[Any], fields: list[tuple[str, FindWrong]]) -> FindWrong:
    parts = [(name, attrgetter(name), wrong) for name, wrong in fields]
    hides = hidden_names(cls)

    def wrong_in(record: Any) -> str | None:
        if type(record) is not cls:
            return _told(record, cls)
        if hides is not None and (hidden := hides(record)):
            return f" has {', '.join(hidden)} besides its fields, which no == compares"
        for name, get, wrong in parts:
            if found := wrong(get(record)):
                return f".{name}{found}"
        return None

    return wrong_in


def hidden_names(cls: type[Any]) -> Callable[[Any], list[str]] | None:
    """Give how attributes are listed that are neither fields nor computed; None if there are none.

    A record that is frozen can still be given some, past its `__setattr__`.
    """
    if not cls.__dictoffset__:
        return None
    fields = {field.name for field in dataclasses.fields(cls)}
    computed = {
        name
        for base in cls.__mro__
        for name, value in vars(base).items()
        if isinstance(value, functools.cached_property)
    }

    def hidden(record: Any) -> list[str]:
        found = record.__dict__
        return [] if len(found) == len(fields) else sorted(found.keys() - fields - computed)

    return hidden


def _for_map(wrong: FindWrong, plain: type[Any] | None) -> FindWrong:
    """Test a map's values, all at once where they are of one plain class."""

    def wrong_in(entries: Any) -> str | None:
        if type(entries) is not Map:
            return _told(entries, Map)
        values: tuple[Any, ...] = entries._values  # noqa: SLF001 - asked of every state
        if plain is not None and set(map(type, values)) <= {plain}:
            return None
        for key, value in entries.items():
            if found := wrong(value):
                keys = key if isinstance(key, tuple) else (key,)
                return f"[{', '.join(map(show, keys))}]{found}"
        return None

    return wrong_in
