"""Declared sorts: a value must be of the very class that its field declares.

A bool passes for an int in Python, as does a member of an `IntEnum`; an engine that packs states,
or the prover, would read it otherwise than a property that looks at its type.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from enum import Enum
from operator import attrgetter
from typing import Any, TypeAlias

from streamproof.lang import Domain, Element, Map, WrongDefinition
from streamproof.lang.contents import (
    defined_by,
    dict_getter,
    is_set,
    mro_of,
    slots_beside,
    vars_of,
)
from streamproof.lang.model import Model
from streamproof.lang.sorts import BoolSort, EnumSort, IntSort, MapSort, RecordSort, Sort
from streamproof.lang.trace import state_sort_of
from streamproof.models.kit.trace import show

FindWrong: TypeAlias = Callable[[Any], str | None]
"""Gives what is not of its sort, as `.field is 1, which is int and not bool`; None if all is."""


def find_wrong_state(model: Model[Any]) -> FindWrong | None:
    """Build the test of a model's states; None where no sort is declared."""
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
            return _for_members(cls)
        case _:
            return _wrong_element


def _for_members(cls: type[Enum]) -> FindWrong:
    """Test for the members themselves: an equal value of another class may answer otherwise."""
    members = {id(member) for member in vars(cls)["_member_map_"].values()}
    return lambda value: None if id(value) in members else _told(value, cls)


def _wrong_element(value: Any) -> str | None:
    if not isinstance(value, Element):
        return _told(value, Element)
    if type(value).__eq__ is not object.__eq__:
        return f" is {show(value)}, which is {type(value).__name__} and has an == of its own"
    return None


def _told(value: Any, wanted: type[Any]) -> str:
    if type(value) is wanted:  # an enumeration
        return f" is {show(value)}, which is no member of {wanted.__name__}"
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
            return f" has {', '.join(hidden)} beside its fields, which no == compares"
        for name, get, wrong in parts:
            if found := wrong(get(record)):
                return f".{name}{found}"
        return None

    return wrong_in


def hidden_names(cls: Any) -> Callable[[Any], list[str]] | None:
    """Return a function that lists a record's other attributes; None if it can have none.

    A record that is frozen can still be given some, past its `__setattr__`.
    """
    fields = frozenset(field.name for field in dataclasses.fields(cls))
    slots, attributes = slots_beside(cls, fields), hidden_attributes(cls)
    if not slots:
        return attributes

    def hidden(record: Any) -> list[str]:
        found = [name for name, get in slots if is_set(get, record)]
        return found + (attributes(record) if attributes else [])

    return hidden


def hidden_attributes(cls: Any) -> Callable[[Any], list[str]] | None:
    """Return a function that lists attributes that are no fields; None without a `__dict__`.

    What is computed once is none of them, as long as it is what would be computed again.
    """
    attributes = dict_getter(cls)
    if attributes is None:
        return None
    fields = {field.name for field in dataclasses.fields(cls)}
    names = {name for base in mro_of(cls) for name in vars_of(base)}
    parts = ((name, defined_by(cls, name)) for name in names)
    computed = {n: p.func for n, p in parts if type(p) is functools.cached_property}

    def hidden(record: Any) -> list[str]:
        found = attributes(record)
        if found.keys() == fields:
            return []
        return sorted(
            name
            for name in found.keys() - fields
            if name not in computed or not _is_again(computed[name], record, found[name])
        )

    return hidden


def _is_again(compute: Callable[[Any], Any], record: Any, kept: Any) -> bool:
    again = compute(record)
    return type(again) is type(kept) and bool(again == kept)


def _for_map(wrong: FindWrong, plain: type[Any] | None) -> FindWrong:
    """Test a map's values, all at once where they are of one plain class, and its keys, once."""
    known: dict[int, Any] = {}

    def wrong_in(entries: Any) -> str | None:
        if type(entries) is not Map:
            return _told(entries, Map)
        space, values = entries._space, entries._values  # noqa: SLF001 - asked of every state
        if known.get(id(space)) is not space:
            if found := _wrong_domains(space.domains):
                return found
            known[id(space)] = space
        if plain is not None and set(map(type, values)) <= {plain}:
            return None
        for key, value in entries.items():
            if found := wrong(value):
                keys = key if isinstance(key, tuple) else (key,)
                return f"[{', '.join(map(show, keys))}]{found}"
        return None

    return wrong_in


def _wrong_domains(domains: tuple[Domain[Any], ...]) -> str | None:
    """Report domains that may equal others without being the same: in a class, or an element."""
    for domain in domains:
        if type(domain) is not Domain:
            return f" is a map over {domain}, which is {type(domain).__name__} and not Domain"
        for element in domain.elements:
            if type(element) is not str and (found := _wrong_element(element)):
                return f" is a map over {domain}, of which one{found}"
    return None
