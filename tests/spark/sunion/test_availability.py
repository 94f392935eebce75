"""A merge with a bound, by the clock of Spark's batches: when a row comes, and when it goes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.spark_bindings.sunion import sunion
from tests.spark.support.merging import SCHEMA, Row, rows_of, write_file
from tests.spark.support.waiting import await_that

pytestmark = [
    pytest.mark.timeout(600),
    # The streams are fed much faster than their clock goes.
    pytest.mark.filterwarnings("ignore:sunion was given max_delay"),
]

MAX_DELAY, MARGIN = timedelta(seconds=10), 0.9
WAIT = MAX_DELAY * MARGIN


def merged(spark: SparkSession, place: Path) -> DataFrame:
    """Merge two streams of files; each row has the times of the batches in which it came and went.

    Within a batch, Spark's `current_timestamp` is the time at which the batch began.
    """
    inputs = {
        name: spark.readStream.schema(from_arrow_schema(SCHEMA))
        .parquet(str(place / name))
        .withColumn("came", F.current_timestamp())
        for name in ("ewr", "jfk")
    }
    return sunion(
        inputs,
        time="ts",
        position="seq",
        bucket="10 seconds",
        lateness="5 seconds",
        max_delay=f"{MAX_DELAY.total_seconds():g} seconds",
        margin=MARGIN,
    ).withColumn("went", F.current_timestamp())


def begins(checkpoint: Path) -> list[datetime]:
    """Read when each batch began."""
    logs = sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda log: int(log.name))
    lines = [json.loads(log.read_text(encoding="utf-8").splitlines()[1]) for log in logs]
    return [datetime.fromtimestamp(line["batchTimestampMs"] / 1000, UTC) for line in lines]


def first_shown(said: list[pa.Table]) -> dict[tuple[str, int], dict[str, object]]:
    """Return each row as it came out first, tentative or stable."""
    shown: dict[tuple[str, int], dict[str, object]] = {}
    for row in (row for table in said for row in table.to_pylist()):
        if row["tuple_type"] in {"INSERTION", "TENTATIVE"}:
            shown.setdefault((row["stream"], row["seq"]), row)
    return shown


@contextmanager
def running(spark: SparkSession, place: Path, said: list[pa.Table]) -> Iterator[StreamingQuery]:
    """Merge what comes into a directory, and keep what is said."""
    for name in ("ewr", "jfk"):
        (place / name).mkdir(parents=True)
    query = (
        merged(spark, place)
        .writeStream.option("checkpointLocation", str(place / "checkpoint"))
        .trigger(processingTime="200 milliseconds")
        .foreachBatch(lambda rows, _: said.append(rows.toArrow()))
        .start()
    )
    try:
        yield query
    finally:
        query.stop()


def warm_up(spark: SparkSession, place: Path) -> None:
    """Let Spark compile and its workers start: the first batch of a session may take seconds."""
    said: list[pa.Table] = []
    with running(spark, place, said) as query:
        write_file(place, "ewr", rows_of([1]))
        await_that(lambda: len(said) > 1, "a row", query.exception)


@pytest.mark.slow
def test_every_row_is_out_within_the_bound_and_a_trigger(
    spark: SparkSession, tmp_path: Path
) -> None:
    warm_up(spark, tmp_path / "warm")
    said: list[pa.Table] = []
    with running(spark, tmp_path, said) as query:
        # A stall that is shorter than the bound gives no tentative row.
        write_file(tmp_path, "ewr", rows_of([1, 12, 25]))
        await_that(lambda: bool(said), "a row", query.exception)
        write_file(tmp_path, "jfk", rows_of([2, 25]))
        await_that(lambda: len(first_shown(said)) >= 3, "a row", query.exception)
        assert {row["tuple_type"] for row in first_shown(said).values()} == {"INSERTION"}
        # A longer one: ewr goes on, a bucket after the other, and jfk does not.
        for number in range(6):
            write_file(tmp_path, "ewr", [Row(35 + 10 * number, 3 + number)])
            time.sleep(0.7)
        await_that(lambda: len(first_shown(said)) == 11, "a row", query.exception)
    began, shown = begins(tmp_path / "checkpoint"), first_shown(said)
    for row in shown.values():
        # No batch between the bound and the one in which the row went out.
        assert not [at for at in began if row["came"] + WAIT <= at < row["went"]], row
    tentative = [row for row in shown.values() if row["tuple_type"] == "TENTATIVE"]
    assert len(tentative) >= 6
    first_of_stall = min(tentative, key=lambda row: row["ts"])
    assert first_of_stall["came"] + WAIT <= first_of_stall["went"]
