"""Goal: no property is lost without a word. Method: a false property is hidden in each way in which
an attribute of a model, of its bases or of its metaclass can hold a function; all that asks the
model refuses it, and names the attribute, the place and what to write instead."""

from __future__ import annotations

import contextlib
import functools
import types
from collections import deque
from dataclasses import dataclass
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.lang import WrongDefinition
from streamproof.lang.model import Model, Role, action, always, init, sometimes
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


@dataclass(frozen=True)
class State:
    n: int


@dataclass(frozen=True)
class Flips(Model[State]):
    @init
    def start(self) -> State:
        return State(0)

    @action
    def flip(self, s: State) -> State:
        return State(1 - s.n)

    @always
    def ok(self, s: State) -> bool:
        return s.n < 2


def bad() -> Any:
    """Make a property that is false."""

    @always
    def false(self: Any, s: State) -> bool:
        return s.n < 1

    return false


def model(member: Any, name: str = "hidden", *bases: type, meta: Any = type) -> Any:
    return dataclass(frozen=True)(meta("Hides", (*bases, Flips), {name: member}))


def plainly(method: Any) -> Any:
    def call(self: Any, s: State) -> Any:
        return method(self, s)

    return call


def of_state(method: Any) -> Any:
    return lambda self, s: method(s)


def by_default(method: Any) -> Any:
    def call(self: Any, s: State, method: Any = method) -> Any:
        return method(self, s)

    return call


def by_name(method: Any) -> Any:
    def call(self: Any, s: State, *, method: Any = method) -> Any:
        return method(self, s)

    return call


def by_attribute(method: Any) -> Any:
    def call(self: Any, s: State) -> Any:
        return call.method(self, s)  # type: ignore[attr-defined]

    call.method = method  # type: ignore[attr-defined]
    return call


REGISTERED: dict[str, Any] = {}


class Caller:
    def __init__(self, method: Any) -> None:
        self.method = method

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return types.MethodType(self.method, owner)

    def __call__(self, *given: Any) -> Any:
        return self.method(*given)


class Slotted:
    __slots__ = ("method",)

    def __init__(self, method: Any) -> None:
        self.method = method

    def __call__(self, *given: Any) -> Any:
        return self.method(*given)


class Delegating(Slotted):
    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("a walk asks nothing of an object")

    def __iter__(self) -> Any:
        raise AssertionError

    def __eq__(self, other: object) -> bool:
        raise AssertionError

    __hash__ = None  # type: ignore[assignment]


class Listing(list[Any]):
    def __iter__(self) -> Any:
        return iter(())


class OfClass:
    """Keeps the function in its class."""

    method = staticmethod(bad())


def generated(method: Any) -> Any:
    yield method


def bundled() -> Any:
    class Properties:
        hidden = bad()

    return Properties


def renamed(method: Any, name: str) -> Any:
    method.__name__ = name
    return method


HIDDEN: dict[str, Any] = {
    "one wrapper": lambda: plainly(bad()),
    "one wrapper of the same name": lambda: plainly(renamed(bad(), "hidden")),
    "two wrappers": lambda: plainly(plainly(bad())),
    "wrapped with another role": lambda: sometimes(plainly(bad())),
    "a lambda": lambda: plainly(always(lambda self, s: s.n < 1)),
    "a default": lambda: by_default(bad()),
    "a default by name": lambda: by_name(bad()),
    "an attribute": lambda: by_attribute(bad()),
    "a descriptor": lambda: Caller(bad()),
    "a descriptor around a wrapper": lambda: Caller(plainly(bad())),
    "an object with slots": lambda: Slotted(bad()),
    "an object that answers nothing": lambda: Delegating(bad()),
    "the class of an object": OfClass,
    "a class": bundled,
    "a partial call": lambda: functools.partial(bad(), None),
    "a partial method": lambda: functools.partialmethod(plainly(bad())),
    "a property": lambda: property(plainly(bad())),
    "the setter of a property": lambda: property(None, bad()),
    "what is computed once": lambda: functools.cached_property(plainly(bad())),
    "a static method": lambda: staticmethod(plainly(bad())),
    "a class method": lambda: classmethod(plainly(bad())),
    "what is dispatched": lambda: functools.singledispatchmethod(plainly(bad())),
    "a cache": lambda: functools.cache(plainly(bad())),
    "a context": lambda: contextlib.contextmanager(plainly(bad())),
    "wrapped by its name alone": lambda: functools.wraps(bad(), updated=())(plainly(bad())),
    "a tuple": lambda: (1, (bad(),)),
    "a table": lambda: {"a": [bad()]},
    "a key": lambda: {bad(): 1},
    "a deque": lambda: deque([bad()]),
    "a list of one's own": lambda: Listing([bad()]),
    "a view": lambda: types.MappingProxyType({"a": bad()}),
    "an object without a class of its own": lambda: types.SimpleNamespace(a=bad()),
    "a bound method": lambda: types.MethodType(plainly(bad()), 1),
    "a generator": lambda: generated(bad()),
}


class Below:
    hidden = Slotted(bad())


class Meta(type):
    late = bad()


class Keeps(type):
    """Keeps the first of two functions of a name."""

    @classmethod
    def __prepare__(cls, *_args: Any, **_named: Any) -> Any:
        return {"kept": []}

    def __new__(cls, name: str, bases: Any, members: Any, **named: Any) -> Any:
        replaced = {
            key: plainly(part) if key == "hidden" else part for key, part in members.items()
        }
        return super().__new__(cls, name, bases, {**replaced, "kept": [members]}, **named)


REFUSED: dict[str, Any] = {
    **{way: lambda make=make: model(make()) for way, make in HIDDEN.items()},
    "a base": lambda: model(1, "other", Below),
    "a metaclass": lambda: model(1, "other", meta=Meta),
    "a metaclass that keeps the names": lambda: model(bad(), meta=Keeps),
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_a_property_that_is_held_and_not_seen_is_refused(make):
    cls = make()
    for ask in (
        *(lambda e=engine: check(cls(), engine=e) for engine in (plain.explore, native)),
        cls,
    ):
        with pytest.raises(WrongDefinition) as refused:
            ask()
        told = str(refused.value)
        assert "@always" in told
        assert f"{__file__}:" in told
        assert "functools.wraps" in told
    with pytest.raises(WrongDefinition):
        prove(Invariant(cls, (lambda m, s: s.n >= 0,)))


def test_it_is_told_where_it_stands_and_what_to_write():
    line = bad.__code__.co_firstlineno + 3
    with pytest.raises(WrongDefinition) as refused:
        model(plainly(bad()))()
    assert str(refused.value) == (
        f"Hides.hidden holds a function that is marked @always ({__file__}:{line}), and is not "
        "marked so itself, so that it would never be asked. Let @always be the outermost decorator "
        "of a plain method, or let the decorators above it use functools.wraps"
    )


def test_what_only_a_table_of_the_file_holds_is_refused():
    def registered(method: Any) -> Any:
        REGISTERED["it"] = method

        def call(self: Any, s: State) -> Any:
            return REGISTERED["it"](self, s)

        return call

    class Kept(Flips):
        @registered
        @always
        def hidden(self, s: State) -> bool:
            return s.n < 1

    with pytest.raises(WrongDefinition, match=r"Kept\.hidden holds a function"):
        Kept()


def test_a_property_of_model_itself_is_refused(monkeypatch):
    monkeypatch.setattr(Model, "late", bad(), raising=False)

    class Fresh(Flips): ...

    with pytest.raises(WrongDefinition, match=r"Model\.late is marked @always"):
        Fresh()


# --------------------------------------------------------------------------- what stays allowed


class Other(Flips):
    @sometimes
    def up(self, s: State) -> bool:
        return s.n == 1


def names(cls: Any) -> set[str]:
    return {method.name for method in cls.methods(Role.ALWAYS)}


def test_what_is_seen_may_be_held_too():
    class Seen(Flips):
        wrapped = functools.wraps(Flips.ok)(plainly(Flips.ok))
        marked = always(plainly(bad()))  # of the same role
        cached = always(functools.cache(plainly(bad())))
        table = (Flips.ok, Flips.start)
        helper = plainly(Flips.ok)
        other, another = Other, Other()
        asked = always(plainly(Other.up))
        bound = always(of_state(Other().up))

        def ok(self, s: State) -> bool:
            return super().ok(s)

    assert names(Seen) == {"ok", "wrapped", "marked", "cached", "asked", "bound"}


def test_models_in_closures_are_no_properties_of_a_model():
    inner = Other

    class Around(Flips):
        def helper(self, s: State) -> Any:
            return inner, type(self)

    assert names(Around) == {"ok"}
