"""How the processes of a pipeline are, seen from outside: by their locks, beats and order logs."""

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
from streamproof.spark_bindings.standby.heartbeat import Watch
from streamproof.spark_bindings.standby.order_log import OrderLog
from streamproof.spark_bindings.standby.throttle import is_in_sync
from streamproof.spark_bindings.standby.unreplicated_run import alone_directory

SILENT_AFTER_SECONDS = 3.0
"""Processes that beat are seen to sooner, unless their bound is above half a minute."""
_LOOK_SECONDS = 0.02
ALONE = "(without replicas)"
"""The name of the process that runs the queries without replicas."""


class ProcessState(Enum):
    """How a process is."""

    PRIMARY = "primary"
    IN_SYNC = "in sync: it can take over at once"
    BEHIND = "behind the primary"
    COLD = "has taken no turn yet: its first output takes longer"
    STARTING = "starting"
    SILENT = "silent"
    STOPPED = "not running"


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """How a process of a pipeline is.

    Attributes
    ----------
    name, copy : its pair and which copy it is; None where there is but one
    process : its number; None if nobody runs it
    turns : that were chosen, and that it has to take yet
    commits : of its inputs, which are in no batch that it has completed; 0 where all is through
    """

    name: str
    copy: Copy | None
    process: int | None
    state: ProcessState
    turns: int = 0
    commits: int = 0


def process_statuses(path: Path | str) -> list[ProcessStatus]:
    """Tell how the processes of a pipeline are. Changes nothing, and needs no Spark session.

    It takes as long as they take to beat, and three seconds if one that runs does not.

    Raises
    ------
    NotAPipeline : if the directory is none
    """
    directory = PipelineDirectory.at(path)
    looks = []
    together: list[_Input] = []
    for query in directory.wiring.queries:
        pairs = [PairDirectory(place) for place in directory.pair_paths(query)]
        for pair, copy in itertools.product(pairs, Copy):
            own = pair.copy(copy)
            read = _inputs(directory, query, own.checkpoint)
            looks.append(_Look(pair.path.name, copy, own, read, OrderLog(pair.order)))
        if not pairs:
            together += _inputs(directory, query, directory.checkpoint(query))
    if alone_directory(directory).path.is_dir():
        looks.append(_Look(ALONE, None, alone_directory(directory), together, None))
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
        """Tell what was seen."""
        beat = self._watch.beat
        if self._process is None:
            return self._is(ProcessState.STOPPED)
        if beat is None:
            return self._is(ProcessState.STARTING)
        turns = 0 if self._order is None else self._order.count_from(beat.turn)
        if beat == self._first:
            return self._is(ProcessState.SILENT, turns)
        if beat.active:
            return self._is(ProcessState.PRIMARY, turns)
        if not beat.warm:
            return self._is(ProcessState.COLD, turns)
        return self._is(
            ProcessState.IN_SYNC if is_in_sync(beat, turns) else ProcessState.BEHIND, turns
        )

    def _is(self, state: ProcessState, turns: int = 0) -> ProcessStatus:
        commits = sum(each.commits() for each in self._inputs)
        return ProcessStatus(self._name, self._copy, self._process, state, turns, commits)
