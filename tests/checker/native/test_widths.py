"""Widths: literals, ranges and fields at the borders of 64 bits, in every shape of code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from streamproof.checker import check
from streamproof.checker.native import liveness
from streamproof.checker.native.code.terms import NumberTooLarge
from streamproof.checker.native.engine import explore as native
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Range,
    action,
    always,
    every_step,
    final,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status
from tests.checker.native.widths import assert_right

WIDE = 2**64
FULL = 2**62
"""The largest number that compiled code computes with."""


class P(Element):
    """Two of these are alike, so that symmetric code is not plain code."""


@dataclass(frozen=True)
class State:
    now: Annotated[int, Range(0, 20)]
    seen: Map[P, bool]


@dataclass(frozen=True)
class Clock(Model[State]):
    """Counts; each kind below looks at the count in a way of its own."""

    ps: Domain[P]
    never: int = WIDE + 5

    @init
    def start(self) -> State:
        return State(0, Map.fill(self.ps, False))

    @action
    def tick(self, s: State) -> State:
        require(s.now < 12)
        return replace(s, now=s.now + 1)

    @action
    def see(self, s: State, p: P) -> State:
        require(s.now > 9)
        return replace(s, seen=s.seen.set(p, True))

    @final
    def anywhere(self, s: State) -> bool:
        del s
        return True

    @always
    def early(self, s: State) -> bool:
        return s.now < 10


class WideGuard(Clock):
    @action
    def tick(self, s: State) -> State:
        require(s.now < WIDE + 5 and s.now < 12)
        return replace(s, now=s.now + 1)


class WideField(Clock):
    @action
    def tick(self, s: State) -> State:
        require(s.now < self.never and s.now < 12)
        return replace(s, now=s.now + 1)


class WideEqual(Clock):
    @always
    def early(self, s: State) -> bool:
        return s.now != WIDE + 11 and s.now + 1 != 12 - WIDE and s.now < 11


class WideNegative(Clock):
    @always
    def early(self, s: State) -> bool:
        return s.now > -WIDE and s.now <= 11 + 2 * WIDE and s.now < 10


class WideUpdate(Clock):
    """In 64 bits it would become 1, which is within the range."""

    @action
    def tick(self, s: State) -> State:
        return replace(s, now=WIDE + 1 if s.now == 3 else s.now + 1)


class WideSum(Clock):
    @always
    def early(self, s: State) -> bool:
        return s.now + (WIDE - 8) < WIDE


class WideDifference(Clock):
    @always
    def early(self, s: State) -> bool:
        return (2**63 - s.now) - (2**63 - 9) >= 0


class WideProduct(Clock):
    """2**32 times 2**32 is 0 in 64 bits."""

    @always
    def early(self, s: State) -> bool:
        factor = 2**32 if s.now > 9 else 1
        return factor * factor > 0 and factor * factor < 5


class WideCounted(Clock):
    """A choice of literals, as a guard."""

    @action
    def tick(self, s: State) -> State:
        require(s.now < 12)
        require((WIDE if s.now < 11 else -WIDE) > s.now)
        return replace(s, now=s.now + 1)


LITERALS = [
    WideGuard,
    WideField,
    WideEqual,
    WideNegative,
    WideUpdate,
    WideSum,
    WideDifference,
    WideProduct,
    WideCounted,
]


@pytest.mark.parametrize("kind", LITERALS)
def test_a_literal_that_64_bits_do_not_hold_is_never_wrapped(kind, tmp_path):
    """As `wide_constant` was, by code with loops."""
    wanted = assert_right(kind(Domain(P, 2)), tmp_path, may_refuse=True)
    assert "EXHAUSTED" not in str(wanted) or kind is WideCounted


def test_what_is_not_computed_with_may_be_of_any_size(tmp_path):
    """A literal that no value can reach is compared before the code is written."""
    for kind in (WideGuard, WideEqual, WideNegative):
        assert_right(kind(Domain(P, 2)), tmp_path)


@dataclass(frozen=True)
class Fields:
    a: Annotated[int, Range("a_low", "a_high")]
    b: Annotated[int, Range("b_only", "b_only")]
    c: Annotated[int, Range("c_low", "c_high")]
    k: Annotated[int, Range(0, 9)]
    seen: Map[P, bool]


@dataclass(frozen=True)
class Shaped(Model[Fields]):
    """Goes up to the highest values; `b` has one value, and would change where that never is."""

    ps: Domain[P]
    a_low: int
    a_high: int
    b_only: int
    c_low: int
    c_high: int

    @init
    def start(self) -> Fields:
        return Fields(self.a_low, self.b_only, self.c_low, 0, Map.fill(self.ps, False))

    @action
    def step(self, s: Fields) -> Fields:
        require(s.k < 9 and s.b >= self.b_only)
        return replace(
            s,
            a=self.a_high if s.k == 4 else s.a,
            b=s.b if s.a <= self.a_high else s.b + 1,
            c=self.c_high if s.k == 6 else s.c,
            k=s.k + 1,
        )

    @action
    def see(self, s: Fields, p: P) -> Fields:
        require(s.k == 9 and not s.seen[p])
        return replace(s, seen=s.seen.set(p, True))

    @action
    def back(self, s: Fields) -> Fields:
        require(s.c == self.c_high and s.k == 7)
        return replace(s, a=self.a_low, c=self.c_low, b=s.b if s.k == 7 else s.b - 1)

    @always
    def within(self, s: Fields) -> bool:
        return s.b == self.b_only and self.c_low <= s.c <= self.c_high

    @every_step
    def rises(self, before: Fields, after: Fields) -> bool:
        return implies(before.k < 7, before.a <= after.a)

    @sometimes
    def all_high(self, s: Fields) -> bool:
        return s.a == self.a_high and s.c == self.c_high and s.b == self.b_only and s.k == 9

    @final
    def end(self, s: Fields) -> bool:
        return s.k == 9


class Falls(Shaped):
    """A step of several cells that breaks a property of steps."""

    @every_step
    def rises(self, before: Fields, after: Fields) -> bool:
        return before.a >= after.a


FULL_64, FULL_63, HALF = (-FULL, FULL), (0, FULL), (0, 2**32 - 1)
BELOW, ONE, NEGATIVE = (-9, -2), (0, 0), (-3, -3)
LAYOUTS = {
    "zero_bits": (HALF, 0, HALF),
    "behind-64": (FULL_64, 5, ONE),
    "behind-64-negative": (FULL_64, -3, NEGATIVE),
    "behind-63": (FULL_63, 0, HALF),
    "first": (ONE, 0, FULL_64),
    "between": (FULL_64, -3, FULL_64),
    "below": (BELOW, -1, FULL_63),
    "highest": ((FULL - 3, FULL), FULL - 1, (-FULL, 3 - FULL)),
    "all": (ONE, 0, NEGATIVE),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fields_of_no_bits_and_of_all_bits_are_packed_alike(layout, tmp_path):
    """As `zero_bits` was: a cell of one value behind 64 full bits."""
    a, b, c = LAYOUTS[layout]
    wanted = assert_right(Shaped(Domain(P, 2), *a, b, *c), tmp_path)
    assert "REFUTED" not in str(wanted)
    assert "EXHAUSTED" in str(wanted)


@pytest.mark.parametrize("layout", ["zero_bits", "behind-64", "below"])
def test_falls(layout, tmp_path):
    a, b, c = LAYOUTS[layout]
    assert "REFUTED" in str(assert_right(Falls(Domain(P, 2), *a, b, *c), tmp_path))


@pytest.mark.parametrize(
    ("low", "high"), [(0, 2**63 - 1), (-(2**63), 0), (0, 2**64 - 1), (1, WIDE)]
)
def test_ranges_that_are_wider_are_refused(low, high, tmp_path):
    assert_right(Shaped(Domain(P, 2), low, high, 0, 0, 1), tmp_path, may_refuse=True)
    with pytest.raises(NumberTooLarge, match=r"it would wrap.*--engine reference"):
        native(Shaped(Domain(P, 2), low, high, 0, 0, 1))


# --- ranges that are left ------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    k: Annotated[int, Range(-1, 2)]
    high: Annotated[int, Range(-5, 5)]
    full: Map[P, Annotated[int, Range(-2, 1)]]


@dataclass(frozen=True)
class Below(Model[Level]):
    """A number that falls below its declared range: N1."""

    ps: Domain[P]

    @init
    def start(self) -> Level:
        return Level(1, 0, Map.fill(self.ps, 0))

    @action
    def down(self, s: Level) -> Level:
        return replace(s, k=s.k - 1)

    @action
    def fill(self, s: Level, p: P) -> Level:
        require(s.full[p] < 1)
        return replace(s, full=s.full.set(p, s.full[p] + 1))

    @always
    def fine(self, s: Level) -> bool:
        return s.k < 3


class Above(Below):
    @action
    def down(self, s: Level) -> Level:
        return replace(s, high=s.high + 2)


class JustAbove(Below):
    @action
    def down(self, s: Level) -> Level:
        return replace(s, high=s.high + 1)


class FarBelow(Below):
    """In the bits of its field it would be 3 above its lowest value."""

    @action
    def down(self, s: Level) -> Level:
        return replace(s, k=s.k - 9)


class BelowInAMap(Below):
    @action
    def down(self, s: Level, p: P) -> Level:
        require(s.full[p] <= 0)
        return replace(s, full=s.full.set(p, s.full[p] - 1))


class JustWithin(Below):
    @action
    def down(self, s: Level) -> Level:
        return replace(s, k=-1 if s.k == 2 else 2, high=5 if s.high == -5 else -5)


class Sinks(Below):
    """An action of one cell that breaks a property of steps: N4."""

    @action
    def down(self, s: Level) -> Level:
        require(s.k > 0)
        return replace(s, k=s.k - 1)

    @every_step
    def rises(self, before: Level, after: Level) -> bool:
        return before.k <= after.k


class WrongSign(Below):
    """What is negative is less than what is not."""

    @action
    def down(self, s: Level) -> Level:
        require(s.k > -1)
        return replace(s, k=s.k - 1)

    @always
    def fine(self, s: Level) -> bool:
        return s.k > s.high or s.k >= 0 or s.k * s.k < s.k


class Differs(WrongSign):
    """A difference of two numbers that change has the widths of both."""

    @always
    def fine(self, s: Level, p: P) -> bool:
        return s.full[p] - s.k != 1


@pytest.mark.parametrize("kind", [Below, Above, JustAbove, FarBelow, BelowInAMap])
def test_a_range_that_is_left_is_told_in_every_shape(kind, tmp_path):
    name, told = assert_right(kind(Domain(P, 2)), tmp_path)
    assert name == "LeftRange"
    assert "outside" in told


@pytest.mark.parametrize("kind", [JustWithin, WrongSign, Sinks, Differs])
def test_a_range_that_is_not_left_is_searched_to_its_borders(kind, tmp_path):
    wanted = assert_right(kind(Domain(P, 2)), tmp_path)
    assert ("REFUTED" in str(wanted)) == (kind is not JustWithin)


def test_more_steps_than_have_numbers_are_a_limit(monkeypatch):
    monkeypatch.setattr(liveness, "STEPS_MOST", 100)
    report = check(registry.build("chandy_lamport", "small"), engine=native)
    assert report.liveness.status is Status.UNDETERMINED
    assert "141 states" in str(report.liveness)
    assert "--safety" in str(report.liveness)
