"""Memory: mutable values that outlive a path, so that no path may change them.

A function is traced once a path, and a lambda once for all elements. What it appends to a list
outside of it, or counts in a variable outside of it, would come out otherwise in a plain run.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import deque
from collections.abc import Iterator
from enum import Enum
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Literal, TypeAlias

from streamproof.lang.origin import Origin, origin_of

_UNCHANGING = (str, bytes, int, float, complex, Enum, type, ModuleType, CodeType, property)
_LISTED = (list, tuple, set, frozenset, deque)
_EMPTY = object()
Place: TypeAlias = tuple[CodeType, int]
"""A function's code, and a line in it."""


class Memory:
    """What was found in things that can be changed, when a path first came upon them."""

    def __init__(self) -> None:
        self._found: dict[int, _Found] = {}
        self._iterator: Place | Literal[False] | None = False

    def watch(self, value: Any, place: Place | None = None) -> None:
        """Remember a value, and everything that it leads to.

        Parameters
        ----------
        place : where it is used: a function's code, and the line
        """
        waiting = [value]
        while waiting:
            part = waiting.pop()
            if id(part) in self._found or _is_unchanging(part):
                continue
            if hasattr(type(part), "__next__"):
                self._iterator = place
                continue
            inside = tuple(_inside(part))
            self._found[id(part)] = _Found(part, inside, frozenset(_cached(part)), place)
            waiting.extend(inside)

    def changed(self) -> tuple[str, Place | None] | None:
        """Return what is no longer what it was, and where it is used; None if there is nothing.

        What a `cached_property` has kept is forgotten: it may hold on this path alone.
        """
        if self._iterator is not False:
            return "takes from an iterator that is older than it", self._iterator
        for found in self._found.values():
            for name in _cached(found.value) - found.kept:
                del found.value.__dict__[name]
            now = tuple(_inside(found.value))
            if len(now) != len(found.inside) or not all(map(_same, found.inside, now)):
                return f"changes a {type(found.value).__name__} outside of it", found.place
        return None


@dataclasses.dataclass(frozen=True, slots=True)
class _Found:
    value: Any
    inside: tuple[Any, ...]
    kept: frozenset[str]
    place: Place | None


def _is_unchanging(value: Any) -> bool:
    # Not isinstance: a symbolic number says that it is an int.
    return value is None or issubclass(type(value), _UNCHANGING) or _is_of_the_language(value)


def _is_of_the_language(value: Any) -> bool:
    return type(value).__module__.startswith(f"{__package__}.") and not dataclasses.is_dataclass(
        value
    )


def _inside(value: Any) -> Iterator[Any]:
    """List what a value holds, one level deep."""
    kind = type(value)
    if issubclass(kind, dict):
        for key, part in value.items():
            yield key
            yield part
    elif issubclass(kind, _LISTED):
        yield from value
    elif kind is CellType:
        yield _content(value)
    elif kind is FunctionType and origin_of(value.__code__) is Origin.STANDARD_LIBRARY:
        # Such as one of `singledispatch`, which remembers what it has found.
        yield from (cell for cell in value.__closure__ or () if _is_function(cell))
        return
    elif kind is FunctionType:
        yield from value.__closure__ or ()
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif kind is MethodType:
        yield value.__func__
        yield value.__self__
    elif kind is BuiltinFunctionType:
        yield value.__self__
    elif kind is functools.partial:
        yield from (value.func, *value.args, *value.keywords.values())
    yield from _attributes(value)


def _is_function(cell: CellType) -> bool:
    return type(_content(cell)) is FunctionType


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # as long as the function around it runs
        return _EMPTY


def _attributes(value: Any) -> Iterator[Any]:
    for name, part in getattr(value, "__dict__", {}).items():
        yield name
        yield part
    for base in type(value).__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if name not in ("__dict__", "__weakref__"):
                yield getattr(value, name, _EMPTY)


def _same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    plain = (bool, int, float, str, bytes)
    return type(before) is type(now) and type(before) in plain and before == now


def _cached(value: Any) -> set[str]:
    """Name what `cached_property` has kept in an object."""
    kept = getattr(value, "__dict__", None)
    if not isinstance(kept, dict):
        return set()
    of = type(value)
    return {n for n in kept if isinstance(getattr(of, n, None), functools.cached_property)}
