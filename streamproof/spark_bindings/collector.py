"""Collecting a snapshot's parts in the background: copies of checkpoints, then the manifest.

Nothing waits for it. Recording a state is writing down a batch number; the files of that batch stay
where they are for some batches more, and in that time they are linked out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from threading import Event, Thread

from streamproof.spark_bindings.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import InconsistentCut, PurgedCheckpoint
from streamproof.spark_bindings.failpoints import Failpoint, reached
from streamproof.spark_bindings.names import (
    ChannelName,
    Position,
    ProcessName,
    QueryName,
    SnapshotId,
    feed_of,
)
from streamproof.spark_bindings.snapshot import ChannelState, SnapshotFiles
from streamproof.spark_bindings.wiring import Wiring

_BUSY_SECONDS = 0.05  # between looks while a snapshot is under way
_IDLE_SECONDS = 0.5  # between looks otherwise: another process may have asked for one


class Collector:
    """Finishes a pipeline's snapshots. Every step may be repeated, by any driver.

    Parameters
    ----------
    logs : per channel, its commits
    checkpoints : per query, its checkpoint
    """

    def __init__(
        self,
        wiring: Wiring,
        snapshots: SnapshotFiles,
        logs: Mapping[ChannelName, ChannelLog],
        checkpoints: Mapping[QueryName, Checkpoint],
    ) -> None:
        self._wiring, self._snapshots = wiring, snapshots
        self._logs, self._checkpoints = logs, checkpoints

    def collect(self) -> bool:
        """Do what can be done for every unfinished snapshot; tell whether one is left."""
        finished = [self._collect(snapshot) for snapshot in self._snapshots.unfinished()]
        return not all(finished)

    def _collect(self, snapshot: SnapshotId) -> bool:
        try:
            copied = [self._copy_out(snapshot, query) for query in self._wiring.queries]
            if not all(copied) or not self._all_recorded(snapshot):
                return False
            markers = self._markers(snapshot)
            self._snapshots.complete(snapshot, markers, self._channel_states(snapshot, markers))
        except (PurgedCheckpoint, InconsistentCut) as error:
            self._snapshots.abandon(snapshot, f"{type(error).__name__}: {error}")
        return True

    def _copy_out(self, snapshot: SnapshotId, query: QueryName) -> bool:
        state = self._snapshots.state(snapshot, query)
        target = self._snapshots.checkpoint(snapshot, query)
        if target.exists():
            return True
        checkpoint = self._checkpoints[query]
        if state is None or not checkpoint.has_reached(state.batch):
            return False
        checkpoint.copy_as_of(state.batch, target)
        reached(Failpoint.CHECKPOINT_IN_PLACE, query)
        return True

    def _all_recorded(self, snapshot: SnapshotId) -> bool:
        feeds = [feed_of(channel) for channel in self._wiring.sources]
        processes = [*feeds, *map(ProcessName, self._wiring.queries)]
        return all(self._snapshots.logged(snapshot, name) is not None for name in processes)

    def _markers(self, snapshot: SnapshotId) -> dict[ChannelName, Position]:
        markers: dict[ChannelName, Position] = {}
        for channel, log in self._logs.items():
            position = log.find_marker(snapshot)
            if position is None:
                raise InconsistentCut(
                    f"channel {channel!r} has no marker of snapshot {snapshot}, though its writer "
                    "sent one. Its log was changed from outside. Take another snapshot"
                )
            markers[channel] = position
        return markers

    def _channel_states(
        self, snapshot: SnapshotId, markers: Mapping[ChannelName, Position]
    ) -> tuple[ChannelState, ...]:
        states: list[ChannelState] = []
        for query, inputs in self._wiring.inputs.items():
            recorded = self._snapshots.state(snapshot, query)
            logged = self._snapshots.logged(snapshot, ProcessName(query))
            assert recorded is not None  # the caller waited for it,
            assert logged is not None  # and for this
            for channel in inputs:
                log, received = self._logs[channel], recorded.received.get(channel, Position(0))
                end = log.end_of_state(received, logged[channel], markers[channel])
                rows = sum(entry.rows for entry in log.entries(received, end))
                part = ChannelState(channel, query, received, end, logged[channel], rows)
                states.append(part)
        return tuple(states)


class CollectorThread:
    """Runs a collector until it is stopped. An error ends it and is kept for whoever waits."""

    def __init__(self, collector: Collector, place: Path) -> None:
        self._collector = collector
        self._wake, self._stopping = Event(), False
        self.failure: Exception | None = None
        self._thread = Thread(
            target=self._run, name=f"streamproof-collector-{place.name}", daemon=True
        )
        self._thread.start()

    def wake(self) -> None:
        """Look now: a snapshot was requested."""
        self._wake.set()

    def stop(self) -> None:
        """Finish the look under way, and end. May be repeated."""
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping:
            try:
                busy = self._collector.collect()
            except Exception as error:  # noqa: BLE001 - `Run.raise_failure` raises it
                self.failure = error
                return
            self._wake.wait(_BUSY_SECONDS if busy else _IDLE_SECONDS)
            self._wake.clear()
