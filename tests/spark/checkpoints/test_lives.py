"""What of a query must stay from one life to the next, beside its operators: what decides its rows.

An output mode says what was emitted, and a watermark's column what was dropped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.checkpoints.state_plan import STATE_PLAN_FILE, check_state_plan
from streamproof.spark_bindings.checkpoints.stateful import FixedPlan, Stateful, fixed_plan_of
from streamproof.spark_bindings.checkpoints.watermarks import closes_later
from streamproof.spark_bindings.errors import ReplayedFreely, WrongCheckpoint
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.handmade import write
from tests.spark.support.lives import checkpoint
from tests.spark.support.waiting import SECONDS_MAX, await_that

Plan = Callable[..., DataFrame]


class Planned:
    """A checkpoint in which a batch was planned."""

    place = Place.of("checkpoint")

    def last_planned(self) -> int:
        return 0


def times(*seconds: int) -> pa.Table:
    moments = pa.array([second * 1_000_000 for second in seconds], pa.timestamp("us", "UTC"))
    return pa.table({"t": moments})


def windows(rows: DataFrame) -> DataFrame:
    timed = rows.withWatermark("t", "0 seconds").groupBy(F.window("t", "5 seconds"))
    return timed.agg(F.count("*").alias("n")).select(F.col("window.start").alias("t"), "n")


def counted(path: Path, **more: Any) -> Pipeline:
    query = Query("q", ("a",), "b", plan=windows, **more)
    return Pipeline(
        path, channels={"a": "t timestamp", "b": "t timestamp, n long"}, queries=[query]
    )


def counts(pipeline: Pipeline) -> list[tuple[int, int]]:
    found = pipeline.channel("b").rows().to_pylist()
    return [(int(row["t"].timestamp()), row["n"]) for row in found]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_changed_output_mode_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """A window that was held back would never be emitted."""
    with counted(tmp_path / "p").start(spark) as pipeline:
        pipeline.channel("a").append(times(1, 2))
        pipeline.await_idle(SECONDS_MAX)
    changed = counted(tmp_path / "p", output_mode="update")
    with pytest.raises(
        WrongCheckpoint, match=r"output_mode=.update., but .*Write output_mode=.app"
    ):
        changed.start(spark)
    with counted(tmp_path / "p").start(spark) as again:
        again.channel("a").append(times(100))
        again.await_idle(SECONDS_MAX)
    assert counts(again) == [(0, 2)]


STATE = FixedPlan([Stateful("Aggregate(a.k)", "")], watermarks=["a.t"], output_mode="append")


def test_a_note_of_an_older_version_says_neither_mode_nor_watermark(tmp_path: Path) -> None:
    check_state_plan("q", Place.of(tmp_path), STATE, Planned())
    file = tmp_path / STATE_PLAN_FILE
    note = json.loads(file.read_text())
    file.write_text(json.dumps({"stateful": note["stateful"], "settings": {}}))
    changed = replace(STATE, watermarks=["a.u"], output_mode="update")
    check_state_plan(
        "q", Place.of(tmp_path), changed, Planned()
    )  # it goes on as before, and notes them
    with pytest.raises(WrongCheckpoint, match="withWatermark on a.t, but .* on a.u"):
        check_state_plan("q", Place.of(tmp_path), STATE, Planned())


def test_without_state_the_mode_and_the_watermark_may_change(tmp_path: Path) -> None:
    check_state_plan("q", Place.of(tmp_path), replace(STATE, stateful=[]), Planned())
    changed = FixedPlan(watermarks=["a.u"], output_mode="update")
    check_state_plan("q", Place.of(tmp_path), changed, Planned())


def test_a_watermark_may_come_and_must_not_go(tmp_path: Path) -> None:
    check_state_plan("q", Place.of(tmp_path), replace(STATE, watermarks=[]), Planned())
    check_state_plan("q", Place.of(tmp_path), STATE, Planned())
    with pytest.raises(WrongCheckpoint, match="has no watermark, but .* withWatermark on a.t"):
        check_state_plan("q", Place.of(tmp_path), replace(STATE, watermarks=[]), Planned())


def told(keys: Any, frames: Any, state: Any) -> Any:
    yield from frames


def by_key(rows: DataFrame) -> DataFrame:
    timeout = "EventTimeTimeout"
    grouped = rows.groupBy("k")
    return grouped.applyInPandasWithState(told, "n long", "n long", "append", timeout)


@pytest.mark.spark
@pytest.mark.parametrize(
    "plan",
    [
        lambda rows: rows.dropDuplicatesWithinWatermark(["k"]),
        lambda rows: rows.groupBy("k").count(),
        by_key,
    ],
    ids=["repetitions", "aggregation", "state of one's own"],
)
def test_a_watermark_of_another_column_is_refused(
    spark: SparkSession, tmp_path: Path, plan: Plan
) -> None:
    def check(column: str, delay: str) -> None:
        rows = spark.readStream.format("rate").load().toDF("t", "k")
        two = rows.withColumn("u", F.expr("t + interval 1 day"))
        fixed = fixed_plan_of(plan(two.withWatermark(column, delay)))
        check_state_plan("q", Place.of(tmp_path), fixed, Planned())

    check("t", "1 second")
    check("t", "5 seconds")  # the delay may change
    with pytest.raises(
        WrongCheckpoint, match=r"withWatermark on .*DAY.*, but .* on timestamp\. Spark"
    ):
        check("u", "1 second")
    check("t", "1 second")


@pytest.mark.parametrize(("ran_with", "raised", "expected"), [(0, 5, True), (5, 5, False)])
def test_a_batch_that_has_raised_a_watermark_closes_later(
    tmp_path: Path, ran_with: int, raised: int, expected: bool
) -> None:
    made = checkpoint(tmp_path, [])
    write(tmp_path / "offsets" / "0", "\n".join(["v1", json.dumps({"batchWatermarkMs": ran_with})]))
    write(tmp_path / "commits" / "0", f"v2\n{json.dumps({'nextBatchWatermarkMs': raised})}")
    assert closes_later(made, BatchId(0)) == expected


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_closed_window_is_not_withheld_by_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    """Spark closes it in the next batch, and looks for one behind a batch of its own run alone."""
    first = counted(tmp_path / "p", processing_time="1 day")
    first.channel("a").append(times(1, 2, 100))
    with first.start(spark):
        await_that(lambda: first.status()["q"].batch == 0, "the first batch")
    assert counts(first) == []
    read = first.channel("a").log
    with counted(tmp_path / "p").start(spark) as again:
        again.await_idle(SECONDS_MAX)
        assert counts(again) == [(0, 2)]
    woken = read.last()
    with counted(tmp_path / "p").start(spark) as again:
        again.await_idle(SECONDS_MAX)
    assert read.last() == woken  # it is woken once


def marked_twice(a: DataFrame, b: DataFrame) -> DataFrame:
    one, other = (rows.withWatermark("t", "0 seconds") for rows in (a, b))
    return (
        one.union(other).groupBy(F.window("t", "5 seconds")).count().select("window.start", "count")
    )


def marked_once(a: DataFrame, b: DataFrame) -> DataFrame:
    both = a.union(b).withWatermark("t", "0 seconds")
    return both.groupBy(F.window("t", "5 seconds")).count().select("window.start", "count")


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize(("plan", "is_told"), [(marked_twice, True), (marked_once, False)])
def test_a_restore_tells_of_several_watermarks(
    spark: SparkSession,
    tmp_path: Path,
    recwarn: pytest.WarningsRecorder,
    plan: Plan,
    is_told: bool,
) -> None:
    """Spark keeps each in memory alone, so the restored query may take other rows to be late."""
    pipeline = Pipeline(
        tmp_path / "p",
        channels={"a": "t timestamp", "b": "t timestamp", "c": "start timestamp, count long"},
        queries=[Query("q", ("a", "b"), "c", plan=plan)],
    )
    with pipeline.start(spark):
        taken = pipeline.snapshot()
        pipeline.await_snapshot(taken, SECONDS_MAX)
    pipeline.restore(taken, into=tmp_path / "r")
    warned = [str(each.message) for each in recwarn if each.category is ReplayedFreely]
    assert ["q has several watermarks" in message for message in warned] == [True] * is_told
