"""`reconcile`: a merged stream applied to a Delta table, so that whoever reads it sees the present.

A batch is one commit of the table: stable and tentative rows are added, and an UNDO removes the
files of tentative rows. The table is partitioned by `tuple_type`, so nothing is ever rewritten.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import FencedDriver, WrongArgument, WrongSchema
from streamproof.spark_bindings.schema import describe, stored_schema
from streamproof.spark_bindings.sunion.table_files import (
    WRITTEN,
    TableFile,
    TableWriter,
    read_written,
)
from streamproof.spark_bindings.sunion.tuple_type import SERIALIZER, TUPLE_TYPE, TupleType


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
    changes nothing.

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
    WrongArgument : if the DataFrame is no merged stream
    WrongSchema : if the table exists with other columns
    """
    if TUPLE_TYPE not in merged.columns or not merged.isStreaming:
        raise WrongArgument(
            f"reconcile was given a DataFrame with the columns {', '.join(merged.columns)}. "
            f"Without {TUPLE_TYPE!r}, what to add and what to remove is unknown. Give it what "
            "sunion returns"
        )
    late = Path(f"{table}.late") if late is None else Path(late)
    if len({Path(place).resolve() for place in (table, late, checkpoint)}) < 3:
        raise WrongArgument(
            f"reconcile was given table={str(table)!r}, late={str(late)!r} and "
            f"checkpoint={str(checkpoint)!r}. Each needs a directory of its own, or one would be "
            "taken for the other. Name three"
        )
    sink = TableSink(merged, Path(table), late, Checkpoint(Path(checkpoint)))
    writer = merged.writeStream.option("checkpointLocation", str(checkpoint))
    if trigger:
        writer = writer.trigger(**trigger)
    return writer.foreachBatch(sink.on_batch).start()


class TableSink:
    """Applies batches of one query to its tables.

    Parameters
    ----------
    merged : the stream
    table, late : directories of the tables
    checkpoint : the query's
    """

    def __init__(self, merged: DataFrame, table: Path, late: Path, checkpoint: Checkpoint) -> None:
        schema = stored_schema(merged.schema, table.name)
        self._checkpoint = checkpoint
        self._partition_by = [TUPLE_TYPE]
        if SERIALIZER in schema.names:
            self._partition_by.append(SERIALIZER)
        self._table, self._late = self._open(table, schema), self._open(late, schema)
        self._file_schema = pa.schema(
            [field for field in schema if field.name not in self._partition_by]
        )
        self._directories = {
            TupleType.INSERTION: table,
            TupleType.TENTATIVE: table,
            TupleType.LATE: late,
        }

    def on_batch(self, rows: DataFrame, batch: int) -> None:
        """Apply one batch. Spark calls it on the driver, and may repeat it with the same batch.

        Raises
        ------
        FencedDriver : if another driver has applied this batch, or a later one
        """
        identity = Transaction(self._checkpoint.identity(), batch)
        if self._is_applied(self._table, identity):
            # The rows are there, but the state's changes are not: the plan has to run to its end.
            _spark.run_to_end(rows)
            return
        writer = TableWriter(self._directories, self._file_schema, f"rows-{batch}")
        written = read_written(rows.mapInArrow(writer, WRITTEN).collect())
        behind = [file for file in written if file.kind is TupleType.LATE]
        # First the late rows, since the other table's commit is what tells that all is done.
        if behind and not self._is_applied(self._late, identity):
            self._commit(self._late, behind, identity)
        self._commit(self._table, [file for file in written if file not in behind], identity)

    def _open(self, path: Path, schema: pa.Schema) -> DeltaTable:
        if not DeltaTable.is_deltatable(str(path)):
            return DeltaTable.create(path, schema=schema, partition_by=self._partition_by)
        table = DeltaTable(path)
        found = pa.schema(table.schema().to_arrow()).remove_metadata()
        if not found.equals(schema) or table.metadata().partition_columns != self._partition_by:
            raise WrongSchema(
                f"the table {path} stores ({describe(found)}), but the merged stream has "
                f"({describe(schema)}). Its rows would be misread. Choose another directory, or "
                "select the stored columns"
            )
        return table

    def _is_applied(self, table: DeltaTable, identity: Transaction) -> bool:
        table.update_incremental()
        newest = table.transaction_version(identity.app_id)
        if newest is not None and newest > identity.version:
            raise _fenced(table, identity.version, f"batch {newest}")
        return newest == identity.version

    def _commit(self, table: DeltaTable, files: list[TableFile], identity: Transaction) -> None:
        """Add files, and remove those of tentative rows that were revoked, at once."""
        undone = [str(file.serializer) for file in files if file.kind is TupleType.UNDO]
        revoked: list[tuple[str, str, Any]] = [(TUPLE_TYPE, "=", TupleType.TENTATIVE.value)]
        if SERIALIZER in self._partition_by:
            revoked.append((SERIALIZER, "in", undone))
        added: list[AddAction | RemoveAction] = [self._action(file) for file in files if file.path]
        if not added and not undone:
            return
        try:
            table.create_write_transaction(
                added,
                "overwrite" if undone else "append",
                table.schema(),
                partition_by=self._partition_by,
                partition_filters=revoked if undone else None,
                commit_properties=CommitProperties(app_transactions=[identity]),
            )
        except CommitFailedError as error:
            raise _fenced(table, identity.version, "the same batch") from error

    def _action(self, file: TableFile) -> AddAction:
        values: dict[str, str | None] = {
            TUPLE_TYPE: file.kind.value,
            SERIALIZER: str(file.serializer),
        }
        partition = {name: values[name] for name in self._partition_by}
        now_ms = int(time.time() * 1000)
        statistics = f'{{"numRecords": {file.rows}}}'
        return AddAction(file.path, file.size, partition, now_ms, True, statistics)


def _fenced(table: DeltaTable, batch: int, seen: str) -> FencedDriver:
    return FencedDriver(
        f"batch {batch} was to be applied to the table {table.table_uri}, but {seen} of the query "
        "was applied by another driver. Two drivers run one query; nothing was applied twice. Let "
        "the newer one run and end this process"
    )
