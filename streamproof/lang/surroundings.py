"""Surroundings: what the methods of a model use beside a state, written down, to be compared later.

A counter in an object, a list in a closure, an attribute of a function or a class outlives the call
that changes it: the answer to a question would depend on what was asked before.
"""

from __future__ import annotations

import functools
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum, Flag
from types import CodeType, FunctionType, ModuleType, UnionType
from typing import Any, TypeAlias

from streamproof.lang.contents import (
    ENTRIES,
    NAMED,
    PAIRS,
    ask_again,
    attribute_of,
    built_on,
    defined_by,
    dict_getter,
    is_written_in_c,
    kept_in_c,
    mro_of,
    name_of,
    remembered_by,
    slots_of,
    vars_of,
)
from streamproof.lang.domain import Domain
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.map import Map
from streamproof.lang.model import Model
from streamproof.lang.origin import Origin, names_used, origin_of
from streamproof.lang.reached import is_special, package_of, packages_of, reached_from, roots_of
from streamproof.lang.texts import NUMBER, code_text, numbered, plain_text, shortened

Surroundings: TypeAlias = dict[str, dict[str, str]]
"""Whose values: their texts, by name."""
_IMMUTABLE = frozenset((type(None), bool, int, float, complex, str, bytes, range))
_OF_PYTHON = ("__builtins__", "__spec__", "__loader__", "__weakref__", "__slotnames__", "_abc_impl")
"""What Python puts into modules and classes, and adds to."""
_OF_ENUM = ("_value2member_map_",)
"""What an enumeration finds by its values, a flag adds to."""


def surroundings(model: Any) -> Surroundings:
    """Write down all that the methods of a model use beside a state: it must stay as it is.

    That are the model's fields, globals, closures, default arguments, attributes of classes,
    functions and objects, and whatever these hold, however deep.

    Raises
    ------
    WrongDefinition : if they hold one another in a chain that is longer than Python's stack
    """
    return look_around(type(model), model).found


def surroundings_of(cls: type[Any]) -> Surroundings:
    """Write down all that the methods of a class of models use, whatever its fields."""
    return look_around(cls, None).found


def look_around(cls: type[Any], model: Any) -> Writer:
    """Return a writer that has written down all that a model uses; the model may be None."""
    try:
        return _looked_around(cls, model)
    except RecursionError:
        raise WrongDefinition(
            f"the methods of {cls.__name__} use objects that hold one another in a chain of "
            "hundreds, so streamproof cannot look whether a search changes them (Python's stack "
            f"ends after {sys.getrecursionlimit()} calls). Keep them in one list or table"
        ) from None


def _looked_around(cls: Any, model: Any) -> Writer:
    writer = Writer(packages_of(cls))
    writer.note(cls)
    for part in reached_from(cls, roots_of(cls)):
        function = part.function
        writer.write("the function", {function.__qualname__: function})
        named = (*names_used(part.code), *part.code.co_freevars)
        used = {key: part.names[key] for key in named if key in part.names}
        writer.write("the global", used)
        for value in (*used.values(), *(value for _, value in part.values)):
            if issubclass(type(value), ModuleType):
                writer.write(f"{value.__name__}'s", writer.asked_for(value, part.code))
    own, computed = _attributes_of(model), computed_once(cls)
    writer.write("the model's", {n: own[n] for n in own if n not in computed})
    writer.write_classes()
    writer.write_computed(model)
    writer.write_classes()
    return writer


def changed(before: Surroundings, after: Surroundings) -> tuple[str, str, str] | None:
    """Find something that has changed between two records.

    A class that is met for the first time, or what an object has computed since, is no change.

    Returns
    -------
    What it is, how it was and how it is; None if nothing has changed.
    """
    for whose in sorted(before.keys() & after.keys()):
        old, new = before[whose], after[whose]
        for name in sorted(old.keys() | new.keys()):
            if old.get(name) != new.get(name):
                about = f"{place_told(whose)} {name}".rstrip()
                was, now = _shown(old.get(name, "not there")), _shown(new.get(name, "gone"))
                return about, was, f"another {now}" if was == now else now
    return None


def place_told(whose: str) -> str:
    """Describe a place, without the number of its object."""
    return whose.partition(_AT)[0]


def _shown(text: str) -> str:
    """Leave numbers of objects out of a text."""
    return NUMBER.sub("", text)


_AT = " at "
"""The text in front of an object's number. No message shows the number."""


def computed_once(cls: type[Any]) -> set[str]:
    """Name what objects of a class keep once it is computed."""
    return {
        name
        for base in mro_of(cls)
        for name, value in vars_of(base).items()
        if issubclass(type(value), functools.cached_property)
    }


class Writer:
    """Writes values down, and notes the classes of what it meets, whose attributes count, too.

    Parameters
    ----------
    packages : of the model; what belongs to others is not looked into
    is_numbered : whether objects that are equal to themselves alone are told apart
    """

    def __init__(self, packages: frozenset[str], *, is_numbered: bool = True) -> None:
        self.packages, self.is_numbered = packages, is_numbered
        self.found: Surroundings = {}
        self.noted: dict[int, Any] = {}
        self.classes: dict[int, Any] = {}
        self.done: set[int] = set()  # the classes whose attributes are written
        self.computed: dict[str, tuple[Any, Callable[[], Any]]] = {}
        """What was computed, by its place in `found`, and how it is computed again."""
        self.computed_once: Any = functools.cache(computed_once)
        self.hidden: Any = functools.cache(lambda cls: self.computed_once(cls) | _hidden_of(cls))
        self.written: dict[int, tuple[Any, str]] = {}
        """What was met and its text, by number; kept, so that no other object has the number."""

    def write(self, whose: str, values: Mapping[str, Any]) -> None:
        """Write values down by their names."""
        for name, value in values.items():
            if name not in _OF_PYTHON:
                self.found.setdefault(whose, {})[name] = self.text(value)

    def write_classes(self) -> None:
        """Write down the attributes of all classes that were met, and of those that they hold."""
        while waiting := [cls for number, cls in self.classes.items() if number not in self.done]:
            for cls in waiting:
                self.done.add(id(cls))
                own = dict(vars_of(cls))
                for name in _OF_ENUM if issubclass(cls, Enum) else ():
                    own.pop(name, None)
                if own.get("__annotations__") == {}:
                    del own["__annotations__"]  # Python makes them when they are asked for
                self.write(f"{name_of(cls)}'s", own)

    def asked_for(self, module: ModuleType, code: CodeType) -> dict[str, Any]:
        """Return what code can ask a module for; one of the model's own also by `getattr`."""
        names = [name for name in code.co_names if not is_special(name)]
        found = {name: getattr(module, name, None) for name in names}
        if self._is_own(module.__name__):
            own = vars(module)
            found |= {n: own[n] for n in code.co_consts if type(n) is str and n in own}
        return found

    def note(self, cls: Any) -> None:
        """Note a class, what it inherits from, and its metaclass."""
        if id(cls) in self.noted:
            return
        self.noted[id(cls)] = cls
        for base in (*mro_of(cls), *mro_of(type(cls))):
            module = vars_of(base).get("__module__")
            if base is Model or self._is_own(module):  # anybody can give `Model` attributes
                self.classes.setdefault(id(base), base)

    def _is_own(self, module: object) -> bool:
        """Return whether a module is of the model's packages."""
        return isinstance(module, str) and package_of(module) in self.packages

    def text(self, value: Any) -> str:
        """Write a value down, with all that it holds; what is met again, as it was written."""
        cls = type(value)
        if cls in _IMMUTABLE:
            return plain_text(value)
        if issubclass(cls, type):
            self.note(value)
            return self._as_asked(numbered(name_of(value), value))
        self.note(cls)
        if id(value) not in self.written:
            self.written[id(value)] = value, "..."  # as long as what it holds is written
            self.written[id(value)] = value, shortened(self._text_of(value, cls))
        return self.written[id(value)][1]

    def _text_of(self, value: Any, cls: Any) -> str:
        base: Any = built_on(cls)
        own = self._listed(value, cls, base) if base in _BRACKETS else None
        if own is not None and cls is base and cls is not defaultdict:
            return own
        inside = [] if own is None else [own]
        inside += [f"{label}{self.text(part)}" for label, part in self._parts(value, cls, base)]
        name = self._as_asked(_name_of_object(value, cls))
        return f"{name}({', '.join(inside)})" if inside else name

    def _as_asked(self, text: str) -> str:
        return text if self.is_numbered else NUMBER.sub("", text)

    def _listed(self, value: Any, cls: Any, base: Any) -> str:
        """Write a collection down as Python does; a set in an order of its own."""
        if base in ENTRIES:
            inside = [self.text(part) for part in list(ENTRIES[base](value))]
        else:
            pairs = list(PAIRS[OrderedDict if issubclass(cls, OrderedDict) else dict](value))
            inside = [f"{self.text(k)}: {self.text(v)}" for k, v in pairs]
        if base is set or base is frozenset:
            inside.sort()
        begin, end = _BRACKETS[base]
        return f"{begin}{', '.join(inside)}{end}"

    def _parts(self, value: Any, cls: Any, base: Any) -> Iterator[tuple[str, Any]]:
        """List what a value holds, one level deep, each with what it is called there."""
        if cls is FunctionType:
            yield from self._of_function(value)
        elif not issubclass(cls, ModuleType):
            own = next((parts_of for kind, parts_of in _KINDS if issubclass(cls, kind)), None)
            if own is not None:
                yield from (("", part) for part in own(value))
            elif base is not None and base not in _BRACKETS:
                yield from (("", part) for part in kept_in_c(value, base))
            yield from () if cls in NAMED else self._attributes(value, cls)

    def _attributes(self, value: Any, cls: Any) -> Iterator[tuple[str, Any]]:
        """List the attributes of an object, but for what it keeps once it is computed."""
        hidden = self.hidden(cls)
        if get := dict_getter(cls):
            own = list(dict.items(get(value)))
            yield from ((f"{name}=", part) for name, part in own if name not in hidden)
        for name, read in slots_of(cls):
            if name not in hidden and (not is_special(name) or self._is_told(read)):
                with suppress(AttributeError):
                    yield f"{name}=", read(value)

    def _is_told(self, read: Any) -> bool:
        """Return whether a special slot is of C code or of the model; `typing` fills some later."""
        owner = read.__self__.__objclass__
        return is_written_in_c(owner) or self._is_own(vars_of(owner).get("__module__"))

    def _of_function(self, function: FunctionType) -> Iterator[tuple[str, Any]]:
        code, own = function.__code__, vars(function)
        if origin_of(code) is not Origin.USER or not self._is_own(function.__module__):
            # One of `singledispatch` remembers what it has found, beside what was registered.
            told = ("registry", "__wrapped__")
            yield from ((f"{name}=", own[name]) for name in told if name in own)
            return
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
            with suppress(ValueError):  # as long as the function around it runs
                yield f"{name}=", cell.cell_contents
        if function.__defaults__:
            yield "defaults=", function.__defaults__
        if function.__kwdefaults__:
            yield "defaults=", function.__kwdefaults__
        yield from ((f"{name}=", part) for name, part in own.items())
        if function.__annotations__:
            yield "annotations=", function.__annotations__
        if function.__doc__ is not None:
            yield "doc=", function.__doc__

    def write_computed(self, model: Any) -> None:
        """Write down computed results of objects, apart and last, since they may be new."""
        self.written.setdefault(id(model), (model, ""))
        done: set[int] = set()
        while waiting := [self.written[number][0] for number in self.written if number not in done]:
            for value in waiting:
                done.add(id(value))
                for about, kept, again in self._computed(value):
                    place = f"{about}{_AT}{id(value)}"
                    self.found[place] = {"": self.text(kept)}
                    self.computed[place] = kept, again

    def _computed(self, value: Any) -> Iterator[tuple[str, Any, Callable[[], Any]]]:
        """List computed or remembered results: place, result, and a call to compute it again."""
        cls: Any = type(value)
        if cls is _CACHE and self._is_own(value.__module__):
            for asked, kept in remembered_by(value):
                if type(kept) not in _IMMUTABLE:
                    about = f"what {value.__name__} remembers{_AT}{self.text(asked)}{id(kept)}"
                    yield about, kept, functools.partial(ask_again, value, asked)
        get = dict_getter(cls) if self.computed_once(cls) else None
        own = get(value) if get else {}
        for name in self.computed_once(cls) & own.keys():
            about = f"{name_of(cls)}.{name}, which is computed once,"
            yield about, own[name], functools.partial(defined_by(cls, name).func, value)


_CACHE: Any = type(functools.cache(len))
_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    dict: ("{", "}"),
    set: ("{", "}"),
    frozenset: ("{", "}"),
    deque: ("deque([", "])"),
    OrderedDict: ("OrderedDict({", "})"),
    defaultdict: ("{", "}"),
}


def _name_of_object(value: Any, cls: Any) -> str:
    """Name an object by its class, or itself; with a number if it is equal to itself alone."""
    if issubclass(cls, Enum):
        return f"{name_of(cls)}.{_attributes_of(value).get('_name_')}"
    if issubclass(cls, ModuleType):
        return numbered(f"module {_attributes_of(value).get('__name__')}", value)
    if cls is FunctionType:
        return numbered(f"{value.__qualname__} {code_text(value.__code__)}", value, value.__code__)
    if cls is CodeType:
        return numbered(value.co_qualname, value)
    if cls in NAMED:
        return str(value.__qualname__)
    is_itself = not is_written_in_c(cls) and defined_by(cls, "__eq__") is object.__eq__
    return numbered(name_of(cls), *(value,) * is_itself)


def _attributes_of(value: Any) -> dict[str, Any]:
    cls: Any = type(value)
    get = dict_getter(cls)
    return get(value) if get else {}


def _hidden_of(cls: Any) -> set[str]:
    """Name the attributes that are not content of an object, or are listed elsewhere."""
    return {name for kind, names in _HIDDEN for name in names if issubclass(cls, kind)}


_HIDDEN: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (Domain, ("_hash",)),
    (Map, ("_hash", "_space", "_values")),
    (Enum, ("_name_", "__objclass__")),
    (Flag, ("_inverted_",)),  # which it remembers
)


def _pairs_of(entries: Any) -> Iterable[tuple[Any, Any]]:
    keys = attribute_of(entries, "_space").keys
    return zip(keys, attribute_of(entries, "_values"), strict=True)


def _of_error(error: Any) -> Iterator[Any]:
    for name in ("args", "__cause__", "__context__"):
        yield vars(BaseException)[name].__get__(error)
    yield _depth(error)


_KINDS: tuple[tuple[Any, Callable[[Any], Iterable[Any]]], ...] = (
    (Map, lambda entries: (attribute_of(entries, "_space").domains, tuple(_pairs_of(entries)))),
    (BaseException, _of_error),
    # They are told by their slots; a union computes its type variables once they are asked for.
    ((functools.partial, slice, UnionType), lambda _: ()),
)
"""How what some classes hold is listed, beside attributes and slots."""


def _depth(error: BaseException) -> int:
    """Count the frames that an error has gone through."""
    traceback, depth = vars(BaseException)["__traceback__"].__get__(error), 0
    while traceback is not None:
        traceback, depth = traceback.tb_next, depth + 1
    return depth
