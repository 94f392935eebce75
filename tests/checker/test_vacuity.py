"""An `implies` that is never tried: the same answer by both engines, for the same reason.

It may be left out by an `or` or a branch, stand below an empty quantifier, or have a premise that
holds nowhere; and it may stand in any kind of property.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from streamproof import lang
from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.checker.properties import BrokenAssumption
from streamproof.lang import Domain, Element, Model, Range, forall, implies, require
from streamproof.lang.model import (
    Fairness,
    action,
    always,
    assume,
    eventually,
    every_step,
    final,
    init,
    leads_to,
    sometimes,
)
from streamproof.models.kit.verdict import Status, Undetermined
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

ENGINES = [plain.explore, native]


class P(Element): ...


@dataclass(frozen=True)
class State:
    k: Annotated[int, Range(0, 20)]

    def is_late(self) -> bool:
        return implies(self.k == 15, self.k > 20)


def far(s: State) -> bool:
    return implies(s.k == 16, s.k > 20)


@dataclass(frozen=True)
class Short(Model[State]):
    """Counts to its top; `fine` never asks what it says of 15."""

    top: int = 5
    strict: bool = False

    @init
    def start(self) -> State:
        return State(0)

    @action(fairness=Fairness.WEAK)
    def up(self, s: State) -> State:
        require(s.k < self.top)
        return State(s.k + 1)

    @always
    def fine(self, s: State) -> bool:
        return s.k < 10 or implies(s.k == 15, s.k > 20)

    @final
    def end(self, s: State) -> bool:
        return True


class Assumed(Short):
    @assume
    def large(self) -> bool:
        return self.top > 7


class AssumesOfConstants(Short):
    """What an @assume says of constants need not be tried."""

    @assume
    def sensible(self) -> bool:
        return implies(self.top > 7, self.strict)

    @always
    def fine(self, s: State) -> bool:
        return s.k < 10


class Branch(AssumesOfConstants):
    """A branch that a constant leaves out."""

    @always
    def fine(self, s: State) -> bool:
        if self.strict:
            return implies(s.k == 1, s.k < 5)
        return True


class SecondOfTwo(AssumesOfConstants):
    """One is tried, the other on the same line is not."""

    @always
    def fine(self, s: State) -> bool:
        return implies(s.k == 1, s.k < 5) and implies(s.k == 15, s.k > 20)


class InHelper(AssumesOfConstants):
    """It stands in a function that the property calls."""

    @always
    def fine(self, s: State) -> bool:
        return s.k < 10 or far(s)


class InMethod(AssumesOfConstants):
    """In another method of the model, which an action calls, too: there its premise holds."""

    def near(self, s: State) -> bool:
        return implies(s.k < 5, s.k >= 0)

    @action
    def stay(self, s: State) -> State:
        require(self.near(s))
        return s

    @always
    def fine(self, s: State) -> bool:
        return s.k < 10 or self.near(s)


class InRecord(AssumesOfConstants):
    @always
    def fine(self, s: State) -> bool:
        return s.k < 10 or s.is_late()


class OfModule(AssumesOfConstants):
    @always
    def fine(self, s: State) -> bool:
        return s.k < 10 or lang.implies(s.k == 15, s.k > 20)


class OfSteps(AssumesOfConstants):
    @every_step
    def rises(self, before: State, after: State) -> bool:
        return before.k < after.k or implies(before.k == 15, False)


class Seen(AssumesOfConstants):
    """A `sometimes` that holds since nothing happens."""

    @sometimes
    def sees(self, s: State) -> bool:
        return implies(s.k == 15, False)


class Ends(AssumesOfConstants):
    """Every state is final, since nothing happens."""

    @final
    def end(self, s: State) -> bool:
        return implies(s.k == 15, False)


class Leads(AssumesOfConstants):
    @leads_to
    def follows(self, s: State) -> tuple[bool, bool]:
        return s.k == 0, implies(s.k == 15, False)


class Comes(AssumesOfConstants):
    @eventually
    def comes(self, s: State) -> bool:
        return implies(s.k == 15, False)


VACUOUS = [
    (Short, "fine"),
    (Branch, "fine"),
    (SecondOfTwo, "fine"),
    (InHelper, "fine"),
    (InMethod, "fine"),
    (InRecord, "fine"),
    (OfModule, "fine"),
    (OfSteps, "rises"),
    (Seen, "sees"),
    (Ends, "deadlock"),
    (Leads, "follows"),
    (Comes, "comes"),
]


@pytest.mark.parametrize(("kind", "name"), VACUOUS, ids=lambda part: getattr(part, "__name__", ""))
def test_an_implies_that_is_never_tried_is_undetermined_by_both_engines(kind, name):
    reports = [check(kind(), engine=engine) for engine in ENGINES]
    told = [report.finding(name).verdict.reasons for report in reports]
    assert told[0] == told[1]
    assert "so it was never tried. Choose a larger size" in told[0][0]
    assert {report.verdict for report in reports} == {reports[0].verdict}
    others = [part.verdict.status for part in reports[0].findings if part.name != name]
    assert set(others) == {Status.EXHAUSTED}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_assumption_is_checked_before_anything_is_tried(engine):
    with pytest.raises(BrokenAssumption, match="Assumed assumes large"):
        check(Assumed(), engine=engine)
    assert check(AssumesOfConstants(), engine=engine).verdict.status is Status.EXHAUSTED


class Tried(AssumesOfConstants):
    """Every premise holds somewhere, though a `sometimes` and a `final` are seldom asked."""

    @always
    def fine(self, s: State) -> bool:
        return s.k < 2 or implies(s.k == 3, s.k < 5)

    @sometimes
    def sees(self, s: State) -> bool:
        return implies(s.k == 5, s.k < 9)

    @final
    def end(self, s: State) -> bool:
        return implies(s.k < 5, False)

    @leads_to
    def follows(self, s: State) -> tuple[bool, bool]:
        return s.k == 0, implies(s.k < 5, False)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_premise_that_holds_anywhere_is_tried(engine):
    assert check(Tried(), engine=engine).verdict.status is Status.EXHAUSTED


@dataclass(frozen=True)
class Below(Model[State]):
    """Two domains: what is said of all elements of an empty one says nothing."""

    ps: Domain[P]

    @init
    def start(self) -> State:
        return State(0)

    @action
    def stay(self, s: State) -> State:
        return s

    @always
    def all_fine(self, s: State) -> bool:
        return forall(self.ps, lambda p: implies(s.k == 0, s.k < 5))


class OfEach(Below):
    @always
    def all_fine(self, s: State, p: P) -> bool:
        return implies(s.k == 0, s.k < 5)

    @sometimes
    def sees(self, s: State, p: P) -> bool:
        return True

    @leads_to
    def follows(self, s: State, p: P) -> tuple[bool, bool]:
        return True, True


@pytest.mark.parametrize("kind", [Below, OfEach])
def test_what_is_said_of_an_empty_domain_is_undetermined_by_both_engines(kind):
    reports = [check(kind(Domain(P, 0)), engine=engine) for engine in ENGINES]
    assert [part.verdict for part in reports[0].findings] == [
        part.verdict for part in reports[1].findings
    ]
    assert isinstance(reports[0].verdict, Undetermined)
    full = [check(kind(Domain(P, 1)), engine=engine).verdict.status for engine in ENGINES]
    assert full == [Status.EXHAUSTED] * 2


class Counting(Short):
    """Cannot get to 15, for any top: the invariant says so."""

    @action(fairness=Fairness.WEAK)
    def up(self, s: State) -> State:
        require(s.k < 10)
        return State(s.k + 1)

    @always
    def fine(self, s: State) -> bool:
        return s.k >= 0

    @every_step
    def rises(self, before: State, after: State) -> bool:
        return before.k < after.k


class NeverFifteen(Counting):
    @always
    def fine(self, s: State) -> bool:
        return s.k >= 0 and implies(s.k == 15, s.k > 20)


class NeverAsked(Counting):
    @always
    def fine(self, s: State) -> bool:
        return (s.k >= 0 and s.k <= 10) or implies(s.k == 7, False)


class NoSuchStep(Counting):
    @every_step
    def rises(self, before: State, after: State) -> bool:
        return before.k < after.k and implies(before.k == 10, False)


def up_to_ten(m: Short, s: State) -> bool:
    return 0 <= s.k <= 10


@pytest.mark.parametrize(
    ("kind", "name"), [(NeverFifteen, "fine"), (NeverAsked, "fine"), (NoSuchStep, "rises")]
)
def test_a_premise_that_the_invariant_excludes_is_no_proof(kind, name):
    report = prove(Invariant(kind, (up_to_ten,)))
    assert not report.failed
    (reason,) = report.vacuous
    assert f"the premise of an implies in {name}" in reason
    assert isinstance(report.verdict, Undetermined)


class Large(Counting):
    """Its premise holds at numbers larger than those of any example."""

    @always
    def fine(self, s: State) -> bool:
        return implies(s.k > 9, s.k == 10) and s.k >= 0


def test_a_premise_that_large_numbers_satisfy_is_tried():
    assert prove(Invariant(Large, (up_to_ten,))).vacuous == ()
    assert replace(Large(), top=3).top == 3
