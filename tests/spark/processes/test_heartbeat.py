"""A copy is suspected when its count stands still, and only by one that was awake to see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamproof.spark_bindings.names import Turn
from streamproof.spark_bindings.processes.heartbeat import COLD_TIMEOUTS, Heart, Watch
from streamproof.spark_bindings.storage.place import Place

BOUND = 1.0
STEP = 0.1


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def look(watch: Watch, clock: Clock, times: int, step: float = STEP) -> None:
    for _ in range(times):
        clock.now += step
        watch.look()


def test_a_copy_is_suspected_after_its_bound_and_no_longer_once_it_beats(
    tmp_path: Path, clock: Clock
) -> None:
    heart, watch = (
        Heart(Place.of(tmp_path / "beat")),
        Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock),
    )
    heart.beat(active=True, warm=True, turn=Turn(3))
    look(watch, clock, 1)
    look(watch, clock, 10)
    assert not watch.has_failed
    look(watch, clock, 1)
    assert watch.has_failed
    assert watch.is_no_primary
    heart.beat(active=True, warm=True, turn=Turn(4))
    look(watch, clock, 1)
    assert not watch.has_failed
    assert watch.beat is not None
    assert watch.beat.turn == 4


def test_a_copy_that_never_beat_is_suspected_too(tmp_path: Path, clock: Clock) -> None:
    watch = Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock)
    look(watch, clock, 11)
    assert watch.has_failed


def test_one_that_was_frozen_itself_suspects_nobody_for_that(tmp_path: Path, clock: Clock) -> None:
    Heart(Place.of(tmp_path / "beat")).beat(active=True, warm=True, turn=Turn(3))
    watch = Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock)
    look(watch, clock, 1, step=3600)
    assert not watch.has_failed


def test_a_copy_that_lives_and_is_not_primary_is_no_primary(tmp_path: Path, clock: Clock) -> None:
    heart, watch = (
        Heart(Place.of(tmp_path / "beat")),
        Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock),
    )
    for _ in range(11):
        heart.beat(active=False, warm=True, turn=Turn(3))
        look(watch, clock, 1)
    assert watch.is_no_primary
    assert not watch.has_failed
    watch.begin_again()
    assert not watch.is_no_primary


def test_a_copy_that_has_just_become_primary_is_given_all_the_time_before_it_beats(
    tmp_path: Path, clock: Clock
) -> None:
    heart, watch = (
        Heart(Place.of(tmp_path / "beat")),
        Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock),
    )
    heart.beat(active=False, warm=True, turn=Turn(3))
    look(watch, clock, 12)
    assert watch.is_no_primary
    watch.note_primary(1)  # its takeover is in the channel
    assert not watch.is_no_primary
    for _ in range(11):
        look(watch, clock, 1)
        watch.note_primary(1)
    assert watch.is_no_primary


def test_another_life_of_a_copy_is_a_beat(tmp_path: Path, clock: Clock) -> None:
    Heart(Place.of(tmp_path / "beat")).beat(active=True, warm=True, turn=Turn(3))
    watch = Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock)
    look(watch, clock, 9)
    Heart(Place.of(tmp_path / "beat")).beat(
        active=True, warm=True, turn=Turn(3)
    )  # the count is 1 again
    look(watch, clock, 5)
    assert not watch.has_failed


@pytest.mark.parametrize(
    ("active", "warm", "bounds"),
    [(True, False, COLD_TIMEOUTS), (True, True, 1), (False, False, 1)],
    ids=["cold primary", "warm primary", "cold follower"],
)
def test_a_primary_that_has_not_taken_a_turn_yet_is_given_more_time(
    tmp_path: Path, clock: Clock, *, active: bool, warm: bool, bounds: int
) -> None:
    heart = Heart(Place.of(tmp_path / "beat"))
    watch = Watch(Place.of(tmp_path / "beat"), BOUND, cold_timeouts=COLD_TIMEOUTS, clock=clock)
    heart.beat(active=active, warm=warm, turn=Turn(3))
    look(watch, clock, 1 + int(bounds * BOUND / STEP) - 1)
    assert not watch.has_failed
    look(watch, clock, 2)
    assert watch.has_failed
    assert watch.is_no_primary


def test_of_two_copies_the_warm_one_is_ahead_and_then_the_one_with_more_turns(
    tmp_path: Path, clock: Clock
) -> None:
    watch = Watch(Place.of(tmp_path / "beat"), BOUND, clock=clock)
    assert not watch.is_ahead_of(Turn(0), warm=False)
    Heart(Place.of(tmp_path / "beat")).beat(active=False, warm=False, turn=Turn(3))
    look(watch, clock, 1)
    assert watch.is_ahead_of(Turn(2), warm=False)
    assert not watch.is_ahead_of(Turn(3), warm=False)
    assert not watch.is_ahead_of(Turn(2), warm=True)
    Heart(Place.of(tmp_path / "beat")).beat(active=False, warm=True, turn=Turn(3))
    look(watch, clock, 1)
    assert watch.is_ahead_of(Turn(9), warm=False)
    look(watch, clock, 11)
    assert not watch.is_ahead_of(Turn(2), warm=False)  # for it has failed
