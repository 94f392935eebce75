"""Models whose steps depend on the order of a set, in one way each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamproof.lang import Model, require
from streamproof.lang.model import action, always, final, init

LETTERS = frozenset("abc")


@dataclass(frozen=True)
class State:
    left: frozenset[Any]
    taken: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Takes(Model[State]):
    """Takes letters out of a set; each kind of it is told how to choose."""

    names: frozenset[str] = LETTERS

    @init
    def start(self) -> State:
        return State(frozenset("abcde"))

    @action
    def take(self, s: State) -> State:
        require(s.left)
        x = self.chosen(s)
        return State(s.left - {x}, (*s.taken, x))

    def chosen(self, s: State) -> Any:
        return min(s.left)

    @always
    def fine(self, s: State) -> bool:
        return len(s.taken) < 6

    @final
    def end(self, s: State) -> bool:
        return not s.left


def kind(chosen: Any, name: str = "chosen") -> Any:
    return dataclass(frozen=True)(type("Kind", (Takes,), {name: chosen}))


def first_of(s: frozenset[Any]) -> Any:
    for x in s:
        return x
    return None
