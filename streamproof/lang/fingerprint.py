"""Fingerprints: what the methods of a model use beside a state, to be compared after each call.

A search that compares at its end alone does not see what was changed and changed back. So whoever
may have a side effect is looked at after each call: at the lists, tables, objects, functions and
classes that its methods reach, one level deep each. It takes some microseconds for each of them.
"""

from __future__ import annotations

import abc
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from types import CellType, CodeType, FunctionType, MappingProxyType, ModuleType, UnionType
from typing import Any, TypeAlias

from streamproof.lang.contents import (
    NAMED,
    built_on,
    dict_getter,
    is_set,
    kept_in_c,
    mro_of,
    name_of,
    slots_of,
    vars_of,
)
from streamproof.lang.domain import Domain
from streamproof.lang.map import Map
from streamproof.lang.reached import packages_of, reached_from, roots_of
from streamproof.lang.side_effects import Effect
from streamproof.lang.surroundings import Writer, computed_once, look_around

Parts: TypeAlias = list[Any]
Read: TypeAlias = Callable[[], Parts]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range)
_FIXED = (*_PLAIN, tuple, frozenset, CodeType, MappingProxyType, UnionType, *NAMED)
"""Classes whose objects cannot change themselves; what they hold is looked at by itself."""
_TABLES = (list, deque, set, dict)
_FIXED_NAMES = frozenset(
    (
        "Pattern", "Match", "Struct", "_lru_cache_wrapper", "ReferenceType", "property",
        "staticmethod", "classmethod", "NotImplementedType", "ellipsis", "GenericAlias", "TypeVar",
        "itemgetter", "attrgetter", "methodcaller", "partial", "Decimal", "slice", "method", "date",
        "datetime", "time", "timedelta", "timezone", "ZoneInfo", "ParamSpec", "SimpleNamespace",
        "BaseException", "Exception", "cell", "module", "dict_keys", "dict_values", "dict_items",
        "RLock",
    )
)  # fmt: skip
"""Names of such classes of C code, and of those whose content their attributes or copies tell."""
_OF_PYTHON = ("__weakref__", "__dict__", "__slotnames__", "__annotations__", "_abc_impl")
"""What Python adds to classes as it goes."""
_ADDRESS = re.compile("(at|@) 0x[0-9a-fA-F]+")


_short_name: Callable[[type[Any]], str] = vars(type)["__name__"].__get__


class Fingerprint:
    """All that a model's methods use beside a state, as it is now.

    What is held is kept, so that no other object takes its place in memory, and is compared by
    identity first.

    Parameters
    ----------
    model : it is looked at as it is; its methods are not asked
    effects : what may change; nothing else is looked at
    """

    def __init__(self, model: Any, effects: AbstractSet[Effect] = frozenset(Effect)) -> None:
        self._packages = packages_of(type(model))  # type: ignore[arg-type] # a class does hash
        writer = look_around(type(model), model)
        values = [value for value, _ in writer.written.values()]
        is_all = Effect.ATTRIBUTES in effects
        if is_all:
            values += writer.classes.values()
            self._read: list[Read] = list(_globals_read(type(model)))
            self._read += [read for value in values for read in _of(value)]
        else:
            hidden = _tables_of((*values, *writer.classes.values()))
            self._read = [
                read
                for value in values
                if id(value) not in hidden and (read := _of_entries(value)) is not None
            ]
        self._kept = [read() for read in self._read]
        self._ids = [list(map(id, parts)) for parts in self._kept]

    def difference(self) -> tuple[str, str] | None:
        """Return how something was and how it is, if it has changed since this was taken.

        What is another object and looks alike is no difference, and is kept from now on.
        """
        for number, read in enumerate(self._read):
            now = read()
            if (ids := list(map(id, now))) != self._ids[number]:
                old, new = (self._text(parts) for parts in (self._kept[number], now))
                if old != new:
                    return old, new
                self._kept[number], self._ids[number] = now, ids
        return None

    def _text(self, parts: Parts) -> str:
        """Write parts down, but for what Python adds to a class as it goes."""
        writer, told = Writer(self._packages, is_numbered=False), list[str]()
        is_left_out = False
        for part in parts:
            if not is_left_out:
                is_left_out = type(part) is str and part in _OF_PYTHON
                told += [] if is_left_out else [writer.text(part)]
            else:
                is_left_out = False  # the value behind a name
        return ", ".join(told)


def hidden_in(model: Any) -> tuple[Any, ...]:
    """List the objects of C code that a model's methods use and that may change by any call.

    That are iterators, contexts, buffers and the like: no name of a method says what changes them.
    """
    written = look_around(type(model), model).written.values()
    return tuple(value for value, _ in written if _may_change_by_any_call(value))


def cannot_be_seen(value: Any) -> bool:
    """Return whether nothing tells what an object of C code holds."""
    base: Any = built_on(type(value))  # type: ignore[arg-type] # a class does hash
    seen = [*map(repr, kept_in_c(value, base)), *_told(value)]
    return not [text for text in seen if not _ADDRESS.search(text)]


def _may_change_by_any_call(value: Any) -> bool:
    cls: Any = type(value)
    base = built_on(cls)
    if base is None or issubclass(cls, _FIXED_KINDS) or issubclass(base, _TABLES):
        return False
    return base.__name__ not in _FIXED_NAMES and not issubclass(cls, BaseException)


_FIXED_KINDS = (type, *_FIXED, FunctionType, ModuleType, CellType, Domain, Map)


def _of_entries(value: Any) -> Read | None:
    cls: Any = type(value)
    return None if issubclass(cls, _LOOKED_AT_BY_ATTRIBUTES) else _of_c(value, cls)


_LOOKED_AT_BY_ATTRIBUTES = (type, FunctionType, ModuleType, CellType, Domain, Map)


def _tables_of(values: Iterable[Any]) -> set[int]:
    """Return the ids of the tables that Python and `dataclasses` keep in classes and functions.

    They are reached by special attributes alone, which count as attributes.
    """
    special = ("__dataclass_fields__", "__annotations__", "_member_map_", "_value2member_map_")
    tables = [vars_of(c).get(n) for c in values if isinstance(c, type) for n in special]
    tables += [f.__annotations__ for f in values if type(f) is FunctionType]
    return set(map(id, tables))


def _globals_read(cls: type[Any]) -> Iterator[Read]:
    """List how the globals are read that the methods of a model use."""
    for part in reached_from(cls, roots_of(cls)):
        known = part.function.__globals__
        names = [name for name in part.code.co_names if name in known]
        if names:
            yield _reader(known.get, names)


def _reader(get: Callable[[str], Any], names: Iterable[str]) -> Read:
    known = tuple(names)
    return lambda: list(map(get, known))


def _of(value: Any) -> Iterator[Read]:
    """List how the content of a value is read, one level deep; none if it cannot change."""
    cls: Any = type(value)
    if issubclass(cls, type):
        yield lambda: _of_class(value)
    elif cls is FunctionType:
        yield lambda: _of_function(value)
    elif not issubclass(cls, Domain | Map | ModuleType):
        if (read := _of_c(value, cls)) is not None:
            yield read
        if get := dict_getter(cls):
            yield _of_attributes(get(value), computed_once(cls))
        if reads := [read for name, read in slots_of(cls) if not name.startswith("__")]:
            yield lambda: [read(value) for read in reads if is_set(read, value)]


def _of_attributes(own: dict[str, Any], hidden: set[str]) -> Read:
    if hidden:
        return lambda: [part for pair in own.items() if pair[0] not in hidden for part in pair]
    return lambda: [*own, *own.values()]


def _of_c(value: Any, cls: Any) -> Read | None:
    """Return how the part of a value is read that C code keeps; None if it cannot change."""
    base: Any = built_on(cls)
    if base is None or issubclass(cls, _FIXED) or base.__name__ in _FIXED_NAMES:
        return None
    if base in (list, deque, set):
        return lambda: list(base.__iter__(value))
    if issubclass(base, dict):
        return lambda: [*dict.keys(value), *dict.values(value)]
    return lambda: [*map(sys.intern, map(repr, kept_in_c(value, base))), *_told(value)]


def _told(value: Any) -> list[str]:
    """Return what an object of C code says of content that no copy has."""
    if hasattr(value, "flags"):  # those of a decimal context are in no copy
        return [sys.intern(repr(value))]
    tell = getattr(value, "hexdigest", None)
    return [sys.intern(str(tell()))] if callable(tell) else []


def _of_function(function: FunctionType) -> Parts:
    cells = function.__closure__ or ()
    return [
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        function.__name__,
        function.__qualname__,
        function.__module__,
        function.__doc__,
        *vars(function),
        *vars(function).values(),
        *(cell.cell_contents for cell in cells if is_set(_content, cell)),
    ]


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # as long as the function around it runs
        raise AttributeError from None


_dump_of: Callable[[type[Any]], tuple[set[Any], ...]] = vars(abc)["_get_dump"]
"""Gives what was registered with an abstract class."""


def _of_class(cls: Any) -> Parts:
    registered = [len(_dump_of(cls)[0])] if isinstance(cls, abc.ABCMeta) else []
    own = vars_of(cls)
    return [
        *[part for pair in own.items() for part in pair],
        _short_name(cls),
        name_of(cls),
        *mro_of(cls),
        *type.__subclasses__(cls),
        *registered,
    ]
