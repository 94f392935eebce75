"""The assertions: green where the verdict is the one asked for, and a reason where it is not."""

from __future__ import annotations

import pytest

from streamproof.checker.limits import Limits
from streamproof.lang import Model, action, always, every_step, init, require, sometimes
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.sizes import UnknownSize
from streamproof.proofs.invariant import Invariant
from streamproof.testing import (
    NotGreen,
    assert_exhausted,
    assert_killed,
    assert_proved,
    assert_sampled,
)
from tests.testing.support.lamps import Lamp, Lamps


class Counter(Model[int]):
    """Counts to three; it is never above two is false."""

    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        require(n < 3)
        return n + 1

    @always
    def is_below_three(self, n: int) -> bool:
        return n < 3


class Turns(Model[bool]):
    @init
    def start(self) -> bool:
        return False

    @action
    def turn(self, on: bool) -> bool:
        return not on

    @sometimes
    def is_on(self, on: bool) -> bool:
        return on


class Stuck(Turns):
    @action
    def turn(self, on: bool) -> bool:
        return False


class Bounces(Model[int]):
    @init
    def zero(self) -> int:
        return 0

    @action
    def step(self, n: int) -> int:
        return 1 - n

    @every_step
    def it_moves(self, n: int, m: int) -> bool:
        return n != m

    @always
    def is_a_bit(self, n: int) -> bool:
        return 0 <= n <= 1


class Stays(Bounces):
    @action
    def step(self, n: int) -> int:
        return n


def test_a_size_is_given_by_name_or_by_its_settings_or_the_default_is_taken() -> None:
    assert assert_exhausted(Lamps).counts.distinct == 7  # none, three alone, three pairs
    assert assert_exhausted(Lamps, "large").counts.distinct == 1 + 6 + 15
    assert assert_exhausted(Lamps, {"lamps": 2}).counts.distinct == 4


def test_a_model_that_is_built_is_taken_as_it_is_and_a_second_size_is_refused() -> None:
    from streamproof.lang import Domain

    built = Lamps(Domain(Lamp, 2))
    assert assert_exhausted(built).counts.distinct == 4
    with pytest.raises(ValueError, match="is built already"):
        assert_exhausted(built, "large")


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(UnknownSize, match="has no size 'huge'"):
        assert_exhausted(Lamps, "huge")


@pytest.mark.parametrize("engine", ["reference", "auto"])
def test_a_refuted_property_is_told_with_its_shortest_run(engine: str) -> None:
    with pytest.raises(NotGreen) as told:
        assert_exhausted(Counter, engine=engine)
    text = str(told.value)
    assert "is_below_three of Counter is REFUTED, not EXHAUSTED" in text
    assert "  3. add()\n      2 -> 3" in text
    assert isinstance(told.value, AssertionError)


def test_a_search_that_is_cut_short_is_not_green() -> None:
    with pytest.raises(NotGreen, match="UNDETERMINED, not EXHAUSTED: there are more than 3 states"):
        assert_exhausted(Lamps, limits=Limits(states_max=3))


def test_what_never_happens_is_not_green() -> None:
    with pytest.raises(NotGreen, match="is_on of Stuck is UNDETERMINED"):
        assert_exhausted(Stuck)


def test_walks_are_sampled_and_not_exhausted() -> None:
    report = assert_sampled(Lamps, walks=20, length_max=10)
    assert report.verdict.status.value == "SAMPLED"
    with pytest.raises(NotGreen, match="is_below_three of Counter is REFUTED, not SAMPLED"):
        assert_sampled(Counter, walks=5)


def test_an_invariant_is_proved_or_the_verdict_is_told() -> None:
    right = Invariant(Bounces, (lambda _, n: 0 <= n <= 1,))  # type: ignore[arg-type, return-value]
    assert assert_proved(right).verdict.status.value == "PROVED"
    weak = Invariant(Bounces, (lambda _, n: n <= 1,))  # type: ignore[arg-type, return-value]
    with pytest.raises(NotGreen, match="Bounces is UNDETERMINED, not PROVED"):
        assert_proved(weak)


def test_a_mutant_is_killed_by_the_property_that_it_names() -> None:
    stays = Mutant("stays", Stays, {}, "it_moves", 1, "it stays where it is")
    assert assert_killed(stays).steps == 1
    assert assert_killed(stays, original=Bounces).steps == 1


@pytest.mark.parametrize(
    ("model", "killed_by", "steps", "reason"),
    [
        (Stays, "is_a_bit", 1, "killed by another property"),
        (Stays, "it_moves", 0, "killed too late"),
        (type("Same", (Bounces,), {}), "it_moves", 1, "survived"),
    ],
)
def test_a_mutant_that_is_not_killed_as_it_says_fails(
    model: type[Bounces], killed_by: str, steps: int, reason: str
) -> None:
    with pytest.raises(NotGreen, match=reason):
        assert_killed(Mutant("m", model, {}, killed_by, steps, "a story"))


def test_a_mutant_without_an_original_is_refused() -> None:
    with pytest.raises(NotGreen, match="no base class that can be explored"):
        assert_killed(Mutant("alone", Bounces, {}, "it_moves", 1, "a story"))
