"""A merge that must not wait for ever, in a pipeline: an input stalls, and comes back."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
import pytest
from pyspark.sql import DataFrame, SparkSession

from streamproof.protocols.dpc import Condition, Policy
from streamproof.spark_bindings import Pipeline, Query, Replay
from streamproof.spark_bindings.sunion import sunion
from tests.spark.merging import Placed, Row, reference, rows_of, table
from tests.spark.waiting import await_that

pytestmark = [
    pytest.mark.timeout(600),
    # The streams are fed much faster than their clock goes.
    pytest.mark.filterwarnings("ignore:sunion was given max_delay"),
]

INPUT = "ts timestamp, seq long, text string"
OUTPUT = f"{INPUT}, tuple_type string, bucket timestamp, stable_id long, stream string"
EWR = rows_of([1, 12, 25, 60, 80])
JFK = rows_of([2, 13, 60, 80])


def merged(
    ewr: DataFrame,
    jfk: DataFrame,
    *,
    policy: Policy = Policy.PROCESS,
    max_delay: str = "2 seconds",
) -> DataFrame:
    return sunion(
        {"ewr": ewr, "jfk": jfk},
        time="ts",
        position="seq",
        bucket="10 seconds",
        lateness="5 seconds",
        max_delay=max_delay,
        policy=policy,
    )


def pipeline(path: Path, *, max_delay: str = "2 seconds") -> Pipeline:
    plan = functools.partial(merged, max_delay=max_delay)
    return Pipeline(
        path,
        channels={"ewr": INPUT, "jfk": INPUT, "merged": OUTPUT},
        queries=[Query("merge", inputs=("ewr", "jfk"), output="merged", plan=plan)],
    )


def feed(pipeline: Pipeline, name: str, rows: list[Row]) -> None:
    pipeline.channel(name).append(table(rows, name))


def await_said(holds: Callable[[], bool], pipeline: Pipeline) -> None:
    def failure() -> object:
        status = pipeline.status()["merge"]
        return None if status.running else status.failure

    await_that(holds, "what the merge is to say", failure)


def said(pipeline: Pipeline) -> list[str]:
    return pipeline.channel("merged").rows()["tuple_type"].to_pylist()


def view(pipeline: Pipeline) -> tuple[list[Placed], list[Placed]]:
    """Apply what a merge has said: its stable rows, and the tentative ones behind them."""
    stable: list[Placed] = []
    tentative: list[Placed] = []
    for row in pipeline.channel("merged").rows().to_pylist():
        match row["tuple_type"]:
            case "INSERTION":
                assert not tentative
                assert row["stable_id"] == len(stable)
                stable.append(placed(row))
            case "TENTATIVE":
                tentative.append(placed(row))
            case "UNDO":
                assert row["stable_id"] == len(stable)
                tentative = []
            case _:
                assert row["tuple_type"] in {"BOUNDARY", "REC_DONE"}
    return stable, tentative


def placed(row: dict[str, object]) -> Placed:
    return Placed(int(row["ts"].timestamp()), row["stream"], row["seq"])


@pytest.mark.slow  # tests/spark/test_merge_in_pipeline.py sees it, with a table behind
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


def condition_of(spark: SparkSession, checkpoint: Path) -> Condition:
    """Read from a checkpoint what the serializer's node is in."""
    state = spark.read.format("statestore").option("stateVarName", "machine")
    (text,) = state.load(str(checkpoint)).select("value.machine").collect()[0]
    return Condition(json.loads(text)["condition"])


def bridge(original: Pipeline) -> None:
    """Let ewr go on while jfk has stalled: nothing is stable, and all comes out nevertheless."""
    feed(original, "ewr", EWR)
    feed(original, "jfk", JFK[:1])
    await_said(lambda: said(original).count("TENTATIVE") == 6, original)
    assert view(original)[0] == []


def go_on_until(holds: Callable[[], bool], pipeline: Pipeline) -> None:
    """Let both streams go on: the newest bucket is then never one that has waited too long."""

    def go_on() -> bool:
        for name in ("ewr", "jfk"):
            rows = pipeline.channel(name).rows()
            newest = int(pc.max(rows["ts"]).as_py().timestamp())
            feed(pipeline, name, [Row(max(newest, 100) + 20, rows.num_rows)])
        time.sleep(0.5)
        return holds()

    await_said(go_on, pipeline)


def corrected(pipeline: Pipeline) -> list[Placed]:
    """Give the stable rows of the time in which jfk had stalled."""
    return [row for row in view(pipeline)[0] if row.second < 70]
