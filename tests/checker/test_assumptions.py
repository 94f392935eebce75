"""Assumptions with parameters and several answers: asked of every element, by all alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest

from streamproof.checker import check
from streamproof.checker.native.engine import explore
from streamproof.checker.properties import BrokenAssumption
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Range,
    action,
    always,
    assume,
    exists,
    forall,
    implies,
    init,
    require,
)
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant
from streamproof.translation import validate_model


class W(Element): ...


@dataclass(frozen=True)
class State:
    b: Map[W, bool]


@dataclass(frozen=True)
class Good(Model[State]):
    ws: Domain[W]
    good: Map[W, bool]

    @classmethod
    def sized(cls, n: int = 2) -> Good:
        ws = Domain(W, n)
        return cls(ws, Map.fill(ws, True))

    sizes = {"default": {"n": 2}}

    @assume
    def all_good(self, w: W) -> dict[str, bool]:
        return {"good": self.good[w], "here": exists(self.ws, lambda v: v == w)}

    @init
    def start(self) -> State:
        return State(Map.fill(self.ws, False))

    @action
    def go(self, s: State, w: W) -> State:
        return State(s.b.set(w, True))

    @always
    def ok(self, s: State) -> bool:
        return forall(self.ws, lambda w: implies(s.b[w], self.good[w]))


@pytest.mark.parametrize("engine", [{}, {"engine": explore}])
def test_each_engine_asks_it_of_every_element(engine) -> None:
    ws = Domain(W, 2)
    assert check(Good(ws, Map.fill(ws, True)), **engine).verdict.status is Status.EXHAUSTED
    with pytest.raises(BrokenAssumption, match="all_good"):
        check(Good(ws, Map.build(ws, lambda w: w == ws.elements[0])), **engine)


def test_a_proof_rests_on_it_for_every_element() -> None:
    assert prove(Invariant(Good, (lambda m, s: m.ok(s),))).verdict.status is Status.PROVED


FIRST = W(0)


@dataclass(frozen=True)
class Number:
    n: Annotated[int, Range(-9, 9)]
    up: bool


@dataclass(frozen=True)
class Positive(Model[Number]):
    ws: Domain[W]
    k: int
    sizes = {"default": {"ws": 2, "k": 1}}

    @assume
    def positive(self, w: W = FIRST) -> bool:
        return self.k > 0

    @init
    def start(self) -> Number:
        return Number(self.k, False)

    @action
    def tick(self, s: Number) -> Number:
        return Number(s.n, not s.up)

    @always
    def ok(self, s: Number) -> bool:
        return s.n > 0


def test_what_is_assumed_of_no_element_is_not_assumed() -> None:
    assert check(Positive(Domain(W, 0), -1)).finding("ok").verdict.status is Status.REFUTED
    report = prove(Invariant(Positive, (lambda m, s: m.ok(s),)))
    assert report.verdict.status is not Status.PROVED


@dataclass(frozen=True)
class Never(Model[Number]):
    ws: Domain[W]

    @init
    def start(self) -> Number:
        return Number(0, up=False)

    @action
    def flip(self, s: Number, w: W) -> Number:
        return Number(s.n, not s.up)

    @action
    def never(self, s: Number, w: W) -> Number:
        require(s.up and not s.up)
        return s

    @always
    def stays(self, s: Number) -> bool:
        return s.n == 0

    def ruled_out(self) -> tuple[str, ...]:
        return ("never",)


def test_an_action_with_parameters_that_no_path_allows_is_compared() -> None:
    model = Never(Domain(W, 2))
    assert check(model, engine=explore).verdict.status is Status.EXHAUSTED
    assert validate_model(model).compared > 0
