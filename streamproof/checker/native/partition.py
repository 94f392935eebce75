"""A partition: the states that one thread keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.code.program import Program
from streamproof.checker.native.memory import reserve
from streamproof.checker.native.table import (
    FILL_MAX,
    LINE,
    LINES_FIRST,
    REGIONS,
    Candidates,
    Index,
    Kept,
    insert,
    locate,
)

NO_LINK = 2**32 - 1
"""The link of an initial state."""
SPREAD = 1.25
"""How much larger than the average a region may be."""
_LINK_BYTES, _SLOT_BYTES = 4, 8


class Partition:
    """One share of the visited states, by hash.

    Attributes
    ----------
    number, of : which of how many
    states : the packed states, in the order of discovery
    count : how many
    level_ends : per level of the search, how many states there were at its end
    done : how many have been given to workers to expand
    index : where each of them is
    """

    def __init__(self, program: Program, number: int, of: int, room: int) -> None:
        self.program, self.number, self.of, self.room = program, number, of, room
        width = program.layout.words
        self.states, self.links = reserve(room * width, np.uint64), reserve(room, np.uint32)
        regions = max(1, REGIONS // of)  # those of its states
        reach = max(int(room / FILL_MAX / regions / LINE * SPREAD), LINES_FIRST)
        self.index = Index(
            reserve(reach * REGIONS * LINE, np.uint64),
            np.full(REGIONS, LINES_FIRST, np.uint64),
            np.zeros(REGIONS, np.uint64),
            reserve(reach * LINE, np.uint64),
        )
        self.count = self.done = 0
        self.level_ends: list[int] = []

    @property
    def waiting(self) -> int:
        """How many states of this level have not been given to workers."""
        return self.level_ends[-1] - self.done if self.level_ends else 0

    def reference(self, number: Any) -> Any:
        """Return the numbers of states in the whole search, as links have them."""
        return number * self.of + self.number

    def state(self, number: int) -> NDArray[np.uint64]:
        """Return a packed state."""
        width = self.program.layout.words
        return self.states[number * width : (number + 1) * width]

    def keep(self, states: NDArray[np.uint64], links: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Keep those of some new states that belong here; tell which these are."""
        hashes = self.program.hashes(states)
        owners = ((hashes >> np.uint64(32)) * np.uint64(self.of)) >> np.uint64(32)
        mine: NDArray[np.bool_] = owners == self.number
        first, origins = self.count, np.zeros(len(states), np.uint64)
        self._insert(Candidates(states[mine], hashes[mine], origins), 0, int(mine.sum()))
        self.links[first : self.count] = links[mine][: self.count - first]
        return mine

    def take(self, found: Candidates, begin: int, end: int) -> bool:
        """Keep what was written for this partition and is new; tell whether there was room."""
        return self._insert(found, begin, end) == end

    def locate(self, found: Candidates, begin: int, end: int) -> NDArray[np.int64]:
        """Return the numbers of states written for this partition, all of them known."""
        numbers = np.empty(end - begin, np.int64)
        locate(found, begin, end, self.states, self.index, numbers)
        return numbers

    def first(self, where: Any, begin: int = 0) -> int | None:
        """Find the first state from a number on that a function of the program finds."""
        count = self.count - begin
        found: int = where(self.packed(begin), count)
        return None if found == count else begin + found

    def ask(self, function: Any) -> Any:
        """Ask a function of the program about all states."""
        return function(self.packed(0), self.count)

    def packed(self, begin: int) -> NDArray[np.uint64]:
        """Return the kept states from a number on, packed one behind the other."""
        width = self.program.layout.words
        return self.states[begin * width : self.count * width]

    def _insert(self, found: Candidates, begin: int, end: int) -> int:
        kept = self.kept
        reached = insert(found, begin, end, kept, self.room, self.index)
        self.count = int(kept.count[0])
        return reached

    @property
    def kept(self) -> Kept:
        """What kernels take of the states, and count up."""
        return Kept(self.states, self.links, np.array([self.count], np.uint64))


def bytes_per_state(words: int) -> float:
    """Estimate what a state takes in all: itself, its link, and its slot in a half full index."""
    return words * 8 + _LINK_BYTES + _SLOT_BYTES / (FILL_MAX / 1.2)
