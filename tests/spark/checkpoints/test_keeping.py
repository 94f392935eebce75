"""Every operator that keeps state is noted; one that nobody knows is taken to keep some."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.checkpoints import keeping
from streamproof.spark_bindings.checkpoints.state_plan import STATE_PLAN_FILE, check_state_plan
from streamproof.spark_bindings.checkpoints.stateful import lasting_of, stateful_operators
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.sunion import sunion
from tests.spark.support.waiting import SECONDS_MAX

Plan = Callable[[DataFrame], DataFrame]
PAIRS = "k long, v long"


class Planned:
    """A checkpoint in which a batch was planned."""

    place = Place.of("checkpoint")

    def last_planned(self) -> int:
        return 0


class Handing(StatefulProcessor):
    """Hands rows on."""

    def init(self, handle: Any) -> None:
        pass

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:
        yield from rows

    def close(self) -> None:
        pass


def rates(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load().toDF("t", "k")


def static(spark: SparkSession) -> DataFrame:
    return spark.range(3).toDF("k")


def transformed(key: str) -> Plan:
    return lambda rows: rows.groupBy(key).transformWithStateInPandas(
        Handing(), "k long", "append", "None"
    )


def begun_with(rows: DataFrame) -> DataFrame:
    first = static(rows.sparkSession).groupBy("k")
    return rows.groupBy("k").transformWithState(Handing(), "k long", "append", "None", first)


def asked(rows: DataFrame) -> DataFrame:
    """Ask a table, row by row: Spark joins with the values asked for, each once."""
    rows.createOrReplaceTempView("asking")
    static(rows.sparkSession).createOrReplaceTempView("table")
    most = "select max(k) from table where table.k < asking.k"
    return rows.sparkSession.sql(f"select ({most}) as most from asking")


def asked_in_a_filter(rows: DataFrame) -> DataFrame:
    rows.createOrReplaceTempView("asking")
    static(rows.sparkSession).createOrReplaceTempView("table")
    return rows.sparkSession.sql("select * from asking where k in (select k from table)")


STATEFUL: dict[str, tuple[Plan, str]] = {
    "limit": (lambda rows: rows.limit(3), "GlobalLimit"),
    "difference": (lambda rows: rows.select("k").subtract(static(rows.sparkSession)), "Except"),
    "difference with repetitions": (
        lambda rows: rows.select("k").exceptAll(static(rows.sparkSession)),
        "Except All",
    ),
    "state of one's own": (transformed("k"), "TransformWithStateInPySpark"),
    "state of one's own that begins with some": (begun_with, "TransformWithStateInPySpark"),
    "repetitions in a time": (
        lambda rows: rows.withWatermark("t", "1 second").dropDuplicatesWithinWatermark(["k"]),
        "DeduplicateWithinWatermark",
    ),
    "question to a table": (asked, "Project"),
    "session": (
        lambda rows: rows.groupBy(F.session_window("t", "5 seconds")).count(),
        "Aggregate",
    ),
    "cube": (lambda rows: rows.cube("k").count(), "Aggregate"),
}


@pytest.mark.spark
@pytest.mark.parametrize(("plan", "kind"), STATEFUL.values(), ids=STATEFUL)
def test_an_operator_with_state_is_noted(spark: SparkSession, plan: Plan, kind: str) -> None:
    (noted,) = stateful_operators(plan(rates(spark)))
    assert noted.state.startswith(f"{kind}(")
    assert stateful_operators(plan(rates(spark.newSession()))) == [noted]


STATELESS: dict[str, Plan] = {
    "generator": lambda rows: rows.select(F.explode(F.array("k"))),
    "union": lambda rows: rows.union(rows),
    "functions": lambda rows: rows.mapInPandas(lambda frames: frames, "k long"),
    "groups of a batch": lambda rows: rows.groupBy("k").applyInPandas(lambda one: one, "k long"),
    "join with a table": lambda rows: rows.join(static(rows.sparkSession), "k", "left"),
    "filter by a table": asked_in_a_filter,
    "reshaping": lambda rows: rows.unpivot("k", ["t"], "name", "value"),
    "spreading": lambda rows: rows.repartition(3, "k").coalesce(1).hint("broadcast"),
    "watermark": lambda rows: rows.withWatermark("t", "1 second").observe("n", F.count("*")),
    "limit of a table": lambda rows: rows.join(static(rows.sparkSession).limit(2), "k"),
    "difference of tables": lambda rows: rows.join(
        static(rows.sparkSession).subtract(static(rows.sparkSession)).distinct(), "k"
    ),
}


@pytest.mark.spark
@pytest.mark.parametrize("plan", STATELESS.values(), ids=STATELESS)
def test_an_operator_without_state_is_not_noted(spark: SparkSession, plan: Plan) -> None:
    assert stateful_operators(plan(rates(spark))) == []


@pytest.mark.spark
def test_an_operator_that_nobody_knows_is_noted(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one of a later version of Spark."""
    monkeypatch.setattr(keeping, "_STATELESS", keeping._STATELESS - {"Filter"})
    (noted,) = stateful_operators(rates(spark).where("k > 0"))
    assert noted.state == "Filter((value > cast(0 as bigint)))"


@pytest.mark.spark
def test_a_limit_of_a_result_that_is_made_anew_keeps_no_state(spark: SparkSession) -> None:
    counted = rates(spark).groupBy("k").count()
    above, below = counted.limit(3), rates(spark).limit(3).groupBy("k").count()
    kinds = [
        [one.state.partition("(")[0] for one in lasting_of(plan, "complete").stateful]
        for plan in (above, below)
    ]
    assert kinds == [["Aggregate"], ["Aggregate", "GlobalLimit"]]


@pytest.mark.spark
def test_a_state_of_one_s_own_of_another_key_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    def check(key: str) -> None:
        plan = lasting_of(transformed(key)(rates(spark).withColumn("j", F.expr("k + 1"))))
        check_state_plan("q", Place.of(tmp_path), plan, Planned())

    check("k")
    check("k")
    with pytest.raises(WrongCheckpoint, match=r"InPySpark\(.*1 as .*\), but .* is of Transform"):
        check("j")


@pytest.mark.spark
@pytest.mark.parametrize("plan", [lambda rows: rows.limit(3), transformed("k")])
def test_an_operator_that_older_versions_did_not_note_goes_on(
    spark: SparkSession, tmp_path: Path, plan: Plan
) -> None:
    def check(plan: Plan) -> None:
        check_state_plan("q", Place.of(tmp_path), lasting_of(plan(rates(spark))), Planned())

    def again(rows: DataFrame) -> DataFrame:
        return plan(rows.dropDuplicates(["k"]))

    check(again)
    file = tmp_path / STATE_PLAN_FILE
    note = json.loads(file.read_text())
    del note["beneath"]
    note["stateful"] = [one for one in note["stateful"] if one["state"].startswith("Deduplicate")]
    file.write_text(json.dumps(note))
    check(again)
    with pytest.raises(WrongCheckpoint):  # it is noted now
        check(lambda rows: rows.dropDuplicates(["k"]))


@pytest.mark.spark
def test_no_setting_decides_what_the_state_of_a_merge_is_of(spark: SparkSession) -> None:
    merged = sunion(
        {"a": rates(spark), "b": rates(spark)},
        time="t",
        position="k",
        bucket="1 minute",
        lateness="1 second",
    )
    found = lasting_of(merged)
    assert len(found.stateful) == 1
    assert found.settings == {}
    assert lasting_of(transformed("k")(merged.where("k + 1 > 0"))).settings != {}


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_limits_that_change_places_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Each would go on counting where the other was."""

    def made(plan: Plan) -> Pipeline:
        return Pipeline(
            tmp_path / "p",
            channels={"a": PAIRS, "b": PAIRS},
            queries=[Query("q", ("a",), "b", plan=plan)],
        )

    def two(rows: DataFrame) -> DataFrame:
        return rows.limit(1).union(rows.where("v > 5").limit(3))

    def exchanged(rows: DataFrame) -> DataFrame:
        return rows.where("v > 5").limit(3).union(rows.limit(1))

    pipeline = made(two)
    pipeline.channel("a").append(pa.table({"k": [1], "v": [1]}))
    with pipeline.start(spark):
        pipeline.await_idle(SECONDS_MAX)
    with pytest.raises(WrongCheckpoint, match=r"GlobalLimit\(\) of rows where .*of all rows, but"):
        made(exchanged).start(spark)
    again = made(two)
    again.channel("a").append(pa.table({"k": [2, 3], "v": [7, 8]}))
    with again.start(spark):
        again.await_idle(SECONDS_MAX)
    assert again.channel("b").rows()["k"].to_pylist() == [1, 2, 3]
