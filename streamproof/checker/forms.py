"""Forms: what states are made of, beyond what Python's equality sees.

Python takes True, 1 and 1.0 for one value, and a record with an `__eq__` of its own for whatever
that says. A search that keeps one of two equal states would miss what a property says of the other,
so equal states must be of one form: of the same classes and with the same parts all through. And a
part that can be changed in place, or is not equal to itself, can be no part of a state.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import fractions
import functools
import types
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from operator import is_
from typing import Any

from streamproof.checker.declared import hidden_attributes
from streamproof.lang import Domain, Element, Map
from streamproof.lang.contents import built_on, dict_getter, is_set, slots_beside
from streamproof.models.kit.trace import show

_LEAVES = (
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    type(None),
    type(...),
    type(NotImplemented),
    range,
    decimal.Decimal,
    fractions.Fraction,
    uuid.UUID,
    dt.date,
    dt.datetime,
    dt.time,
    dt.timedelta,
    dt.timezone,
)
_BY_IDENTITY = (Enum, Element, type, types.FunctionType, types.BuiltinFunctionType)
_PYTHON_CLASS = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_MAY_BE_NAN = (float, complex, decimal.Decimal)
_PLAIN = frozenset({int, bool, str, type(None)})
_CONVERTED = (int, float, complex, str, bytes)
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Parts:
    """How the parts of a class's values are listed.

    Attributes
    ----------
    values : gives the parts
    names : gives the place of each, like `.field` or `[0]`; asked only to say what is wrong
    """

    values: Callable[[Any], Sequence[Any]]
    names: Callable[[Any], Sequence[str]]


def unfit(value: Any) -> str | None:
    """Return the part of a value that no state may hold, as ` is 1, which ...`, or None."""
    cls: Any = type(value)
    if reason := _refusal(cls):
        return f" is {show(value)}, which {reason}"
    parts = parts_of(cls)
    if parts is None:
        if issubclass(cls, _MAY_BE_NAN) and value != value:  # noqa: PLR0124 - NaN is not
            return f" is {show(value)}, which is not equal to itself: no search knows it again"
        return None
    for number, part in enumerate(parts.values(value)):
        if type(part) not in _PLAIN and (found := unfit(part)):
            return parts.names(value)[number] + found
    return None


def form_of(value: Any) -> Any:
    """Return all that a value is made of, also what no `==` compares, to be compared later."""
    parts = parts_of(type(value))  # type: ignore[arg-type] # a class does hash
    if parts is None:
        return value
    return list(map(form_of, parts.values(value)))


def difference(left: Any, right: Any) -> str | None:
    """Return where two values that are equal by == differ in form; None if they do not."""
    if left is right:
        return None
    cls: Any = type(left)
    if cls is not type(right):
        both = f"{cls.__name__} and {type(right).__name__}"
        return f" is {show(left)} and {show(right)}, of class {both}"
    parts = parts_of(cls)  # type: ignore[arg-type] # a class does hash
    if parts is None:
        return None if _alike(left, right) else f" is {show(left)} and {show(right)}"
    if issubclass(cls, frozenset):
        right = _in_the_order_of(left, right)
    mine, others = parts.values(left), parts.values(right)
    if len(mine) != len(others):
        return f" is {show(left)} and {show(right)}, with {len(mine)} and {len(others)} parts"
    if all(map(is_, mine, others)):
        return None
    for number, (part, other) in enumerate(zip(mine, others, strict=True)):
        if found := difference(part, other):
            return parts.names(left)[number] + found
    return None


def _in_the_order_of(left: frozenset[Any], right: frozenset[Any]) -> Any:
    """List the elements of a set in the order of those of an equal one."""
    same = {part: part for part in right}
    return [same.get(part, _MISSING) for part in left]


def _alike(left: Any, right: Any) -> bool:
    """Compare two values without parts: -0.0 and 0.0 are equal, and written otherwise."""
    if isinstance(left, _BY_IDENTITY):
        return False  # they are not the same
    return bool(left == right) and (type(left) in (int, bool, str) or repr(left) == repr(right))


@functools.cache
def parts_of(cls: Any) -> Parts | None:
    """Return how the parts of a class's values are listed; None for values without parts."""
    if issubclass(cls, _BY_IDENTITY) or cls in _LEAVES:
        return None
    if cls is Map:
        return Parts(lambda value: (*value.domains, *value._values), _names_in_map)  # noqa: SLF001
    if issubclass(cls, Domain):
        return Parts(lambda domain: domain.elements, _numbers)
    is_many = issubclass(cls, tuple | frozenset)
    if not cls.__flags__ & _PYTHON_CLASS:
        return Parts(tuple, _numbers) if is_many else None
    own = _attributes_of(cls)
    if is_many:
        return Parts(
            lambda value: (*value, *own.values(value)),
            lambda value: (*_numbers(value), *own.names(value)),
        )
    if base := _leaf_of(cls):
        plain = base if base in _CONVERTED else repr
        return Parts(
            lambda value: (plain(value), *own.values(value)),
            lambda value: ("", *own.names(value)),
        )
    return own


def _attributes_of(cls: Any) -> Parts:
    """List fields, slots and attributes; what is computed from them, once, is no part."""
    is_record = dataclasses.is_dataclass(cls)
    fields = tuple(field.name for field in dataclasses.fields(cls)) if is_record else ()
    slots = slots_beside(cls, frozenset(fields))
    names, attributes = (*fields, *(name for name, _ in slots)), dict_getter(cls)
    hides = hidden_attributes(cls) if is_record else None

    def more(value: Any) -> list[str]:
        if attributes is None:
            return []
        return hides(value) if hides else sorted(attributes(value))

    def values(value: Any) -> tuple[Any, ...]:
        mine = [getattr(value, name, _MISSING) for name in fields]
        mine += [get(value) if is_set(get, value) else _MISSING for _, get in slots]
        return (*mine, *([attributes(value)[name] for name in more(value)] if attributes else ()))

    return Parts(values, lambda value: [f".{name}" for name in (*names, *more(value))])


def _names_in_map(value: Map[Any, Any]) -> list[str]:
    keys = (key if isinstance(key, tuple) else (key,) for key, _ in value.items())
    return [
        *(f".domains[{number}]" for number, _ in enumerate(value.domains)),
        *(f"[{', '.join(map(show, key))}]" for key in keys),
    ]


def _numbers(value: Any) -> list[str]:
    return [f"[{number}]" for number, _ in enumerate(value)]


@functools.cache
def _refusal(cls: Any) -> str | None:
    """Return why values of a class can be no part of a state; None if they can."""
    if cls in _LEAVES or cls in (tuple, frozenset, Map, object):
        return None
    if issubclass(cls, (*_BY_IDENTITY, Domain)):
        return None
    if cls.__hash__ is None:
        return f"can be changed in place. Write {_INSTEAD.get(cls, 'a frozen record')}"
    is_built_in = not cls.__flags__ & _PYTHON_CLASS
    has_parts = is_built_in or _has_attributes(cls)
    if cls.__eq__ is object.__eq__ and has_parts:
        return (
            f"is compared by identity, so that no two {cls.__name__} are equal though they say the "
            "same. Write a frozen dataclass, without eq=False"
        )
    base = None if is_built_in else built_on(cls)
    if base is not None and base not in (*_LEAVES, tuple, frozenset):
        return f"holds what a {base.__name__} holds, which is no field. Let a field hold it"
    is_frozen = cls.__setattr__ is not object.__setattr__ or issubclass(cls, tuple | frozenset)
    if is_built_in or is_frozen or not has_parts or _leaf_of(cls):
        return None
    return f"can be changed in place. Let {cls.__name__} be a @dataclass(frozen=True)"


_INSTEAD = {
    list: "a tuple",
    set: "a frozenset",
    dict: "a Map, or a tuple of pairs",
    bytearray: "bytes",
}


def _has_attributes(cls: type[Any]) -> bool:
    return cls.__dictoffset__ != 0 or any(vars(base).get("__slots__") for base in cls.__mro__)


def _leaf_of(cls: type[Any]) -> Any:
    return next((base for base in cls.__mro__ if base in _LEAVES), None)
