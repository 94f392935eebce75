"""A state goes on with the operator that made it, or not at all: Spark knows states by order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings import OutputMode, Pipeline, Query, _spark
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.state_plan import STATE_PLAN_FILE
from tests.spark.waiting import SECONDS_MAX

Plan = Callable[[DataFrame], DataFrame]
PAIRS = "k long, v long"


def by_both(rows: DataFrame) -> DataFrame:
    return rows.dropDuplicates(["k"]).dropDuplicates(["v"])


def exchanged(rows: DataFrame) -> DataFrame:
    return rows.dropDuplicates(["v"]).dropDuplicates(["k"])


def sums(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").agg(F.sum("v").alias("v"))


def maxima(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").agg(F.max("v").alias("v"))


def made(path: Path, plan: Plan) -> Pipeline:
    mode = OutputMode.UPDATE if plan in (sums, maxima) else OutputMode.APPEND
    query = Query("q", ("a",), "b", plan=plan, output_mode=mode)
    return Pipeline(path, channels={"a": PAIRS, "b": PAIRS}, queries=[query])


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (by_both, exchanged, r"Deduplicate\(k\); Deduplicate\(v\), but .* is of Deduplicate\(v\)"),
        (sums, maxima, r"Aggregate\(k; k, max\(v\)\), but .* is of Aggregate\(k; k, sum\(v\)\)"),
        (lambda rows: rows, by_both, "is of no operator"),
    ],
)
def test_a_state_of_other_operators_is_refused(
    spark: SparkSession, tmp_path: Path, before: Plan, after: Plan, told: str
) -> None:
    pipeline = made(tmp_path / "p", before)
    pipeline.channel("a").append(pa.table({"k": [1, 2], "v": [10, 20]}))
    with pipeline.start(spark):
        taken = pipeline.snapshot()
        pipeline.await_snapshot(taken, SECONDS_MAX)
        pipeline.await_idle(SECONDS_MAX)
    expected = pipeline.channel("b").rows().to_pylist()
    pipeline.restore(taken, into=tmp_path / "r")
    for place in (tmp_path / "p", tmp_path / "r"):
        with pytest.raises(WrongCheckpoint, match=told):
            made(place, after).start(spark)
        with made(place, before).start(spark) as again:  # nothing was harmed
            again.await_idle(SECONDS_MAX)
        assert again.channel("b").rows().to_pylist() == expected


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_state_that_means_the_same_is_gone_on_with(spark: SparkSession, tmp_path: Path) -> None:
    """Of what an operator's state tells nothing, nothing is asked; and one can insist."""

    def filtered(rows: DataFrame) -> DataFrame:
        return rows.where("v > 0").dropDuplicates(["k"]).withColumn("v", F.col("v") + 1)

    def renamed(rows: DataFrame) -> DataFrame:
        return rows.toDF("key", "v").dropDuplicates(["key"]).toDF("k", "v")

    place = tmp_path / "p"
    for number, plan in enumerate((lambda rows: rows.dropDuplicates(["k"]), filtered)):
        pipeline = made(place, plan)
        pipeline.channel("a").append(pa.table({"k": [1, number], "v": [1, 1]}))
        with pipeline.start(spark):
            pipeline.await_idle(SECONDS_MAX)
    with pytest.raises(WrongCheckpoint, match=f"delete .*{STATE_PLAN_FILE}"):
        made(place, renamed).start(spark)
    (place / "queries/q" / STATE_PLAN_FILE).unlink()
    with made(place, renamed).start(spark) as pipeline:
        pipeline.channel("a").append(pa.table({"k": [1, 3], "v": [1, 1]}))
        pipeline.await_idle(SECONDS_MAX)
    assert pipeline.channel("b").rows()["k"].to_pylist() == [1, 0, 3]


@pytest.mark.spark
def test_operators_are_told_by_what_their_state_is_of(spark: SparkSession) -> None:
    rows = spark.readStream.format("rate").load().toDF("t", "k")
    timed = rows.withWatermark("t", "10 seconds")
    windows = timed.groupBy(F.window("t", "5 seconds")).count()
    later = rows.withWatermark("t", "20 seconds").groupBy(F.window("t", "5 seconds").alias("w"))
    assert _spark.stateful_operators(windows) == _spark.stateful_operators(later.count())
    assert _spark.stateful_operators(windows) == ["Aggregate(window; window, count(1))"]
    static = spark.range(3).toDF("k").groupBy("k").count()
    assert _spark.stateful_operators(rows.join(static, "k")) == []
    assert _spark.stateful_operators(rows.join(rows.toDF("u", "j"), F.expr("k = j"))) != []
