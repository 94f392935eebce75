"""The processes of the protocol in a pipeline: a query each, and a feed for each source channel.

Here the pure machine of `streamproof.protocols.chandy_lamport` meets Spark. This module tells the
machine what happened and carries out what the machine answers; it decides nothing. A step may be
repeated after a crash, and by a driver that was frozen meanwhile: it starts from the same
recorders, sees the same input, and every effect is idempotent.

What counts as a message is a commit with rows. Markers and empty commits are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, assert_never

from pyspark.sql import DataFrame

from streamproof.lang import Disabled
from streamproof.protocols.chandy_lamport import (
    SaveState,
    SendMarkers,
    SnapshotEffect,
    initiate,
    is_complete,
    on_marker,
    on_messages,
)
from streamproof.spark_bindings.channel import Channel
from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import FencedDriver, InconsistentCut
from streamproof.spark_bindings.events import Event, EventLog
from streamproof.spark_bindings.failpoints import Failpoint, reached
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    Position,
    ProcessName,
    QueryName,
    SnapshotId,
    feed_of,
)
from streamproof.spark_bindings.recorders import RecorderFiles, RunRecorders
from streamproof.spark_bindings.snapshot import RecordedState, SnapshotFiles

Effects = tuple[SnapshotEffect[SnapshotId], ...]


class QueryProcess:
    """A query's part in the snapshots.

    Parameters
    ----------
    path : the query's directory
    inputs, output : its channels
    """

    def __init__(
        self,
        name: QueryName,
        path: Path,
        *,
        inputs: Mapping[ChannelName, Channel],
        output: Channel,
        snapshots: SnapshotFiles,
    ) -> None:
        self.name = name
        self.checkpoint = Checkpoint(path / "checkpoint")
        self._inputs, self._output, self._snapshots = inputs, output, snapshots
        self._recorders = RecorderFiles(path / "recorders", inputs)
        self._events = EventLog(path / "events.jsonl")

    def on_batch(self, rows: DataFrame, batch_id: BatchId) -> None:
        """Append one micro-batch, then step the machine for what its inputs held.

        Spark calls it on the driver, once for every batch; it may be repeated with the same batch
        id, and then with the same offsets.

        Raises
        ------
        FencedDriver : if another driver has completed this batch
        """
        self._require_current(batch_id)
        reached(Failpoint.BATCH_BEGUN, self.name)
        received = self.checkpoint.received(batch_id)
        self._output.append_once(rows, self.checkpoint.identity(), batch_id)
        reached(Failpoint.ROWS_APPENDED, self.name)
        messages, markers = self._read_batch(batch_id, received)
        recorders = self._recorders.with_snapshots(
            self._recorders.before(batch_id), markers.values()
        )
        state = RecordedState(batch_id, received)
        events: list[Event] = []
        # A batch ends at its markers, so its messages came before them.
        for channel, count in messages.items():
            recorders, effects = on_messages(recorders, channel, count)
            self._carry_out(effects, state)
            events.append(_event("on_messages", effects, channel=channel, count=count))
        for channel, snapshot in markers.items():
            recorders, effects = on_marker(recorders, snapshot, channel)
            self._carry_out(effects, state)
            events.append(_event("on_marker", effects, snapshot=snapshot, channel=channel))
        recorders = _finish(recorders, ProcessName(self.name), self._snapshots)
        self._events.write(batch_id, events)
        # Last, since a crash above repeats the batch: same recorders, same steps.
        self._recorders.write(batch_id, recorders)
        reached(Failpoint.RECORDERS_WRITTEN, self.name)

    def _carry_out(self, effects: Effects, state: RecordedState) -> None:
        for effect in effects:
            match effect:
                case SaveState(snapshot):
                    self._snapshots.save_state(snapshot, self.name, state)
                    reached(Failpoint.STATE_SAVED, self.name)
                case SendMarkers(snapshot):
                    self._output.append_marker_once(snapshot)
                    reached(Failpoint.MARKER_SENT, self.name)
                case _:
                    assert_never(effect)

    def _read_batch(
        self, batch_id: BatchId, received: Mapping[ChannelName, Position]
    ) -> tuple[dict[ChannelName, int], dict[ChannelName, SnapshotId]]:
        """Count each input's messages in a batch, and find the marker that it ended at."""
        before = self.checkpoint.received(BatchId(batch_id - 1))
        messages: dict[ChannelName, int] = {}
        markers: dict[ChannelName, SnapshotId] = {}
        for channel, log in ((name, channel.log) for name, channel in self._inputs.items()):
            start = before.get(channel, Position(0))
            end = received.get(channel, start)
            entries = list(log.entries(start, end))
            if count := sum(entry.is_message for entry in entries):
                messages[channel] = count
            for entry in entries:
                if entry.marker is not None:
                    self._require_at_end(entry.position, end, channel, batch_id)
                    markers[channel] = entry.marker
        return messages, markers

    def _require_at_end(
        self, marker: Position, end: Position, channel: ChannelName, batch_id: BatchId
    ) -> None:
        # The other end of the source's promise. Rows behind a marker would be part of a state that
        # was recorded ahead of them.
        if marker != end:
            raise InconsistentCut(
                f"batch {batch_id} of query {self.name!r} read channel {channel!r} up to {end}, "
                f"past the marker at {marker}. A snapshot would double rows. Start the query "
                "through Pipeline.start, which ends every batch at its markers"
            )

    def _require_current(self, batch_id: BatchId) -> None:
        # Spark itself finds out only after the batch. This is no lock, but it spares a frozen
        # driver that wakes up most of its useless work; what it still does is idempotent.
        if self.checkpoint.is_committed(batch_id):
            raise FencedDriver(
                f"query {self.name!r} was to run batch {batch_id}, which another driver has "
                "completed. Two drivers run one pipeline; nothing was done twice. End this process"
            )


class FeedProcess:
    """The part of whoever writes a source channel: it initiates snapshots, and has no inputs.

    Its state is what it has sent, which is where its marker lies. So one commit, the marker's, both
    saves the state and sends the marker, whoever appends rows at the same time.
    """

    def __init__(self, path: Path, channel: Channel, snapshots: SnapshotFiles) -> None:
        self.name = feed_of(channel.name)
        self._channel, self._snapshots = channel, snapshots
        self._path = path / self.name
        self._events = EventLog(self._path / "events.jsonl")

    def initiate(self, snapshot: SnapshotId) -> None:
        """Begin a snapshot at this source. May be repeated, by any driver."""
        step = BatchId(int(snapshot))
        files = RecorderFiles(self._path / snapshot, ())
        # A feed has a file a snapshot, not one for all: two threads may begin two at once.
        before = files.before(BatchId(step + 1))
        recorders = files.with_snapshots(before, [snapshot])
        try:
            recorders, effects = initiate(recorders, snapshot)
        except Disabled:
            return  # it was begun before, to the end
        for effect in effects:
            match effect:
                case SaveState():
                    reached(Failpoint.FEED_STATE_SAVED, self.name)
                case SendMarkers(snapshot):
                    self._channel.append_marker_once(snapshot)
                    reached(Failpoint.FEED_MARKER_SENT, self.name)
                case _:
                    assert_never(effect)
        self._events.write(step, [_event("initiate", effects, snapshot=snapshot)])
        for done in _complete(recorders):
            self._snapshots.save_channels(done, self.name, {})
            reached(Failpoint.FEED_COMPLETED, self.name)
        files.write(step, recorders)
        reached(Failpoint.FEED_RECORDERS_WRITTEN, self.name)


def _complete(recorders: RunRecorders) -> list[SnapshotId]:
    return [name for name, recorder in recorders.items() if is_complete(recorder)]


def _finish(
    recorders: RunRecorders, process: ProcessName, snapshots: SnapshotFiles
) -> RunRecorders:
    """Report the snapshots in which a process has done its part, and forget their recorders."""
    done = _complete(recorders)
    for snapshot in done:
        snapshots.save_channels(snapshot, process, dict(recorders[snapshot].log.items()))
        reached(Failpoint.PROCESS_COMPLETED, process)
    return RecorderFiles.without(recorders, done)


def _event(name: str, effects: Iterable[object], **arguments: Any) -> Event:
    return {"event": name, **arguments, "effects": [type(effect).__name__ for effect in effects]}
