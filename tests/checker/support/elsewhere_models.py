"""Models for tests of `elsewhere`, in a file that other processes load in a moment."""

# ruff: noqa: RUF015

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamproof.lang import Domain, Element, Map, require
from streamproof.lang.model import (
    Model,
    action,
    always,
    every_step,
    final,
    init,
    leads_to,
    sometimes,
)

LETTERS = frozenset("abcde")
TABLE = {"x": LETTERS}
HASH = "x".__hash__


class Holder:
    KEPT = LETTERS


class Silent: ...


SILENT = Silent()


class P(Element): ...


@dataclass(frozen=True)
class State:
    left: frozenset[str] = LETTERS
    seen: Any = None
    n: int = 0


def updated(s: State) -> Any:
    t: Any = set()
    t.update(s.left)
    return next(iter(t))


def aliased(s: State) -> Any:
    f = frozenset
    return next(iter(f(s.left)))


def neighbours(s: State) -> Any:
    order = list(s.left)
    place = order.index("a")
    return min(order[place - 1], order[(place + 1) % 5])


def missing(_s: State) -> Any:
    try:
        {}[SILENT]
    except KeyError as error:
        return str(error)[-8:]


def hidden(_s: State) -> Any:
    return next(iter(vars(Holder)["KEPT"]))  # which no look at the code finds


WAYS: dict[str, Callable[[State], Any]] = {
    "table": lambda s: next(iter(TABLE["x"])),
    "holder": lambda s: next(iter(Holder.KEPT)),
    "hidden": hidden,
    "updated": updated,
    "aliased": aliased,
    "listed": lambda s: [*set(s.left)][0],
    "asked": lambda s: set(s.left).__iter__().__next__(),
    "text": lambda s: repr(s)[23],
    "neighbours": neighbours,
    "hashed": lambda s: builtins.hash("x"),
    "bound": lambda s: HASH(),
    "address": lambda s: repr(SILENT)[-8:],
    "missing": missing,
    "arguments": lambda s: tuple(sys.argv),
    "flags": lambda s: sys.flags.hash_randomization,
}


def act(way: Callable[[State], Any]) -> Any:
    return action(lambda self, s: State(s.left, str(way(s)), s.n + 1))


class Started(Model[State]):
    @init
    def start(self) -> State:
        return State()

    @final
    def end(self, s: State) -> bool:
        return True


@dataclass(frozen=True)
class Pure(Started):
    """Cannot be traced, and is the same everywhere, though its fields and states hold sets."""

    ps: Domain[P]
    names: frozenset[str] = LETTERS
    numbers: Map[P, int] | None = None

    @action
    def take(self, s: State, p: P) -> State:
        require(s.left)
        least = min(s.left & self.names)
        return State(s.left - {least}, (least, SILENT.__class__, f"{p}"), s.n + 1)

    @always
    def fine(self, s: State) -> bool | str:
        return len(s.left) + s.n == 5 or f"{s.left} and {SILENT}"

    @every_step
    def goes_on(self, s: State, t: State) -> bool:
        return t.left < s.left

    @sometimes
    def ends(self, s: State) -> bool:
        return not s.left

    @leads_to
    def gets_on(self, s: State) -> tuple[bool, bool]:
        return s.n == 0, s.n < 5


@dataclass(frozen=True)
class Steps(Started):
    """Counts up to 200."""

    most: int = 200

    @action
    def step(self, s: State) -> State:
        require(s.n < self.most)
        return State(s.left, None, s.n + 1)


def first() -> Any:
    return hidden(State())


class LateAction(Steps):
    @action
    def step(self, s: State) -> State:
        require(s.n < 200)
        return State(s.left, first() if s.n == 150 else None, s.n + 1)


class LateProperty(Steps):
    @always
    def fine(self, s: State) -> bool:
        return s.n < 150 or first() > "b"


class OfSteps(Steps):
    @every_step
    def goes_on(self, s: State, t: State) -> bool:
        return first() > "b"


class OfPromises(Steps):
    @leads_to
    def gets_on(self, s: State) -> tuple[bool, bool]:
        return first() > "b", s.n > 0


class OfStarts(Steps):
    @init
    def start(self) -> State:
        return State(seen=first())


class OnlyHidden(Steps):
    @action
    def step(self, s: State) -> State:
        return State(s.left, first(), 1)


class OnlyMissing(Steps):
    @action
    def step(self, s: State) -> State:
        return State(s.left, missing(s), 1)


class Fails(Steps):
    @action
    def step(self, s: State) -> State:
        assert first() > "b"
        return State(s.left, None, min(3, s.n + 1))


@dataclass(frozen=True)
class Number:
    n: int = 0


@dataclass(frozen=True)
class Traced(Model[Number]):
    """Can be traced: what the hash decides is one number in the traced form."""

    @init
    def start(self) -> Number:
        return Number()

    @action
    def step(self, s: Number) -> Number:
        require(s.n < 5)
        return Number(s.n + (1 if first() > "b" else 2))

    @final
    def end(self, s: Number) -> bool:
        return s.n >= 5


def inside() -> Any:
    @dataclass(frozen=True)
    class Inside(Steps):
        @action
        def step(self, s: State) -> State:
            require(s.n < 3)
            return State(s.left, first() > "b", s.n + 1)

        @always
        def fine(self, s: State) -> bool:
            return s.n < 4

    return Inside
