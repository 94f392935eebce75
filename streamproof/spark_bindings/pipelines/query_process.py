"""A query that runs alone: Spark's batches become commits, and steps of the snapshot machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.channel_log import Entry
from streamproof.spark_bindings.channels.provenance import (
    NOTES_KEPT,
    BatchNotes,
    Made,
    running_offsets,
)
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import FencedDriver
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    ProcessName,
    QueryName,
)
from streamproof.spark_bindings.pipelines.continuation import OutputCheck
from streamproof.spark_bindings.snapshots.chandy_lamport import (
    Recording,
)
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.state_files import settle


class QueryProcess:
    """A query that runs alone: its rows, and its part in the snapshots.

    Parameters
    ----------
    place : the query's directory
    inputs, output : its channels

    Raises
    ------
    DamagedFile : if its checkpoint cannot be gone on with
    """

    def __init__(
        self,
        name: QueryName,
        place: AnyPlace,
        *,
        inputs: Mapping[ChannelName, Channel],
        output: Channel,
        snapshots: SnapshotFiles,
    ) -> None:
        self.name, place = name, Place.of(place)
        self.checkpoint = Checkpoint(place / "checkpoint")
        self._notes = BatchNotes(place / "batches", name)
        self._output = output
        self._recording = Recording(
            ProcessName(name), place, self.checkpoint, inputs=inputs, snapshots=snapshots
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
        settle(self.checkpoint.place)
        self._notes.kept = notes_kept

    def _require_same(self, rows: DataFrame, made: Made) -> None:
        """Check that Spark's files say what this batch, and the one before it, have read.

        Another driver that was frozen as it was about to write one may have replaced it.
        """
        running = running_offsets(rows, made.life)
        if running is not None and running != self.checkpoint.offsets(made.batch):
            ends = {each["channel"]: each["position"] for each in running if each is not None}
            file = self.checkpoint.place / f"offsets/{made.batch}"
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
