"""Small models and systems for the tests of `streamproof.testing`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from streamproof.lang import Domain, Element, Map, Model, action, always, init, require
from streamproof.testing import REFUSED, Adapter


class Lamp(Element): ...


@dataclass(frozen=True)
class Lamps(Model[Map[Lamp, bool]]):
    """Lamps of which at most two are lit."""

    lamps: Domain[Lamp]
    sizes = {"default": {"lamps": 3}, "large": {"lamps": 6}}

    @init
    def dark(self) -> Map[Lamp, bool]:
        return Map.fill(self.lamps, False)

    @action
    def light(self, s: Map[Lamp, bool], lamp: Lamp) -> Map[Lamp, bool]:
        require(not s[lamp])
        require(sum(is_lit for _, is_lit in s.items()) < 2)
        return s.set(lamp, True)

    @action
    def put_out(self, s: Map[Lamp, bool], lamp: Lamp) -> Map[Lamp, bool]:
        require(s[lamp])
        return s.set(lamp, False)

    @always
    def at_most_two(self, s: Map[Lamp, bool]) -> bool:
        return sum(is_lit for _, is_lit in s.items()) <= 2


class Room(Adapter):
    """Lamps as they are."""

    also_impossible = ("light",)
    lit_max = 2

    def __init__(self) -> None:
        self.lit: set[Lamp] = set()

    def light(self, lamp: Lamp) -> object:
        if lamp in self.lit or len(self.lit) >= self.lit_max:
            return REFUSED
        self.lit.add(lamp)
        return None

    def put_out(self, lamp: Lamp) -> object:
        self.lit.remove(lamp)
        return None

    def observe(self) -> frozenset[Lamp]:
        return frozenset(self.lit)

    def expected(self, s: Map[Lamp, bool]) -> frozenset[Lamp]:
        return frozenset(lamp for lamp, is_lit in s.items() if is_lit)


@dataclass(frozen=True)
class Coins:
    """Coins that were thrown, and which of them show heads."""

    thrown: int = 0
    heads: int = 0


class Throws(Model[Coins]):
    """How a coin falls is open; so are the coins that somebody takes away unseen."""

    @init
    def none(self) -> Coins:
        return Coins()

    @action
    def heads(self, s: Coins) -> Coins:
        require(s.thrown < 3)
        return replace(s, thrown=s.thrown + 1, heads=s.heads + 1)

    @action
    def tails(self, s: Coins) -> Coins:
        require(s.thrown < 3)
        return replace(s, thrown=s.thrown + 1)

    @action
    def take(self, s: Coins) -> Coins:
        require(s.heads > 0)
        return replace(s, thrown=s.thrown - 1, heads=s.heads - 1)


def adapter(**methods: Any) -> type[Adapter]:
    """Make an adapter of some methods and attributes."""
    return type("Made", (Adapter,), methods)
