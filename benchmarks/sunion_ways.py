"""The ways to bring streams together that `benchmarks/sunion.py` compares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.streaming.readwriter import DataStreamWriter
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from streamproof.spark_bindings.sunion import sunion
from streamproof.spark_bindings.sunion.pack import gather
from streamproof.spark_bindings.sunion.rows import ROWS_PER_BLOB, as_column, to_blob

SECONDS_PER_BATCH = 10  # of event time
_PACKED = "partition int, rows binary"
Streams = dict[str, DataFrame]
Way = Callable[[Streams, int], DataStreamWriter]


def streams(spark: SparkSession, count: int, rows: int, *, stalled: bool) -> Streams:
    """Make streams that have `rows` rows a batch together; the last may end after two batches."""
    each = rows // count
    step = SECONDS_PER_BATCH * 1_000_000 // each
    made = {
        f"stream{number}": spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", each)
        .option("numPartitions", 1)
        .option("startTimestamp", 0)
        .load()
        .select(
            sql.timestamp_micros(sql.col("value") * step).alias("ts"),
            sql.col("value").alias("seq"),
            (sql.col("value") % 1009).alias("key"),
            (sql.col("value") * 0.5).alias("delay"),
        )
        for number in range(count)
    }
    if stalled:
        last = f"stream{count - 1}"
        made[last] = made[last].where(sql.col("seq") < 2 * each)
    return made


def union(inputs: Streams, partitions: int) -> DataStreamWriter:
    """(a) Rows in the order of their arrival."""
    del partitions
    return reduce(DataFrame.union, inputs.values()).writeStream.format("noop")


def union_sorted(inputs: Streams, partitions: int) -> DataStreamWriter:
    """(d) Each batch in order, whatever the batches are."""
    del partitions
    named = [rows.withColumn("stream", sql.lit(name)) for name, rows in inputs.items()]

    def write_sorted(rows: DataFrame, _: int) -> None:
        rows.sort("ts", "stream", "seq").write.format("noop").mode("overwrite").save()

    return reduce(DataFrame.union, named).writeStream.foreachBatch(write_sorted)


class PassThrough(StatefulProcessor):
    """Gives back what it gets."""

    def init(self, handle: Any) -> None:
        self.count = handle.getValueState("count", "n long")

    def handleInputRows(  # noqa: N802
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: Any,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        del key, timerValues
        for frame in rows:
            yield frame.drop(columns=["partition"])


def pass_rows(inputs: Streams, partitions: int) -> DataStreamWriter:
    """(b) Rows through a stateful operator in pandas."""
    rows = reduce(DataFrame.union, inputs.values())
    passed = (
        rows.withColumn("partition", _partition(partitions))
        .groupBy("partition")
        .transformWithStateInPandas(PassThrough(), rows.schema, "Append", "None")
    )
    return passed.writeStream.format("noop")


def pass_packed(inputs: Streams, partitions: int) -> DataStreamWriter:
    """(c) Blobs of rows through the same operator."""
    packed = [
        rows.withColumn("partition", _partition(partitions)).mapInArrow(_pack, _PACKED)
        for rows in inputs.values()
    ]
    return _passed(reduce(DataFrame.union, packed), inputs)


def pass_blobs(inputs: Streams, partitions: int) -> DataStreamWriter:
    """(c') The same in the blobs of the subject: united, large and compressed."""
    rows = reduce(DataFrame.union, inputs.values())
    cores = rows.sparkSession.sparkContext.defaultParallelism
    placed = rows.withColumn("partition", _partition(partitions)).coalesce(cores)
    return _passed(placed.mapInArrow(_pack_large, _PACKED), inputs)


def merged(inputs: Streams, partitions: int) -> DataStreamWriter:
    """The subject, stable rows only."""
    return _sunion(inputs, partitions, None).writeStream.format("noop")


def merged_bounded(inputs: Streams, partitions: int) -> DataStreamWriter:
    """The subject, with a bound."""
    return _sunion(inputs, partitions, "1 second").writeStream.format("noop")


WAYS: dict[str, Way] = {
    "union": union,
    "union_sorted": union_sorted,
    "pass_rows": pass_rows,
    "pass_packed": pass_packed,
    "pass_blobs": pass_blobs,
    "sunion": merged,
}


def _sunion(inputs: Streams, partitions: int, max_delay: str | None) -> DataFrame:
    return sunion(
        inputs,
        time="ts",
        position="seq",
        bucket="1 second",
        lateness="200 milliseconds",
        max_delay=max_delay,
        partition_by=["key"] if partitions > 1 else None,
        partitions=partitions if partitions > 1 else None,
    )


def _passed(packed: DataFrame, inputs: Streams) -> DataStreamWriter:
    """Let blobs through the operator that gives back what it gets, and unpack them."""
    passed = (
        packed.groupBy("partition")
        .transformWithStateInPandas(PassThrough(), "rows binary", "Append", "None")
        .mapInArrow(_unpack, next(iter(inputs.values())).schema)
    )
    return passed.writeStream.format("noop")


def _partition(partitions: int) -> Column:
    return sql.pmod(sql.hash("key"), sql.lit(partitions)) if partitions > 1 else sql.lit(0)


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make each batch a blob per partition."""
    for batch in batches:
        numbers = batch.column("partition")
        rows = batch.drop_columns(["partition"])
        for number in numbers.unique().to_pylist():
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, rows.schema) as writer:
                writer.write(rows.filter(pc.equal(numbers, number)))
            columns = [pa.array([number], pa.int32()), pa.array([sink.getvalue().to_pybytes()])]
            yield pa.RecordBatch.from_arrays(columns, ["partition", "rows"])


def _pack_large(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Make a blob per partition of as many rows as the subject does."""
    for rows in gather(batches, ROWS_PER_BLOB):
        for number in pc.unique(rows["partition"]).to_pylist():
            part = rows.filter(pc.equal(rows["partition"], number)).drop_columns(["partition"])
            columns = [pa.array([number], pa.int32()), as_column(to_blob(part))]
            yield pa.RecordBatch.from_arrays(columns, ["partition", "rows"])


def _unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows in the blobs."""
    for batch in batches:
        for blob in batch.column("rows").to_pylist():
            yield from pa.ipc.open_stream(blob)
