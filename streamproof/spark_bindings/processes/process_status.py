"""How each process of a pipeline is, by its lock, its heartbeat and its order log.

`streamproof status` asks from outside, and the supervisor about its own children. Both use the same
record and the same definition of *in sync*.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory, ProcessDirectory
from streamproof.spark_bindings.layout.process_lock import holder
from streamproof.spark_bindings.names import ChannelName, QueryName
from streamproof.spark_bindings.processes.heartbeat import Beat, Watch
from streamproof.spark_bindings.processes.order_log import OrderLog
from streamproof.spark_bindings.storage.trees import is_directory

SILENT_AFTER_SECONDS = 3.0
"""Processes that beat are seen to sooner, unless their suspicion timeout is above 30 seconds."""
_LOOK_SECONDS = 0.02
ALONE = "(without a standby)"
"""The name of the process that runs the queries without a standby."""


TURNS_AHEAD_MAX = 1
"""A copy that is farther behind would have turns to take before it delivers, if it took over."""


class ProcessState(Enum):
    """How a process is."""

    PRIMARY = "primary"
    IN_SYNC = "in sync: it can take over at once"
    BEHIND = "behind the primary"
    COLD = "has taken no turn yet: its first output takes longer"
    STARTING = "starting"
    SILENT = "silent"
    STOPPED = "not running"


_BEATING = (ProcessState.PRIMARY, ProcessState.IN_SYNC, ProcessState.BEHIND, ProcessState.COLD)


def has_caught_up(turns: int) -> bool:
    """Return whether a copy with so many turns to take is in sync, but for its first turn."""
    return turns <= TURNS_AHEAD_MAX


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """The status of a process of a pipeline.

    Attributes
    ----------
    name, copy : its pair and which copy it is; None for the driver of the queries without a standby
    process : its number; None if it does not run
    turns : turns that were chosen and that it has not taken
    commits : commits of its inputs that are in none of its completed batches
    is_warm : whether it has taken a turn in this life
    starts : how often its supervisor has started it; 0 if that is not known
    """

    name: str
    copy: Copy | None
    process: int | None
    state: ProcessState
    turns: int = 0
    commits: int = 0
    is_warm: bool = False
    starts: int = 0

    @property
    def is_primary(self) -> bool:
        """Whether it delivers."""
        return self.state is ProcessState.PRIMARY

    @property
    def is_beating(self) -> bool:
        """Whether it has started, and runs."""
        return self.state in _BEATING

    @property
    def is_in_sync(self) -> bool:
        """Whether it delivers, or could take over at once."""
        return self.could_take_over and self.is_warm

    @property
    def could_take_over(self) -> bool:
        """Whether it delivers, or could: at once, or after the first turn of its life."""
        return self.is_beating and has_caught_up(self.turns)


def state_of(beat: Beat | None, turns: int, *, runs: bool, is_silent: bool) -> ProcessState:
    """Return the state of a process.

    Parameters
    ----------
    beat : its last heartbeat in this life
    turns : turns that were chosen and that it has not taken
    runs, is_silent : whether it runs, and has not beaten for too long
    """
    if not runs:
        return ProcessState.STOPPED
    if is_silent:
        return ProcessState.SILENT
    if beat is None:
        return ProcessState.STARTING
    if beat.active:
        return ProcessState.PRIMARY
    if not beat.warm:
        return ProcessState.COLD
    return ProcessState.IN_SYNC if has_caught_up(turns) else ProcessState.BEHIND


def process_statuses(path: Path | str) -> list[ProcessStatus]:
    """Return the status of each process of a pipeline. Needs no Spark session.

    It takes as long as they take to beat, and three seconds if one that runs does not.

    Raises
    ------
    NotAPipeline : if the directory is none
    """
    directory = PipelineDirectory.at(path)
    looks = []
    together: list[_Input] = []
    for query in directory.wiring.queries:
        pairs = [PairDirectory(place) for place in directory.pair_places(query)]
        for pair, copy in itertools.product(pairs, Copy):
            own = pair.copy(copy)
            read = _inputs(directory, query, own.checkpoint)
            looks.append(_Look(pair.place.name, copy, own, read, OrderLog(pair.order)))
        if not pairs:
            together += _inputs(directory, query, directory.checkpoint(query))
    alone = ProcessDirectory.alone(directory)
    if is_directory(alone.place):
        looks.append(_Look(ALONE, None, alone, together, None))
    deadline = time.monotonic() + SILENT_AFTER_SECONDS
    while time.monotonic() < deadline and not all(look.is_over() for look in looks):
        time.sleep(_LOOK_SECONDS)
    return [look.status() for look in looks]


@dataclass(frozen=True, slots=True)
class _Input:
    """A channel, as a checkpoint has read it."""

    checkpoint: Checkpoint
    log: ChannelLog
    name: ChannelName

    def commits(self) -> int:
        """Count those behind what was read."""
        return self.log.last() - self.checkpoint.acknowledged(self.name)


def _inputs(directory: PipelineDirectory, query: QueryName, checkpoint: Checkpoint) -> list[_Input]:
    names = directory.wiring.inputs[query]
    return [_Input(checkpoint, directory.log(name), name) for name in names]


class _Look:
    """Looks at one process, until it has beaten."""

    def __init__(
        self,
        name: str,
        copy: Copy | None,
        own: ProcessDirectory,
        inputs: list[_Input],
        order: OrderLog | None,
    ) -> None:
        self._name, self._copy, self._inputs, self._order = name, copy, inputs, order
        self._process = holder(own)
        self._watch = Watch(own.beat, SILENT_AFTER_SECONDS)
        self._first = self._watch.beat

    def is_over(self) -> bool:
        """Look once; tell whether all is known."""
        self._watch.look()
        return self._process is None or self._watch.beat != self._first

    def status(self) -> ProcessStatus:
        """Return what was seen."""
        beat, order = self._watch.beat, self._order
        runs = self._process is not None
        turns = order.count_from(beat.turn) if runs and beat is not None and order else 0
        is_silent = beat is not None and beat == self._first
        return ProcessStatus(
            self._name,
            self._copy,
            self._process,
            state_of(beat, turns, runs=runs, is_silent=is_silent),
            turns,
            commits=sum(each.commits() for each in self._inputs),
            is_warm=runs and beat is not None and beat.warm,
        )
