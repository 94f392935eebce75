"""Sources that make rows themselves, and as many streams as a merge takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.sunion import stable_only, sunion
from tests.spark.support.waiting import await_that

pytestmark = pytest.mark.timeout(900)

STEP_SECONDS = 5
Row = tuple[int, str, int]


def made(spark: SparkSession, rows: int) -> DataFrame:
    """Make a stream of some rows a batch, which have one time and rising values."""
    return (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", rows)
        .option("numPartitions", 1 if rows == 1 else 3)
        .option("startTimestamp", 0)
        .option("advanceMillisPerBatch", STEP_SECONDS * 1_000)
        .load()
    )


def first_rows(merged: DataFrame, count: int, place: Path) -> list[Row]:
    """Run a merge until it has given some stable rows: their time, stream and value."""
    found: list[Row] = []

    def keep(rows: DataFrame, batch: int) -> None:
        del batch
        for row in stable_only(rows).sort("stable_id").collect():
            assert row["stable_id"] == len(found)
            found.append((int(row["timestamp"].timestamp()), row["stream"], row["value"]))

    writer = merged.writeStream.option("checkpointLocation", str(place / "checkpoint"))
    query = writer.trigger(processingTime="0 seconds").foreachBatch(keep).start()
    try:
        await_that(lambda: len(found) >= count, f"{count} merged rows", query.exception)
    finally:
        query.stop()
    return found


def merge(spark: SparkSession, names: list[str], rows: int) -> DataFrame:
    return sunion(
        {name: made(spark, rows) for name in names},
        time="timestamp",
        position="value",
        bucket="2 seconds",
        lateness="1 second",
    )


def expected(names: list[str], rows: int, count: int) -> list[Row]:
    """Merge the streams: each step's rows, by stream."""
    steps = range(count)
    whole = [
        (step * STEP_SECONDS, name, step * rows + number)
        for step in steps
        for name in sorted(names)
        for number in range(rows)
    ]
    return whole[:count]


def test_a_source_of_micro_batches_is_merged(spark: SparkSession, tmp_path: Path) -> None:
    names = ["b", "a"]
    found = first_rows(merge(spark, names, 10), 40, tmp_path)
    assert found == expected(names, 10, len(found))


@pytest.mark.slow
def test_as_many_streams_as_are_allowed(spark: SparkSession, tmp_path: Path) -> None:
    names = [f"stream{number}" for number in range(127)]
    found = first_rows(merge(spark, names, 1), 127, tmp_path)
    assert found == expected(names, 1, len(found))
    with pytest.raises(WrongWiring, match="given 128 inputs. It merges 1 to 127"):
        merge(spark, [*names, "more"], 1)
