"""`reconcile`: a merged stream applied to a Delta table, so that whoever reads it sees the present.

A batch is one commit of the table: stable and tentative rows are added, and an UNDO removes the
files of tentative rows. The table is partitioned by `tuple_type`, so nothing is ever rewritten.
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.types import StringType

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channels.channel_log import CHANNEL_KEY, PIPELINE_KEY
from streamproof.spark_bindings.channels.provenance import BatchNotes, Made, running_offsets
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint, has_begun
from streamproof.spark_bindings.checkpoints.fixed_settings import (
    FIXED_SETTINGS,
    check_written,
    note_fixed,
)
from streamproof.spark_bindings.checkpoints.input_sources import InputsNote
from streamproof.spark_bindings.checkpoints.planned_sources import check_inputs, planned_sources
from streamproof.spark_bindings.checkpoints.stateful import fixed_plan_of
from streamproof.spark_bindings.errors import WrongArgument, WrongRows
from streamproof.spark_bindings.names import BatchId, ChannelName
from streamproof.spark_bindings.session.session import check_classic
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import stored_schema
from streamproof.spark_bindings.storage.state_files import settle
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import is_directory
from streamproof.spark_bindings.sunion.owned_table import OwnedTable
from streamproof.spark_bindings.sunion.rows import nullable
from streamproof.spark_bindings.sunion.table_files import (
    WRITTEN,
    TableFile,
    TableWriter,
    read_written,
)
from streamproof.spark_bindings.sunion.tuple_type import (
    BOUNDED,
    PARTITIONED,
    SERIALIZER,
    STABLE_ID,
    TUPLE_TYPE,
    TupleType,
    require_one_merge,
)

_INPUTS = "streamproof_inputs.json"


def reconcile(
    merged: DataFrame,
    table: Path | str,
    checkpoint: Path | str,
    *,
    late: Path | str | None = None,
    **trigger: Any,
) -> StreamingQuery:
    """Start a query that keeps a Delta table at what a merged stream has said so far.

    The table has the stream's columns. Its rows are stable, or tentative until an UNDO removes
    them: `tuple_type` tells which. Late rows go to a table of their own. A batch that Spark repeats
    changes nothing. Tables and checkpoint belong together: one without the others is refused.

    Parameters
    ----------
    merged : what `sunion` gives. Columns may be added. A filter must let tuples through that are no
        rows, whose data columns are null; the order of rows and the column `serializer` must stay
    table : directory of the table; it is created if it is absent
    checkpoint : directory of the query's checkpoint
    late : directory of the table of late rows; by default the table's with ``.late`` behind it
    trigger : as `DataStreamWriter.trigger` takes it, such as ``processingTime="1 second"``

    Raises
    ------
    WrongArgument : if the DataFrame is no merged stream, the directories or the trigger are none,
        or the checkpoint was written with other settings of the merge
    WrongSchema : if a table exists with other columns
    ForeignTable : if a table is another query's, or rows of this one are missing in it
    DamagedFile, LostFiles : if the log of a table, or a file of the checkpoint, cannot be read
    WrongCheckpoint : if the checkpoint was written with other inputs, inputs in another order, or
        inputs that read something else
    ChannelDamaged : if an input has lost rows that the checkpoint says were read
    FencedDriver : if another driver has replaced what the checkpoint says of an applied batch

    Examples
    --------
    >>> from streamproof.spark_bindings import spark_session
    >>> spark = spark_session()
    >>> rate = spark.readStream.format("rate").load()
    >>> streams = {"a": rate, "b": rate}
    >>> merged = sunion(
    ...     streams, time="timestamp", position="value", bucket="1 minute", lateness="1 second"
    ... )
    >>> query = reconcile(merged, "table", "checkpoint", processingTime="1 second")
    >>> query.isActive
    True
    >>> query.stop()
    """
    if isinstance(merged, DataFrame):
        check_classic(merged.sparkSession)
    _require_merged(merged)
    place = _local("table", table)
    behind = place.beside(f"{place.name}.late") if late is None else _local("late", late)
    progress = _local("checkpoint", checkpoint)
    places = (place, behind, progress)
    if any(other.is_within(one) for one, other in permutations(places, 2)):
        raise WrongArgument(
            f"reconcile was given table={str(place)!r}, late={str(behind)!r} and "
            f"checkpoint={str(progress)!r}. Each needs a directory of its own, outside of the "
            "others: Delta deletes what it does not know in a table's. Name three"
        )
    writer = _triggered(merged, trigger).option("checkpointLocation", progress.for_spark())
    fixed, own = _fixed_settings(merged), Checkpoint(progress)
    check_written(progress, fixed)
    check_inputs(planned_sources(merged), own)
    plan, inputs = (
        fixed_plan_of(merged),
        InputsNote(progress / _INPUTS, f"the query of table {place}"),
    )
    inputs.check(plan, own)
    settle(progress)
    sink = TableSink(merged, place, behind, own)
    note_fixed(progress, fixed)
    inputs.write(plan)
    return writer.foreachBatch(sink.on_batch).start()


def _require_merged(merged: DataFrame) -> None:
    if not isinstance(merged, DataFrame) or not merged.isStreaming:
        raise WrongArgument(
            f"reconcile was given {merged!r}, which is no stream. Give it what sunion returns"
        )
    kinds = [field for field in merged.schema if field.name == TUPLE_TYPE]
    if not kinds or not isinstance(kinds[0].dataType, StringType):
        raise WrongArgument(
            f"reconcile was given a DataFrame with the columns {', '.join(merged.columns)}. "
            f"Without a text {TUPLE_TYPE!r}, what to add and what to remove is unknown. Give it "
            "what sunion returns"
        )
    require_one_merge(merged, "reconcile was given")
    if STABLE_ID not in merged.columns:
        raise WrongArgument(
            f"reconcile was given a DataFrame without the column {STABLE_ID!r}. A table has no "
            "order, so that of the merge would be lost. Keep that column"
        )
    if kinds[0].metadata.get(PARTITIONED) and SERIALIZER not in merged.columns:
        raise WrongArgument(
            f"reconcile was given a DataFrame without the column {SERIALIZER!r}, though its rows "
            "were merged by several. An UNDO of one would remove rows of all. Keep that column"
        )


def _triggered(merged: DataFrame, trigger: dict[str, Any]) -> DataStreamWriter:
    bounded = merged.schema[TUPLE_TYPE].metadata.get(BOUNDED)
    if bounded and {"availableNow", "once"} & {*trigger}:
        raise WrongArgument(
            f"reconcile was given the trigger {trigger!r}, but the merge has a max_delay. Its "
            "clock makes batches forever, so the query would never end. Write for example "
            'processingTime="1 second" and stop the query, or leave out max_delay'
        )
    if "continuous" in trigger:
        raise WrongArgument(
            f"reconcile was given the trigger {trigger!r}, but a table is written batch by batch. "
            'No query was started. Write for example processingTime="1 second"'
        )
    if not trigger:
        return merged.writeStream
    try:
        return merged.writeStream.trigger(**trigger)
    except (TypeError, ValueError, PySparkException) as error:
        raise WrongArgument(
            f"reconcile was given the trigger {trigger!r}: {error}. No query was started. "
            'Write for example processingTime="1 second", or availableNow=True'
        ) from error


def _fixed_settings(merged: DataFrame) -> dict[str, Any]:
    """Return what must not change: the settings of the merge, or the channel it comes through."""
    metadata = merged.schema[TUPLE_TYPE].metadata
    through = {"pipeline": metadata.get(PIPELINE_KEY), "channel": metadata.get(CHANNEL_KEY)}
    settings: dict[str, Any] = json.loads(metadata.get(FIXED_SETTINGS, "{}"))
    return settings | {name: value for name, value in through.items() if value is not None}


def _local(argument: str, where: Path | str) -> Place:
    said = f"reconcile was given {argument}={where!r}"
    done = "It must be a directory of this machine. Nothing was written. Write for example "
    place = Place.given(said, where, f'{done}{argument}="tables/departures"')
    if "%" in str(place) or "\\" in str(place):
        raise WrongArgument(
            f"{said}, which is {place}. Delta writes places as "
            "URLs, and would misread % and backslashes. Nothing was written. Choose another name"
        )
    if store_at(place).has() and not is_directory(place):
        raise WrongArgument(
            f"{said}, which is a file. Nothing was written. Name a directory, which need not exist"
        )
    return place


class TableSink:
    """Applies batches of one query to its tables.

    Parameters
    ----------
    merged : the stream
    table, late : directories of the tables
    checkpoint : the query's

    Raises
    ------
    WrongSchema, ForeignTable : if a table is there and cannot be gone on with
    """

    def __init__(
        self, merged: DataFrame, table: Place, late: Place, checkpoint: Checkpoint
    ) -> None:
        schema = nullable(stored_schema(merged.schema, f"table {table.name!r}"))
        self._checkpoint = checkpoint
        present = {TupleType.INSERTION, TupleType.TENTATIVE}
        self._table = OwnedTable(table, schema, checkpoint, present)
        self._late = OwnedTable(late, schema, checkpoint, {TupleType.LATE})
        self._directories = {
            TupleType.INSERTION: table,
            TupleType.TENTATIVE: table,
            TupleType.LATE: late,
        }
        self._checkpoint = checkpoint
        self._notes = BatchNotes(checkpoint.place / "streamproof_batches", f"of the table {table}")
        self._check_start()
        self._tentative = self._table.tentative_serializers()
        self._bounded = bool(merged.schema[TUPLE_TYPE].metadata.get(BOUNDED))

    def on_batch(self, rows: DataFrame, batch: int) -> None:
        """Apply one batch. Spark calls it on the driver, and may repeat it with the same batch.

        Raises
        ------
        FencedDriver : if another driver has applied this batch, or a later one
        WrongRows : if tuples were dropped behind `sunion` that are no rows
        """
        self._checkpoint.sync_plan(BatchId(batch))
        made = self._made(BatchId(batch))
        self._require_same(rows, made)
        if self._table.is_applied(batch):
            # The rows are there, but the state's changes are not: the plan has to run to its end.
            _spark.run_to_end(rows)
            self._tentative = self._table.tentative_serializers()
            self._notes.write(made, None, None)
            return
        self._late.is_applied(batch)  # which refuses a table that is not what it was
        writer = TableWriter(self._directories, self._table.file_schema, f"rows-{batch}")
        said = read_written(_spark.map_in_arrow(rows, writer, WRITTEN).collect())
        reached(Failpoint.FILES_WRITTEN, self._table.place.name)
        self._require_whole(said)
        files = [file for file in said if file.path]
        undone = {file.serializer for file in said if file.kind is TupleType.UNDO}
        # First the late rows, since the other table's commit is what tells that all is done.
        if not self._late.is_applied(batch):
            self._late.apply(made, [file for file in files if file.kind is TupleType.LATE])
        present = [file for file in files if file.kind is not TupleType.LATE]
        self._table.apply(made, present, sorted(undone))
        self._notes.write(made, None, None)
        shown = {file.serializer for file in present if file.kind is TupleType.TENTATIVE}
        self._tentative = self._tentative - undone | shown

    def _made(self, batch: BatchId) -> Made:
        """Return what a batch is made from: the offsets of its sources, whatever they read."""
        offsets = self._checkpoint.offsets(batch)
        received = {ChannelName(str(number)): offset for number, offset in enumerate(offsets)}
        return Made(self._checkpoint.identity(), batch, received)

    def _require_same(self, rows: DataFrame, made: Made) -> None:
        """Check that the batch reads what Spark's files, the tables and the notes say."""
        running = running_offsets(rows, made.life)
        if running is not None and running != list(made.received.values()):
            ends = {ChannelName(str(number)): offset for number, offset in enumerate(running)}
            where = self._checkpoint.place / "offsets" / str(made.batch)
            raise replace(made, received=ends).disagrees(made, str(self._table.place), where)
        self._require_agreed(made)

    def _require_agreed(self, made: Made) -> None:
        self._notes.check(made)
        self._table.require_agreed(made)
        self._late.require_agreed(made)

    def _check_start(self) -> None:
        """Compare what was written with what the checkpoint says of the newest batches."""
        if self._checkpoint.last_committed() is None and not has_begun(self._checkpoint.place):
            return  # the power failed before anything was written in its name
        for batch in {self._checkpoint.last_committed(), self._checkpoint.last_planned()}:
            if batch is not None and self._checkpoint.is_planned(batch):
                self._require_agreed(self._made(batch))

    def _require_whole(self, said: list[TableFile]) -> None:
        """Check for what every batch of a merge has, as long as nobody filters it away."""
        kinds: dict[TupleType, set[int]] = {kind: set() for kind in TupleType}
        for file in said:
            kinds[file.kind].add(file.serializer)
        stable, boundaries = kinds[TupleType.INSERTION], kinds[TupleType.BOUNDARY]
        never_revoked = (stable | boundaries) & self._tentative - kinds[TupleType.UNDO]
        if self._bounded and not stable <= boundaries:
            raise _dropped(TupleType.BOUNDARY, stable - boundaries)
        if never_revoked:
            raise _dropped(TupleType.UNDO, never_revoked)


def _dropped(kind: TupleType, serializers: set[int]) -> WrongRows:
    return WrongRows(
        f"a batch has stable rows of the serializers {sorted(serializers)}, but no {kind.value}. "
        "Something behind sunion drops tuples that are no rows, such as a filter on a column that "
        "is null in them; so tentative rows would never be revoked. Nothing of the batch was "
        "applied. Let these tuples through: where(F.col('stream').isNull() | condition); or give "
        "stable_only(merged)"
    )
