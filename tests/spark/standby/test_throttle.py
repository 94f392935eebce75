"""A leader slows down for a copy that is behind, and for no other."""

from __future__ import annotations

import pytest

from streamproof.spark_bindings.processes.process_status import TURNS_AHEAD_MAX
from streamproof.spark_bindings.standby.throttle import PAUSE, Throttle


class Clock:
    """A clock that stands still until it is told."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_leader_whose_twin_follows_chooses_at_once() -> None:
    clock = Clock()
    pace = Throttle(clock)
    for _ in range(3):
        assert pace.may_choose(TURNS_AHEAD_MAX)
        pace.begin()
        clock.now += 5


@pytest.mark.parametrize("took", [0.1, 3.0])
def test_a_leader_far_ahead_pauses_for_as_long_as_its_last_turn_took(took: float) -> None:
    clock = Clock()
    pace = Throttle(clock)
    pace.begin()
    clock.now += took
    assert not pace.may_choose(TURNS_AHEAD_MAX + 1)
    clock.now += took * PAUSE * 0.9  # looks meanwhile do not begin the pause anew
    assert not pace.may_choose(TURNS_AHEAD_MAX + 1)
    assert pace.may_choose(TURNS_AHEAD_MAX)
    clock.now += took * PAUSE * 0.2
    assert pace.may_choose(10**6)


def test_the_other_copy_gains_however_far_it_is_behind() -> None:
    """Both take turns of one length; the leader chooses whenever it may."""
    clock, turn = Clock(), 0.4
    pace = Throttle(clock)
    leader, other, busy_until = 100, 0, clock.now
    for _ in range(100_000):
        clock.now += 0.01
        if clock.now >= busy_until and pace.may_choose(leader - other):
            pace.begin()
            leader, busy_until = leader + 1, clock.now + turn
        other = min(leader, int((clock.now - 100.0) / turn))
        if leader - other <= TURNS_AHEAD_MAX:
            break
    assert leader - other <= TURNS_AHEAD_MAX
    assert leader < 100 + 2 * 100
