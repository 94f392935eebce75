"""Surroundings: what the methods of a model use beside a state, written down, to be compared later.

A counter in an object, a list in a closure, an attribute of a function or a class outlives the call
that changes it: the answer to a question would depend on what was asked before.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from hashlib import blake2b
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias

from streamproof.lang.domain import Domain, Element
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.map import Map
from streamproof.lang.model import Model
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.reached import is_special, package_of, packages_of, reached_from, roots_of

Surroundings: TypeAlias = dict[str, dict[str, str]]
"""Whose values: their texts, by name."""
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes, range)
_SPECIAL = ("__annotations__", "__doc__")
"""Attributes of a class that a user can misuse, though Python made them."""


def surroundings(model: Any) -> Surroundings:
    """Write down all that the methods of a model use beside a state: it must stay as it is.

    That are the model's fields, globals, closures, default arguments, attributes of classes,
    functions and objects, and whatever these hold, however deep.

    Raises
    ------
    WrongDefinition : if they hold one another in a chain that is longer than Python's stack
    """
    return _written_down(type(model), model)


def surroundings_of(cls: type[Any]) -> Surroundings:
    """Write down the same of a class of models, whatever their fields."""
    return _written_down(cls, None)


def _written_down(cls: type[Any], model: Any) -> Surroundings:
    try:
        return _surroundings(cls, model)
    except RecursionError:
        raise WrongDefinition(
            f"the methods of {cls.__name__} use objects that hold one another in a chain of "
            "hundreds, so streamproof cannot look whether a search changes them (Python's stack "
            f"ends after {sys.getrecursionlimit()} calls). Keep them in one list or table"
        ) from None


def _surroundings(cls: type[Any], model: Any) -> Surroundings:
    writer = _Writer(packages_of(cls))  # type: ignore[arg-type] # a class does hash
    writer.note(cls)
    for part in reached_from(cls, roots_of(cls)):
        function = part.function
        writer.write("the function", {function.__qualname__: function})
        named: tuple[str, ...] = (*part.code.co_names, *part.code.co_freevars)
        used = {key: part.names[key] for key in named if key in part.names}
        writer.write("the global", used)
        for value in used.values():
            if isinstance(value, ModuleType):
                attributes = {key: getattr(value, key, None) for key in part.code.co_names}
                writer.write(f"{value.__name__}'s", attributes)
    own, computed = getattr(model, "__dict__", {}), computed_once(cls)
    writer.write("the model's", {n: own[n] for n in own if n not in computed})
    writer.write_classes()
    writer.write_computed(model)
    writer.write_classes()
    return writer.found


def changed(before: Surroundings, after: Surroundings) -> tuple[str, str, str] | None:
    """Find something that is no longer what it was.

    A class that is met for the first time, or what an object has computed since, is no change.

    Returns
    -------
    What it is, how it was and how it is; None if nothing has changed.
    """
    for whose in sorted(before.keys() & after.keys()):
        old, new = before[whose], after[whose]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                about = f"{whose.partition(_AT)[0]} {name}".rstrip()
                return about, old.get(name, "not there"), new.get(name, "gone")
    return None


_AT = " at "
"""What stands in front of an object's number, which is told to nobody."""


def computed_once(cls: type[Any]) -> set[str]:
    """Name what objects of a class keep once it is computed."""
    return {
        name
        for base in cls.__mro__
        for name, value in vars(base).items()
        if isinstance(value, functools.cached_property)
    }


class _Writer:
    """Writes values down, and notes the classes of what it meets, whose attributes count, too.

    Parameters
    ----------
    packages : of the model; what belongs to others is not looked into
    """

    def __init__(self, packages: frozenset[str]) -> None:
        self.packages = packages
        self.found: Surroundings = {}
        self.classes: dict[Any, bool] = {}  # and whether its attributes are written
        self.computed_once: Any = functools.cache(computed_once)
        self.written: dict[int, tuple[Any, str]] = {}
        """What was met and its text, by number; kept, so that no other object has the number."""

    def write(self, whose: str, values: Mapping[str, Any]) -> None:
        """Write values down by their names."""
        for name, value in values.items():
            if not is_special(name) or name in _SPECIAL:
                self.found.setdefault(whose, {})[name] = self.text(value)

    def write_classes(self) -> None:
        """Write down the attributes of all classes that were met, and of those that they hold."""
        while waiting := [cls for cls, is_written in self.classes.items() if not is_written]:
            for cls in waiting:
                self.classes[cls] = True
                members = vars(cls)
                # What an enumeration finds by its values, a flag adds to.
                own = {n: v for n, v in members.items() if not n.endswith("_") or n in _SPECIAL}
                self.write(f"{cls.__qualname__}'s", own)

    def note(self, cls: Any) -> None:
        """Note a class, what it inherits from, and its metaclass."""
        for base in (*cls.__mro__, *type(cls).__mro__):
            if base is Model or self._is_own(base):  # anybody can give `Model` attributes
                self.classes.setdefault(base, False)

    def _is_own(self, part: Any) -> bool:
        """Tell whether a class or function is of the model's packages."""
        module = getattr(part, "__module__", None)
        return isinstance(module, str) and package_of(module) in self.packages

    def text(self, value: Any) -> str:
        """Write a value down, with all that it holds; what is met again, as it was written."""
        if isinstance(value, type):
            self.note(value)
            return value.__qualname__
        self.note(type(value))
        if isinstance(value, (*_IMMUTABLE, Enum, Element, ModuleType, CodeType)):
            return repr(value)
        if id(value) not in self.written:
            self.written[id(value)] = value, "..."  # as long as what it holds is written
            self.written[id(value)] = value, _shortened(self._text_of(value))
        return self.written[id(value)][1]

    def _text_of(self, value: Any) -> str:
        if isinstance(value, _LISTED) and type(value) in _BRACKETS:
            return self._listed(value)
        parts = [f"{label}{self.text(part)}" for label, part in self._parts(value)]
        name = getattr(value, "__qualname__", type(value).__qualname__)
        if isinstance(value, FunctionType):
            name = f"{name} {_code_of(value.__code__)}"
        return f"{name}({', '.join(parts)})" if parts else _shown(value, name)

    def _listed(self, value: Any) -> str:
        """Write a collection down as Python does; a set in an order of its own."""
        if isinstance(value, dict):
            pairs = list(value.items())
            inside = [f"{self.text(k)}: {self.text(v)}" for k, v in pairs]
        else:
            inside = [self.text(part) for part in value]
        if isinstance(value, set | frozenset):
            inside.sort()
        begin, end = _BRACKETS[type(value)]
        return f"{begin}{', '.join(inside)}{end}"

    def _parts(self, value: Any) -> Iterator[tuple[str, Any]]:
        if not isinstance(value, FunctionType) or self._is_own_code(value):
            return _parts(value)
        # One of `singledispatch` remembers what it has found, beside what was registered.
        told = ("registry", "__wrapped__")
        return ((f"{name}=", getattr(value, name)) for name in told if hasattr(value, name))

    def _is_own_code(self, function: FunctionType) -> bool:
        return origin_of(function.__code__) is Origin.USER and self._is_own(function)

    def write_computed(self, model: Any) -> None:
        """Write down apart what objects have computed and keep, after all else: it may be new."""
        self.written.setdefault(id(model), (model, ""))
        done: set[int] = set()
        while waiting := [self.written[number][0] for number in self.written if number not in done]:
            for value in waiting:
                done.add(id(value))
                own: dict[str, Any] = getattr(value, "__dict__", None) or {}
                for name in own and self.computed_once(type(value)) & own.keys():
                    whose = f"{type(value).__qualname__}.{name}, which is computed once,"
                    self.found[f"{whose}{_AT}{id(value)}"] = {"": self.text(own[name])}


_LISTED = (list, tuple, dict, set, frozenset)
_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("{", "}"),
}


def _shortened(text: str) -> str:
    """Shorten a long text to how it begins, and a digest of all of it."""
    if len(text) <= _LENGTH_MAX:
        return text
    return f"{text[:_LENGTH_MAX]}... ({blake2b(text.encode(), digest_size=12).hexdigest()})"


_LENGTH_MAX = 500
"""Letters of a text; an object that holds another twice would double it at each level."""


def _shown(value: Any, name: str) -> str:
    """Show what holds nothing that can be listed: by its own text, if that tells its content."""
    module = type(value).__module__
    if isinstance(value, memoryview):
        return repr(bytes(value))
    is_told = module in ("collections", "array", "decimal", "fractions", "datetime", "numpy")
    return repr(value) if is_told or isinstance(value, bytearray) else str(name)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """List what a value holds, one level deep, each with what it is called there."""
    for kinds, parts_of in _KINDS:
        if isinstance(value, kinds):
            yield from parts_of(value)
            return
    yield from _attributes(value)


def _of_collection(value: Any) -> Iterator[tuple[str, Any]]:
    """List what an object of a class of one's own, or a deque, collects; then its attributes."""
    if isinstance(value, dict | MappingProxyType):
        yield "", dict(value)
    elif isinstance(value, set | frozenset):
        yield "", set(value)
    else:
        yield "", list(value)
    yield from _attributes(value)


def _of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    code = function.__code__
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # as long as the function around it runs
            yield f"{name}=", cell.cell_contents
    if function.__defaults__:
        yield "defaults=", function.__defaults__
    if function.__kwdefaults__:
        yield "defaults=", function.__kwdefaults__
    yield from ((f"{name}=", part) for name, part in vars(function).items())


def _of_error(error: BaseException) -> Iterator[tuple[str, Any]]:
    yield "", error.args
    yield "frames=", _depth(error)
    yield from _attributes(error)


_KINDS: tuple[tuple[Any, Callable[[Any], Iterator[tuple[str, Any]]]], ...] = (
    # The elements of a domain are of one class, and none of them can change.
    (Domain, lambda domain: iter([("", part) for part in domain.elements[:1]])),
    (Map, lambda entries: iter([("", entries.domains), ("", dict(entries.items()))])),
    (FunctionType, _of_function),
    ((*_LISTED, deque, MappingProxyType), _of_collection),
    (MethodType, lambda method: iter([("", method.__func__), ("self=", method.__self__)])),
    (
        BuiltinFunctionType,
        lambda called: iter([("self=", called.__self__)] * (type(called.__self__) in _LISTED)),
    ),
    (
        functools.partial,
        lambda call: iter([("", call.func), ("", call.args), ("", call.keywords)]),
    ),
    (property, lambda made: iter([("", made.fget), ("", made.fset)])),
    ((classmethod, staticmethod), lambda made: iter([("", made.__func__)])),
    (functools.cached_property, lambda made: iter([("", made.func)])),
    (BaseException, _of_error),
)
"""How what some classes hold is listed; any other object holds its attributes."""


@functools.lru_cache(maxsize=4096)
def _code_of(code: CodeType) -> str:
    """Write down what a function does: two of one name may do different things."""
    consts = (_code_of(c) if isinstance(c, CodeType) else (type(c), c) for c in code.co_consts)
    does = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, *consts)
    return blake2b(repr(does).encode(), digest_size=6).hexdigest()


def _depth(error: BaseException) -> int:
    """Count the frames that an error has gone through."""
    traceback, depth = error.__traceback__, 0
    while traceback is not None:
        traceback, depth = traceback.tb_next, depth + 1
    return depth


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """List the attributes of an object, but for what it keeps once it is computed."""
    computed = computed_once(type(value))
    own = getattr(value, "__dict__", None)
    if isinstance(own, dict):
        yield from ((f"{name}=", part) for name, part in list(own.items()) if name not in computed)
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if not is_special(name):
                yield f"{name}=", getattr(value, name, None)
