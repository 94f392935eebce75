"""Contents: what Python keeps in an object, read without asking the object or its class.

A class can have its own `__getattribute__`, `__iter__` or `__dict__`, and so tell what it likes.
"""

from __future__ import annotations

import functools
import gc
import re
import sys
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FrameType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    TracebackType,
    WrapperDescriptorType,
)
from typing import Any, Generic

_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE, which some classes written in C have, too
_flags: Callable[[type[Any]], int] = vars(type)["__flags__"].__get__
_dictoffset: Callable[[type[Any]], int] = vars(type)["__dictoffset__"].__get__
vars_of: Callable[[type[Any]], Any] = vars(type)["__dict__"].__get__
"""Give what a class itself defines, whatever its metaclass says."""
mro_of: Callable[[type[Any]], tuple[type[Any], ...]] = vars(type)["__mro__"].__get__
"""Give a class and what it inherits from, whatever its metaclass says."""
name_of: Callable[[type[Any]], str] = vars(type)["__qualname__"].__get__
"""Give the name of a class, whatever its metaclass says."""


def defined_by(cls: type[Any], name: str) -> Any:
    """Return what a class has under a name, of its own or inherited; None if it has nothing."""
    return next((vars_of(base)[name] for base in mro_of(cls) if name in vars_of(base)), None)


@functools.cache
def is_written_in_c(cls: Any) -> bool:
    """Return whether a class was made by C code, so that its objects may hold more than attributes.

    That are neither `object` nor `Generic`, whose objects hold nothing.
    """
    if cls is object or cls is Generic:
        return False
    if not _flags(cls) & _MADE_IN_PYTHON:
        return True
    new = vars_of(cls).get("__new__")
    is_own = type(new) is BuiltinFunctionType and new.__self__ is cls
    return is_own or any(
        type(part) in (MethodDescriptorType, WrapperDescriptorType) and part.__objclass__ is cls
        for part in vars_of(cls).values()
    )


def _bases_of(cls: Any) -> Iterator[Any]:
    yield from mro_of(cls)


@functools.cache
def built_on(cls: Any) -> type[Any] | None:
    """Return the class written in C that a class is, or derives from; None if there is none."""
    return next((base for base in _bases_of(cls) if is_written_in_c(base)), None)


@functools.cache
def dict_getter(cls: Any) -> Callable[[Any], dict[str, Any]] | None:
    """Return how the attributes of a class's objects are read; None if they have no `__dict__`."""
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


def attribute_of(value: Any, name: str) -> Any:
    """Return an attribute that Python keeps in an object; None if it keeps none of this name."""
    cls: Any = type(value)
    slot = defined_by(cls, name)
    if type(slot) is MemberDescriptorType:
        return slot.__get__(value) if is_set(slot.__get__, value) else None
    get = dict_getter(cls)
    return get(value).get(name) if get else None


def is_set(get: Callable[[Any], Any], value: Any) -> bool:
    """Return whether a slot holds something."""
    try:
        get(value)
    except AttributeError:
        return False
    return True


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
    """List the slots that these attributes do not read, including slots that another one hides."""
    read = {name: defined_by(cls, name) for name in names}
    return tuple(
        (name, get)
        for name, get in slots_of(cls)
        if getattr(get, "__self__", get) is not read.get(name)
    )


# --------------------------------------------------------------------------- what C code keeps

PLAIN: dict[type[Any], Callable[[Any], Any]] = {
    str: str.__str__,
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
    bytes: bytes.__bytes__,
    bytearray: lambda value: bytes(bytearray.__getitem__(value, slice(None))),
    memoryview: memoryview.tobytes,
}
"""How an object of a class that derives from a plain one gives the plain value."""
ENTRIES: dict[type[Any], Callable[[Any], Iterable[Any]]] = {
    list: list.__iter__,
    tuple: tuple.__iter__,
    set: set.__iter__,
    frozenset: frozenset.__iter__,
    deque: deque.__iter__,
}
"""How the entries of a collection are gone through."""
PAIRS: dict[type[Any], Callable[[Any], Iterable[tuple[Any, Any]]]] = {
    dict: dict.items,
    OrderedDict: OrderedDict.items,
}
"""How the keys and values of a table are gone through."""
NAMED = (
    MethodDescriptorType,
    WrapperDescriptorType,
    ClassMethodDescriptorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    BuiltinFunctionType,
    MethodWrapperType,
)
"""Classes of what C code defines and names."""
_HOLDING_NOTHING = (
    *NAMED,
    MethodType,  # its slots have its content
    CodeType,
    FrameType,
    TracebackType,
    weakref.ReferenceType,
    weakref.ProxyType,
    weakref.CallableProxyType,
)
_REMEMBERING = ("_lru_cache_wrapper", "_abc_data")
"""Classes whose objects only remember what was asked."""
_COPYING = ("__reduce__", "__reduce_ex__", "__getstate__")
_OF_PYTHON = sys.stdlib_module_names | {"numpy"}
_ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")


def kept_in_c(value: Any, base: Any) -> Iterator[Any]:
    """List the content that an object keeps outside of its attributes, by C code of a base.

    That is what Python's own classes would be copied by. Of others it is what the collector of
    garbage sees, or else what they say.
    """
    if base in PLAIN:
        with suppress(ValueError):  # a memory that was released
            yield PLAIN[base](value)
    elif base in (BuiltinFunctionType, MethodWrapperType):
        yield value.__self__
    elif base not in _HOLDING_NOTHING and base.__name__ not in _REMEMBERING:
        copied = _copied(value, base)
        referred = [part for part in gc.get_referents(value) if part is not type(value)]
        if copied or not referred:
            yield from copied or _said(value, base)
        else:
            known = _known_of(value)
            yield from (part for part in referred if id(part) not in known)


def _copied(value: Any, base: Any) -> list[Any]:
    """Return the parts from which `copy` would make an equal object."""
    cls: Any = type(value)
    if str(base.__module__).partition(".")[0] not in _OF_PYTHON:
        return []
    if get := dict_getter(cls):
        get(value)  # which makes it, so that it is there each time
    for name in _COPYING:
        copy = defined_by(base, name)
        if copy is not getattr(object, name, None) and copy is not None:
            with suppress(Exception):  # not every object can be copied
                return [copy(value, 4) if name == "__reduce_ex__" else copy(value)]
    return []


def _known_of(value: Any) -> set[int]:
    """Return the ids of objects that the garbage collector sees, but that are listed elsewhere."""
    cls: Any = type(value)
    seen = {id(base) for base in mro_of(cls)}
    if get := dict_getter(cls):
        own = get(value)
        seen |= {id(own), *map(id, own.values())}
    for _, read in slots_of(cls):
        with suppress(AttributeError):
            seen.add(id(read(value)))
    return seen


def _said(value: Any, base: Any) -> list[Any]:
    """Return the text of an object that holds no other, without its place in memory."""
    say = defined_by(base, "__repr__")
    if say is not object.__repr__:
        with suppress(Exception):
            return [_ADDRESS.sub("", say(value))]
    return []


def remembered_by(cache: Any) -> list[tuple[Any, Any]]:
    """Return the arguments and results that a function of `functools.cache` remembers."""
    parts, own = gc.get_referents(cache), vars(cache)
    tables = [part for part in parts if type(part) is dict and part is not own]
    pairs = [pair for table in tables for pair in dict.items(table)]
    links = [n for n, part in enumerate(parts) if isinstance(part, type) and part.__name__ == _LINK]
    linked = [(parts[n - 2], parts[n - 1]) for n in links[:-1]]  # the last is the cache's own
    return linked + [pair for pair in pairs if type(pair[1]).__name__ != _LINK]


_LINK = "_lru_list_elem"
"""The class of the links that a cache of limited size keeps its results in."""


def ask_again(cache: Any, asked: Any) -> Any:
    """Call the function inside of `functools.cache` as it was called once.

    Parameters
    ----------
    cache, asked : the function, and what it keeps an answer by: its only argument, or all of them
        with an object between those by place and those by name
    """
    given = list(asked) if isinstance(asked, tuple) else [asked]
    place = next((n for n, part in enumerate(given) if type(part) is object), len(given))
    named = given[place + 1 :]
    return cache.__wrapped__(*given[:place], **dict(zip(named[::2], named[1::2], strict=True)))
