"""Reached code: which functions the methods of a model may run, read off their bytecode.

Followed are the functions that are named or kept in what is named, the methods of the model, those
of the records in its states and those of named classes and objects: the methods whose names occur,
and the ones that Python calls by itself, such as `__eq__`. What belongs to Python's library, the
language or other packages is not looked into.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

from streamproof.lang.as_listed import Listed, list_code, require_as_listed
from streamproof.lang.cached import is_cache
from streamproof.lang.contents import ENTRIES, PAIRS, attribute_of, built_on, dict_getter, kept_in_c
from streamproof.lang.errors import StreamproofError
from streamproof.lang.imports import Imported, imported_in
from streamproof.lang.model import Role, methods_of
from streamproof.lang.origin import Origin, asks_models, instructions_of, origin_of
from streamproof.lang.reflective import (
    REFLECTIVE,
    finds_by_text,
    finds_in_its_module,
    modules_named,
    texts_in,
)
from streamproof.lang.roles import code_when_listed

_MADE_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_PLAIN = (type(None), bool, int, float, complex, str, bytes)
_CALLS_NOTHING = ("typing", "abc", "dataclasses", "streamproof.lang.model")
"""Modules whose classes call no method that a user's class adds."""
_BY_NAME = ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_NAME")
_OF_VALUES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")


@dataclass(frozen=True, slots=True, eq=False)
class Reached:
    """A function, or one inside of it, that may be run.

    Attributes
    ----------
    function : the outermost function around the code
    names : what its global and free names stand for
    values : per instruction that names a value which is known: it, and the value
    """

    code: CodeType
    function: FunctionType
    names: Mapping[str, Any]
    values: tuple[tuple[dis.Instruction, Any], ...]


def reached_from(cls: type[Any], roots: Iterable[Any]) -> Iterator[Reached]:
    """List what some methods of a model may run, each function once."""
    return Reader(cls).read(roots)


def roots_of(cls: Any) -> list[Any]:
    """List what a search asks: methods with a role, what is ruled out, and where it begins."""
    methods = methods_of(cls)
    own = [] if any(m.role is Role.INIT for m in methods) else [cls.initial_states]
    return [*(getattr(cls, method.name) for method in methods), cls.ruled_out, *own]


@functools.cache
def records_of(cls: Any) -> tuple[type[Any], ...]:
    """List the records that a model's states and fields are made of, and their base classes."""
    hinted: tuple[type[Any], ...] = hinted_classes_of(cls)
    records = (record for record in hinted if dataclasses.is_dataclass(record))
    bases = (base for record in records for base in record.__mro__ if base is not object)
    return tuple(dict.fromkeys(bases))


@functools.cache
def hinted_classes_of(cls: Any) -> tuple[type[Any], ...]:
    """List the classes that a model's states, fields and parameters are declared to be of."""
    waiting: list[Any] = [hint for m in methods_of(cls) for _, hint in m.parameters]
    starts = (method for method in methods_of(cls) if method.role is Role.INIT)
    for owner in (cls, *(getattr(cls, method.name) for method in starts)):
        with suppress(NameError, TypeError, StreamproofError):
            waiting += typing.get_type_hints(owner).values()
    found: dict[type[Any], None] = {}
    for hint in waiting:  # which grows meanwhile
        waiting += typing.get_args(hint)
        hinted = typing.get_origin(hint) or hint
        if isinstance(hinted, type) and hinted not in found:
            found[hinted] = None
            with suppress(NameError, TypeError):
                if dataclasses.is_dataclass(hinted):
                    waiting += typing.get_type_hints(hinted).values()
    return tuple(found)


def require_as_when_listed(cls: type[Any]) -> None:
    """Refuse a model whose classes have changed since its methods were listed.

    Raises
    ------
    WrongDefinition : if a method was added, replaced, changed or removed, and as `methods_of` does
    """
    methods_of(cls)
    own: Any = cls  # which does hash
    require_as_listed(cls, code_when_listed(own), list_code(cls.__mro__))
    require_as_listed(cls, _records_when_listed(own), list_code(records_of(own)))


@functools.cache
def _records_when_listed(cls: Any) -> Listed:
    return list_code(records_of(cls))


class Reader:
    """Follows what a method may run, each function once, however often it is asked."""

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        records: tuple[type[Any], ...] = records_of(cls)  # type: ignore[arg-type] # hashable
        self.seen: set[int] = set()
        self.methods_seen: set[tuple[Any, str]] = set()
        self.modules: dict[str, ModuleType] = {}
        self.names: set[str] = set()
        self.follows_all_names = False
        self.looked_at: set[type[Any]] = set()
        self.classes: dict[type[Any], None] = dict.fromkeys(records)
        self.packages = packages_of(cls)  # type: ignore[arg-type] # a class does hash
        self.caches: list[Any] = []

    def read(self, roots: Iterable[Any]) -> Iterator[Reached]:
        """List what some methods may run, and was not listed yet."""
        for root in (*roots, vars(self.cls).get("__dataclass_fields__")):
            yield from self.follow(root)
        yield from self.follow_classes()

    def is_own(self, code: CodeType) -> bool:
        """Return whether code is a user's, and of no other package than the model's."""
        if origin_of(code) is not Origin.USER or asks_models(code):
            return False
        return _package(code.co_filename) in self.packages

    def follow(self, value: Any) -> Iterator[Reached]:
        """Look into a function, whatever it was made into and kept in."""
        for part in kept_in(value):
            self._note_class(part)
            if type(part) in self.classes:
                yield from self._follow_object(part)
            else:
                yield from self._follow(part)

    def follow_classes(self) -> Iterator[Reached]:
        """Look into methods that are named, and those that Python calls by itself."""
        while True:
            owners: list[Any] = [*self.classes, *self.modules.values()]
            found = [
                (owner, name)
                for owner in owners
                for name in vars(owner)
                if (owner, name) not in self.methods_seen and self._may_be_called(owner, name)
            ]
            if not found:
                return
            self.methods_seen.update(found)
            for owner, name in found:
                yield from self.follow(vars(owner)[name])

    def _may_be_called(self, cls: type[Any] | ModuleType, name: str) -> bool:
        """Return whether a method may be: it is named, special, or overrides one of a library."""
        if isinstance(cls, ModuleType):
            return name in self.names and isinstance(vars(cls)[name], FunctionType)
        if self.follows_all_names or name in self.names or is_special(name):
            return True
        bases = (base for base in cls.__mro__[:-1] if base.__module__ not in _CALLS_NOTHING)
        return not all(map(self._is_own_class, bases))

    def _note_class(self, value: Any) -> None:
        """Note the class of an object, or a class that is named, with what it inherits."""
        if type(value) is ModuleType and _is_in(value.__name__, self.packages):
            self.modules[value.__name__] = value
        cls: Any = value if issubclass(type(value), type) else type(value)
        if cls in self.looked_at:
            return
        self.looked_at.add(cls)
        for base in (*cls.__mro__, *type(cls).__mro__):
            is_known = base in self.classes or base in self.cls.__mro__
            if not is_known and base.__flags__ & _MADE_IN_PYTHON and self._is_own_class(base):
                self.classes[base] = None
                self.names.update(texts_in([vars(base).get("__match_args__")]))

    def _is_own_class(self, cls: type[Any]) -> bool:
        return _is_in(cls.__module__, self.packages)

    def _follow_object(self, value: Any) -> Iterator[Reached]:
        """Look into what an object of a user keeps, without asking it."""
        if id(value) not in self.seen:
            self.seen.add(id(value))
            cls: Any = type(value)
            get = dict_getter(cls)
            for part in list(get(value).values()) if get else ():
                yield from self.follow(part)

    def _follow(self, value: Any) -> Iterator[Reached]:
        for part in unwrapped(value):
            self.caches += [part] if is_cache(part) else []
            if type(part) is FunctionType and self.is_own(part.__code__):
                cells: dict[str, Any] = {}
                pairs = zip(part.__code__.co_freevars, part.__closure__ or (), strict=False)
                for name, cell in pairs:
                    with suppress(ValueError):  # it is empty as long as its function runs
                        cells[name] = cell.cell_contents
                names = {**part.__globals__, **cells} if cells else part.__globals__
                yield from self._read(part.__code__, part, names)

    def _read(
        self, code: CodeType, function: FunctionType, names: dict[str, Any]
    ) -> Iterator[Reached]:
        if id(code) in self.seen:
            return
        self.seen.add(id(code))
        self.names.update(code.co_names, texts_in(code.co_consts))
        imported = imported_in(code, names)
        names = {**names, **imported.local} if imported.local else names
        values = tuple(self._values(code, names, imported))
        yield Reached(code, function, names, values)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                yield from self._read(const, function, names)
        for _, value in values:
            yield from self.follow(value)
        for value in self._found_by_text(code, function, [value for _, value in values]):
            yield from self.follow(value)

    def _found_by_text(
        self, code: CodeType, function: FunctionType, values: list[Any]
    ) -> Iterator[Any]:
        """List what `getattr`, `globals` and their like may find in modules and in the model."""
        is_hidden = finds_by_text(code, values)
        if not is_hidden and REFLECTIVE.isdisjoint(code.co_names):
            return
        self.follows_all_names |= is_hidden
        texts = set(texts_in(code.co_consts))
        spaces = [vars(value) for value in values if isinstance(value, ModuleType)]
        spaces += [function.__globals__] if finds_in_its_module(code) else []
        own = [space for space in spaces if _is_in(space.get("__name__"), self.packages)]
        for space in (*own, *map(vars, self.cls.__mro__)):
            for name, value in list(space.items()):
                if name in texts or (is_hidden and not isinstance(value, ModuleType)):
                    yield value
        yield from (sys.modules[name] for name in modules_named(code.co_consts))

    def _values(
        self, code: CodeType, names: dict[str, Any], imported: Imported
    ) -> Iterator[tuple[dis.Instruction, Any]]:
        owners: list[Any] = []  # modules that the instruction before has loaded, if it did
        is_named = False
        for instruction in instructions_of(code):
            found = imported.values.get(instruction.offset, ())
            name = instruction.argval
            if instruction.opname in _BY_NAME and _is_users(name, names):
                found, is_named = (names[name],), True
            elif instruction.opname in _OF_VALUES:
                is_named = is_named and bool(owners)
                found = tuple(self._attributes(code, owners, name, is_named))
            elif isinstance(name, str) and name in imported.local:
                found, is_named = (imported.local[name],), True
            for value in found:
                if value is not None:
                    self._note_class(value)
                    yield instruction, value
            owners = [value for value in found if issubclass(type(value), ModuleType)]

    def _attributes(
        self, code: CodeType, owners: list[Any], name: str, is_named: bool
    ) -> Iterator[Any]:
        """List what an attribute may be: of a module, or a method of the model or of a record.

        Parameters
        ----------
        code, name : the function that asks, and the attribute
        owners : modules that it may be asked of
        is_named : whether it is one of them: a record may have a field that is called as a module
            of the model is
        """
        yield from (getattr(owner, name, None) for owner in owners)
        if is_named:
            return
        bases = self.cls.__mro__ if "super" in code.co_names else ()
        yield getattr(self.cls, name, None)
        for base in (*bases, *self.classes):
            yield vars(base).get(name)


def _is_in(module: Any, packages: frozenset[str]) -> bool:
    """Return whether a module is of some packages; some classes of C name none."""
    return isinstance(module, str) and package_of(module) in packages


def unwrapped(value: Any) -> list[Any]:
    """List a value and the functions inside of it: those of a property, or of a wrapper."""
    found = [value]
    for part in found:  # which grows meanwhile
        inner = (attribute_of(part, name) for name in ("fget", "func", "__func__", "__wrapped__"))
        found += [new for new in inner if new is not None and all(new is not old for old in found)]
    return found


def _is_users(name: str, names: Mapping[str, Any]) -> bool:
    """Return whether a name stands for something other than pytest's own, as an `assert` has."""
    return name in names and not name.startswith("@py")


def kept_in(value: Any) -> Iterator[Any]:
    """List a value, and all that collections and partial calls in it hold."""
    waiting, seen = [value], set[int]()
    while waiting:
        part = waiting.pop()
        if id(part) in seen or type(part) in _PLAIN:
            continue
        seen.add(id(part))
        yield part
        cls: Any = type(part)
        base: Any = built_on(cls)
        if base in ENTRIES:
            waiting += ENTRIES[base](part)
        elif base is not None and issubclass(base, dict):
            waiting += [both for pair in PAIRS.get(base, dict.items)(part) for both in pair]
        elif cls is MappingProxyType:
            waiting += kept_in_c(part, cls)
        elif base is functools.partial:
            names = ("func", "args", "keywords")
            waiting += [attribute_of(part, name) for name in names]
        elif cls is MethodType:
            waiting += [part.__func__, part.__self__]
        elif cls is dataclasses.Field:
            waiting.append(part.default_factory)


def is_special(name: str) -> bool:
    """Return whether Python calls a method of this name by itself."""
    return name.startswith("__") and name.endswith("__")


@functools.cache
def packages_of(cls: Any) -> frozenset[str]:
    """Return the packages whose code is read: the model's, ours, and "" for no package."""
    own = (package_of(base.__module__) for base in cls.__mro__)
    return frozenset({"", _package(__file__), *(package for package in own if package is not None)})


@functools.cache
def package_of(module: str) -> str | None:
    """Return the package of a user's module; None for one of Python or streamproof's language."""
    top = module.partition(".")[0]
    is_pythons = top in sys.stdlib_module_names and top != "__main__"
    if is_pythons or module.startswith("streamproof.lang"):
        return None
    return _package(getattr(sys.modules.get(module), "__file__", None) or "")


def _package(path: str) -> str:
    """Return the directory of the installed package that a file is in; empty if it is in none."""
    parts = Path(path).parts
    for number, part in enumerate(parts[:-1]):
        if part.endswith("-packages"):
            return str(Path(*parts[: number + 2]))
    return ""
