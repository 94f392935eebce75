"""Progress: the rate of a search, by a clock that the test turns, and what is left of it."""

from __future__ import annotations

from itertools import accumulate
from math import comb

import pytest

from streamproof.checker.progress import RATE_SECONDS, Meter, Progress, ignore, states_left
from streamproof.checker.reference import explore
from streamproof.models.kit import registry

LEVELS = {
    "chandy_lamport, default": (
        1, 7, 28, 83, 224, 571, 1310, 2509, 3862, 4644, 4184, 2678, 1080, 204,
    ),
    "chandy_lamport, large": (
        1, 7, 37, 147, 514, 1636, 4837, 13121, 32044, 69235, 130739, 214037, 301699, 363325,
        368968, 310439, 209966, 108759, 39228, 7560,
    ),
    "two-phase commit, 5": (
        1, 11, 55, 170, 375, 652, 962, 1250, 1425, 1390, 1131, 753, 405, 175, 60, 15, 2,
    ),
    "two-phase commit, 7": (
        1, 15, 105, 462, 1456, 3570, 7259, 12861, 20449, 29372, 37772, 42924, 42651, 36785, 27371,
        17447, 9436, 4277, 1603, 490, 119, 21, 2,
    ),
    "fifteen lights": tuple(comb(15, lit) for lit in range(16)),
}  # fmt: skip
"""Sizes of levels, as the engines found them."""


def left_at(share, levels):
    """Give the estimate when so much of a search is done, and what is left indeed."""
    ends = tuple(accumulate(levels))
    expanded = int(share * ends[-1])
    begun = sum(end <= expanded for end in ends) + 1
    return states_left(expanded, ends[:begun]), ends[-1] - expanded


@pytest.mark.parametrize("share", [0.75, 0.9])
@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
def test_what_is_left_is_told_within_a_fifth(share, levels):
    estimate, left = left_at(share, levels)
    assert 0.98 * left <= estimate <= 1.21 * left


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
def test_nothing_is_told_before_levels_shrink(share, levels):
    estimate, left = left_at(share, levels)
    assert estimate is None or left <= estimate <= 1.12 * left


@pytest.mark.parametrize(
    ("target", "size"), [("token_passing", "ring"), ("chandy_lamport", "ring")]
)
def test_a_search_that_runs_tells_what_is_left_of_it(target, size):
    """In small searches levels are few and uneven, and the estimate is up to twice too high."""
    told = []
    distinct = explore(registry.build(target, "ring"), on_progress=told.append).counts.distinct
    estimates = [(one.left, distinct - one.expanded) for one in told if one.left is not None]
    assert estimates
    assert all(0.5 * left < estimate < 2 * left for estimate, left in estimates)


def test_levels_that_do_not_shrink_or_shrink_for_ever_tell_nothing():
    assert states_left(0, ()) is None
    assert states_left(0, (1,)) is None
    assert states_left(3, (1, 4)) is None
    assert states_left(9, (4, 8, 12)) is None
    assert states_left(0, (10**12, 2 * 10**12 - 1, 3 * 10**12 - 3)) is None
    assert states_left(14, (8, 12, 14)) == 1  # halved each time: a state is left, then less


def test_the_rate_is_states_per_second_lately():
    now = [10.0]
    meter = Meter(clock=lambda: now[0])
    assert meter.rate(0) == 0
    now[0] = 12.0
    assert meter.rate(500) == 250
    assert meter.seconds == 2.0
    now[0] = 13.0 + RATE_SECONDS
    assert meter.rate(600) == 0
    now[0] += 1.0
    assert meter.rate(700) == 100
    assert meter.rate(5) == 0  # another search
    now[0] += 1.0
    assert meter.rate(35) == 30


def test_the_queue_is_what_was_found_and_not_expanded():
    progress = Progress(expanded=3, distinct=10, depth=2)
    assert progress.queue == 7
    assert progress.left is None
    assert ignore(progress) is None
