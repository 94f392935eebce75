"""Collecting a snapshot's parts in the background: copies of checkpoints, then the manifest.

Nothing waits for it. Recording a state is writing down a batch number; the files of that batch stay
where they are for some batches more, and in that time they are linked out.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from threading import Event, Thread

from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import InconsistentCut, PurgedCheckpoint, QueryFailed
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.layout.snapshot_files import (
    ChannelState,
    RecordedState,
    SnapshotFiles,
)
from streamproof.spark_bindings.names import (
    ChannelName,
    LaneName,
    Position,
    SnapshotId,
    feed_of,
)
from streamproof.spark_bindings.snapshots.feeds import Feeds
from streamproof.spark_bindings.snapshots.participants import Participant, participants
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at

_log = logging.getLogger("streamproof.snapshots")
_BUSY_SECONDS = 0.05  # between looks while a snapshot is under way
_IDLE_SECONDS = 0.5  # between looks otherwise: another process may have asked for one


class Collector:
    """Finishes a pipeline's snapshots. Every step may be repeated, by any driver.

    Parameters
    ----------
    queries : all of the pipeline, also those that other processes run
    """

    def __init__(
        self,
        directory: PipelineDirectory,
        queries: Iterable[Query],
        channels: Mapping[ChannelName, Channel],
    ) -> None:
        self._snapshots: SnapshotFiles = directory.snapshots
        self._participants = participants(queries, directory)
        self._channels = channels
        self._feeds = Feeds(directory, channels)
        self._initiated: set[SnapshotId] = set()
        names = [participant.name for participant in self._participants]
        self._processes = [*map(feed_of, directory.wiring.sources), *names]
        self._paired = {
            ChannelName(query.output) for query in queries if query.is_paired
        }  # their markers come later: whoever delivers sends them

    def collect(self) -> bool:
        """Do what can be done for every unfinished snapshot; tell whether one is left."""
        finished = [self._collect(snapshot) for snapshot in self._snapshots.unfinished()]
        return not all(finished)

    def _collect(self, snapshot: SnapshotId) -> bool:
        try:
            self._initiate(snapshot)
            copied = [self._copy_out(snapshot, each) for each in self._participants]
            if not all(copied) or not self._all_recorded(snapshot):
                return False
            markers = self._markers(snapshot)
            if markers is None:
                return False
            self._snapshots.complete(
                snapshot,
                pairs=[each.name for each in self._participants if each.is_pair],
                markers=markers,
                channels=self._channel_states(snapshot, markers),
            )
        except (PurgedCheckpoint, InconsistentCut) as error:
            self._snapshots.abandon(snapshot, f"{type(error).__name__}: {error}")
        except FileNotFoundError:
            if snapshot in self._snapshots.unfinished():
                raise
            # It was removed while its checkpoints were copied.
        return True

    def _initiate(self, snapshot: SnapshotId) -> None:
        """Begin it at every source, once: who asked for it may have been killed in between."""
        if snapshot not in self._initiated:
            self._feeds.initiate(snapshot)
            self._initiated.add(snapshot)

    def _copy_out(self, snapshot: SnapshotId, participant: Participant) -> bool:
        """Copy the checkpoint of a recorded state; tell whether it is there.

        Raises
        ------
        PurgedCheckpoint : if no copy has it any more
        """
        state = self._snapshots.state(snapshot, participant.name)
        target = self._snapshots.checkpoint(snapshot, participant.name)
        if store_at(target).has():
            return True
        if state is None:
            return False
        there = [each for each in participant.checkpoints if each.has_reached(state.batch)]
        purged: PurgedCheckpoint | None = None
        for checkpoint in there:
            try:
                checkpoint.copy_as_of(state.batch, target)
            except PurgedCheckpoint as error:
                purged = error
                continue
            reached(Failpoint.CHECKPOINT_IN_PLACE, participant.name)
            return True
        if purged is not None and len(there) == len(participant.checkpoints):
            raise purged
        return False

    def _all_recorded(self, snapshot: SnapshotId) -> bool:
        return all(self._snapshots.logged(snapshot, name) is not None for name in self._processes)

    def _markers(self, snapshot: SnapshotId) -> dict[LaneName, Position] | None:
        """Find the markers in all lanes; None if a pair has not delivered its own yet.

        Raises
        ------
        InconsistentCut : if one that was sent is not there
        """
        markers: dict[LaneName, Position] = {}
        for name, channel in self._channels.items():
            for number, lane in enumerate(channel.lane_names):
                if name in self._paired and not channel.has_marker(snapshot, number):
                    return None
                position = channel.log.find_marker(snapshot, number)
                if position is not None:
                    markers[lane] = position
                else:
                    raise InconsistentCut(
                        f"channel {name!r} has no marker of snapshot {snapshot}, though its writer "
                        "sent one. Its log was changed from outside. Take another snapshot"
                    )
        return markers

    def _channel_states(
        self, snapshot: SnapshotId, markers: Mapping[LaneName, Position]
    ) -> list[ChannelState]:
        states: list[ChannelState] = []
        for participant in self._participants:
            recorded = self._snapshots.state(snapshot, participant.name)
            logged = self._snapshots.logged(snapshot, participant.name)
            assert recorded is not None  # the caller waited for it,
            assert logged is not None  # and for this
            self._require_same(snapshot, participant, recorded)
            for name in participant.inputs:
                channel, received = self._channels[name], recorded.received.get(name, Position(0))
                entries = [
                    entry
                    for number, lane in enumerate(channel.lane_names)
                    for entry in channel.log.state(received, logged[lane], markers[lane], number)
                ]
                end = max((entry.position for entry in entries), default=received)
                rows = sum(entry.rows for entry in entries)
                part = ChannelState(name, participant.name, received, end, len(entries), rows)
                states.append(part)
        return states

    def _require_same(
        self, snapshot: SnapshotId, participant: Participant, recorded: RecordedState
    ) -> None:
        """Check that a copied checkpoint has read what its process has recorded.

        Raises
        ------
        InconsistentCut : if a driver that was frozen has replaced what a batch reads
        """
        copy = Checkpoint(self._snapshots.checkpoint(snapshot, participant.name))
        found = copy.received(recorded.batch)
        if found != recorded.received:
            raise InconsistentCut(
                f"batch {recorded.batch} of {participant.name!r} was recorded as having read up to "
                f"{dict(recorded.received)}, but its checkpoint says {dict(found)}: another driver "
                "has replaced that. The snapshot would lose or double rows. Take another snapshot"
            )


class CollectorThread:
    """Runs a collector until it is stopped. After an error it tries again, and it says so."""

    def __init__(self, collector: Collector, place: Place) -> None:
        self._collector, self._place = collector, place
        self._wake, self._stopping = Event(), False
        self._failure: Exception | None = None
        self._thread = Thread(
            target=self._run, name=f"streamproof-collector-{place.name}", daemon=True
        )
        self._thread.start()

    def wake(self) -> None:
        """Look now: a snapshot was requested."""
        self._wake.set()

    def raise_failure(self) -> None:
        """Raise what went wrong when it looked last.

        Raises
        ------
        QueryFailed : if something has
        """
        if self._failure is not None:
            raise QueryFailed(
                f"the snapshots of pipeline {self._place} cannot be collected: {self._failure}. "
                "Its queries go on. Fix the cause, and start it again"
            ) from self._failure

    def stop(self) -> None:
        """Finish the look under way, and end. May be repeated."""
        self._stopping = True
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping:
            try:
                busy, failure = self._collector.collect(), None
            except Exception as error:  # noqa: BLE001 - `raise_failure` raises it
                busy, failure = False, error
            if failure is not None and str(failure) != str(self._failure):
                _log.error("snapshots cannot be collected in %s: %s", self._place, failure)
            self._failure = failure
            self._wake.wait(_BUSY_SECONDS if busy else _IDLE_SECONDS)
            self._wake.clear()
