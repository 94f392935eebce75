"""What a value holds: members, entries, fields, defaults, however deep, without asking anything."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import types
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum, EnumType
from types import ModuleType
from typing import Any

from streamproof.lang.origin import Origin, origin_of

_SCALARS = (int, bool, str, float, bytes, type(None))


def held(value: Any, *, scalars: bool = False) -> Iterator[Any]:
    """List a value, and all that it holds: members, fields, what a partial call is made of.

    Parameters
    ----------
    scalars : whether numbers, strings and the like are listed, too
    """
    waiting, seen = deque([value]), set[int]()
    while waiting:
        part = waiting.popleft()
        if type(part) in _SCALARS:
            if scalars:
                yield part
        elif id(part) not in seen:
            seen.add(id(part))
            yield part
            waiting += _parts(part)


def _parts(value: Any) -> Iterable[Any]:
    """List what a plain value holds, one level deep."""
    kind = type(value)
    if kind is functools.partial:
        return (value.func, *value.args, *value.keywords.values())
    if kind in (types.MethodType, types.MethodWrapperType, types.BuiltinMethodType):
        owner = value.__self__
        return (getattr(value, "__func__", None), owner if type(owner) is not ModuleType else None)
    if kind is types.FunctionType:
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        # A function of `singledispatch` keeps there what it has found.
        is_pythons = origin_of(value.__code__) is Origin.STANDARD_LIBRARY
        return defaults if is_pythons else (*defaults, *vars(value).values())
    if issubclass(kind, type):
        return _parts_of_class(value)
    if issubclass(kind, list | tuple | set | frozenset | deque):
        return tuple(value)
    if issubclass(kind, dict | types.MappingProxyType):
        return (*value, *value.values())
    if issubclass(kind, Enum):
        return (value._value_,)  # which `value` may hide
    if kind is ModuleType or kind.__module__.startswith(f"{__package__}."):
        return ()
    return _attributes(value)


def _parts_of_class(cls: Any) -> Iterator[Any]:
    """List the values of an enumeration, and the defaults of a record."""
    if isinstance(cls, EnumType):
        yield from cls.__members__.values()
    for field in vars(cls).get("__dataclass_fields__", {}).values():
        parts = (field.default, field.default_factory, field.metadata)
        yield from (part for part in parts if part is not dataclasses.MISSING)


def _attributes(value: Any) -> Iterator[Any]:
    """List the attributes of an object, without asking it."""
    with contextlib.suppress(AttributeError):
        yield from object.__getattribute__(value, "__dict__").values()
    for base in type(value).__mro__:
        for part in vars(base).values():
            if isinstance(part, types.MemberDescriptorType) and part.__objclass__ is base:
                with contextlib.suppress(AttributeError):  # it may have no value yet
                    yield part.__get__(value)
