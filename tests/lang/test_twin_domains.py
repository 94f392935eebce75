"""A parameter that could be of either of two domains is refused, by every reading."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamproof.checker import check
from streamproof.lang import Domain, Element, Map, Model, WrongDefinition, action, always, init


class W(Element): ...


@dataclass(frozen=True)
class State:
    a: Map[W, bool]
    b: Map[W, bool]


@dataclass(frozen=True)
class Twins(Model[State]):
    left: Domain[W]
    right: Domain[W]

    @init
    def start(self) -> State:
        return State(Map.fill(self.left, False), Map.fill(self.right, False))


class Asked(Twins):
    @action
    def go(self, s: State, w: W) -> State:
        return s

    @always
    def ok(self, s: State) -> bool:
        return True


def test_a_parameter_of_two_domains_is_refused() -> None:
    with pytest.raises(WrongDefinition, match=r"go takes .* several domains: left, right"):
        check(Asked(Domain(W, 1), Domain(W, 2)))
    assert len(set(Twins(Domain(W, 1), Domain(W, 2)).initial_states())) == 1
