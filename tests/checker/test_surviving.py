"""Models that notice what one wrong line in `lang` or `checker` does to a verdict.

With such a line each of these was green, or was green for another reason, while all tests passed.
PYTEST_DONT_REWRITE: a claim would be told with symbolic values, which have other names each time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Any

import pytest

from streamproof.checker import Limits, check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.checker.properties import STUCK
from streamproof.lang import Domain, Element, Map, Model, Range, forall, implies, require
from streamproof.lang.model import (
    Fairness,
    action,
    always,
    eventually,
    every_step,
    final,
    init,
    leads_to,
    sometimes,
)
from streamproof.models.kit.verdict import Status

ENGINES = [plain.explore, native]


def statuses(model: Any, engine: Any) -> dict[str, Status]:
    """Return what is known of each thing that is asked of a model."""
    report = check(model, engine=engine)
    return {part.name: part.verdict.status for part in report.findings}


class P(Element): ...


@dataclass(frozen=True)
class State:
    a: bool
    b: bool
    k: Annotated[int, Range(0, 3)]


@dataclass(frozen=True)
class AndThenA(Model[State]):
    """After "not (a and b)", a may still hold."""

    @init
    def start(self) -> State:
        return State(True, False, 0)

    @action
    def go(self, s: State) -> State:
        require(s.k < 3)
        if s.a & s.b:
            return replace(s, k=s.k + 1)
        if s.a:
            return replace(s, k=3)
        return replace(s, k=s.k + 1)

    @always
    def fine(self, s: State) -> bool:
        return s.k != 1

    @sometimes
    def goes(self, s: State) -> bool:
        return s.k == 3

    @final
    def end(self, s: State) -> bool:
        return True


class OrThenA(AndThenA):
    """After "a or b", neither need hold by itself."""

    @action
    def go(self, s: State) -> State:
        require(s.k < 3)
        if s.a | s.b:
            return replace(s, k=3) if s.a else replace(s, k=s.k + 1)
        return replace(s, k=s.k + 1)


@dataclass(frozen=True)
class In:
    on: bool
    x: Map[P, Annotated[int, Range(-1, 1)]]


@dataclass(frozen=True)
class Nested:
    m: Map[P, In]
    k: Annotated[int, Range(0, 3)]


def at_least(v: int) -> int:
    assert v >= 0
    return v


@dataclass(frozen=True)
class NestedClaim(Model[Nested]):
    """A claim in a map in a map, on a path that is not taken."""

    ps: Domain[P]

    @init
    def start(self) -> Nested:
        return Nested(Map.fill(self.ps, In(False, Map.fill(self.ps, -1))), 0)

    @action
    def go(self, s: Nested) -> Nested:
        require(s.k < 3)
        return replace(
            s,
            k=s.k + 1,
            m=s.m.map(lambda i: replace(i, x=i.x.map(at_least)) if i.on else i),
        )

    @action
    def turn(self, s: Nested, p: P) -> Nested:
        require(s.k > 3)
        return replace(s, m=s.m.set(p, replace(s.m[p], on=True, x=Map.fill(self.ps, 0))))

    def ruled_out(self) -> tuple[str, ...]:
        return ("turn",)

    @always
    def fine(self, s: Nested) -> bool:
        return s.k < 4

    @sometimes
    def goes(self, s: Nested) -> bool:
        return s.k == 3

    @final
    def end(self, s: Nested) -> bool:
        return True


class NestedClaimFails(NestedClaim):
    """The same, where the path is taken by one of the elements."""

    @action
    def turn(self, s: Nested, p: P) -> Nested:
        require(s.k == 1)
        return replace(s, m=s.m.set(p, replace(s.m[p], on=True)))

    def ruled_out(self) -> tuple[str, ...]:
        return ()


class PremiseOffPath(NestedClaim):
    """The premise holds only where it is not asked."""

    @always
    def fine(self, s: Nested) -> bool:
        return forall(self.ps, lambda p: implies(s.k > 2, s.k < 1) if s.m[p].on else True)


@dataclass(frozen=True)
class StuckAtOnce(Model[State]):
    """A deadlock in the initial state."""

    @init
    def start(self) -> State:
        return State(True, False, 0)

    @action
    def go(self, s: State) -> State:
        require(s.k > 0)
        return replace(s, k=0)

    @always
    def fine(self, s: State) -> bool:
        return s.k < 4


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("model", [AndThenA(), OrThenA(), NestedClaim(Domain(P, 2))], ids=repr)
def test_what_holds_is_exhausted(model, engine):
    assert set(statuses(model, engine).values()) == {Status.EXHAUSTED}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_claim_in_a_map_in_a_map_fails_where_its_path_is_taken(engine):
    verdict = check(NestedClaimFails(Domain(P, 2)), engine=engine).verdict
    assert (verdict.broken, len(verdict.trace)) == ("claims", 3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_premise_that_holds_only_where_it_is_not_asked_is_never_tried(engine):
    found = statuses(PremiseOffPath(Domain(P, 2)), engine)
    assert found.pop("fine") is Status.UNDETERMINED
    assert set(found.values()) == {Status.EXHAUSTED}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_deadlock_in_the_initial_state_is_found(engine):
    verdict = check(StuckAtOnce(), engine=engine).verdict
    assert (verdict.broken, verdict.reason, len(verdict.trace)) == ("deadlock", STUCK, 0)


# --------------------------------------------------------------------------- fairness


class At(Enum):
    A = 1
    B = 2
    C = 3
    D = 4


@dataclass(frozen=True)
class Place:
    at: At


@dataclass(frozen=True)
class Round(Model[Place]):
    """Strong fairness forbids A, B and D together, but not A and D."""

    @init
    def start(self) -> Place:
        return Place(At.A)

    @action
    def to_b(self, s: Place) -> Place:
        require(s.at == At.A)
        return Place(At.B)

    @action
    def back(self, s: Place) -> Place:
        require(s.at in (At.B, At.D))
        return Place(At.A)

    @action(fairness=Fairness.WEAK)
    def to_d(self, s: Place) -> Place:
        require(s.at == At.A)
        return Place(At.D)

    @action(fairness=Fairness.WEAK)
    def from_d(self, s: Place) -> Place:
        require(s.at == At.D)
        return Place(At.A)

    @action(fairness=Fairness.STRONG)
    def out(self, s: Place) -> Place:
        require(s.at == At.B)
        return Place(At.C)

    @leads_to
    def gets_out(self, s: Place) -> tuple[bool, bool]:
        return s.at == At.A, s.at == At.C

    @final
    def end(self, s: Place) -> bool:
        return s.at == At.C


class NotWithoutB(Round):
    """Without the way past B, whoever goes round gets out."""

    @action(fairness=Fairness.WEAK)
    def to_d(self, s: Place) -> Place:
        require(s.at == At.B)
        return Place(At.D)

    @action(fairness=Fairness.STRONG)
    def to_b(self, s: Place) -> Place:
        require(s.at == At.A)
        return Place(At.B)


class Lately(Round):
    """What is promised from the start alone, and kept before it is promised again."""

    @eventually
    def leaves(self, s: Place) -> bool:
        return s.at != At.A


@pytest.mark.parametrize("engine", ENGINES)
def test_a_part_of_a_set_that_strong_fairness_forbids_may_be_allowed(engine):
    report = check(Round(), engine=engine)
    verdict = report.finding("gets_out").verdict
    assert verdict.status is Status.REFUTED
    assert verdict.trace.repeats == 2
    assert {step.action for step in verdict.trace.steps[-2:]} <= {"to_d()", "from_d()", "back()"}


@pytest.mark.parametrize("engine", ENGINES)
def test_where_no_part_is_allowed_the_promise_is_kept(engine):
    assert check(NotWithoutB(), engine=engine).verdict.status is Status.EXHAUSTED
    assert check(Lately(), engine=engine).finding("leaves").verdict.status is Status.EXHAUSTED


# --------------------------------------------------------------------------- equal hashes


@dataclass(frozen=True)
class Alike:
    """Two that differ and have one hash: -1 and -2 do in Python."""

    n: Annotated[int, Range(-3, 3)]

    def __hash__(self) -> int:
        return 1


@dataclass(frozen=True)
class SameHash(Model[Alike]):
    @init
    def start(self) -> Alike:
        return Alike(0)

    @action
    def down(self, s: Alike) -> Alike:
        require(s.n > -3)
        return Alike(s.n - 1)

    @always
    def fine(self, s: Alike) -> bool:
        return s.n > -3

    @every_step
    def falls(self, before: Alike, after: Alike) -> bool:
        return before.n > after.n

    @final
    def end(self, s: Alike) -> bool:
        return True


class SameHashAllFine(SameHash):
    @always
    def fine(self, s: Alike) -> bool:
        return s.n < 3


@dataclass(frozen=True)
class ByPython(Model[int]):
    """States are plain numbers: hash(-1) == hash(-2), and of each n and n + 2**61 - 1."""

    @init
    def start(self) -> int:
        return -1

    @action
    def down(self, s: int) -> int:
        require(s in (-1, 5))
        return s - 1 if s < 0 else s + 2**61 - 1

    @action
    def up(self, s: int) -> int:
        require(s == -2)
        return 5

    @always
    def small(self, s: int) -> bool:
        return s < 10

    @final
    def end(self, s: int) -> bool:
        return True


def test_states_of_equal_hash_are_two_states():
    assert len({hash(Alike(n)) for n in range(-3, 4)}) == 1
    verdict = check(SameHash(), engine=plain.explore).verdict
    assert (verdict.broken, len(verdict.trace)) == ("fine", 3)
    report = check(SameHashAllFine(), engine=plain.explore)
    assert (report.verdict.status, report.counts.distinct) == (Status.EXHAUSTED, 4)
    assert check(SameHashAllFine(), engine=native).counts == report.counts
    cut = check(SameHashAllFine(), engine=plain.explore, limits=Limits(states_max=3))
    assert cut.verdict.status is Status.UNDETERMINED


def test_numbers_of_equal_hash_are_two_states():
    assert hash(-1) == hash(-2)
    assert hash(5) == hash(5 + 2**61 - 1)
    verdict = check(ByPython()).verdict
    assert (verdict.broken, len(verdict.trace)) == ("small", 3)
