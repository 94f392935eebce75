"""Cached functions: a result is kept by what the function was given, so by Python's equality.

Two values that are equal and tell otherwise, such as records with a field that no `==` compares,
would share the answer that the first of them got: what was asked before would decide.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import fractions
import functools
import inspect
import types
import typing
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from streamproof.lang.contents import mro_of, remembered_by, vars_of
from streamproof.lang.domain import Domain, Element
from streamproof.lang.map import Map
from streamproof.lang.origin import Origin, asks_models, origin_of

_CACHE: Any = functools._lru_cache_wrapper  # noqa: SLF001 - the class of what @cache makes
_NUMBERS = (bool, int, fractions.Fraction)
_TEXTS = (str, bytes)
_OTHERS = (type(None), type(...), dt.date, dt.timedelta, uuid.UUID)
_INSTEAD = (
    "Annotate each parameter with a class whose == compares all that its values hold, such as "
    "int, str, an Enum, an Element, a tuple or a frozen record of these, or leave the cache out"
)


def is_cache(value: Any) -> bool:
    """Return whether a value is a user's function that keeps its results."""
    if type(value) is not _CACHE:
        return False
    code = getattr(inspect.unwrap(value), "__code__", None)
    return code is not None and origin_of(code) is Origin.USER and not asks_models(code)


def find_coarse_key(cache: Any, classes: Iterable[type[Any]]) -> str | None:
    """Return what of a cached function's arguments its key may take for something else, or None.

    Parameters
    ----------
    classes : whose method it may be
    """
    function = inspect.unwrap(cache)
    owners = [cls for cls in classes if any(map(_keeps(cache), vars_of(cls).values()))]
    try:
        hints = typing.get_type_hints(function, include_extras=True)
        names = list(inspect.signature(function).parameters)
    except (NameError, TypeError, ValueError):
        return "arguments whose annotations cannot be read"
    for number, name in enumerate(names):
        own = owners if number == 0 and name not in hints else [hints.get(name, object)]
        for hint in own or [object]:
            if reason := coarse(hint, {}):
                return f"{name}, which {reason}"
    return _find_unlike(cache, [hints[name] for name in names if name in hints])


def _keeps(cache: Any) -> Callable[[Any], bool]:
    return lambda member: cache in (member, getattr(member, "__func__", None))


def _find_unlike(cache: Any, hints: list[Any]) -> str | None:
    """Return what a function was given though its annotations say otherwise, or None."""
    plain = [hint for hint in hints if hint in (*_NUMBERS, *_TEXTS)]
    if len(plain) != len(hints) or not hints:
        return None
    for asked, _ in remembered_by(cache):
        given = list(asked) if type(asked) is tuple else [asked]
        for value in given:
            if type(value) not in (*plain, object) and isinstance(value, (*_NUMBERS, *_TEXTS)):
                return f"{value!r}, which is equal to values of another class"
    return None


# --------------------------------------------------------------------------- sorts of arguments


def coarse(hint: Any, bindings: Mapping[Any, Any]) -> str | None:
    """Return why two equal values that an annotation allows may differ, or None.

    Parameters
    ----------
    hint, bindings : an annotation, and what the type variables of a generic record stand for
    """
    hint = _resolved(hint, bindings)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType, typing.Literal):
        return _coarse_choice(hint, bindings)
    if origin in (tuple, frozenset, Map, Domain):
        parts = [part for part in arguments if part is not ...]
        return _first(parts, bindings) if parts else "is not known to be of one class"
    if origin in (type, Callable) or (isinstance(hint, type) and issubclass(hint, type)):
        return None  # they are equal to themselves alone
    if isinstance(origin or hint, type):
        return _coarse_class(origin or hint, arguments)
    return "is not known to be of one class"


def _resolved(hint: Any, bindings: Mapping[Any, Any]) -> Any:
    """Return what an annotation stands for, without notes and other names."""
    while True:
        if typing.get_origin(hint) is typing.Annotated:
            hint = typing.get_args(hint)[0]
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif isinstance(hint, typing.TypeVar):
            found = bindings.get(hint) or hint.__bound__
            if found is None or found is hint:
                return object
            hint = found
        else:
            return hint


def _coarse_choice(hint: Any, bindings: Mapping[Any, Any]) -> str | None:
    """Ask of several sorts: no two of them may have equal values."""
    if typing.get_origin(hint) is typing.Literal:
        ways = list(dict.fromkeys(type(value) for value in typing.get_args(hint)))
    else:
        ways = [_resolved(way, bindings) for way in typing.get_args(hint)]
    families = [family for way in ways if (family := _family(way)) is not None]
    if len(set(families)) < len(families):
        return f"may be of classes whose values are equal ({hint})"
    return _first(ways, bindings)


def _family(hint: Any) -> Any:
    """Name the values that those of an annotation may be equal to; None for its own alone."""
    cls = typing.get_origin(hint) or hint
    kinds = (*((part, int) for part in _NUMBERS), (str, str), (tuple, tuple))
    return next((kind for base, kind in kinds if isinstance(cls, type) and issubclass(cls, base)),
                None)  # fmt: skip


def _first(hints: Iterable[Any], bindings: Mapping[Any, Any]) -> str | None:
    return next(filter(None, (coarse(hint, bindings) for hint in hints)), None)


def _coarse_class(cls: Any, arguments: tuple[Any, ...]) -> str | None:
    if cls in (*_NUMBERS, *_TEXTS, *_OTHERS) or issubclass(cls, Enum | Element | Domain):
        return _own_equality(cls) if issubclass(cls, Enum | Element) else None
    if cls is object or cls in (tuple, frozenset, Map):
        return "is not known to be of one class"
    if issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__eq__ is tuple.__eq__:
        return _first(_hints_of(cls, cls._fields), {})
    if cls.__eq__ is object.__eq__ and cls.__flags__ & _MADE_IN_PYTHON:
        return None  # each is equal to itself alone
    if not dataclasses.is_dataclass(cls):
        return f"is {cls.__name__}, whose == does not tell all that differs"
    return _coarse_record(cls, arguments)  # type: ignore[arg-type] # a class does hash


_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE


def _own_equality(cls: Any) -> str | None:
    known = (Enum.__eq__, int.__eq__, str.__eq__, Element.__eq__)
    return None if cls.__eq__ in known else f"is {cls.__name__}, which has an == of its own"


@functools.cache
def _coarse_record(cls: Any, arguments: tuple[Any, ...]) -> str | None:
    generated = getattr(cls.__eq__, "__code__", None)
    if generated is None or not generated.co_filename.startswith("<"):
        return f"is {cls.__name__}, which has an == of its own"
    owner = next(base for base in mro_of(cls) if "__eq__" in vars_of(base))
    known = {part.name for part in dataclasses.fields(owner) if part.compare}
    fields = [part.name for part in dataclasses.fields(cls)]
    if left_out := [name for name in fields if name not in known]:
        return f"is {cls.__name__}, whose == leaves {', '.join(left_out)} out"
    bindings = dict(zip(getattr(cls, "__parameters__", ()), arguments, strict=False))
    try:
        hints = list(_hints_of(cls, fields))
    except (NameError, TypeError):
        return f"is {cls.__name__}, whose annotations cannot be read"
    for name, hint in zip(fields, hints, strict=True):
        if hint is not cls and (reason := coarse(hint, bindings)):
            return f"has {name} in {cls.__name__}, which {reason}"
    return None


def _hints_of(cls: Any, names: Iterable[str]) -> Iterator[Any]:
    hints = typing.get_type_hints(cls, include_extras=True)
    return (hints.get(name, object) for name in names)


def told_of(coarse_key: str, cache: Any) -> tuple[int, str, str]:
    """Return the line of a cached function, what is wrong, and what to write."""
    function = inspect.unwrap(cache)
    what = f"keeps its results by {coarse_key}, so equal arguments share the answer of the first"
    return function.__code__.co_firstlineno, what, _INSTEAD
