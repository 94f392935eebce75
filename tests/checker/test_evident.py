"""What is taken for the same in every process without asking, and what is not."""

# ruff: noqa: PLW0108 - that a lambda calls it is what is tried

# ruff: noqa: PLW0108 - that a lambda calls it is what is tried

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
import pytest

from streamproof.checker.evident import is_evident
from streamproof.lang import Domain, Element, Map, exists, require
from streamproof.lang.model import Model, action, always, final, init

NAMES = frozenset("ab")
TABLE = {"names": NAMES}
NUMBERS, ROWS = (1, 2), {"a": [1, 2]}


class P(Element): ...


class Colour(Enum):
    RED = 1
    BLUE = 2

    def darker(self) -> Colour:
        return Colour.BLUE


class Silent: ...


SILENT = Silent()
HASH = "x".__hash__


@dataclass(frozen=True)
class State:
    n: int = 0
    colour: Colour = Colour.RED

    def up(self) -> State:
        return replace(self, n=self.n + 1)


class HashedState(State):
    def up(self) -> State:
        return replace(self, n=hash("a") % 2)


@dataclass(frozen=True)
class Counts(Model[State]):
    ps: Domain[P]

    @init
    def start(self) -> State:
        return State()

    @action
    def step(self, s: State, p: P) -> State:
        require(s.n < 5 and exists(self.ps, lambda q: q == p))
        return s.up()

    @always
    def fine(self, s: State) -> dict[str, bool | str]:
        return {"low": s.n >= 0, "high": s.n < 6 or f"{s.n} is too high"}

    @final
    def end(self, s: State) -> bool:
        return True


def helper(s: State) -> int:
    return max(s.n, *NUMBERS)


def deep(n: int) -> int:
    try:
        return deep(n + 1)
    except RecursionError:
        return n


def imported() -> Any:
    import random

    return random


def texted() -> str:
    return f"{helper}"


SAME: dict[str, Callable[[State], Any]] = {
    "a helper": helper,
    "numbers": lambda s: sum(n for n in range(s.n) if n % 2) + abs(s.n) + math.gcd(2, s.n),
    "a table": lambda s: ROWS["a"][0] + len(ROWS),
    "an enum": lambda s: s.colour.darker() is Colour.BLUE,
    "members of constants": lambda s: s.n in {1, 2, 3},
    "the library": lambda s: functools.reduce(operator.add, itertools.chain(NUMBERS, [1])),
    "maps": lambda s: Map.fill(Domain(P, 1), s.n),
    "sorted": lambda s: sorted(NUMBERS)[1],
}
OTHER: dict[str, Callable[[State], Any]] = {
    "a hash": lambda s: hash("a"),
    "a hash by its module": lambda s: builtins.hash("a"),
    "a bound hash": lambda s: HASH(),
    "a hash of a class": lambda s: str.__hash__("a"),
    "a hash by its name": lambda s: operator.methodcaller("__hash__")("a"),
    "a set": lambda s: {"a", str(s.n)},
    "a set of all": lambda s: {str(n) for n in range(9)},
    "a constant set": lambda s: [n for n in {"a", "b"}],  # noqa: C416, PLC0208
    "a set by name": lambda s: set("ab"),
    "a global set": lambda s: len(NAMES),
    "a set in a table": lambda s: TABLE["names"],
    "a text": lambda s: repr(s),
    "a text that is read": lambda s: f"{helper}"[0],
    "a text of a helper": lambda s: texted(),
    "an object": lambda s: SILENT,
    "an import": lambda s: imported(),
    "variables": lambda s: vars(s),
    "another package": lambda s: np.int64(s.n),
    "how deep it may go": lambda s: deep(0),
    "an attribute by name": lambda s: getattr(s, "n"),  # noqa: B009
    "the library's random": lambda s: itertools.tee,
}


def with_step(way: Callable[[State], Any]) -> Any:
    class Kind(Counts):
        @action
        def step(self, s: State, p: P) -> State:
            return s if way(s) else s.up()

    return Kind


@pytest.mark.parametrize("way", SAME.values(), ids=SAME)
def test_what_names_only_numbers_and_records_is_evident(way):
    assert is_evident(with_step(way)(Domain(P, 2)))


@pytest.mark.parametrize("way", OTHER.values(), ids=OTHER)
def test_what_could_see_hashes_addresses_or_orders_is_not_evident(way):
    assert not is_evident(with_step(way)(Domain(P, 2)))


def test_a_record_that_asks_a_hash_is_not_evident():
    class Starts(Counts):
        @init
        def start(self) -> State:
            return HashedState()

    assert is_evident(Counts(Domain(P, 2)))
    assert not is_evident(Starts(Domain(P, 2)))


def test_states_and_elements_that_may_be_sets_are_not_evident():
    @dataclass(frozen=True)
    class Bag:
        names: frozenset[str]

    class Bags(Counts):
        @init
        def start(self) -> Any:
            return Bag(NAMES)

    assert not is_evident(Bags(Domain(P, 2)))
    assert not is_evident(Counts(Domain.of("P", (NAMES, frozenset("c")))))
