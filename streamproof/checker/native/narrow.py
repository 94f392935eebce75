"""Narrow levels: many levels of few states each, searched by one call of compiled code.

A level costs some calls of compiled code, each of which takes as long as some hundred states. Where
a level has fewer states than that, the calls would take longer than the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamproof.checker.native.kernels.kernel import Kernel, Words
from streamproof.checker.native.table import Candidates, Index, Kept

LEVELS = 1 << 12
"""Levels that one call may complete."""


class Code(NamedTuple):
    """Where the functions of a program are that a search calls."""

    expand: np.uint64
    first_breaking: np.uint64


class Bounds(NamedTuple):
    """How far one call goes.

    `room` is how many states may be kept, `states` after how many expanded ones it returns, and
    `width` at how many states of a level. There are `levels` at most.
    """

    room: np.uint64
    states: np.uint64
    width: np.uint64
    levels: np.uint64


class Written(NamedTuple):
    """The other arguments of `expand`: arrays that it writes, and keeps from call to call."""

    produced: Words
    fired: Words
    event: Words
    recent: Words


class Reached(NamedTuple):
    """How far a call came.

    `ends` are those of the levels that were begun, one after the other; `at` holds how many states
    are expanded, where the level ends, how many levels were begun, and 1 if there was no room.
    """

    at: Words
    ends: Words

    @staticmethod
    def from_(done: int, level_end: int) -> Reached:
        """Return where a search is when it is called."""
        at = np.array([done, level_end, 0, 0], np.uint64)
        return Reached(at, np.zeros(LEVELS, np.uint64))

    @property
    def done(self) -> int:
        """How many states are expanded."""
        return int(self.at[0])

    @property
    def level_ends(self) -> list[int]:
        """The ends of the levels that were begun."""
        ends: list[int] = self.ends[: int(self.at[2])].tolist()
        return ends

    @property
    def has_room(self) -> bool:
        """Whether all states were kept that had to be."""
        return not self.at[3]


search = Kernel("narrow", "search", Code, Bounds, Candidates, Written, Kept, Index, Reached)
"""Expand the rest of a level, and the levels behind it as long as they are narrow.

It also returns behind a step after which the search is to end: `Written.event` says so, or a state
that breaks an invariant is among those that were kept.
"""
