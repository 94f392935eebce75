"""Lemmas: each claim on their way must hold, also inside of maps; they are compared, too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Untraceable,
    action,
    always,
    forall,
    implies,
    init,
    require,
)
from streamproof.lang import expr as ex
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Implication, Invariant
from streamproof.translation import TracingDisagrees, validate


class W(Element): ...


@dataclass(frozen=True)
class State:
    b: Map[W, bool]


@dataclass(frozen=True)
class One(Model[State]):
    ws: Domain[W]
    sizes = {"default": {"ws": 2}}

    @init
    def start(self) -> State:
        return State(Map.fill(self.ws, False))

    @action
    def go(self, s: State, w: W) -> State:
        require(forall(self.ws, lambda v: not s.b[v]))
        return State(s.b.set(w, True))

    @action
    def back(self, s: State, w: W) -> State:
        return State(s.b.set(w, False))

    @always
    def ok(self, s: State) -> bool:
        return forall(self.ws, self.ws, lambda v, w: implies(s.b[v] and s.b[w], v == w))


def ok(m: One, s: State) -> bool:
    return m.ok(s)


def turned(held: bool) -> bool:
    assert not held
    return True


def kept(held: bool) -> bool:
    assert implies(held, held)
    return not held


def claims_in_a_map(m: One, s: State) -> bool:
    turns = State(s.b.map(turned))
    return forall(m.ws, lambda w: turns.b[w])


def claims_what_holds(m: One, s: State) -> bool:
    turns = State(s.b.map(kept))
    return forall(m.ws, lambda w: turns.b[w] != s.b[w])


def claims_at_once(_m: One, s: State, w: W) -> bool:
    assert not s.b[w]
    return True


def requires(_m: One, s: State, v: W, w: W) -> bool:
    require(s.b[v] and s.b[w])
    return v == w


@pytest.mark.parametrize("lemma", [claims_in_a_map, claims_at_once])
def test_a_lemma_whose_claim_fails_in_a_run_is_refuted(lemma) -> None:
    model = One(Domain(W, 2))
    first = model.ws.elements[0]
    arguments = () if lemma is claims_in_a_map else (first,)
    with pytest.raises(AssertionError):
        lemma(model, model.go(model.start(), first), *arguments)
    report = prove(Invariant(One, (ok,), lemmas=(lemma,)))
    assert report.verdict.status is not Status.PROVED


@pytest.mark.parametrize("lemma", [claims_what_holds, requires])
def test_a_lemma_whose_claims_hold_is_proven(lemma) -> None:
    assert prove(Invariant(One, (ok,), lemmas=(lemma,))).verdict.status is Status.PROVED


def test_a_lemma_that_is_not_what_it_was_traced_as_is_told(monkeypatch) -> None:
    told = validate.traced_lemmas

    def wrong(invariant: Invariant) -> list[Implication]:
        return [replace(part, conclusion=ex.negate(part.conclusion)) for part in told(invariant)]

    monkeypatch.setattr("streamproof.translation.validate.traced_lemmas", wrong)
    with pytest.raises(TracingDisagrees, match="requires is not what it was traced as"):
        validate.validate_invariant(Invariant(One, (ok,), lemmas=(requires,)))


def never_asks(_m: One, s: State, v: W) -> bool:
    require(s.b[v])
    return True


def never_claims(_m: One, s: State, v: W) -> bool:
    assert s.b[v]
    return True


def gives_a_number(_m: One, _s: State) -> bool:
    return 3


@pytest.mark.parametrize("conjunct", [never_asks, never_claims, gives_a_number])
def test_a_conjunct_that_cannot_be_traced_is_named(conjunct) -> None:
    with pytest.raises(Untraceable) as refused:
        prove(Invariant(One, (ok, conjunct)))
    assert refused.value.function == conjunct.__name__
    place = f"{__file__}:{conjunct.__code__.co_firstlineno}"
    assert refused.value.location == place
