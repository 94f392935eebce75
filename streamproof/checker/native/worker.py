"""A worker: one thread, the states that it is to expand, and the buffer that it writes into.

States are kept by hash, so the two ends of a step often lie in two partitions. Which thread expands
a state is another matter: neighbours in the order of discovery lead to the same states again and
again, so a worker takes neighbours from all partitions in turn and remembers what it wrote lately.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native import narrow
from streamproof.checker.native.code.codegen import Event
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.memory import Addresses, empty
from streamproof.checker.native.narrow import Bounds, Code, Reached, Written
from streamproof.checker.native.partition import Partition
from streamproof.checker.native.table import Candidates

RECENT_WORDS = 1 << 15
"""Words of the states that a worker remembers to have written lately, in its own cache."""
NEIGHBOURS = 1 << 5
"""States that a worker expands of one partition before it turns to the next."""


NO_RANGES = np.empty((0, 3), np.uint64)


class Worker:
    """A thread's part in a search.

    Attributes
    ----------
    part : the partition that this thread keeps
    stores : where the states of each partition lie
    ranges : states that it has yet to expand; a row for neighbours: whose partition they are of,
        the number of the first there, and how many there are
    fired : per ground action, how often this worker has taken it
    reached : the number in the search of the state at which the last `expand` stopped
    """

    def __init__(self, program: Program, part: Partition, stores: Addresses, buffer: int) -> None:
        self.program, self.part, self.stores = program, part, stores
        self.ranges = NO_RANGES
        width, self._room = program.layout.words, max(buffer // part.of, program.branching)
        places = self._room * part.of
        self.out = Candidates(
            empty((places, width), np.uint64),
            empty((places,), np.uint64),
            empty((places,), np.uint64),
        )
        self._produced = np.zeros(part.of, np.uint64)
        recent = max(1, RECENT_WORDS >> (width - 1).bit_length())
        known = program.represent(program.layout.pack(list(program.initial)[:1]))
        self._recent = np.repeat(known, recent, axis=0)
        self.event = np.zeros(5, np.uint64)
        actions = max(1, len(program.encoder.model.ground_actions))
        self.fired = np.zeros(actions, np.float64 if program.symmetry else np.uint64)
        self.reached = 0

    @property
    def stopped_by(self) -> Event:
        """Why the last `expand` stopped."""
        return Event(int(self.event[0]))

    def expand(self) -> None:
        """Write the successors of as many states as the buffer has room for."""
        self._produced[:] = 0
        if not len(self.ranges):
            self.event[0] = Event.NONE
            return
        self.program.expand_ranges(
            self.ranges, len(self.ranges), self.stores, *self._places(self.fired)
        )
        _, position, _, _, number = self.event
        self.ranges = self.ranges[int(number) :]
        if len(self.ranges):
            self._skip(int(position))

    def _skip(self, count: int) -> None:
        """Leave out the first states of the ranges, which have been expanded."""
        owner, first, size = map(int, self.ranges[0])
        self.ranges[0] = owner, first + count, size - count
        self.reached = (first + count) * self.part.of + owner

    def expand_narrow(self, bounds: Bounds) -> Reached:
        """Expand the rest of a level and narrow ones behind it, and keep what is new.

        This worker's partition must be the only one.
        """
        part = self.part
        fired, recent = self.fired.view(np.uint64), self._recent.reshape(-1)
        written = Written(self._produced, fired, self.event, recent)
        code, kept = Code(*map(np.uint64, self.program.code)), part.kept
        reached = Reached.from_(part.done, part.level_ends[-1])
        narrow.search(code, bounds, self.out, written, kept, part.index, reached)
        part.count, part.done, self.reached = int(kept.count[0]), reached.done, reached.done
        part.level_ends += reached.level_ends
        return reached

    def expand_again(self, begin: int) -> int:
        """Write all successors of kept states from a number on; return the number that was reached.

        Those that were written lately are written again.
        """
        places = self._places(np.zeros_like(self.fired), every=True)
        reached = begin + self._expand(self.program.expand, begin, self.part.count, places)
        assert self.stopped_by is Event.NONE  # a search that was stopped decides no promises
        return reached

    def count_steps(self, begin: int, end: int) -> None:
        """Count the steps of some of this worker's own states, and keep nothing."""
        places = self._places(self.fired)
        while begin < end:
            begin += self._expand(self.program.expand, begin, end, places)

    def breaks_a_step(self, expand: Any) -> bool:
        """Take the steps of all expanded states again by another function; tell whether one breaks.

        Nothing is kept or counted.
        """
        begin, places = 0, self._places(np.zeros_like(self.fired))
        while begin < self.part.done:
            taken = self._expand(expand, begin, self.part.done, places)
            if self.stopped_by is Event.STEP:
                return True
            begin += max(1, taken)
        return False

    def written_for(self, part: Partition) -> tuple[int, int]:
        """Return the begin and the end of a partition's part of the buffer."""
        begin = part.number * self._room
        return begin, begin + int(self._produced[part.number])

    def _expand(self, expand: Any, begin: int, end: int, places: Sequence[Any]) -> int:
        """Write successors of this worker's own states; return how many states were expanded."""
        self._produced[:] = 0
        expand(self.part.packed(begin), end - begin, self.part.reference(begin), *places)
        return int(self.event[1])

    def _places(self, fired: NDArray[Any], *, every: bool = False) -> Sequence[Any]:
        """Return the arguments that all calls of compiled code share: buffers and counters."""
        return (
            *self.out,
            self._room,
            self.part.of,
            self._produced,
            fired,
            self.event,
            self._recent,
            0 if every else len(self._recent),
        )


def candidate_bytes(program: Program) -> int:
    """Return what a successor takes in a worker's buffer: its words, hash and origin."""
    return (program.layout.words + 2) * 8


def deal(workers: Sequence[Worker], count_max: int) -> None:
    """Divide the next states of every partition between the workers, neighbours to one of them.

    Parameters
    ----------
    count_max : the most states of a partition that are dealt at once
    """
    parts = [worker.part for worker in workers]
    slabs = [(part, part.done, min(part.waiting, count_max)) for part in parts]
    for number, worker in enumerate(workers):
        shares = [
            _ranges(part, done + count * number // part.of, done + count * (number + 1) // part.of)
            for part, done, count in slabs
        ]
        turns = np.concatenate([np.arange(len(share)) for share in shares])
        worker.ranges = np.concatenate(shares)[np.argsort(turns, kind="stable")]
    for part, done, count in slabs:
        part.done = done + count


def _ranges(part: Partition, begin: int, end: int) -> NDArray[np.uint64]:
    """Divide states of a partition into neighbours, as a worker expands them."""
    size = NEIGHBOURS if part.of > 1 else max(1, end - begin)
    first = np.arange(begin, end, size)
    rows = np.full(len(first), part.number), first, np.minimum(size, end - first)
    return np.stack(rows, axis=1).astype(np.uint64)
