"""A merge with a bound in a pipeline: an input that stalls, and what comes out meanwhile."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from streamproof.protocols.dpc import Condition, Policy
from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.sunion import sunion
from tests.spark.support.merging import Placed, Row, rows_of, table
from tests.spark.support.waiting import await_that

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


def placed(row: dict[str, object]) -> Placed:
    """Return where a row stands in its stream."""
    return Placed(int(row["ts"].timestamp()), row["stream"], row["seq"])


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
    """Return the stable rows of the time in which jfk had stalled."""
    return [row for row in view(pipeline)[0] if row.second < 70]
