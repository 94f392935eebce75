"""A process's part in the snapshots, kept beside it: the machine's state, a small file a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from streamproof.lang import Domain, Map
from streamproof.protocols.chandy_lamport import Recorder, initial_recorder
from streamproof.spark_bindings.names import BatchId, LaneName, SnapshotId
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    read_json,
    write_json,
)
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at

RunRecorders: TypeAlias = Map[SnapshotId, Recorder[LaneName]]
"""One process's recorders, by the ids of the snapshots that it takes part in at the moment."""

_FILES_KEPT = 8  # more than one, since a batch that is repeated starts from the one before it


class RecorderFiles:
    """The recorders of one process after each step that changed them.

    A step starts from the newest file of an earlier step, so that a step which is repeated starts
    from where it started the first time.

    Parameters
    ----------
    place : directory of the files
    inputs : the lanes of the process's input channels
    """

    def __init__(self, place: AnyPlace, inputs: Iterable[LaneName]) -> None:
        self._steps = NumberedFiles(place)
        self._channels: Domain[LaneName] = Domain.of("channel", tuple(inputs))

    def before(self, step: BatchId) -> RunRecorders:
        """Return the recorders that a step starts from."""
        earlier = [number for number in self._steps.numbers() if number < step]
        if not earlier:
            return _recorders({})
        file = self._steps.file(max(earlier))
        stored = read_json(file) or {}
        with as_written(file):
            return _recorders({SnapshotId(name): self._load(part) for name, part in stored.items()})

    def write(self, step: BatchId, recorders: RunRecorders) -> None:
        """Write down what a step made of the recorders, if it changed them. May be repeated."""
        if recorders == self.before(step):
            return
        write_json(self._steps.file(step), {name: _dump(part) for name, part in recorders.items()})
        for number in self._steps.numbers()[:-_FILES_KEPT]:
            self._steps.remove(number)

    def copy_as_of(self, step: BatchId, target: Place) -> None:
        """Copy the recorders to a directory, for a process that begins behind a step.

        Raises
        ------
        FileNotFoundError : if this one has gone on, and removed them
        """
        steps = self._steps.numbers()
        newest = max((number for number in steps if number <= step), default=None)
        if newest is not None:
            file = self._steps.file(newest)
            store_at(file).copy("", target / file.name)
        elif len(steps) >= _FILES_KEPT:
            raise FileNotFoundError(f"{self._steps.place} has no recorders as of {step} any more")

    def with_snapshots(
        self, recorders: RunRecorders, snapshots: Iterable[SnapshotId]
    ) -> RunRecorders:
        """Add a fresh recorder for every snapshot that the process had not heard of."""
        fresh = initial_recorder(Map.fill(self._channels, True))
        known = dict(recorders.items())
        return _recorders({**dict.fromkeys(snapshots, fresh), **known})

    @staticmethod
    def without(recorders: RunRecorders, snapshots: Iterable[SnapshotId]) -> RunRecorders:
        """Forget snapshots that this process has nothing left to do for."""
        done = set(snapshots)
        return _recorders({name: part for name, part in recorders.items() if name not in done})

    def _load(self, stored: Mapping[str, Any]) -> Recorder[LaneName]:
        closed, log = stored["closed"], stored["log"]
        return Recorder(
            recorded=bool(stored["recorded"]),
            closed=Map.build(self._channels, lambda channel: bool(closed[channel])),
            log=Map.build(self._channels, lambda channel: int(log[channel])),
        )


def _recorders(parts: dict[SnapshotId, Recorder[LaneName]]) -> RunRecorders:
    snapshots: Domain[SnapshotId] = Domain.of("snapshot", tuple(sorted(parts)))
    return Map.build(snapshots, lambda snapshot: parts[snapshot])


def _dump(recorder: Recorder[LaneName]) -> dict[str, object]:
    return {
        "recorded": recorder.recorded,
        "closed": dict(recorder.closed.items()),
        "log": dict(recorder.log.items()),
    }
