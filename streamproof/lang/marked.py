"""Marked functions: what has a role, and where such a function is held, however deep.

A wrapper, a descriptor or a table that holds a property hides it. What a value holds is read as
Python's garbage collector does, which runs no code of a user.
"""

from __future__ import annotations

import functools
import gc
import inspect
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from streamproof.lang.compiled import is_made_by_running

MARK = "__streamproof__"
"""The attribute in which a function has its roles."""
OF_MODEL = "__streamproof_model__"
"""What stands in the class `Model` itself."""
_CACHE = type(functools.cache(len))
_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, CodeType, FrameType, ModuleType)


def marks_of(value: Any) -> tuple[Any, ...]:
    """List the roles that a value itself is marked with, without asking it."""
    if type(value) is MethodType:
        value = value.__func__
    found = inspect.getattr_static(value, MARK, ())
    if isinstance(found, MemberDescriptorType):
        try:
            found = found.__get__(value)
        except AttributeError:
            return ()
    return found if isinstance(found, tuple) else ()


def marked_in(value: Any) -> Iterator[tuple[Any, bool]]:
    """List what is marked in a value, itself included; and whether a global name leads there.

    Models are not looked into: what stands in them is asked of them.
    """
    waiting = deque([(value, False)])
    seen: dict[int, Any] = {}  # with the objects, so that no other one has the number
    while waiting:
        part, by_name = waiting.popleft()
        if type(part) in _PLAIN or id(part) in seen:
            continue
        seen[id(part)] = part
        if type(part) is not MethodType and marks_of(part):
            yield part, by_name
        waiting += [(inner, by_name) for inner in _parts(part)]
        if type(part) is FunctionType and not by_name:
            waiting += [(inner, True) for inner in _named(part, part.__code__)]


def place_of(function: Any) -> str:
    """Return the file and line of a function; empty for anything else."""
    code = getattr(function, "__code__", None) if isinstance(function, FunctionType) else None
    return f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""


def is_model(cls: type) -> bool:
    """Return whether a class is a model, or `Model` itself."""
    return any(OF_MODEL in vars(base) for base in cls.__mro__)


def is_in_its_model(function: Any) -> bool:
    """Return whether a function stands under its name in the class in which it was written."""
    owner: Any = sys.modules.get(getattr(function, "__module__", None) or "")
    *path, name = getattr(function, "__qualname__", "").split(".")
    for part in path:
        owner = vars(owner).get(part) if isinstance(owner, ModuleType | type) else None
    return isinstance(owner, type) and is_model(owner) and vars(owner).get(name) is function


def _parts(value: Any) -> Iterable[Any]:
    """List what a value holds, one level deep."""
    kind = type(value)
    if kind is FunctionType:  # whose globals are not its own
        defaults = (value.__defaults__, value.__kwdefaults__)
        return (*(value.__closure__ or ()), *defaults, *vars(value).values())
    if issubclass(kind, type):
        inner = value.__mro__ if is_made_by_running(value) and not is_model(value) else ()
        own = [base for base in inner if not _is_of_a_library(base)]
        return [part for base in own for part in vars(base).values()]
    if is_model(kind) or (kind is MethodType and is_model(type(value.__self__))):
        return ()
    if kind is _CACHE:  # which holds what it was asked for
        return tuple(vars(value).values())
    inside: list[Any] = gc.get_referents(value)
    return inside


def _is_of_a_library(cls: type) -> bool:
    """Return whether a class is of Python's library, as it says, or of the language."""
    name = cls.__module__
    if not isinstance(name, str) or cls is object:
        return True
    top = name.partition(".")[0]
    is_told = top in sys.stdlib_module_names or name.startswith(f"{__package__}.")
    owner: Any = sys.modules.get(name) if is_told and top != "__main__" else None
    for part in cls.__qualname__.split("."):
        owner = getattr(owner, part, None)
    return owner is cls


def _named(function: FunctionType, code: CodeType) -> Iterator[Any]:
    """List the globals that a function names, or one inside of it."""
    for name in code.co_names:
        if name in function.__globals__:
            yield function.__globals__[name]
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _named(function, part)
