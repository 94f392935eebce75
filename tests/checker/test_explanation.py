"""A broken property is explained by its failing part; a premise that never holds is not green."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamproof.checker import check
from streamproof.checker.explanation import TEXT_MAX, failing_part
from streamproof.lang import Domain, Element, Map, every_step, forall, implies
from streamproof.lang.model import Model, action, always, init
from streamproof.models.kit.verdict import Exhausted, Refuted, Undetermined


class Seat(Element):
    """Somewhere to sit."""


@dataclass(frozen=True)
class Hall:
    """Which seats are taken, and how many people have come."""

    taken: Map[Seat, bool]
    came: int


@dataclass(frozen=True)
class Theatre(Model[Hall]):
    """People come and sit down until the hall is full."""

    seats: Domain[Seat]
    most: int

    @init
    def start(self) -> Hall:
        return Hall(Map.fill(self.seats, False), 0)

    @action
    def come(self, s: Hall, seat: Seat) -> Hall:
        taken = s.taken.set(seat, True)
        return Hall(taken, s.came + 1 if s.came < self.most else s.came)

    @always
    def second_seat_is_free(self, s: Hall, seat: Seat) -> bool:
        return implies(s.came >= 2, not s.taken[seat]) and s.came >= 0

    @every_step
    def nobody_leaves(self, before: Hall, after: Hall) -> bool:
        return forall(
            self.seats, lambda seat: implies(before.taken[seat], after.taken[seat])
        ) and implies(before.came == self.most, after.came < self.most)


def test_the_failing_conjunct_is_named_with_its_elements():
    found = check(Theatre(Domain(Seat, 2), 2)).finding("second_seat_is_free").verdict
    assert isinstance(found, Refuted)
    assert found.reason == (
        "second_seat_is_free(seat=seat0) does not hold: not taken[seat0] or came < 2"
    )


def test_a_broken_step_is_explained_by_the_states_on_both_sides():
    model = Theatre(Domain(Seat, 1), 1)
    states = [Hall(Map.fill(model.seats, True), 1), Hall(Map.fill(model.seats, False), 1)]
    part = failing_part(model, "nobody_leaves", states)
    assert part == "not taken[seat0] or after.taken[seat0]"


def test_what_holds_or_is_unknown_has_no_explanation():
    model = Theatre(Domain(Seat, 1), 1)
    state = next(iter(model.initial_states()))
    assert failing_part(model, "second_seat_is_free", [state]) is None
    assert failing_part(model, "deadlock", [state]) is None


@dataclass(frozen=True)
class Wordy(Theatre):
    """A property whose failing part nobody would read."""

    @always
    def long(self, s: Hall) -> bool:
        return any([s.came == number for number in range(1, 60)])  # noqa: C419 - all in one term


def test_a_part_that_nobody_would_read_is_left_out():
    model = Wordy(Domain(Seat, 1), 1)
    state = next(iter(model.initial_states()))
    assert 60 * len("came == 1 or ") > TEXT_MAX
    assert failing_part(model, "long", [state]) is None


@dataclass(frozen=True)
class Untraced(Model[frozenset[int]]):
    """A model that cannot be traced."""

    @init
    def start(self) -> frozenset[int]:
        return frozenset()

    @always
    def never(self, s: frozenset[int]) -> bool:
        return bool(s)


def test_a_model_that_cannot_be_traced_is_refuted_without_an_explanation():
    found = check(Untraced()).finding("never").verdict
    assert isinstance(found, Refuted)
    assert found.reason == "never() does not hold"


@dataclass(frozen=True)
class Quiet(Theatre):
    """So small a hall that the premise never holds."""

    @always
    def second_seat_is_free(self, s: Hall, seat: Seat) -> bool:
        return implies(s.came >= 2, not s.taken[seat])

    @every_step
    def nobody_leaves(self, before: Hall, after: Hall) -> bool:
        return implies(before.came >= 0, after.came >= before.came)


@pytest.mark.parametrize(("most", "expected"), [(1, Undetermined), (2, Refuted)])
def test_a_premise_that_never_holds_leaves_the_property_undetermined(most, expected):
    report = check(Quiet(Domain(Seat, 1), most))
    verdict = report.finding("second_seat_is_free").verdict
    assert isinstance(verdict, expected)
    if most == 1:
        assert "premise of an implies in second_seat_is_free" in verdict.reasons[0]
        assert isinstance(report.finding("nobody_leaves").verdict, Exhausted)
        assert isinstance(report.verdict, Undetermined)
