"""Contents: what Python keeps in an object, read without asking the object or its class.

A class can have its own `__getattribute__`, `__iter__` or `__dict__`, and so tell what it likes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, Generic

_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which some classes written in C have, too
_mro: Callable[[type[Any]], tuple[type[Any], ...]] = vars(type)["__mro__"].__get__
_flags: Callable[[type[Any]], int] = vars(type)["__flags__"].__get__
_dictoffset: Callable[[type[Any]], int] = vars(type)["__dictoffset__"].__get__
vars_of: Callable[[type[Any]], Any] = vars(type)["__dict__"].__get__
"""Give what a class itself defines, whatever its metaclass says."""
mro_of = _mro
"""Give a class and what it inherits from, whatever its metaclass says."""


def defined_by(cls: type[Any], name: str) -> Any:
    """Give what a class has under a name, of its own or inherited; None if it has nothing."""
    return next((vars_of(base)[name] for base in mro_of(cls) if name in vars_of(base)), None)


def is_written_in_c(cls: type[Any]) -> bool:
    """Tell whether a class was made by C code, so that its objects may hold more than attributes.

    That are neither `object` nor `Generic`, whose objects hold nothing.
    """
    if cls is object or cls is Generic:
        return False
    new = vars_of(cls).get("__new__")
    is_own = type(new) is BuiltinFunctionType and new.__self__ is cls
    return is_own or not _flags(cls) & _MADE_IN_PYTHON


@functools.cache
def built_on(cls: Any) -> type[Any] | None:
    """Give the class written in C that a class is, or derives from; None if there is none."""
    return next((base for base in mro_of(cls) if is_written_in_c(base)), None)


@functools.cache
def dict_getter(cls: Any) -> Callable[[Any], dict[str, Any]] | None:
    """Give how the attributes of a class's objects are read; None if they have no `__dict__`."""
    if not _dictoffset(cls):
        return None
    for base in mro_of(cls):
        found = vars_of(base).get("__dict__")
        if type(found) is GetSetDescriptorType:
            return found.__get__
    return _dict_in_state  # the class has covered it


def _dict_in_state(value: Any) -> dict[str, Any]:
    state: Any = object.__getstate__(value)
    found = state[0] if isinstance(state, tuple) else state
    return found or {}


@functools.cache
def slots_of(cls: Any) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """List the slots of a class's objects, also inherited ones: names and how they are read.

    A slot that is empty raises an AttributeError.
    """
    return tuple(
        (name, slot.__get__)
        for base in mro_of(cls)
        for name, slot in list(vars_of(base).items())
        if type(slot) is MemberDescriptorType
    )


@functools.cache
def slots_beside(cls: Any, names: frozenset[str]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """List the slots that no attribute of these names reads: also one that another covers."""
    read = {name: defined_by(cls, name) for name in names}
    return tuple(
        (name, get)
        for name, get in slots_of(cls)
        if getattr(get, "__self__", get) is not read.get(name)
    )
