"""Snapshots of running pipelines are consistent cuts, and restoring them loses and doubles nothing.

Every row has an id and is in exactly one place at a time. The oracle reads the restored directory
from outside: states through Spark's state reader, channels through their rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Certificate, Pipeline, Replay, SnapshotStatus
from tests.spark.pipelines import (
    TOPOLOGIES,
    after_hold,
    branch,
    chain,
    feed,
    held,
    places,
)

BRANCHES = {
    "chain": [("source>first", "first", "middle>second", "second", "sink>")],
    "fan_in": [
        ("source>first", "first", "middle>join", "other>join", "join", "sink>"),
    ],
    "fan_out": [
        ("source>first", "first", "middle>left", "left", "sink>"),
        ("source>first", "first", "middle>right", "sink2>"),
    ],
    "cycle": [("source>walk", "walk", "hops>turn", "loop>walk")],
}
"""Per topology, the sets of places that each hold every row exactly once."""


def test_every_topology_has_branches() -> None:
    assert BRANCHES.keys() == TOPOLOGIES.keys()


def start(pipeline: Pipeline, spark: SparkSession) -> Pipeline:
    return pipeline.start(spark, certificate=Certificate.IGNORED)


def state_of(spark: SparkSession, pipeline: Pipeline, query: str) -> list[int]:
    return held(spark, pipeline.path / "queries" / query / "checkpoint")


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_a_snapshot_of_a_running_pipeline_has_every_row_once(
    spark: SparkSession, tmp_path: Path, topology: str
) -> None:
    pipeline = TOPOLOGIES[topology](tmp_path / "original")
    with start(pipeline, spark):
        feed(pipeline, 0, 20)
        if topology == "fan_in":
            feed(pipeline, 100, 120, channel="other")
        first = pipeline.snapshot()
        feed(pipeline, 20, 30)
        second = pipeline.snapshot()  # at once: the two overlap
        feed(pipeline, 30, 40)
        for snapshot in (first, second):
            pipeline.await_snapshot(snapshot)
        pipeline.await_idle()
    others = list(range(100, 120)) if topology == "fan_in" else []
    for snapshot, sent in ((first, 20), (second, 30)):
        copy = pipeline.restore(snapshot, into=tmp_path / snapshot, replay=Replay.NONE)
        found = places(spark, copy.path)
        for names in BRANCHES[topology]:
            assert branch(found, *names) == [*range(sent), *others]
    if topology != "cycle":
        return
    assert state_of(spark, pipeline, "walk") == list(range(40))


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
    restored = pipeline.restore(snapshot, into=tmp_path / "restored")
    with start(restored, spark):
        restored.await_idle()
        # Feeds go on where they were: what they sent before the restore is not taken again.
        feed(restored, 0, 46)
        later = restored.snapshot()
        restored.await_idle()
        assert restored.await_snapshot(later).status is SnapshotStatus.COMPLETE
    with start(pipeline, spark):
        feed(pipeline, 40, 46)
        pipeline.await_idle()
    for run in (pipeline, restored):
        kept, passed = after_hold(list(range(46)))
        kept_behind, out = after_hold(passed)
        assert state_of(spark, run, "first") == sorted(kept)
        assert state_of(spark, run, "second") == sorted(kept_behind)
        rows = run.channel("sink").rows().to_pylist()
        assert sorted(rows, key=lambda row: row["key"]) == [
            {"key": number % 3, "id": number} for number in out
        ]


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
