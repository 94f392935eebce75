"""Sessions of all kinds: a second one in a JVM works, others are refused with a reason."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
import pytest
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings import Pipeline, Query, spark_session
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import (
    NotRunning,
    UnsuitableSession,
    WrongArgument,
    WrongWiring,
)
from streamproof.spark_bindings.names import ChannelName
from streamproof.spark_bindings.session import shared_files
from streamproof.spark_bindings.session.session import check_session
from streamproof.spark_bindings.session.shared_files import check_shared
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import stored_schema
from tests.spark.support.waiting import SECONDS_MAX

CHANNELS = {"a": "x long", "b": "x long", "c": "x long"}


def pipeline_at(
    path: Path, plan: Any = lambda rows: rows, inputs: tuple[str, ...] = ("a",)
) -> Pipeline:
    query = Query("q", inputs=inputs, output="b", plan=plan)
    return Pipeline(path, channels=CHANNELS, queries=[query])


class ConnectSession:
    """What a session of Spark Connect looks like from outside."""

    conf: dict[str, str] = {}


ConnectSession.__module__ = "pyspark.sql.connect.session"


def test_a_session_of_spark_connect_is_refused(tmp_path: Path) -> None:
    session: Any = ConnectSession()
    for call in (pipeline_at(tmp_path / "p").start, check_session):
        with pytest.raises(UnsuitableSession, match="Spark Connect.*SPARK_REMOTE"):
            call(session)
    Channel.create(Place.of(tmp_path / "c"), stored_schema("x long", "it"))
    with pytest.raises(UnsuitableSession, match="Spark Connect"):
        Channel(tmp_path / "c", ChannelName("c"), pipeline="p").stream(session)


@pytest.mark.parametrize("wrong", [None, "local", object()])
def test_what_is_no_session_is_refused(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(WrongArgument, match="was given as the Spark session"):
        pipeline_at(tmp_path / "p").start(wrong)


@pytest.mark.parametrize(
    ("variable", "value"), [("SPARK_REMOTE", "sc://host"), ("SPARK_CONNECT_MODE_ENABLED", "1")]
)
def test_a_client_of_spark_connect_makes_no_session(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(UnsuitableSession, match="a client of Spark Connect"):
        spark_session()


class OtherMachine:
    """A session whose executors are elsewhere: a task runs at once, in another directory."""

    def __init__(self, master: str, *, sees: bool, is_seen: bool) -> None:
        self.sparkContext, self.master = self, master
        self.defaultParallelism, self.tasks = 2, 0
        self._sees, self._is_seen = sees, is_seen

    def parallelize(self, numbers: range, parts: int) -> OtherMachine:
        self.tasks = parts
        return self

    def mapPartitions(self, look: Any) -> OtherMachine:
        directory, name = look.args
        if not self._sees:
            (directory / name).local.unlink()
        found: list[tuple[str, bool, str]] = []
        for part in range(self.tasks):
            found += look.func(directory, name, iter([part]))
        if not self._is_seen:
            (directory / found[-1][2]).local.unlink()
        self._found = found
        return self

    def collect(self) -> list[tuple[str, bool, str]]:
        return self._found


@pytest.mark.parametrize(
    ("sees", "is_seen", "message"),
    [(False, True, "do not see what the driver writes"), (True, False, "does not see what they")],
)
@pytest.mark.parametrize("master", ["yarn", "spark://host:7077", "local-cluster[2,1,1024]"])
def test_executors_that_do_not_see_the_directories_are_refused(
    tmp_path: Path, master: str, message: str, *, sees: bool, is_seen: bool
) -> None:
    there: Any = OtherMachine(master, sees=sees, is_seen=is_seen)
    with pytest.raises(UnsuitableSession, match=message):
        check_shared(there, [Place.of(tmp_path / "queries")])
    assert list((tmp_path / "queries").iterdir()) == []


def test_executors_that_see_the_directories_are_taken(tmp_path: Path) -> None:
    there: Any = OtherMachine("yarn", sees=True, is_seen=True)
    check_shared(there, [Place.of(tmp_path / name) for name in ("channels", "queries")])
    assert there.tasks == 4
    assert list((tmp_path / "queries").iterdir()) == []


@pytest.mark.parametrize("master", ["local", "local[2]", "local[2,4]", "local[*]"])
def test_nothing_is_probed_on_one_machine(tmp_path: Path, master: str) -> None:
    there: Any = OtherMachine(master, sees=False, is_seen=False)
    check_shared(there, [Place.of(tmp_path / "queries")])
    assert there.tasks == 0


@pytest.fixture
def slow_start() -> Iterator[tuple[Event, Event]]:
    """Let the first query start once it may; return what tells that it is about to, and allows."""
    begun, may = Event(), Event()

    def wait(_: str) -> None:
        begun.set()
        assert may.wait(SECONDS_MAX)

    with armed(RaceFailpoint.QUERY_PLANNED, wait, where="q"):
        yield begun, may
        may.set()


def two_queries(path: Path) -> Pipeline:
    queries = [
        Query(name, inputs=("a",), output=output, plan=lambda rows: rows)
        for name, output in (("q", "b"), ("r", "c"))
    ]
    return Pipeline(path, channels=CHANNELS, queries=queries)


@pytest.mark.spark
def test_status_during_start(
    spark: SparkSession, tmp_path: Path, slow_start: tuple[Event, Event]
) -> None:
    begun, may = slow_start
    pipeline = two_queries(tmp_path / "p")
    pipeline.channel("a").append(pa.table({"x": [1]}))
    with pytest.raises(NotRunning, match="Call start"):
        pipeline.status()
    starting = Thread(target=pipeline.start, args=(spark,))
    starting.start()
    assert begun.wait(SECONDS_MAX)
    told = pipeline.status()
    assert {name: (each.running, each.behind) for name, each in told.items()} == {
        "q": (False, 1),
        "r": (False, 1),
    }
    with pytest.raises(NotRunning, match="running already"):
        pipeline.start(spark)
    may.set()
    starting.join(SECONDS_MAX)
    assert all(each.running for each in pipeline.status().values())
    pipeline.stop()


@pytest.mark.spark
def test_a_pipeline_that_is_stopped_while_it_starts_runs_nothing(
    spark: SparkSession, tmp_path: Path, slow_start: tuple[Event, Event]
) -> None:
    begun, may = slow_start
    pipeline = two_queries(tmp_path / "p")
    said: list[Exception] = []

    def start() -> None:
        try:
            pipeline.start(spark)
        except NotRunning as error:
            said.append(error)

    starting = Thread(target=start)
    starting.start()
    assert begun.wait(SECONDS_MAX)
    pipeline.stop()
    may.set()
    starting.join(SECONDS_MAX)
    assert "was stopped while it started" in str(said[0])
    with pytest.raises(NotRunning):
        pipeline.status()


def join_with_itself(rows: DataFrame) -> DataFrame:
    one, other = rows.alias("x"), rows.alias("y")
    return one.join(other, F.col("x.x") == F.col("y.x")).select(F.col("x.x").alias("x"))


@pytest.mark.spark
@pytest.mark.slow
def test_self_join_of_an_input_is_refused_with_a_way_that_works(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pytest.raises(WrongWiring, match=r"joins 'a' with itself.*Query\(.copy., inputs=\(.a.,\)"):
        pipeline_at(tmp_path / "p", join_with_itself).start(spark)
    with pytest.raises(WrongWiring, match="makes no use of 'c'. .*leave it out"):
        pipeline_at(tmp_path / "u", lambda a, c: a, ("a", "c")).start(spark)
    copy = Query("copy", inputs=("a",), output="a_again", plan=lambda rows: rows)
    join = Query("q", inputs=("a", "a_again"), output="b", plan=lambda a, again: a.join(again, "x"))
    pipeline = Pipeline(
        tmp_path / "w", channels={**CHANNELS, "a_again": "x long"}, queries=[copy, join]
    )
    pipeline.channel("a").append(pa.table({"x": [1, 2]}))
    with pipeline.start(spark):
        pipeline.await_idle()
    assert sorted(pipeline.channel("b").rows()["x"].to_pylist()) == [1, 2]


@pytest.mark.spark
@pytest.mark.slow
def test_a_second_session_in_one_jvm_works(spark: SparkSession, tmp_path: Path) -> None:
    second = spark.newSession()
    twice = pipeline_at(tmp_path / "p", lambda rows: rows.union(rows))
    twice.channel("a").append(pa.table({"x": [1, 2]}))
    for number, session in enumerate((second, spark, spark.newSession()), start=1):
        with twice.start(session):
            twice.await_idle()
        assert twice.channel("b").rows().num_rows == 4 * number
        twice.channel("a").append(pa.table({"x": [3, 4]}))
    assert SparkSession.getActiveSession() is not None
    rows = twice.channel("b").stream(second)
    assert rows.columns == ["x"]


class BlindSession:
    """A session whose executors are elsewhere: what the driver has written is not there."""

    def __init__(self, spark: SparkSession, place: Path) -> None:
        self._spark, self._place = spark, place

    @property
    def sparkContext(self) -> SparkContext:
        for file in self._place.iterdir():
            file.unlink()
        return self._spark.sparkContext


@pytest.mark.spark
@pytest.mark.slow
def test_executors_are_probed_in_a_job(spark: SparkSession, tmp_path: Path) -> None:
    shared_files._probe(spark, Place.of(tmp_path))
    assert list(tmp_path.iterdir()) == []
    blind: Any = BlindSession(spark, tmp_path)
    with pytest.raises(UnsuitableSession, match="do not see what the driver writes"):
        shared_files._probe(blind, Place.of(tmp_path))


def test_ctrl_c_stays_what_it_was_and_cancels_no_jobs(spark: SparkSession) -> None:
    """PySpark's own handler would cancel all jobs, and so fail a batch that may end."""
    before = signal.getsignal(signal.SIGINT)
    assert "pyspark" not in getattr(before, "__module__", "")
    assert spark_session().sparkContext is spark.sparkContext
    assert signal.getsignal(signal.SIGINT) is before
