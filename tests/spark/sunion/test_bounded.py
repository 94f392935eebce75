"""A merge that must not wait for ever, in a pipeline: an input stalls, and comes back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamproof.protocols.dpc import Condition
from streamproof.spark_bindings import Replay
from tests.spark.support.bounded import (
    EWR,
    JFK,
    await_said,
    bridge,
    condition_of,
    corrected,
    feed,
    go_on_until,
    pipeline,
    said,
)
from tests.spark.support.merging import Row, reference

pytestmark = [
    pytest.mark.timeout(600),
    # The streams are fed much faster than their clock goes.
    pytest.mark.filterwarnings("ignore:sunion was given max_delay"),
]


@pytest.mark.slow  # tests/spark/sunion/test_merge_in_pipeline.py sees it, with a table behind
def test_a_stalled_input_is_bridged_and_corrected(spark: SparkSession, tmp_path: Path) -> None:
    original = pipeline(tmp_path / "original")
    with original.start(spark):
        bridge(original)
        feed(original, "jfk", JFK[1:])
        go_on_until(lambda: "REC_DONE" in said(original), original)
        assert "UNDO" in said(original)
    assert corrected(original) == reference({"ewr": EWR, "jfk": JFK})[0]


@pytest.mark.slow
def test_a_merge_that_is_restarted_keeps_its_delay_without_a_new_row(
    spark: SparkSession, tmp_path: Path
) -> None:
    original = pipeline(tmp_path / "original", max_delay="30 seconds")
    feed(original, "ewr", EWR)
    feed(original, "jfk", JFK[:1])
    with original.start(spark):
        await_said(lambda: original.status()["merge"].behind == 0, original)
    assert said(original).count("TENTATIVE") == 0
    with original.start(spark):
        await_said(lambda: said(original).count("TENTATIVE") == 6, original)
    assert original.channel("ewr").rows().num_rows == len(EWR)
    assert original.channel("ewr").log.last() == 2  # the second commit has no rows


@pytest.mark.slow
def test_a_snapshot_of_any_moment_restores_right(spark: SparkSession, tmp_path: Path) -> None:
    original = pipeline(tmp_path / "original", max_delay="10 seconds")
    with original.start(spark):
        bridge(original)
        in_failure = original.snapshot()
        original.await_snapshot(in_failure)
        # What ewr says now comes out at once, since it is in a failure. Then the old buckets are
        # complete, and it is not: until it has waited too long, corrections are under way.
        feed(original, "ewr", [Row(100, 5)])
        await_said(lambda: said(original).count("TENTATIVE") == 7, original)
        feed(original, "jfk", [*JFK[1:], Row(95, 4)])
        in_stabilization = original.snapshot()
        original.await_snapshot(in_stabilization)
        assert "UNDO" in said(original)
        go_on_until(lambda: "REC_DONE" in said(original), original)
    for snapshot, condition in (
        (in_failure, Condition.UP_FAILURE),
        (in_stabilization, Condition.STABILIZATION),
    ):
        restored = original.restore(snapshot, into=tmp_path / snapshot, replay=Replay.NONE)
        checkpoint = restored.path / "queries" / "merge" / "checkpoint"
        assert condition_of(spark, checkpoint) is condition
        for name in ("ewr", "jfk"):
            had = restored.channel(name).rows().num_rows
            restored.channel(name).append(original.channel(name).rows().slice(had))
        with restored.start(spark):
            go_on_until(lambda: len(corrected(restored)) == 7, restored)  # noqa: B023
        assert corrected(restored) == corrected(original) == reference({"ewr": EWR, "jfk": JFK})[0]
