"""Snapshots of running pipelines are consistent cuts, and restoring them loses and doubles nothing.

Every token can be found again from outside: see `pipelines`. Rows of custom stateful operators
(transformWithState) are in `test_hold`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Replay, SnapshotStatus, take_snapshot
from tests.spark.support.pipelines import TOPOLOGIES, TURNS, chain, deficits, feed, is_done

pytestmark = pytest.mark.usefixtures("conforms")


def start(pipeline: Pipeline, spark: SparkSession) -> Pipeline:
    return pipeline.start(spark)


@pytest.mark.parametrize(
    "topology",
    [pytest.param(name, marks=pytest.mark.slow) for name in TOPOLOGIES],
)
def test_overlapping_snapshots_of_a_running_pipeline_have_every_row_once(
    spark: SparkSession, tmp_path: Path, topology: str
) -> None:
    pipeline = TOPOLOGIES[topology](tmp_path / "original")
    others = range(100, 120) if topology == "fan_in" else range(0)
    with start(pipeline, spark):
        feed(pipeline, 0, 20)
        feed(pipeline, others.start, others.stop, channel="other") if others else None
        first = pipeline.snapshot()
        feed(pipeline, 20, 30)
        second = pipeline.snapshot()
        feed(pipeline, 30, 40)
        for snapshot in (first, second):
            pipeline.await_snapshot(snapshot)
        pipeline.await_idle()
    assert deficits(spark, pipeline.path, {"source": range(40), "other": others}) == []
    for snapshot, sent in ((first, 20), (second, 30)):
        copy = pipeline.restore(snapshot, into=tmp_path / snapshot, replay=Replay.NONE)
        assert deficits(spark, copy.path, {"source": range(sent), "other": others}) == []


@pytest.mark.slow
def test_tokens_that_went_round_a_cycle_while_it_was_cut_all_arrive(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The fast one of the tests of overlapping snapshots, too."""
    pipeline = TOPOLOGIES["cycle"](tmp_path / "original")
    with start(pipeline, spark):
        feed(pipeline, 0, 20)
        first = pipeline.snapshot()
        feed(pipeline, 20, 24)
        second = pipeline.snapshot()
        feed(pipeline, 24, 28)
        found = pipeline.await_snapshot(first)
        pipeline.await_snapshot(second)
        pipeline.await_idle()
    for snapshot, sent in ((first, 20), (second, 24)):
        copy = pipeline.restore(snapshot, into=tmp_path / snapshot, replay=Replay.NONE)
        assert deficits(spark, copy.path, {"source": range(sent)}) == []
    restored = pipeline.restore(first, into=tmp_path / "restored")
    with start(restored, spark):
        restored.await_idle()
    for run in (pipeline, restored):
        assert is_done(spark, run.path, "walk", range(28), TURNS + 1)
        assert deficits(spark, run.path, {"source": range(28)}) == []
    assert found.markers.keys() == {"source", "loop", "hops"}


def test_a_restored_pipeline_ends_where_one_ends_that_never_stopped(
    spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = chain(tmp_path / "original")
    with start(pipeline, spark):
        feed(pipeline, 0, 20)
        snapshot = pipeline.snapshot()
        feed(pipeline, 20, 40)
        pipeline.await_snapshot(snapshot)
        pipeline.await_idle()
        # The copy starts while the original is still running, in the same session.
        restored = pipeline.restore(snapshot, into=tmp_path / "restored")
        with start(restored, spark):
            restored.await_idle()
            # Feeds go on where they were: what was sent before the restore is not taken again.
            feed(restored, 0, 46)
            feed(pipeline, 0, 46)
            later = restored.snapshot()
            pipeline.await_idle()
            restored.await_idle()
            assert restored.await_snapshot(later).status is SnapshotStatus.COMPLETE
    for run in (pipeline, restored):
        assert is_done(spark, run.path, "second", range(46))
        assert deficits(spark, run.path, {"source": range(46)}) == []
        assert sorted(run.channel("sink").rows()["id"].to_pylist()) == list(range(46))


def test_an_idle_pipeline_completes_a_snapshot(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = chain(tmp_path / "idle")
    with start(pipeline, spark):
        pipeline.await_idle()
        found = pipeline.await_snapshot(pipeline.snapshot())
    assert found.status is SnapshotStatus.COMPLETE
    assert dict(found.markers) == {"source": 1, "middle": 1, "sink": 1}
    assert [part.commits for part in found.channels] == [0, 0]


def test_a_snapshot_asked_for_before_the_start_completes_after_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = chain(tmp_path / "early")
    feed(pipeline, 0, 4)
    snapshot = pipeline.snapshot()
    feed(pipeline, 4, 8)
    assert pipeline.snapshots()[0].status is SnapshotStatus.REQUESTED
    with start(pipeline, spark):
        found = pipeline.await_snapshot(snapshot)
    assert found.markers["source"] == 3
    assert found.states["first"].received == {"source": 3}


@pytest.mark.parametrize(
    "gone",
    [
        "snapshots/000002",
        pytest.param("snapshots", marks=pytest.mark.slow),
        pytest.param("snapshots feeds", marks=pytest.mark.slow),
    ],
)
def test_the_id_of_a_snapshot_that_was_removed_by_hand_is_not_given_again(
    spark: SparkSession, tmp_path: Path, gone: str
) -> None:
    """Its markers are still in the channels, where no query looks for them any more."""
    pipeline = chain(tmp_path / "p")
    with start(pipeline, spark):
        for number in range(2):
            feed(pipeline, 2 * number, 2 * number + 2)
            pipeline.await_snapshot(pipeline.snapshot())
    for name in gone.split():
        shutil.rmtree(pipeline.path / name)
    asked = take_snapshot(pipeline.path)
    again = chain(tmp_path / "p")
    with start(again, spark):
        feed(again, 4, 6)
        taken = again.snapshot()
        for snapshot in (asked, taken):
            again.await_snapshot(snapshot, 60)
        again.await_idle()
    assert [asked, taken] == ["000003", "000004"]
    for snapshot, sent in ((asked, 4), (taken, 6)):
        copy = again.restore(snapshot, into=tmp_path / snapshot, replay=Replay.NONE)
        assert deficits(spark, copy.path, {"source": range(sent)}) == []
