"""A driver may die, or freeze and wake up, between any two durable writes: no row is lost.

A driver process is killed by SIGKILL, with its JVM, at a named point. The pipeline is then started
again here, and everything is counted from outside.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Replay, SnapshotStatus
from streamproof.spark_bindings.storage.failpoints import Failpoint
from tests.spark.support import driver
from tests.spark.support.pipelines import chain, deficits, feed, is_done
from tests.spark.support.waiting import SECONDS_MAX

pytestmark = [pytest.mark.timeout(900), pytest.mark.usefixtures("conforms")]

FEED = (
    Failpoint.REQUEST_WRITTEN,
    Failpoint.FEED_STATE_SAVED,
    Failpoint.FEED_MARKER_SENT,
    Failpoint.FEED_COMPLETED,
    Failpoint.FEED_RECORDERS_WRITTEN,
)
"""Points that a driver passes before its first batch, whatever is running."""
QUERY = (
    Failpoint.BATCH_BEGUN,
    Failpoint.ROWS_APPENDED,
    Failpoint.STATE_SAVED,
    Failpoint.MARKER_SENT,
    Failpoint.PROCESS_COMPLETED,
    Failpoint.RECORDERS_WRITTEN,
    Failpoint.CHECKPOINT_LINKED,
    Failpoint.CHECKPOINT_IN_PLACE,
)
"""Points that each query passes."""
OUTPUT = (Failpoint.FILES_WRITTEN, Failpoint.APPEND_CHECKED)
"""Points that each query's output channel passes."""

CASES = [
    *(point.value for point in (*FEED, Failpoint.MANIFEST_WRITTEN)),
    *(f"{point.value}@{query}" for point in QUERY for query in ("first", "second")),
    *(f"{point.value}@{channel}" for point in OUTPUT for channel in ("middle", "sink")),
]
FAST = {"feed_marker_sent"}
FROZEN = [
    f"{point.value}@{where}"
    for point, where in (
        (Failpoint.APPEND_CHECKED, "middle"),
        (Failpoint.BATCH_BEGUN, "first"),
        (Failpoint.FILES_WRITTEN, "middle"),
        (Failpoint.APPEND_CHECKED, "sink"),
        (Failpoint.ROWS_APPENDED, "first"),
        (Failpoint.STATE_SAVED, "first"),
        (Failpoint.MARKER_SENT, "second"),
        (Failpoint.PROCESS_COMPLETED, "first"),
        (Failpoint.CHECKPOINT_LINKED, "first"),
    )
]


def by_speed(cases: list[str], fast: set[str]) -> list[object]:
    """Mark the cases that the fast tests leave out."""
    assert fast <= set(cases)
    return [c if c in fast else pytest.param(c, marks=pytest.mark.slow) for c in cases]


def test_the_cases_are_all_failpoints() -> None:
    assert {case.partition("@")[0] for case in CASES} == {point.value for point in Failpoint}


@pytest.mark.parametrize("failpoint", by_speed(CASES, FAST))
def test_a_killed_driver_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path, failpoint: str
) -> None:
    path = tmp_path / "original"
    process = driver.begin(path, failpoint)
    try:
        ended = process.wait(SECONDS_MAX)
        assert ended == -signal.SIGKILL, driver.log_of(path).read_text()[-4000:]
    finally:
        driver.end(process)
    finish_and_check(spark, chain(path), tmp_path)


@pytest.mark.slow  # that a replaced driver is told, tests/spark/pipelines/test_start.py sees
@pytest.mark.parametrize("failpoint", FROZEN)
def test_a_frozen_driver_that_wakes_up_harms_nothing(
    spark: SparkSession, tmp_path: Path, failpoint: str
) -> None:
    path = tmp_path / "original"
    process = driver.begin(path, failpoint, freeze=True)
    try:
        driver.await_frozen(process)
        pipeline = chain(path)
        with pipeline.start(spark):
            feed(pipeline, 0, driver.IDS)
            pipeline.await_idle()
            os.killpg(process.pid, signal.SIGCONT)
            # It goes on in the middle of a batch that is done, and ends by itself: Spark, or the
            # channel, tells it that it has been replaced.
            assert process.wait(SECONDS_MAX) != 0
            pipeline.await_idle()
    finally:
        driver.end(process)
    finish_and_check(spark, pipeline, tmp_path)


def finish_and_check(spark: SparkSession, pipeline: Pipeline, place: Path) -> None:
    """Do all work again that a driver would do, then count every row, and in every snapshot."""
    with pipeline.start(spark):
        feed(pipeline, 0, driver.IDS)
        taken = pipeline.snapshots()
        assert [snapshot.id for snapshot in taken] == ["000001"]
        for snapshot in taken:
            pipeline.await_snapshot(snapshot.id)
        pipeline.await_idle()
    assert deficits(spark, pipeline.path, {"source": range(driver.IDS)}) == []
    assert is_done(spark, pipeline.path, "second", range(driver.IDS))
    found = pipeline.restore("000001", into=place / "restored", replay=Replay.NONE)
    assert pipeline.snapshots()[0].status is SnapshotStatus.COMPLETE
    before = found.channel("source").rows().num_rows
    assert before >= driver.IDS_BEFORE
    assert deficits(spark, found.path, {"source": range(before)}) == []
