"""Forecasts: of every named size, from half or a quarter of its states, and what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from streamproof.checker.forecast.forecast import Budget, Forecast, forecast
from streamproof.checker.forecast.growth import Estimate
from streamproof.checker.progress import Progress
from streamproof.lang import Model, action, always, final, init, require
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import UnknownSize

FACTOR = 3.0
"""What no forecast of a model of streamproof is wrong by."""
LARGE_FROM = 10_000
"""States from which a quarter of them is something to go by."""
GOLDEN = Path(__file__).parents[1] / "golden"
TWO_PHASE_COMMIT = "benchmarks/traced_two_phase_commit.py"
NAMED = [
    pytest.param(target, size, counts["distinct"], id=f"{target}-{size}")
    for target in registry.names()
    for size, counts in json.loads((GOLDEN / f"{target}.json").read_text())["sizes"].items()
]
LARGE = [case for case in NAMED if case.values[2] >= LARGE_FROM]


def at(target: str, states_max: int, **size: Any) -> Forecast:
    budget = Budget(states=states_max, states_reference=states_max)
    return forecast(registry.find(target), size, budget=budget, symmetry=False)


def wrong_by(guess: Estimate | None, truth: int) -> float:
    assert guess is not None
    assert guess.deviation > 0  # it was not counted
    assert guess.value / guess.factor <= truth <= guess.value * guess.factor
    return max(guess.value / truth, truth / guess.value)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "size", "truth"), NAMED)
def test_every_named_size_is_forecast_from_half_its_states(target, size, truth):
    found = at(target, truth // 2, **registry.find(target).sizes[size])
    assert wrong_by(found.states, truth) < FACTOR, found.reason


@pytest.mark.slow
@pytest.mark.parametrize(("target", "size", "truth"), LARGE)
def test_every_large_size_is_forecast_from_a_quarter_of_its_states(target, size, truth):
    """What was found already leaves an estimate room to be four times too low."""
    found = at(target, truth // 4, **registry.find(target).sizes[size])
    assert wrong_by(found.states, truth) < FACTOR, found.reason


@pytest.mark.parametrize(("managers", "truth"), [(6, 50_816), (7, 296_448)])
def test_smaller_sizes_of_two_phase_commit_point_to_the_next_within_a_hundredth(managers, truth):
    found = at(TWO_PHASE_COMMIT, truth // 3, managers=managers)
    assert wrong_by(found.from_smaller, truth) < 1.01


@pytest.mark.slow
@pytest.mark.parametrize(("managers", "truth"), [(9, 10_340_352), (10, 61_515_776)])
def test_smaller_sizes_of_two_phase_commit_point_two_and_three_sizes_ahead(managers, truth):
    found = at(TWO_PHASE_COMMIT, 1_000_000, managers=managers)
    assert wrong_by(found.from_smaller, truth) < 1.01
    assert wrong_by(found.states, truth) < 1.3


@pytest.mark.slow
@pytest.mark.parametrize(("messages", "truth"), [((3, 2, 2), 7_148_727), ((1, 1, 1, 0), 4_934_947)])
def test_chandy_lamport_is_forecast_from_a_million_states(messages, truth):
    found = at("chandy_lamport", 1_000_000, messages=messages, initiators=1)
    assert wrong_by(found.from_smaller, truth) < 1.1
    assert wrong_by(found.states, truth) < 1.3


def test_a_model_that_cannot_be_traced_is_forecast_too():
    found = at("examples/two_phase_commit.py", 1_000, managers=4)
    assert found.engine == "reference"
    assert wrong_by(found.from_smaller, 1_568) < 1.1
    assert wrong_by(found.states, 1_568) < FACTOR


def test_what_the_first_levels_point_to_helps_where_there_are_no_smaller_sizes():
    found = at("permission", 256, replicas=2, crashing=2)
    assert found.from_smaller is None
    assert wrong_by(found.states, 1_026) < FACTOR


def test_steps_memory_and_time_go_with_the_states():
    found = at(TWO_PHASE_COMMIT, 100_000, managers=7)
    assert found.steps is not None
    assert found.steps.value == pytest.approx(2_744_706, rel=0.02)
    assert found.cost.memory_mb(2**20) == found.cost.bytes_per_state > 8
    fast, slow = found.cost.seconds(1_000)
    assert fast <= 1_000 * found.cost.seconds_per_step <= slow


@pytest.mark.parametrize(
    ("target", "states_max", "size"),
    [
        ("token_passing", 32, {"messages": (1, 1), "tokens": (0,)}),
        ("token_passing", 460, {"messages": (1, 1), "tokens": (0,), "snapshots": 2}),
        ("chandy_lamport", 70, {"messages": (1, 1)}),
        (TWO_PHASE_COMMIT, 1_000, {"managers": 5}),
    ],
)
def test_no_forecast_lies_below_what_was_found_of_any_size(target, states_max, size):
    found = at(target, states_max, **size)
    assert found.states is not None
    assert found.steps is not None
    for part in found.sizes:
        assert found.states.low >= part.counts.distinct
        assert found.steps.low >= part.counts.generated


def test_a_size_that_is_small_enough_is_counted():
    found = at(TWO_PHASE_COMMIT, 10_000, managers=5)
    assert found.is_exact
    assert [part.counts.distinct for part in found.sizes] == [8_832]
    assert found.states is not None
    assert found.states.factor == 1


def test_what_multiplies_the_states_is_told():
    found = at(TWO_PHASE_COMMIT, 20_000, managers=6)
    assert found.settings["managers"] == pytest.approx(8_832 / 1_568)
    multipliers = found.multipliers
    assert multipliers is not None
    assert multipliers.size == {"managers": 4}
    assert multipliers.fields[0].name == "parts"
    assert multipliers.fields[0].factor == pytest.approx(1_568 / 164, rel=0.01)
    assert next(iter(multipliers.actions)) == "obey_abort"
    assert sum(multipliers.actions.values()) == pytest.approx(1_567 / 1_568)


@dataclass(frozen=True)
class State:
    value: int


@dataclass(frozen=True)
class Counter(Model[State]):
    most: int
    step: str = "one"

    @init
    def start(self) -> State:
        return State(0)

    @action
    def up(self, s: State) -> State:
        require(s.value < self.most)
        return replace(s, value=s.value + 1)

    @final
    def anywhere(self, s: State) -> bool:
        return True


@dataclass(frozen=True)
class Stride(Counter):
    stride: int = 1

    @action
    def up(self, s: State) -> State:
        require(s.value + self.stride <= self.most)
        return replace(s, value=s.value + self.stride)


class Low(Counter):
    @always
    def low(self, s: State) -> bool:
        return s.value < 2


@dataclass(frozen=True)
class Endless(Model[State]):
    name: str = "endless"

    @init
    def start(self) -> State:
        return State(0)

    @action
    def up(self, s: State) -> State:
        return replace(s, value=s.value + 1)


@pytest.mark.parametrize(
    ("model", "size", "states_max", "reason"),
    [
        (Low, {"most": 50}, 3, "low does not hold"),
        (Endless, {"name": "x"}, 3, "no setting is a number"),
        (Counter, {"most": 4_000}, 3, "too many smaller sizes"),
        (Counter, {"most": 10**12}, 3, "too many smaller sizes"),
        (Counter, {"most": 3}, 2, "only 2 smaller sizes could be searched to their end: too few"),
    ],
)
def test_what_smaller_sizes_do_not_determine_is_not_forecast(model, size, states_max, reason):
    found = forecast(model, size, budget=Budget(states_max, states_max))
    assert found.states is None
    assert found.steps is None
    assert reason in found.reason


def test_a_setting_that_makes_the_states_fewer_is_no_measure_of_size():
    found = forecast(Stride, {"most": 12, "stride": 2}, budget=Budget(6, 6))
    assert set(found.settings) == {"most"}


def test_an_unknown_setting_is_refused():
    with pytest.raises(UnknownSize, match="least"):
        forecast(Counter, {"least": 4})


def test_an_interrupted_forecast_tells_what_was_found():
    def interrupt(progress: Progress) -> None:
        if progress.distinct < 100:
            return
        raise KeyboardInterrupt

    budget = Budget(states=20_000)
    model_class = registry.find(TWO_PHASE_COMMIT)
    found = forecast(
        model_class, {"managers": 7}, budget=budget, symmetry=False, on_progress=interrupt
    )
    assert found.states is None
    assert "interrupted" in found.reason
    assert found.sizes[0].counts.distinct > 0
