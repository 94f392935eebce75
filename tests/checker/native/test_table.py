"""The table itself: what was kept is found again, however often its regions have grown."""

from __future__ import annotations

import numpy as np
import pytest

from streamproof.checker.native.memory import reserve
from streamproof.checker.native.table import (
    FILL_MAX,
    LINE,
    REGIONS,
    Candidates,
    Index,
    Kept,
    insert,
    locate,
)

WIDTH, REACH = 2, 128
"""Words of a state, and lines that a region may grow to."""


def index_of(lines: int) -> Index:
    """Make an index whose regions begin with so many lines."""
    return Index(
        slots=reserve(REGIONS * LINE * REACH, np.uint64),  # whose lines are the machine's own
        lines=np.full(REGIONS, lines, np.uint64),
        used=np.zeros(REGIONS, np.uint64),
        spare=reserve(LINE * REACH, np.uint64),
    )


def candidates(states: np.ndarray, hashes: np.ndarray) -> Candidates:
    origins = np.arange(len(states), dtype=np.uint64)
    return Candidates(np.ascontiguousarray(states), hashes, origins)


@pytest.fixture(params=["spread", "of few tags", "at the last line"])
def states(request: pytest.FixtureRequest) -> tuple[np.ndarray, np.ndarray]:
    """Draw states, each different, with hashes that fill a region's lines in some way."""
    chance = np.random.default_rng(3)
    count = int(FILL_MAX * LINE * REACH * 4)
    words = np.stack([np.arange(count), chance.integers(0, 9, count)], axis=1).astype(np.uint64)
    hashes = chance.integers(0, 2**64, count, dtype=np.uint64)
    if request.param == "of few tags":
        hashes = (hashes & ~np.uint64(0xFFFFFFFF)) | chance.integers(0, 5, count, dtype=np.uint64)
    elif request.param == "at the last line":
        hashes |= np.uint64(0xFFF00000)
    return words, hashes


def test_what_is_kept_is_found_again_however_often_regions_have_grown(states) -> None:
    words, hashes = states
    count = len(words)
    kept = Kept(
        np.zeros(count * WIDTH, np.uint64), np.zeros(count, np.uint32), np.zeros(1, np.uint64)
    )
    index, offered = index_of(2), candidates(words, hashes)
    for end in range(0, count + 1, count // 6):
        # All that came before is offered again with each part of them.
        assert insert(offered, 0, end, kept, count, index) == end
        assert int(kept.count[0]) == end
    assert np.array_equal(kept.states.reshape(count, WIDTH)[:end], words[:end])
    assert np.array_equal(kept.links[:end], np.arange(end))
    assert int(index.used.sum()) == end == np.count_nonzero(index.slots)
    assert index.lines.min() > 2 * 3  # each region has grown, and more than once
    numbers = np.full(end, -1, np.int64)
    locate(offered, 0, end, kept.states, index, numbers)
    assert np.array_equal(numbers, np.arange(end))


def test_where_there_is_no_room_the_place_is_told_and_nothing_is_lost(states) -> None:
    words, hashes = states
    room = 100
    kept = Kept(
        np.zeros(room * WIDTH, np.uint64), np.zeros(room, np.uint32), np.zeros(1, np.uint64)
    )
    assert insert(candidates(words, hashes), 0, len(words), kept, room, index_of(2)) == room
    assert np.array_equal(kept.states.reshape(room, WIDTH), words[:room])
