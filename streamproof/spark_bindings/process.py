"""The processes of the protocol in a pipeline: a query each, and a feed for each source channel.

What a query records is in `recording`. A feed has no input, so it only initiates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from pyspark.sql import DataFrame

from streamproof.lang import Disabled
from streamproof.protocols.chandy_lamport import SaveState, SendMarkers, initiate
from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channel import Channel
from streamproof.spark_bindings.channel_log import Entry
from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.directory import PipelineDirectory
from streamproof.spark_bindings.errors import FencedDriver
from streamproof.spark_bindings.events import EventLog
from streamproof.spark_bindings.failpoints import Failpoint, reached
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    ProcessName,
    QueryName,
    SnapshotId,
    feed_of,
)
from streamproof.spark_bindings.provenance import (
    NOTES_KEPT,
    BatchNotes,
    Made,
    running_offsets,
)
from streamproof.spark_bindings.recorders import RecorderFiles
from streamproof.spark_bindings.recording import Recording, complete, event
from streamproof.spark_bindings.snapshot import SnapshotFiles
from streamproof.spark_bindings.starting import OutputCheck
from streamproof.spark_bindings.state_files import settle


class QueryProcess:
    """A query that runs alone: its rows, and its part in the snapshots.

    Parameters
    ----------
    path : the query's directory
    inputs, output : its channels

    Raises
    ------
    DamagedFile : if its checkpoint cannot be gone on with
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
        self._notes = BatchNotes(path / "batches", name)
        self._output = output
        self._recording = Recording(
            ProcessName(name), path, self.checkpoint, inputs=inputs, snapshots=snapshots
        )

    def on_batch(self, rows: DataFrame, batch_id: BatchId) -> None:
        """Append one micro-batch, then step the machine for what its inputs held.

        Spark calls it on the driver, once for every batch; it may be repeated with the same batch
        id, and then with the same offsets.

        Raises
        ------
        FencedDriver : if another driver has completed this batch, or made it from something else
        """
        self._require_current(batch_id)
        reached(Failpoint.BATCH_BEGUN, self.name)
        received = self._recording.begin(batch_id)
        made = Made(self.checkpoint.identity(), batch_id, received)
        self._require_same(rows, made)
        entry = self._append(rows, made)
        reached(Failpoint.ROWS_APPENDED, self.name)
        position, commit = (None, None) if entry is None else (entry.position, entry.commit)
        self._notes.write(made, position, commit)
        self._recording.on_batch(batch_id, received, self._output.append_marker_once)

    def _append(self, rows: DataFrame, made: Made) -> Entry | None:
        """Append what a batch gives. The first result stands, also if it had no rows.

        Its marker has been sent, and snapshots have recorded it: rows that came now would be behind
        the marker, and in no state.
        """
        stands = self._notes.read(made.batch)
        if stands is None or stands.has_rows:
            return self._output.append_once(rows, made.life, made.batch, made.received)
        self._notes.check(made)
        _spark.run_to_end(rows)  # for the state's changes
        return None

    def check_output(self, notes_kept: int = NOTES_KEPT) -> None:
        """Check that the query has written what its checkpoint says, before Spark starts it.

        Parameters
        ----------
        notes_kept : of its batches, from now on

        Raises
        ------
        WrongCheckpoint, ChannelDamaged, FencedDriver : see `OutputCheck`
        """
        OutputCheck(self.name, self.checkpoint, self._notes, self._output.log).check()
        settle(self.checkpoint.path)
        self._notes.kept = notes_kept

    def _require_same(self, rows: DataFrame, made: Made) -> None:
        """Check that Spark's files say what this batch, and the one before it, have read.

        Another driver that was frozen as it was about to write one may have replaced it.
        """
        running = running_offsets(rows, made.life)
        if running is not None and running != self.checkpoint.offsets(made.batch):
            ends = {each["channel"]: each["position"] for each in running if each is not None}
            file = self.checkpoint.path / "offsets" / str(made.batch)
            raise replace(made, received=ends).disagrees(made, self.name, file)
        if made.batch > 0:
            before = BatchId(made.batch - 1)
            self._notes.check(Made(made.life, before, self.checkpoint.received(before)))

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

    def knows(self, snapshot: SnapshotId) -> bool:
        """Tell whether this source has begun a snapshot, whatever is left of its files."""
        return (self._path / snapshot).exists() or self._channel.has_marker(snapshot)

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
        self._events.write(step, [event("initiate", effects, snapshot=snapshot)])
        for done in complete(recorders):
            self._snapshots.save_channels(done, self.name, {})
            reached(Failpoint.FEED_COMPLETED, self.name)
        files.write(step, recorders)
        reached(Failpoint.FEED_RECORDERS_WRITTEN, self.name)


class Feeds:
    """All feeds of a pipeline: a snapshot that begins at one source has to begin at each.

    Parameters
    ----------
    directory : of the pipeline
    channels : its source channels; others are ignored
    """

    def __init__(
        self, directory: PipelineDirectory, channels: Mapping[ChannelName, Channel]
    ) -> None:
        self._snapshots = directory.snapshots
        self._feeds = [
            FeedProcess(directory.feeds, channels[name], directory.snapshots)
            for name in directory.wiring.sources
        ]

    def request(self) -> SnapshotId:
        """Allocate an id for a snapshot and ask for it durably.

        Markers stay in the channels for good. A snapshot that has the id of an earlier one would
        find its markers there already, far behind what is read, and never be complete.
        """
        return self._snapshots.request(lambda name: any(feed.knows(name) for feed in self._feeds))

    def initiate(self, snapshot: SnapshotId) -> None:
        """Begin a snapshot, or go on with one that was begun at some. May be repeated."""
        for feed in self._feeds:
            feed.initiate(snapshot)
