"""Models of odd shapes: many actions, many initial states, very deep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    Range,
    action,
    always,
    eventually,
    every_step,
    final,
    implies,
    init,
    require,
)


class One(Element):
    """One of many."""


@dataclass(frozen=True)
class Done:
    done: bool


@dataclass(frozen=True)
class Promised(Model[Done]):
    """An action for each of many elements, and a promise."""

    many: Domain[One]

    @init
    def start(self) -> Done:
        return Done(False)

    @action(fairness=Fairness.WEAK)
    def up(self, s: Done, one: One) -> Done:
        del s, one
        return Done(True)

    @eventually
    def ends(self, s: Done) -> bool:
        return s.done


@dataclass(frozen=True)
class Number:
    n: Annotated[int, Range(0, "top")]


@dataclass(frozen=True)
class Stepped(Model[Number]):
    """An action for each of many elements, and a premise of steps that never holds."""

    many: Domain[One]
    top: int = 50

    @init
    def start(self) -> Number:
        return Number(0)

    @action
    def up(self, s: Number, one: One) -> Number:
        del one
        require(s.n < self.top)
        return Number(s.n + 1)

    @every_step
    def rises(self, before: Number, after: Number) -> bool:
        return implies(before.n > after.n, False)

    @final
    def anywhere(self, s: Number) -> bool:
        del s
        return True


@dataclass(frozen=True)
class Started(Model[Number]):
    """An initial state for each of many elements."""

    starts: Domain[One]
    at: Map[One, int]
    top: int

    @classmethod
    def sized(cls, n: int, top: int = 0) -> Started:
        starts = Domain(One, n)
        return cls(starts, Map.build(starts, lambda one: one.index), top or n)

    @init
    def start(self, one: One) -> Number:
        return Number(self.at[one])

    @action
    def up(self, s: Number) -> Number:
        require(s.n < self.top)
        return Number(s.n + 1)

    @final
    def end(self, s: Number) -> bool:
        return s.n == self.top

    @always
    def within(self, s: Number) -> bool:
        return s.n <= self.top


@dataclass(frozen=True)
class Deep(Model[Number]):
    """One state after the other."""

    top: int

    @init
    def start(self) -> Number:
        return Number(0)

    @action
    def up(self, s: Number) -> Number:
        require(s.n < self.top)
        return Number(s.n + 1)

    @final
    def end(self, s: Number) -> bool:
        return s.n == self.top

    @always
    def within(self, s: Number) -> bool:
        return s.n <= self.top
