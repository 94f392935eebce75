"""What the fuzzer has found: each contradiction as a small model, which all voices agree on now."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from streamproof.checker import check
from streamproof.checker import explore as reference
from streamproof.checker.engines import EngineName
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    always,
    exists,
    final,
    forall,
    implies,
    init,
)
from streamproof.lang.model import action
from streamproof.models.kit.verdict import Status
from tests.fuzz.voices import VOICES, outcome


class P(Element): ...


@dataclass(frozen=True)
class State:
    lit: Map[P, bool]


@dataclass(frozen=True)
class Nowhere(Model[State]):
    """Without an element there is no initial state: walks began in one all the same."""

    ps: Domain[P]

    @init
    def start(self, p: P) -> State:
        return State(Map.build(self.ps, lambda q: q == p))

    @action
    def turn(self, s: State, p: P) -> State:
        return replace(s, lit=s.lit.set(p, not s.lit[p]))

    @always
    def is_dark(self, s: State) -> bool:
        return forall(self.ps, lambda p: not s.lit[p])


@dataclass(frozen=True)
class Unasked(Nowhere):
    """The only `implies` stands on a path that no state takes: it was asked of nothing."""

    @action
    def turn(self, s: State, p: P) -> State:
        return replace(s, lit=s.lit.set(p, True))

    @always
    def is_dark(self, s: State) -> bool:
        if exists(self.ps, lambda p: s.lit[p]):
            return True
        return implies(forall(self.ps, lambda p: not s.lit[p]), s.lit != s.lit)

    @final
    def anywhere(self, s: State) -> bool:
        return True


@dataclass(frozen=True)
class Behind(Nowhere):
    """A premise that holds for the last element alone, behind one that decides: only engines that
    know no order had asked for it."""

    ready: Map[P, bool]

    @action
    def turn(self, s: State, p: P) -> State:
        return replace(s, lit=s.lit.set(p, not s.lit[p]))

    @always
    def is_dark(self, s: State) -> bool:
        return exists(self.ps, lambda p: implies(self.ready[p], s.lit[p] or not s.lit[p])) and not (
            forall(self.ps, lambda p: not implies(not self.ready[p], s.lit[p] == s.lit[p]))
        )


PLACES = Domain(P, 2)
BEHIND = [Behind(PLACES, Map.build(PLACES, lambda p, last=n: p.index == last)) for n in (0, 1)]


@pytest.mark.parametrize("voice", VOICES)
@pytest.mark.parametrize("model", [*BEHIND, Nowhere(Domain(P, 0)), Unasked(Domain(P, 2))], ids=repr)
def test_what_was_found_is_agreed_on(model, voice):
    VOICES[voice](model, outcome(model, reference))


@pytest.mark.parametrize("model", BEHIND)
def test_a_premise_is_asked_for_every_element(model):
    assert outcome(model, reference).kind == "whole"
    assert check(model, engine=reference).verdict.status is Status.EXHAUSTED


@pytest.mark.parametrize("engine", [EngineName.REFERENCE, EngineName.NATIVE])
def test_a_model_without_an_initial_state_is_walked_nowhere(engine):
    report = simulate(Nowhere(Domain(P, 0)), plan=Plan(5, 5, 0), engine=engine)
    assert report.sample.tally.walks == 0
    assert report.verdict.status is Status.UNDETERMINED
