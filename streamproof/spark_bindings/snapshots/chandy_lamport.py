"""A query's part in the snapshots, whether it runs alone or as a pair of copies.

Here the pure machine of `streamproof.protocols.chandy_lamport` meets Spark. This module tells the
machine what a batch held and carries out what the machine answers; it decides nothing. A step may
be repeated after a crash, by a driver that was frozen meanwhile, and at the other copy: it starts
from the same recorders, sees the same input, and every effect is idempotent.

What counts as a message is a commit with rows. Markers and empty commits are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, assert_never

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
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import InconsistentCut
from streamproof.spark_bindings.layout.events import Event, EventLog
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    LaneName,
    Position,
    ProcessName,
    SnapshotId,
    feed_of,
)
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles, RunRecorders
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at

Send = Callable[[SnapshotId], None]
"""Sends a snapshot's marker on the output channel, behind everything that was sent before."""


class Recording:
    """What a process records, batch by batch.

    Parameters
    ----------
    process : who records: a query, or a pair
    place : where its recorders and events are kept; each copy of a pair has its own
    """

    def __init__(
        self,
        process: ProcessName,
        place: Place,
        checkpoint: Checkpoint,
        *,
        inputs: Mapping[ChannelName, Channel],
        snapshots: SnapshotFiles,
    ) -> None:
        self._process, self._checkpoint = process, checkpoint
        self._inputs, self._snapshots = inputs, snapshots
        lanes = [lane for channel in inputs.values() for lane in channel.lane_names]
        self._recorders = RecorderFiles(place / "recorders", lanes)
        self._events = EventLog(place / "events.jsonl")

    def begin(self, batch_id: BatchId) -> Mapping[ChannelName, Position]:
        """Begin a batch: give, per input, the position up to which it reads.

        That it does, and what it reads, outlives the power from here on: before anything is written
        that follows from it. Else a crash could leave rows that nobody has sent.

        Raises
        ------
        PurgedCheckpoint, DamagedFile : if Spark's file of it is gone or damaged
        DiskFailed : if the disk did not take it
        """
        received = self._checkpoint.received(batch_id)
        self._checkpoint.sync_plan(batch_id)
        for name, position in received.items():
            self._inputs[name].log.sync(position)
        return received

    def on_batch(
        self, batch_id: BatchId, received: Mapping[ChannelName, Position], send: Send
    ) -> None:
        """Step the machine for what a batch has read, once its rows are where markers follow them.

        Parameters
        ----------
        batch_id, received : its number, and per input the position up to which it has read
        send : for the markers that the machine wants to be sent
        """
        before = self._checkpoint.received(BatchId(batch_id - 1))
        messages, markers = self._read(batch_id, before, received)
        recorders = self._recorders.with_snapshots(
            self._recorders.before(batch_id), markers.values()
        )
        state = RecordedState(batch_id, received)
        events: list[Event] = []
        # A batch ends at its markers, so its messages came before them.
        for lane, count in messages.items():
            recorders, effects = on_messages(recorders, lane, count)
            done = self._carry_out(effects, state, send)
            events.append(event("on_messages", effects, done, channel=lane, count=count))
        for lane, snapshot in markers.items():
            recorders, effects = on_marker(recorders, snapshot, lane)
            done = self._carry_out(effects, state, send)
            events.append(event("on_marker", effects, done, snapshot=snapshot, channel=lane))
        recorders = self._finish(recorders)
        after, until = (
            {name: ends.get(name, Position(0)) for name in self._inputs}
            for ends in (before, received)
        )
        self._events.write(batch_id, events, after=after, received=until)
        # Last, since a crash above repeats the batch: same recorders, same steps.
        self._recorders.write(batch_id, recorders)
        reached(Failpoint.RECORDERS_WRITTEN, self._process)

    def _carry_out(
        self, effects: Iterable[SnapshotEffect[SnapshotId]], state: RecordedState, send: Send
    ) -> list[str]:
        """Carry out what the machine answered; list what was done, in its order."""
        done = []
        for effect in effects:
            match effect:
                case SaveState(snapshot):
                    self._snapshots.save_state(snapshot, self._process, state)
                    reached(Failpoint.STATE_SAVED, self._process)
                case SendMarkers(snapshot):
                    send(snapshot)
                    reached(Failpoint.MARKER_SENT, self._process)
                case _:
                    assert_never(effect)
            done.append(_name(effect))
        return done

    def _read(
        self,
        batch_id: BatchId,
        before: Mapping[ChannelName, Position],
        received: Mapping[ChannelName, Position],
    ) -> tuple[Counter[LaneName], dict[LaneName, SnapshotId]]:
        """Count each lane's messages in a batch, and find the marker that it ended at."""
        messages: Counter[LaneName] = Counter()
        markers: dict[LaneName, SnapshotId] = {}
        for name, channel in self._inputs.items():
            start = before.get(name, Position(0))
            end = received.get(name, start)
            for entry in channel.log.entries(start, end):
                lane = channel.lane_names[entry.lane]
                if entry.is_message:
                    messages[lane] += 1
                if entry.marker is not None:
                    self._require_at_end(entry.position, end, name, batch_id)
                    markers[lane] = entry.marker
        return messages, markers

    def _require_at_end(
        self, marker: Position, end: Position, channel: ChannelName, batch_id: BatchId
    ) -> None:
        # The other end of the source's promise. Rows behind a marker would be part of a state that
        # was recorded ahead of them.
        if marker != end:
            raise InconsistentCut(
                f"batch {batch_id} of query {self._process!r} read channel {channel!r} up to "
                f"{end}, past the marker at {marker}. A snapshot would double rows. Start the "
                "query through Pipeline.start or streamproof run, which end every batch at its "
                "markers"
            )

    def _finish(self, recorders: RunRecorders) -> RunRecorders:
        """Report the snapshots in which the process has done its part, and forget them."""
        done = complete(recorders)
        for snapshot in done:
            log = dict(recorders[snapshot].log.items())
            self._snapshots.save_channels(snapshot, self._process, log)
            reached(Failpoint.PROCESS_COMPLETED, self._process)
        return RecorderFiles.without(recorders, done)


def complete(recorders: RunRecorders) -> list[SnapshotId]:
    """Return the snapshots in which a process has done its part."""
    return [name for name, recorder in recorders.items() if is_complete(recorder)]


def event(name: str, effects: Iterable[object], done: Iterable[str], **arguments: Any) -> Event:
    """Describe a step of the machine, for the events that a process writes down.

    Parameters
    ----------
    name, arguments : of the transition
    effects, done : what the machine answered, and what was carried out, in its order
    """
    return {"event": name, **arguments, "effects": list(map(_name, effects)), "done": list(done)}


def _name(effect: object) -> str:
    return type(effect).__name__


class FeedProcess:
    """The part of whoever writes a source channel: it initiates snapshots, and has no inputs.

    Its state is what it has sent, which is where its marker lies. So one commit, the marker's, both
    saves the state and sends the marker, whoever appends rows at the same time.
    """

    def __init__(self, place: Place, channel: Channel, snapshots: SnapshotFiles) -> None:
        self.name = feed_of(channel.name)
        self._channel, self._snapshots = channel, snapshots
        self._place = place / self.name
        self._events = EventLog(self._place / "events.jsonl")

    def knows(self, snapshot: SnapshotId) -> bool:
        """Return whether this source has begun a snapshot, whatever is left of its files."""
        return store_at(self._place).has(snapshot) or self._channel.has_marker(snapshot)

    def initiate(self, snapshot: SnapshotId) -> None:
        """Begin a snapshot at this source. May be repeated, by any driver."""
        step = BatchId(int(snapshot))
        files = RecorderFiles(self._place / snapshot, ())
        # A feed has a file a snapshot, not one for all: two threads may begin two at once.
        before = files.before(BatchId(step + 1))
        recorders = files.with_snapshots(before, [snapshot])
        try:
            recorders, effects = initiate(recorders, snapshot)
        except Disabled:
            return  # it was begun before, to the end
        done = []
        for effect in effects:
            match effect:
                case SaveState():
                    reached(Failpoint.FEED_STATE_SAVED, self.name)
                case SendMarkers(snapshot):
                    self._channel.append_marker_once(snapshot)
                    reached(Failpoint.FEED_MARKER_SENT, self.name)
                case _:
                    assert_never(effect)
            done.append(_name(effect))
        self._events.write(step, [event("initiate", effects, done, snapshot=snapshot)])
        for ended in complete(recorders):
            self._snapshots.save_channels(ended, self.name, {})
            reached(Failpoint.FEED_COMPLETED, self.name)
        files.write(step, recorders)
        reached(Failpoint.FEED_RECORDERS_WRITTEN, self.name)
