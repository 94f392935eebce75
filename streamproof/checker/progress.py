"""Progress: what a running search reports, the rate at which it goes, and what is left."""

from __future__ import annotations

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    expanded : states whose steps have been taken
    distinct : distinct states found
    depth : states on a path to the ones that are being expanded
    level_ends : per depth up to this one, how many distinct states there are up to it
    resumed : how many of the expanded states an earlier process has expanded
    deciding : what is being decided on all states, in words; empty while they are searched
    reading : states of the checkpoint that is being read; 0 otherwise
    """

    expanded: int
    distinct: int
    depth: int
    level_ends: Sequence[int] = ()
    resumed: int = 0
    deciding: str = ""
    reading: int = 0

    @property
    def queue(self) -> int:
        """How many found states wait to be expanded."""
        return self.distinct - self.expanded

    @property
    def left(self) -> int | None:
        """How many states are still to be expanded, about; None while that cannot be said."""
        return states_left(self.expanded, self.level_ends)


OnProgress: TypeAlias = Callable[[Progress], None]
"""Called by an engine every few hundred states, in its own thread; it should return quickly."""

REPORT_EVERY = 256
"""States that are expanded between two reports."""

RATE_SECONDS = 10.0
"""How far a rate looks back."""
LEVELS_AHEAD_MAX = 1_000
"""Levels for which an estimate looks ahead."""
KEPT_EVERY_SECONDS = 60.0
"""How often a search is kept in a checkpoint unless told otherwise."""


def ignore(progress: Progress) -> None:
    """Report to nobody."""


def states_left(expanded: int, level_ends: Sequence[int]) -> int | None:
    """Estimate how many states are still to be expanded; None until levels shrink.

    Each level's size has a ratio to that of the level before. It falls from level to level, and is
    taken to go on falling by the factor by which it fell last: a parabola through the logarithms of
    the last three sizes. In the models of streamproof it falls faster than that, so the estimate is
    too high, by up to a fifth where there are thousands of states.
    """
    ends = (0, *level_ends[-4:])[-4:]
    sizes = [end - begin for begin, end in itertools.pairwise(ends)]
    if len(sizes) < 3 or sizes[2] >= sizes[1] or min(sizes) == 0:
        return None
    ratio = sizes[2] / sizes[1]
    fall = min(ratio * sizes[0] / sizes[1], 1.0)
    more, is_end = _carried_on(sizes[2], ratio, fall, LEVELS_AHEAD_MAX)
    return round(ends[-1] - expanded + more) if is_end else None


def states_to_find(distinct: int, level_ends: Sequence[int]) -> float:
    """Estimate how many states have not been found yet, also while levels grow: far less surely.

    Each ratio is taken over two levels, since neighbours differ by chance. Where the ratio does not
    fall nothing is known, unless levels do not grow at all: then as many levels again are expected.
    """
    ends = (0, *level_ends)
    sizes = [end - begin for begin, end in itertools.pairwise(ends)]
    if len(sizes) < 4:
        return math.inf
    before, ratio = math.sqrt(sizes[-2] / sizes[-4]), math.sqrt(sizes[-1] / sizes[-3])
    fall = min(ratio / before, 1.0)
    if ratio > 1.0 and fall == 1.0:
        return math.inf
    more, _ = _carried_on(sizes[-1], ratio, fall, len(sizes))
    return more - (distinct - level_ends[-1])


def _carried_on(size: float, ratio: float, fall: float, levels_max: int) -> tuple[float, bool]:
    """Add up levels whose size goes on changing by a falling ratio; tell if they come to an end."""
    total = 0.0
    for _ in range(levels_max):
        ratio *= fall
        size *= ratio
        if size < 1:
            return total, True
        total += size
    return total, False


@dataclass
class Meter:
    """How long something takes, and how many states a second were counted lately.

    Parameters
    ----------
    clock : gives seconds; replaced in tests
    """

    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)
    _seen: deque[tuple[float, int]] = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()
        self._seen = deque([(self.started, 0)])

    @property
    def seconds(self) -> float:
        """How long ago the meter was made."""
        return self.clock() - self.started

    def rate(self, states: int) -> int:
        """Take another count of states, and give the states per second of the last seconds."""
        now = self.clock()
        if states < self._seen[-1][1]:
            self._seen.clear()  # another search has begun
        self._seen.append((now, states))
        while self._seen[0][0] < now - RATE_SECONDS:
            self._seen.popleft()
        then, before = self._seen[0]
        return int((states - before) / (now - then)) if now > then else 0
