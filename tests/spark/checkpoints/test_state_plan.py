"""A state goes on with the operator that made it, or not at all: Spark knows states by order."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings import OutputMode, Pipeline, Query
from streamproof.spark_bindings.checkpoints.meaning import TIME_ZONE
from streamproof.spark_bindings.checkpoints.state_plan import STATE_PLAN_FILE, check_state_plan
from streamproof.spark_bindings.checkpoints.stateful import fixed_plan_of, stateful_operators
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.session.session import REQUIRED_SETTINGS
from streamproof.spark_bindings.storage.json_files import write_json
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.waiting import SECONDS_MAX

Plan = Callable[[DataFrame], DataFrame]
PAIRS = "k long, v long"


class Planned:
    """A checkpoint in which a batch was planned."""

    place = Place.of("checkpoint")

    def last_planned(self) -> int:
        return 0


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
        (by_both, exchanged, r"Deduplicate\(a.k\); Deduplicate\(a.v\), but .* is of Deduplicate\("),
        (sums, maxima, r"Aggregate\(a.k; a.k, max\(a.v\)\), but .* of Aggregate\(a.k; a.k, sum\("),
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
    """Filters, and names on the way, may change; and one can insist."""

    def filtered(rows: DataFrame) -> DataFrame:
        return rows.where("v > 0").dropDuplicates(["k"]).withColumn("v", F.col("v") + 1)

    def renamed(rows: DataFrame) -> DataFrame:
        return rows.toDF("key", "v").dropDuplicates(["key"]).toDF("k", "v")

    def other(rows: DataFrame) -> DataFrame:
        return rows.dropDuplicates(["v"])

    place = tmp_path / "p"
    for number, plan in enumerate((lambda rows: rows.dropDuplicates(["k"]), filtered, renamed)):
        pipeline = made(place, plan)
        pipeline.channel("a").append(pa.table({"k": [1, number], "v": [1, 1]}))
        with pipeline.start(spark):
            pipeline.await_idle(SECONDS_MAX)
    assert pipeline.channel("b").rows()["k"].to_pylist() == [1, 0, 2]
    with pytest.raises(WrongCheckpoint, match=f"delete .*{STATE_PLAN_FILE}"):
        made(place, other).start(spark)
    (place / "queries/q" / STATE_PLAN_FILE).unlink()
    with made(place, other).start(spark) as again:
        again.await_idle(SECONDS_MAX)


def rates(spark: SparkSession) -> DataFrame:
    return spark.readStream.format("rate").load().toDF("t", "k")


def counted_by(key: str) -> Plan:
    return lambda rows: rows.withColumn("key", F.expr(key)).groupBy("key").count()


def sides(*conditions: str) -> Plan:
    """A union of parts of one input, each without duplicates."""

    def plan(rows: DataFrame) -> DataFrame:
        one, other = (rows.where(condition).dropDuplicates(["k"]) for condition in conditions)
        return one.union(other)

    return plan


def grouped_by(key: str) -> Plan:
    def told(keys: Any, frames: Any, state: Any) -> Any:
        yield from frames

    return lambda rows: rows.groupBy(key).applyInPandasWithState(
        told, "n long", "n long", "update", "NoTimeout"
    )


def transformed(rows: DataFrame) -> DataFrame:
    listed = rows.withColumn("ks", F.array("k"))
    return listed.groupBy(F.transform("ks", lambda x: x + 1)).count()


OTHERS: dict[str, tuple[Plan, Plan]] = {
    "distinct of another column": (
        lambda rows: rows.select(F.col("k").alias("x")).distinct(),
        lambda rows: rows.select(F.dayofyear("t").alias("x")).distinct(),
    ),
    "another column under the name": (
        lambda rows: rows.selectExpr("k as x").dropDuplicates(["x"]),
        lambda rows: rows.selectExpr("k + 1 as x").dropDuplicates(["x"]),
    ),
    "key that is computed before": (
        counted_by("upper(string(k))"),
        counted_by("reverse(string(k))"),
    ),
    "width of a window": (
        lambda rows: rows.groupBy(F.window("t", "5 seconds")).count(),
        lambda rows: rows.groupBy(F.window("t", "10 seconds")).count(),
    ),
    "gap of a session": (
        lambda rows: rows.groupBy(F.session_window("t", "5 seconds")).count(),
        lambda rows: rows.groupBy(F.session_window("t", "10 seconds")).count(),
    ),
    "literal that looks like a number of Spark's": (
        counted_by("if(k = 1, '#1', '')"),
        counted_by("if(k = 1, '#2', '')"),
    ),
    "key of a state of one's own": (grouped_by("k"), grouped_by("t")),
    "sides of a union": (sides("k = 1", "k = 2"), sides("k = 2", "k = 1")),
}


@pytest.mark.spark
@pytest.mark.parametrize("plans", OTHERS.values(), ids=OTHERS)
def test_what_a_state_is_of_is_followed_to_the_sources(
    spark: SparkSession, tmp_path: Path, plans: tuple[Plan, Plan]
) -> None:
    checkpoint = Planned()
    before, after = (fixed_plan_of(plan(rates(spark))) for plan in plans)
    assert before.stateful
    check_state_plan("q", Place.of(tmp_path), before, checkpoint)
    check_state_plan("q", Place.of(tmp_path), fixed_plan_of(plans[0](rates(spark))), checkpoint)
    with pytest.raises(WrongCheckpoint, match="keeps state in"):
        check_state_plan("q", Place.of(tmp_path), after, checkpoint)


@pytest.mark.spark
@pytest.mark.parametrize("plan", [transformed, grouped_by("k"), sides("k = 1", "k = 2")])
def test_a_plan_that_is_made_again_is_the_same(spark: SparkSession, plan: Plan) -> None:
    first = stateful_operators(plan(rates(spark)))
    transformed(rates(spark))  # which takes names of variables
    assert stateful_operators(plan(rates(spark))) == first


@pytest.mark.spark
def test_operators_are_told_by_what_their_state_is_of(spark: SparkSession) -> None:
    rows = rates(spark)
    timed = rows.withWatermark("t", "10 seconds")
    windows = timed.groupBy(F.window("t", "5 seconds")).count()
    later = rows.withWatermark("t", "20 seconds").groupBy(F.window("t", "5 seconds").alias("w"))
    assert stateful_operators(windows)[0].state == stateful_operators(later.count())[0].state
    assert stateful_operators(windows)[0].state.startswith("Aggregate(")
    static = spark.range(3).toDF("k").groupBy("k").count()
    assert stateful_operators(rows.join(static, "k")) == []
    assert stateful_operators(rows.join(rows.toDF("u", "j"), F.expr("k = j"))) != []


def of_day(rows: DataFrame) -> DataFrame:
    return rows.groupBy(F.col("t").cast("date").alias("d")).agg(F.count("*").alias("c"))


def days(*hours: int) -> pa.Table:
    moments = [dt.datetime(2026, 3, 2, hour, tzinfo=dt.UTC) for hour in hours]
    return pa.table({"t": pa.array(moments, pa.timestamp("us", "UTC"))})


@pytest.fixture
def own(spark: SparkSession) -> SparkSession:
    """Return a session whose settings nobody else has."""
    session = spark.newSession()
    for name, value in REQUIRED_SETTINGS.items():
        session.conf.set(name, value)
    session.conf.set(TIME_ZONE, "UTC")
    return session


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_state_of_another_zone_is_refused(own: SparkSession, tmp_path: Path) -> None:
    """The text of a cast says nothing of its zone."""

    def made_again() -> Pipeline:
        query = Query("q", ("a",), "b", plan=of_day, output_mode=OutputMode.UPDATE)
        channels = {"a": "t timestamp", "b": "d date, c long"}
        return Pipeline(tmp_path / "p", channels=channels, queries=[query])

    pipeline = made_again()
    pipeline.channel("a").append(days(2, 12))
    with pipeline.start(own):
        pipeline.await_idle(SECONDS_MAX)
    own.conf.set(TIME_ZONE, "America/New_York")
    told = f"{TIME_ZONE} is America/New_York, and was UTC.* Set {TIME_ZONE}=UTC before"
    with pytest.raises(WrongCheckpoint, match=told):
        made_again().start(own)
    own.conf.set(TIME_ZONE, "Etc/UTC")  # another name of the same
    again = made_again()
    again.channel("a").append(days(3))
    with again.start(own):
        again.await_idle(SECONDS_MAX)
    assert again.channel("b").rows()["c"].to_pylist() == [2, 3]


def timed(key: str) -> Plan:
    return lambda rows: rows.groupBy(F.expr(key).alias("key")).count()


def shown(moment: dt.datetime) -> str:
    return str(moment)


def timed_in_python(rows: DataFrame) -> DataFrame:
    return rows.select(F.udf(shown, useArrow=False)("t").alias("x")).distinct()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("plan", "is_zoned"),
    [
        (timed("cast(t as date)"), True),
        (timed("concat(t, 'x')"), True),
        (timed("t > timestamp'2026-03-02 00:00:00'"), True),
        (timed("hour(t)"), True),
        (timed("from_utc_timestamp(t, current_timezone())"), True),
        (timed("array(cast(t as string))[0]"), True),
        (timed_in_python, True),
        (grouped_by("t"), True),
        (lambda rows: rows.selectExpr("string(t) as x").distinct(), True),
        (lambda rows: rows.distinct().selectExpr("string(t) as x"), False),
        (timed("cast(k as string)"), False),
        (timed("t"), False),
        (timed("window(t, '5 seconds')"), False),
    ],
)
def test_the_zone_is_noted_where_it_decides(
    spark: SparkSession, plan: Plan, is_zoned: bool
) -> None:
    assert (TIME_ZONE in fixed_plan_of(plan(rates(spark))).settings) == is_zoned


@pytest.mark.spark
def test_no_setting_decides_what_plain_columns_are(spark: SparkSession) -> None:
    for plan in (timed("t"), lambda rows: rows.toDF("a", "b").distinct()):
        assert fixed_plan_of(plan(rates(spark))).settings == {}
    assert "spark.sql.ansi.enabled" in fixed_plan_of(timed("k + 1")(rates(spark))).settings


@pytest.mark.spark
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.ansi.enabled", "false"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.legacy.timeParserPolicy", "LEGACY"),
        ("spark.sql.legacy.sizeOfNull", "false"),
        ("spark.sql.jsonGenerator.ignoreNullFields", "false"),
        ("spark.sql.decimalOperations.allowPrecisionLoss", "false"),
        ("spark.sql.json.enablePartialResults", "false"),
        ("spark.sql.execution.pythonUDF.arrow.enabled", "false"),
        (TIME_ZONE, "Asia/Tokyo"),
    ],
)
def test_a_state_of_other_settings_is_refused(
    own: SparkSession, tmp_path: Path, name: str, value: str
) -> None:
    def check(session: SparkSession) -> None:
        plan = fixed_plan_of(timed("cast(t as date)")(rates(session)))
        check_state_plan("q", Place.of(tmp_path), plan, Planned())

    own.conf.set("spark.sql.legacy.castComplexTypesToString.enabled", "false")  # as it is anyway
    plain = stateful_operators(timed("cast(t as date)")(rates(own)))
    file = tmp_path / STATE_PLAN_FILE
    write_json(Place.of(file), {"stateful": [dataclasses.asdict(one) for one in plain]})
    check(own)  # a note of a version that noted no settings
    own.conf.unset("spark.sql.legacy.castComplexTypesToString.enabled")
    check(own)
    before = file.read_bytes()
    own.conf.set(name, value)
    with pytest.raises(WrongCheckpoint, match=f"{name} is .*, and was .*delete {file}"):
        check(own)
    assert file.read_bytes() == before
    file.unlink()
    check(own)
