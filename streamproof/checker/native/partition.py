"""A partition: the states that one thread keeps, and the buffer that it writes successors into."""

from __future__ import annotations

import mmap
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.code.codegen import OWNER_SHIFT, Event
from streamproof.checker.native.code.program import Program
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
RECENT_WORDS = 1 << 15
"""Words of the states that a thread remembers to have written lately, in its own cache."""
_LINK_BYTES, _SLOT_BYTES = 4, 8
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0x40)


class Partition:
    """One share of the visited states, by hash.

    Attributes
    ----------
    number, of : which of how many
    states : the packed states, in the order of discovery
    count : how many
    level_ends : per level of the search, how many states there were at its end
    done : how many have been expanded
    """

    def __init__(self, program: Program, number: int, of: int, room: int, buffer: int) -> None:
        self.program, self.number, self.of, self.room = program, number, of, room
        width = program.layout.words
        self.states, self.links = reserve(room * width, np.uint64), reserve(room, np.uint32)
        reach = max(int(room / FILL_MAX / REGIONS / LINE * SPREAD), LINES_FIRST)
        self._index = Index(
            reserve(reach * REGIONS * LINE, np.uint64),
            np.full(REGIONS, LINES_FIRST, np.uint64),
            np.zeros(REGIONS, np.uint64),
            reserve(reach * LINE, np.uint64),
        )
        self.count = self.done = 0
        self.level_ends: list[int] = []
        self._buffer = max(buffer // of, program.branching)
        self.out = Candidates(
            np.empty((self._buffer * of, width), np.uint64),
            np.empty(self._buffer * of, np.uint64),
            np.empty(self._buffer * of, np.uint64),
        )
        self.produced = np.zeros(of, np.uint64)
        recent = max(1, RECENT_WORDS >> (width - 1).bit_length())
        known = program.represent(program.layout.pack(list(program.initial)[:1]))
        self._recent = np.repeat(known, recent, axis=0)
        self.expanded_from = 0
        self.event = np.zeros(4, np.uint64)
        actions = max(1, len(program.encoder.model.ground_actions))
        self.fired = np.zeros(actions, np.float64 if program.symmetry else np.uint64)

    @property
    def waiting(self) -> int:
        """How many states of this level have not been expanded."""
        return self.level_ends[-1] - self.done if self.level_ends else 0

    def reference(self, number: Any) -> Any:
        """Give a state's number in the whole search, which links speak of; or those of several."""
        return number * self.of + self.number

    def state(self, number: int) -> NDArray[np.uint64]:
        """Give a packed state."""
        width = self.program.layout.words
        return self.states[number * width : (number + 1) * width]

    def keep(self, states: NDArray[np.uint64], links: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Keep those of some new states that belong here; tell which these are."""
        hashes = self.program.hashes(states)
        owners = (hashes >> np.uint64(OWNER_SHIFT)) & np.uint64(self.of - 1)
        mine: NDArray[np.bool_] = owners == self.number
        first, origins = self.count, np.zeros(len(states), np.uint64)
        self._insert(Candidates(states[mine], hashes[mine], origins), 0, int(mine.sum()), 0)
        self.links[first : self.count] = links[mine][: self.count - first]
        return mine

    def expand(self) -> None:
        """Write the successors of as many states of this level as the buffer has room for."""
        self.expanded_from = self.done
        self._expand(self.program.expand, self.done, self.waiting, self.fired)
        self.done += int(self.event[1])

    def breaks_a_step(self, expand: Any) -> bool:
        """Take the steps of all expanded states again by another function; tell whether one breaks.

        Nothing is kept or counted.
        """
        begin, fired = 0, np.zeros_like(self.fired)
        while begin < self.done:
            self._expand(expand, begin, self.done - begin, fired)
            if self.stopped_by is Event.STEP:
                return True
            begin += max(1, int(self.event[1]))
        return False

    def take(self, source: Partition) -> bool:
        """Keep what another partition has written and belongs here; tell whether there was room."""
        begin, end = self._sent_by(source)
        parent = source.reference(source.expanded_from)
        return self._insert(source.out, begin, end, parent) == end

    def locate(self, source: Partition) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Give the steps that another partition has written and that lead here, as three arrays.

        They are the positions of the states that the steps lead from, the ground actions, and the
        numbers of the states that they lead to, which must all be known.
        """
        begin, end = self._sent_by(source)
        numbers = np.empty(end - begin, np.int64)
        locate(source.out, np.uint64(begin), np.uint64(end), self.states, self._index, numbers)
        origins = source.out.origins[begin:end]
        return origins & np.uint64(NO_LINK), origins >> np.uint64(32), numbers

    def first(self, where: Any, begin: int = 0) -> int | None:
        """Find the first state from a number on that a function of the program finds."""
        count = self.count - begin
        found: int = where(self._address(begin), count)
        return None if found == count else begin + found

    def ask(self, function: Any) -> Any:
        """Ask a function of the program about all states."""
        return function(self._address(0), self.count)

    def expand_again(self, begin: int) -> int:
        """Write the successors of states from a number on; give the number that was reached."""
        self._expand(
            self.program.expand, begin, self.count - begin, np.zeros_like(self.fired), every=True
        )
        assert self.stopped_by is Event.NONE  # a search that was stopped decides no promises
        return begin + int(self.event[1])

    @property
    def stopped_by(self) -> Event:
        """Why the last `expand` stopped."""
        return Event(int(self.event[0]))

    def _sent_by(self, source: Partition) -> tuple[int, int]:
        """Tell where what belongs here begins and ends in another partition's buffer."""
        begin = self.number * self._buffer
        return begin, begin + int(source.produced[self.number])

    def _address(self, number: int) -> int:
        return int(self.states.ctypes.data) + number * self.program.layout.words * 8

    def _expand(
        self, expand: Any, begin: int, count: int, fired: NDArray[Any], *, every: bool = False
    ) -> None:
        self.produced[:] = 0
        expand(
            self._address(begin),
            count,
            *(array.ctypes.data for array in self.out),
            self._buffer,
            self.of,
            self.produced.ctypes.data,
            fired.ctypes.data,
            self.event.ctypes.data,
            self._recent.ctypes.data,
            0 if every else len(self._recent),
        )

    def _insert(self, found: Candidates, begin: int, end: int, parent: int) -> int:
        size, reached = insert(
            found,
            np.uint64(begin),
            np.uint64(end),
            np.uint64(parent),
            np.uint64(self.of),
            Kept(self.states, self.links),
            np.uint64(self.count),
            np.uint64(self.room),
            self._index,
        )
        self.count = int(size)
        return int(reached)


def reserve(count: int, dtype: Any) -> NDArray[Any]:
    """Reserve an array of zeros, of which only what is written to takes memory."""
    size = max(count, 1) * np.dtype(dtype).itemsize
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype)


def bytes_per_state(words: int) -> float:
    """Estimate what a state takes in all: itself, its link, and its slot in a half full index."""
    return words * 8 + _LINK_BYTES + _SLOT_BYTES / (FILL_MAX / 1.2)
