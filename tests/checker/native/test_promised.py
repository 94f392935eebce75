"""Promises of several answers: each engine asks for all of them, and of the right promise."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamproof.checker import check
from streamproof.checker.native.code import program
from streamproof.checker.native.engine import explore
from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    action,
    eventually,
    final,
    forall,
    init,
    leads_to,
    require,
)
from streamproof.models.kit.verdict import Status


class W(Element): ...


@dataclass(frozen=True)
class State:
    n: Map[W, int]


@dataclass(frozen=True)
class Counts(Model[State]):
    ws: Domain[W]

    @init
    def start(self) -> State:
        return State(Map.fill(self.ws, 0))

    @action(fairness=Fairness.WEAK)
    def go(self, s: State, w: W) -> State:
        require(s.n[w] < 2)
        return State(s.n.set(w, s.n[w] + 1))

    @final
    def done(self, s: State) -> bool:
        return forall(self.ws, lambda w: s.n[w] == 2)

    @eventually
    def both(self, s: State) -> dict[str, bool]:
        is_full = forall(self.ws, lambda w: s.n[w] == 2)
        return {"full": is_full, "begun": forall(self.ws, lambda w: s.n[w] > 0)}

    @eventually
    def at_odds(self, s: State) -> dict[str, bool]:
        full = forall(self.ws, lambda w: s.n[w] == 2)
        return {"full": full, "empty": forall(self.ws, lambda w: s.n[w] == 0)}

    @eventually
    def never(self, s: State) -> bool:
        return forall(self.ws, lambda w: s.n[w] > 2)

    @leads_to
    def grows(self, s: State, w: W) -> tuple[bool, bool]:
        return s.n[w] == 1, s.n[w] == 2

    @leads_to
    def shrinks(self, s: State, w: W) -> tuple[bool, bool]:
        return s.n[w] == 2, s.n[w] == 1


ANSWERS = {
    "both": Status.EXHAUSTED,
    "at_odds": Status.REFUTED,
    "never": Status.REFUTED,
    "grows": Status.EXHAUSTED,
    "shrinks": Status.REFUTED,
}


@pytest.mark.parametrize("loops", [False, True])
def test_each_engine_answers_each_promise(loops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Counts(Domain(W, 2))
    found = {name: check(model).finding(name).verdict.status for name in ANSWERS}
    assert found == ANSWERS
    monkeypatch.setattr(program, "is_large", lambda _: loops)
    native = check(model, engine=explore)
    assert {name: native.finding(name).verdict.status for name in ANSWERS} == ANSWERS
