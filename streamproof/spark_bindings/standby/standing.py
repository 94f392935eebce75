"""How the processes of a pipeline are, seen from outside: by their locks, beats and order logs."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from streamproof.spark_bindings.directory import PipelineDirectory
from streamproof.spark_bindings.standby.alone_run import alone_directory
from streamproof.spark_bindings.standby.copies import Copy, PairDirectory, ProcessDirectory
from streamproof.spark_bindings.standby.heartbeat import Watch
from streamproof.spark_bindings.standby.lock import holder
from streamproof.spark_bindings.standby.order_log import OrderLog
from streamproof.spark_bindings.standby.pace import TURNS_AHEAD_MAX

SILENT_AFTER_SECONDS = 3.0
"""Processes that beat are seen to sooner, unless their bound is above half a minute."""
_LOOK_SECONDS = 0.02
ALONE = "(without replicas)"
"""The name of the process that runs the queries without replicas."""


class Standing(Enum):
    """How a process is."""

    DELIVERS = "delivers"
    LEVEL = "level with its twin: it can take over at once"
    BEHIND = "behind its twin"
    COLD = "has taken no turn since it began"
    BEGINS = "begins"
    SILENT = "silent"
    ENDED = "not running"


@dataclass(frozen=True, slots=True)
class ProcessStanding:
    """How a process of a pipeline is.

    Attributes
    ----------
    name, copy : its pair and which copy it is; None where there is but one
    process : its number; None if nobody runs it
    turns : that were chosen, and that it has to take yet
    """

    name: str
    copy: Copy | None
    process: int | None
    standing: Standing
    turns: int = 0


def standings(path: Path | str) -> list[ProcessStanding]:
    """Tell how the processes of a pipeline are. Changes nothing, and needs no Spark session.

    It takes as long as they take to beat, and three seconds if one that runs does not.

    Raises
    ------
    NotAPipeline : if the directory is none
    """
    directory = PipelineDirectory.open(Path(path))
    looks = []
    for query in directory.wiring.inputs:
        for pair in map(PairDirectory, directory.pair_paths(query)):
            looks += [_Look(pair.path.name, copy, pair.copy(copy), pair) for copy in Copy]
    if alone_directory(directory).path.is_dir():
        looks.append(_Look(ALONE, None, alone_directory(directory), None))
    deadline = time.monotonic() + SILENT_AFTER_SECONDS
    while time.monotonic() < deadline and not all(look.is_over() for look in looks):
        time.sleep(_LOOK_SECONDS)
    return [look.standing() for look in looks]


class _Look:
    """Looks at one process, until it has beaten."""

    def __init__(
        self, name: str, copy: Copy | None, own: ProcessDirectory, pair: PairDirectory | None
    ) -> None:
        self._name, self._copy, self._pair = name, copy, pair
        self._process = holder(own)
        self._watch = Watch(own.beat, SILENT_AFTER_SECONDS)
        self._first = self._watch.beat

    def is_over(self) -> bool:
        """Look once; tell whether all is known."""
        self._watch.look()
        return self._process is None or self._watch.beat != self._first

    def standing(self) -> ProcessStanding:
        """Tell what was seen."""
        beat = self._watch.beat
        if self._process is None:
            return self._is(Standing.ENDED)
        if beat is None:
            return self._is(Standing.BEGINS)
        turns = 0 if self._pair is None else OrderLog(self._pair.order).count_from(beat.turn)
        if beat == self._first:
            return self._is(Standing.SILENT, turns)
        if beat.active:
            return self._is(Standing.DELIVERS, turns)
        if not beat.warm:
            return self._is(Standing.COLD, turns)
        return self._is(Standing.LEVEL if turns <= TURNS_AHEAD_MAX else Standing.BEHIND, turns)

    def _is(self, standing: Standing, turns: int = 0) -> ProcessStanding:
        return ProcessStanding(self._name, self._copy, self._process, standing, turns)
