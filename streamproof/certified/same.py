"""Comparing modules that are loaded with fresh copies of them, object by object.

Whatever a name of a module leads to is compared: code, constants, defaults, closures, wrappers,
class attributes, members. Where the two differ, somebody has replaced something since it was
loaded, or has changed the file.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ClassVar, TypeAlias

from streamproof.certified.code import differing_part
from streamproof.certified.sources import is_outside

Pair: TypeAlias = tuple[str, Any, Any]
"""Where something is found, what is loaded there, and its fresh copy."""

DIFFERENCES_MAX = 5

_OF_THE_IMPORT = frozenset(
    {
        *("__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__"),
        *("__package__", "__path__", "__spec__", "__warningregistry__"),
    }
)
_OF_THE_CLASS = frozenset(
    {
        *(
            "__dict__",
            "__doc__",
            "__firstlineno__",
            "__static_attributes__",
            "__weakref__",
            "__slotnames__",
        ),
        "_abc_impl",
    }
)
FILLED_WHILE_RUNNING = frozenset(
    {
        "streamproof.lang.domain.Element._members",  # elements that exist, by their number
    }
)
"""Tables that grow while protocols run. Each entry of them is made by code that is compared."""

_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)


_ALIASES = tuple(
    {
        type(list[int]),
        type(typing.List[int]),  # noqa: UP006
        type(int | str),
        type(typing.Optional[int]),  # noqa: UP045
        type(typing.Annotated[int, 1]),
        type(typing.Callable[[int], int]),
        type(typing.Literal[1]),
    }
)


def _parts(*names: str) -> Callable[[Any, str, Any, Any], Iterator[Pair]]:
    """Compare objects by some attributes, which those of another version may lack."""

    def compare(_: Any, place: str, one: Any, other: Any) -> Iterator[Pair]:
        for name in names:
            yield f"{place}.{name}", getattr(one, name, None), getattr(other, name, None)

    return compare


class Comparison:
    """One comparison of loaded modules with their copies."""

    def __init__(self, copies: Mapping[str, types.ModuleType]) -> None:
        self._copies = copies
        self._seen: set[tuple[int, int]] = set()
        self._held: list[Any] = []  # objects made on the way, whose ids must not be used again
        self.differences: list[str] = []

    def run(self) -> list[str]:
        """Compare every module, and return what differs: a place, and how, in each line."""
        waiting: list[Pair] = []
        for name in self._copies:
            loaded = sys.modules.get(name)
            if loaded is None:
                self._note(name, "is not loaded")
            else:
                waiting.append((name, loaded, self._copies[name]))
        while waiting and len(self.differences) < DIFFERENCES_MAX:
            pair = waiting.pop()
            if not self._is_done(pair):
                waiting += [*self._compare(*pair)][::-1]
        return self.differences

    def _is_done(self, pair: Pair) -> bool:
        place, one, other = pair
        if place in FILLED_WHILE_RUNNING and _are_elements(one):
            return True
        key = (id(one), id(other))
        if key in self._seen or (one is other and not isinstance(one, types.ModuleType)):
            return True
        self._seen.add(key)
        self._held += (one, other)
        return False

    def _note(self, place: str, how: str) -> None:
        self.differences.append(f"{place} {how}")

    def _compare(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        if isinstance(one, _SCALARS) or isinstance(other, _SCALARS):
            if type(one) is not type(other) or repr(one) != repr(other):
                self._note(place, f"is {_short(one)}, and {_short(other)} in its file")
            return
        if isinstance(one, type) and isinstance(other, type):
            yield from self._classes(place, one, other)
            return
        kind = self._kind(one)
        if kind is not self._kind(other):
            self._note(place, f"is {_short(one)}, and {_short(other)} in its file")
            return
        if kind is None:
            yield from self._instances(place, one, other)
        else:
            yield from self._COMPARED[kind](self, place, one, other)

    def _modules(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        name: str = other.__name__
        if name not in self._copies and one.__name__ == name and _are_made(one, other):
            yield from self._names(place, _names_of(one), _names_of(other), is_module=False)
            return
        if name not in self._copies:
            if one is not other:
                self._note(place, f"is {_short(one)}, and {_short(other)} in its file")
            return
        home: Any = sys.modules.get(name)
        if home is not one:
            self._note(place, f"is {_short(one)}, which is not the module {name} that is loaded")
            return
        if vars(one).get("__builtins__") not in (builtins, vars(builtins)):
            self._note(f"{place}.__builtins__", "is not Python's")
        yield from self._names(name, _names_of(one), _names_of(other), is_module=True)

    def _names(
        self, place: str, one: Mapping[str, Any], other: Mapping[str, Any], *, is_module: bool
    ) -> Iterator[Pair]:
        for name, value in one.items():
            if name in other:
                yield f"{place}.{name}", value, other[name]
            elif not (is_module and sys.modules.get(f"{place}.{name}") is value):
                self._note(f"{place}.{name}", f"is {_short(value)}, and its file has no such name")
        for name in other.keys() - one.keys():
            self._note(f"{place}.{name}", "is missing, and its file has it")

    def _functions(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        part = differing_part(one.__code__, other.__code__)
        if part:
            self._note(place, f"does not do what its file says: {part}")
            return
        home = sys.modules.get(str(other.__globals__.get("__name__")))
        if home is None or one.__globals__ is not vars(home):
            self._note(place, "looks its names up in another module than its file says")
        if one.__builtins__ is not vars(builtins):
            self._note(place, "does not use Python's own functions")
        yield f"{place}.__qualname__", one.__qualname__, other.__qualname__
        yield f"{place}.__defaults__", one.__defaults__, other.__defaults__
        yield f"{place}.__kwdefaults__", one.__kwdefaults__, other.__kwdefaults__
        yield f"{place}.__annotations__", one.__annotations__, other.__annotations__
        yield f"{place}.__dict__", one.__dict__, other.__dict__
        names = one.__code__.co_freevars
        for name, mine, its in zip(
            names, one.__closure__ or (), other.__closure__ or (), strict=True
        ):
            yield f"{place}.<closure>.{name}", mine, its

    def _classes(self, place: str, one: type, other: type) -> Iterator[Pair]:
        is_own = other.__module__ in self._copies
        if not is_own or (one.__module__, one.__qualname__) != (
            other.__module__,
            other.__qualname__,
        ):
            self._note(place, f"is {_short(one)}, and {_short(other)} in its file")
            return
        place = f"{other.__module__}.{other.__qualname__}"  # whichever module has imported it
        yield f"{place}.__class__", type(one), type(other)
        yield f"{place}.__bases__", one.__bases__, other.__bases__
        mine, its = _attributes(one), _attributes(other)
        yield from self._names(place, mine, its, is_module=False)

    def _instances(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        yield f"{place}.__class__", type(one), type(other)
        mine, its = _state(one), _state(other)
        if not its and not mine and not is_outside(type(other).__module__):
            return
        if not its and not mine:
            yield from self._opaque(place, one, other)
            return
        for name in its.keys() & mine.keys():
            yield f"{place}.{name}", mine[name], its[name]
        # A hash that was computed on the way is no difference: it follows from the others.
        for name in (its.keys() ^ mine.keys()) - {"_hash"}:
            self._note(f"{place}.{name}", "is set in one of what is loaded and what its file says")

    def _opaque(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        """Compare what shows no state by what it would be copied from."""
        if type(one) is object:
            return
        try:
            mine, its = one.__reduce_ex__(4), other.__reduce_ex__(4)
        except TypeError:
            self._note(place, f"is {_short(one)}, which cannot be compared with its file")
            return
        yield f"{place}.__reduce__", mine, its

    def _sequences(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        if len(one) != len(other):
            self._note(place, f"is {_short(one)}, and {_short(other)} in its file")
            return
        if isinstance(one, set | frozenset):
            one, other = sorted(one, key=_named), sorted(other, key=_named)
        for index, (mine, its) in enumerate(zip(one, other, strict=True)):
            yield f"{place}[{index}]", mine, its

    def _mappings(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        if len(one) != len(other):
            self._note(place, f"has the keys {_short(list(one))}, and {_short(list(other))}")
            return
        for index, (mine, its) in enumerate(zip(one, other, strict=True)):
            label = mine if isinstance(mine, str) else index
            yield f"{place}.<key {index}>", mine, its
            yield f"{place}[{label}]", one[mine], other[its]

    def _cells(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        mine, its = _content(one), _content(other)
        if len(mine) != len(its):
            self._note(place, "is empty in one of what is loaded and what its file says")
            return
        yield place, mine, its

    def _caches(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        yield place, one.__wrapped__, other.__wrapped__
        yield f"{place}.cache", one.cache_parameters(), other.cache_parameters()

    def _variables(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        yield f"{place}.name", one.name, other.name

    def _descriptors(self, place: str, one: Any, other: Any) -> Iterator[Pair]:
        yield f"{place}.__name__", one.__name__, other.__name__
        yield f"{place}.__objclass__", one.__objclass__, other.__objclass__

    _COMPARED: ClassVar[dict[type, Callable[[Any, str, Any, Any], Iterator[Pair]]]] = {
        types.ModuleType: _modules,
        types.FunctionType: _functions,
        types.CellType: _cells,
        type(functools.cache(len)): _caches,
        ContextVar: _variables,
        property: _parts("fget", "fset", "fdel"),
        staticmethod: _parts("__func__"),
        classmethod: _parts("__func__"),
        types.MethodType: _parts("__func__", "__self__"),
        functools.partial: _parts("func", "args", "keywords"),
        functools.partialmethod: _parts("func", "args", "keywords"),
        functools.cached_property: _parts("func", "attrname"),
        typing.TypeVar: _parts(
            "__name__", "__bound__", "__constraints__", "__covariant__", "__contravariant__"
        ),
        typing.ParamSpec: _parts("__name__", "__bound__"),
        typing.NewType: _parts("__name__", "__supertype__"),
        typing.ForwardRef: _parts("__forward_arg__"),
        types.MappingProxyType: _mappings,
        dict: _mappings,
        tuple: _sequences,
        list: _sequences,
        set: _sequences,
        frozenset: _sequences,
        **dict.fromkeys(_DESCRIPTORS, _descriptors),
        **dict.fromkeys(_ALIASES, _parts("__origin__", "__args__", "__metadata__")),
    }

    @classmethod
    def _kind(cls, value: Any) -> type | None:
        """Return how a value is compared; None for an object by its attributes."""
        return type(value) if type(value) in cls._COMPARED else None


def _are_made(*modules: types.ModuleType) -> bool:
    """Report whether modules were made by code, and imported by nobody: they are what they hold."""
    return all(module.__spec__ is None and module.__name__ not in sys.modules for module in modules)


def _names_of(module: types.ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if name not in _OF_THE_IMPORT}


def _attributes(cls: type) -> dict[str, Any]:
    return {name: value for name, value in vars(cls).items() if name not in _OF_THE_CLASS}


def _state(value: Any) -> dict[str, Any]:
    """List an object's attributes, in its dictionary and in slots."""
    state = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        for name, slot in vars(cls).items():
            if isinstance(slot, types.MemberDescriptorType) and name != "__weakref__":
                try:
                    state[name] = slot.__get__(value)
                except AttributeError:
                    continue  # not set
    bases: tuple[Any, ...] = (dict, list, tuple, set, frozenset, str, int, float, bytes)
    for base in bases:
        if isinstance(value, base) and type(value) is not base:
            state["<value>"] = base(value)
    return state


def _are_elements(table: Any) -> bool:
    """Report whether each entry of a table of elements is the element that its key names."""
    return type(table) is dict and all(
        (type(member), getattr(member, "index", None)) == key for key, member in table.items()
    )


def _content(cell: types.CellType) -> Sequence[Any]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def _named(value: Any) -> str:
    return f"{type(value).__name__} {getattr(value, '__qualname__', '') or repr(value)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
