"""A model of one number, whose step other models replace."""

from __future__ import annotations

from dataclasses import dataclass

from streamproof.lang import Model
from streamproof.lang.model import action, always, init


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Counts(Model[Count]):
    @init
    def start(self) -> Count:
        return Count(0)

    @action
    def step(self, s: Count) -> Count:
        return Count(1 - s.n)

    @always
    def small(self, s: Count) -> bool:
        return s.n < 2
