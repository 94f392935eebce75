"""The native search: level by level, each thread expanding its own share of the states.

Within a level all threads first write the successors of some of their states, then each keeps those
that belong to it. Nothing is shared while they write, so nothing is locked.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.exploration import Path
from streamproof.checker.limits import LimitReached, Limits, default_memory_mb
from streamproof.checker.native.code.cells import Keys
from streamproof.checker.native.code.codegen import Event
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.memory import Addresses
from streamproof.checker.native.narrow import LEVELS, Bounds
from streamproof.checker.native.partition import NO_LINK, Partition, bytes_per_state
from streamproof.checker.native.paths import path_along, steps_up_to
from streamproof.checker.native.team import Team
from streamproof.checker.native.worker import Worker, candidate_bytes, deal
from streamproof.checker.progress import OnProgress, Progress

BUFFER = 1 << 17
"""Successors that a thread writes before they are kept, and states that are dealt at once."""
BUFFERS_BYTES = 1 << 28
"""What these may take in all threads together, so that wide states have fewer of them."""
REPORT_EVERY_SECONDS = 0.05
"""How often progress is reported and memory is checked."""
TEAM_FROM = 1 << 12
"""States to expand from which on threads work side by side: waking one takes as long as 500."""
STATES_MOST = 2**32 - 2
"""States that links can tell apart."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that ends the search.

    Attributes
    ----------
    event : what; NONE for a state that breaks an invariant
    reference : the state, as a number of the search
    action : the ground action that was being taken
    cell : the cell that left its range
    """

    event: Event
    reference: int
    action: int = 0
    cell: int = 0


class Search:
    """A search of one program.

    Parameters
    ----------
    threads : how many expand states, a power of two
    threads_later : how many would do so in a search that goes on behind the first wide level

    Attributes
    ----------
    depth : levels so far
    level_ends : per level, how many states there were at its end
    found : what ended it, if something did; the first one, if `is_in_order`
    is_in_order : whether states are found in the order of the reference engine
    resumed_from : how far an earlier process had come, in states that are kept
    resumed : for how many states these stand
    after_round : called between two rounds, when every partition is complete in itself
    gives_way : whether it ended before a level that several threads had better expand
    """

    def __init__(
        self,
        program: Program,
        limits: Limits,
        on_progress: OnProgress,
        threads: int,
        threads_later: int = 1,
    ) -> None:
        self.threads_later = threads_later
        self.program, self.limits, self.on_progress = program, limits, on_progress
        memory = (limits.memory_mb_max or default_memory_mb()) << 20
        most = min(int(memory / bytes_per_state(program.layout.words)), STATES_MOST)
        room = min(limits.states_max or most, most // threads)
        self.partitions = [Partition(program, number, threads, room) for number in range(threads)]
        self._buffer = min(BUFFER, BUFFERS_BYTES // threads // candidate_bytes(program))
        stores = Addresses([part.states for part in self.partitions])
        self.workers = [Worker(program, part, stores, self._buffer) for part in self.partitions]
        self._report_at = 0.0
        self.depth = 0
        self.level_ends: list[int] = []
        self.found: Found | None = None
        self.is_in_order = threads == 1
        self.resumed_from, self.resumed = Progress(0, 0, 0), 0
        self.after_round: Callable[[], None] = lambda: None
        self.gives_way = False
        self._team = Team(self.workers)
        self._do = self._team.do

    def run(self) -> None:
        """Search until nothing is left, or something is found.

        Raises
        ------
        LimitReached : if a limit ends the search
        """
        try:
            if self.depth == 0:
                self._start()
            elif self.waiting:
                self.limits.check_depth(self.depth, self.waiting)
            while not self.found:
                if not self._is_dealt:
                    self.after_round()
                    if not self.waiting and not self._begin_level():
                        break
                    is_narrow = self.waiting < TEAM_FROM
                    if self.threads_later > 1 and not is_narrow and self._fits_later():
                        self.gives_way = True
                        break
                    if is_narrow and len(self.partitions) == 1:
                        self._advance_through_narrow()
                        continue
                    self._do = self._team.do if self.waiting >= TEAM_FROM else self._team.do_in_turn
                    deal(self.workers, self._buffer)
                self._advance()
        finally:
            self._team.leave()

    def _fits_later(self) -> bool:
        """Return whether what is kept has room enough in the shares of several threads."""
        return self.kept < self.partitions[0].room // self.threads_later // 2

    @property
    def _is_dealt(self) -> bool:
        """Whether workers have states that they are to expand."""
        return any(len(worker.ranges) for worker in self.workers)

    @property
    def waiting(self) -> int:
        """How many states of this level have not been dealt to workers."""
        return sum(part.waiting for part in self.partitions)

    @property
    def kept(self) -> int:
        """How many states are kept: as many as were found, or one for each orbit of them."""
        return sum(part.count for part in self.partitions)

    @property
    def distinct(self) -> int:
        """How many states were found."""
        found: float = sum(part.ask(self.program.weigh) for part in self.partitions)
        return round(found)

    @property
    def fired(self) -> list[int]:
        """Per ground action, how often it was taken; the same for all of an orbit's."""
        fired = np.sum([worker.fired for worker in self.workers], axis=0)
        actions = len(self.program.encoder.model.ground_actions)
        return [round(count) for count in fired[:actions]]

    def located(self, reference: int) -> tuple[Partition, int]:
        """Find a state by its number in the search: its partition, and its number there."""
        number, owner = divmod(reference, len(self.partitions))
        return self.partitions[owner], number

    def path_to(self, reference: int, *more: int) -> Path:
        """Go back from a state to an initial one, and find the steps with the model's methods.

        Parameters
        ----------
        reference : the state, as a number of the search
        more : ground actions to take from the state on

        Raises
        ------
        EnginesDisagree : if they do not lead there
        """
        return path_along(self.program, self._way_to(reference), more)

    def _way_to(self, reference: int) -> list[Keys]:
        """List the kept states on a shortest way to one of them."""
        rows = []
        while reference != NO_LINK:
            part, number = self.located(reference)
            rows.append(self.program.layout.unpack(part.state(number)))
            reference = int(part.links[number])
        return rows[::-1]

    def first(self, where: Any) -> int | None:
        """Find a state nearest to the start that a function of the program finds."""
        found = [(part.first(where), part) for part in self.partitions]
        nearest = [
            (bisect_right(part.level_ends, n), part.reference(n))
            for n, part in found
            if n is not None
        ]
        return min(nearest)[1] if nearest else None

    def _start(self) -> None:
        initial = self.program.layout.pack(tuple(self.program.initial))
        states = self.program.represent(initial)
        links = np.full(len(states), NO_LINK, np.uint32)
        for part in self.partitions:
            part.keep(states, links)
            self._note_breaking(part, part.first(self.program.first_breaking))
        self.depth = 1 if self.found else 0

    def _begin_level(self) -> bool:
        """Begin another level; tell whether there is one."""
        for part in self.partitions:
            part.level_ends.append(part.count)
        self.level_ends.append(self.kept)
        waiting = self.waiting
        if waiting:
            self.depth += 1
            self.limits.check_depth(self.depth, waiting)
        return waiting > 0

    def _advance(self) -> None:
        """Expand some states of every partition, and keep their successors."""
        self._report()
        if self.is_in_order:
            (worker,) = self.workers
            begin, fired = int(worker.ranges[0, 1]), worker.fired.copy()
        self._do(Worker.expand)
        for part, (kept, breaking) in zip(self.partitions, self._do(self._take_all), strict=True):
            self._note_breaking(part, breaking)
            if not kept and self.found is None:
                self._out_of_room()
        if self.found and self.is_in_order:
            self._count_up_to(self.found.reference, begin, fired)
        self._note_events()

    def _advance_through_narrow(self) -> None:
        """Do the same for the only partition, and through all levels behind it that are narrow."""
        self._report()
        (part,), (worker,) = self.partitions, self.workers
        begin, known, fired = part.done, part.count, worker.fired.copy()
        depth_max = self.limits.depth_max
        levels = LEVELS if depth_max is None else min(LEVELS, depth_max - 1 - self.depth)
        bounds = Bounds(*map(np.uint64, (part.room, self._buffer, TEAM_FROM, levels)))
        reached = worker.expand_narrow(bounds)
        self.level_ends += reached.level_ends
        self.depth += len(reached.level_ends)
        self._note_breaking(part, part.first(self.program.first_breaking, known))
        if self.found and self.is_in_order:
            self._count_up_to(self.found.reference, begin, fired)
        elif self.found is None and not reached.has_room:
            self._out_of_room()
        self._note_events()

    def _report(self) -> None:
        """Report progress and look at memory, if that was not done just now."""
        if time.monotonic() > self._report_at:
            self.limits.check_memory()
            done = sum(part.done for part in self.partitions)
            ends, resumed = tuple(self.level_ends), self.resumed_from.expanded
            self.on_progress(Progress(done, self.kept, self.depth, ends, resumed))
            self._report_at = time.monotonic() + REPORT_EVERY_SECONDS

    def _note_events(self) -> None:
        for worker in self.workers:
            if self.found is None and worker.stopped_by is not Event.NONE:
                event, _, action, cell, _ = map(int, worker.event)
                self.found = Found(Event(event), worker.reached, action, cell)

    def _take_all(self, worker: Worker) -> tuple[bool, int | None]:
        """Keep what belongs to a worker's partition; tell of the first that breaks an invariant."""
        part, known = worker.part, worker.part.count
        kept = [part.take(source.out, *source.written_for(part)) for source in self.workers]
        return all(kept), part.first(self.program.first_breaking, known)

    def _note_breaking(self, part: Partition, breaking: int | None) -> None:
        if breaking is not None and self.found is None:
            if len(self.partitions) == 1:
                part.count = breaking + 1  # what lies behind it was not asked for
            self.found = Found(Event.NONE, part.reference(breaking))

    def _count_up_to(self, breaking: int, begin: int, fired: NDArray[Any]) -> None:
        """Count the steps up to the one to a state that breaks an invariant, in the only partition.

        Parameters
        ----------
        breaking : the state, as a number of the search
        begin : the first of the states whose steps were taken together
        fired : what had been counted before
        """
        (part,), (worker,) = self.partitions, self.workers
        parent = int(part.links[breaking])
        worker.fired[:] = fired
        worker.count_steps(begin, parent)
        before, after = map(self.program.layout.unpack, map(part.state, (parent, breaking)))
        taken, _ = steps_up_to(self.program, before, after)
        for action in taken:
            worker.fired[action] += self.program.weigh(part.state(parent), 1)

    def _out_of_room(self) -> None:
        self.limits.check_states(self.kept)
        raise LimitReached(f"there is no memory for more than {self.kept:,} states: raise --memory")


def widened(search: Search, found: Found) -> dict[str, tuple[int, int]]:
    """Return a wider range for a number without a declared range that left its guessed range."""
    part, number = search.located(found.reference)
    return wider_range(search.program, part.state(number), found.action, found.cell)


def wider_range(
    program: Program, state: NDArray[np.uint64], action: int, number: int
) -> dict[str, tuple[int, int]]:
    """Return a range with room for an action's value of a program's cell, by its variable's name.

    Parameters
    ----------
    state : the packed state in which the ground action is taken
    number : of the cell
    """
    encoder, cell = program.encoder, program.cells[number]
    call, act = encoder.model.ground_actions[action]
    before = encoder.decode(program.layout.unpack(state))
    value = encoder.encode(act(before, *call.arguments))[number]
    span = cell.high - cell.low + 1
    low = min(value, cell.low - span) if value < cell.low else cell.low
    high = max(value, cell.high + span) if value > cell.high else cell.high
    return {cell.variable: (low, high)}
