"""An input reads in its next life what it read before, or the query is refused."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.checkpoints.input_sources import INPUTS_FILE
from streamproof.spark_bindings.checkpoints.plan_sources import described
from streamproof.spark_bindings.checkpoints.stateful import fixed_plan_of
from streamproof.spark_bindings.errors import WrongArgument, WrongCheckpoint
from streamproof.spark_bindings.sunion import reconcile, stable_only
from tests.spark.support.reconciled import arrive, files, live, merged, read, texts
from tests.spark.support.waiting import SECONDS_MAX

pytestmark = pytest.mark.timeout(600)

NAMES = ("ewr", "jfk")
NOTE = "streamproof_inputs.json"
EVENT = "ts timestamp, seq long, text string"
MERGED = f"{EVENT}, tuple_type string, bucket timestamp, stable_id long, stream string"


def begun(spark: SparkSession, place: Path) -> dict[str, DataFrame]:
    """Run a merge of two directories once, and let more arrive."""
    arrive(place, ewr=[(0, 0), (2, 1)], jfk=[(0, 0), (2, 1)])
    inputs = {name: read(spark, place / name) for name in NAMES}
    live(merged(inputs), place)
    arrive(place, ewr=[(4, 2), (6, 3)], jfk=[(4, 2), (6, 3)])
    return inputs


def test_directories_that_are_exchanged_under_their_names_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    inputs = begun(spark, tmp_path)
    before = files(tmp_path)
    exchanged = merged({"ewr": inputs["jfk"], "jfk": inputs["ewr"]})
    told = (
        r"/jfk as 'ewr' and path file:.*/ewr as 'jfk', but .*/ewr as 'ewr' .* delete .*inputs.json"
    )
    with pytest.raises(WrongCheckpoint, match=told):
        live(exchanged, tmp_path)
    assert files(tmp_path) == before
    live(merged(inputs), tmp_path)
    rows = [f"{name}: {name} {number}" for number in range(3) for name in NAMES]
    assert texts(tmp_path) == rows


@pytest.mark.slow
def test_a_clock_exchanges_no_directories_either(spark: SparkSession, tmp_path: Path) -> None:
    """With a `max_delay` the last batches have no rows, and Spark has no reason to complain."""
    arrive(tmp_path, ewr=[(0, 0)], jfk=[(0, 0)])
    inputs = {name: read(spark, tmp_path / name) for name in NAMES}
    exchanged = {"ewr": inputs["jfk"], "jfk": inputs["ewr"]}

    def begin(streams: dict[str, DataFrame]) -> StreamingQuery:
        rows = merged(streams, max_delay="1 hour")
        every = {"processingTime": "100 milliseconds"}
        return reconcile(rows, tmp_path / "table", tmp_path / "checkpoint", **every)

    query = begin(inputs)
    while (query.lastProgress or {"batchId": 0})["batchId"] < 3:
        assert query.isActive
        time.sleep(0.05)
    query.stop()
    with pytest.raises(WrongCheckpoint, match=f"/jfk as 'ewr' .* delete .*{NOTE}"):
        begin(exchanged)
    (tmp_path / "checkpoint" / NOTE).unlink()
    begin(exchanged).stop()  # which is wanted
    with pytest.raises(WrongCheckpoint, match="/ewr as 'ewr'"):
        begin(inputs)


def test_a_directory_that_has_moved_is_refused_under_its_new_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    inputs = begun(spark, tmp_path)
    (tmp_path / "jfk").rename(tmp_path / "kennedy")
    moved = merged({**inputs, "jfk": read(spark, tmp_path / "kennedy")})
    with pytest.raises(WrongCheckpoint, match="/kennedy as 'jfk', but .* such as by a link"):
        live(moved, tmp_path)
    (tmp_path / "jfk").symlink_to(tmp_path / "kennedy")
    live(merged(inputs), tmp_path)
    assert texts(tmp_path) == [f"{name}: {name} {number}" for number in range(3) for name in NAMES]


def test_an_older_checkpoint_is_gone_on_with_and_noted(spark: SparkSession, tmp_path: Path) -> None:
    inputs = begun(spark, tmp_path)
    (tmp_path / "checkpoint" / NOTE).unlink()
    live(merged(inputs), tmp_path)
    with pytest.raises(WrongCheckpoint, match="/jfk as 'ewr'"):
        live(merged({"ewr": inputs["jfk"], "jfk": inputs["ewr"]}), tmp_path)


Parts = Callable[[SparkSession, Path], dict[str, DataFrame]]


def by_filter(*conditions: str) -> Parts:
    """Two inputs that are parts of one."""
    return lambda spark, place: {
        name: read(spark, place / "all").where(condition)
        for name, condition in zip(NAMES, conditions, strict=True)
    }


def by_glob(*patterns: str) -> Parts:
    return lambda spark, place: {
        name: read(spark, place / "all", pathGlobFilter=pattern)
        for name, pattern in zip(NAMES, patterns, strict=True)
    }


def by_column(*columns: str) -> Parts:
    return lambda spark, place: {
        name: read(spark, place / "all").select("ts", F.expr(column).alias("seq"), "text")
        for name, column in zip(NAMES, columns, strict=True)
    }


@pytest.mark.parametrize("parts", [by_filter, by_glob, by_column])
def test_parts_of_one_source_are_not_exchanged_either(
    spark: SparkSession, tmp_path: Path, parts: Callable[..., Parts]
) -> None:
    told = {
        by_filter: ("seq < 100", "seq >= 100", "seq > 1000"),
        by_glob: ("0*", "1*", "2*"),
        by_column: ("seq", "seq + 1", "seq + 2"),
    }[parts]
    arrive(tmp_path, all=[(0, 0), (2, 1), (2, 100)])
    live(merged(parts(*told[:2])(spark, tmp_path)), tmp_path)
    with pytest.raises(WrongCheckpoint, match="as 'ewr' and rows by .* as 'jfk', but"):
        live(merged(parts(*told[1::-1])(spark, tmp_path)), tmp_path)
    live(merged(parts(told[0], told[2])(spark, tmp_path)), tmp_path)  # which may be wanted


def piped(place: Path, *labels: str, bucket: str = "1 second") -> Pipeline:
    """A merge in a pipeline whose inputs are parts of a channel."""

    def plan(rows: DataFrame) -> DataFrame:
        low, high = rows.where("seq < 100"), rows.where("seq >= 100")
        return merged(dict(zip(labels, (low, high), strict=True)), bucket=bucket)

    queries = [
        Query("merge", ("in",), "out", plan=plan),
        Query("stable", ("out",), "rows", plan=lambda rows: stable_only(rows).select("seq")),
    ]
    channels = {"in": EVENT, "out": MERGED, "rows": "seq long"}
    return Pipeline(place, channels=channels, queries=queries)


@pytest.mark.slow
@pytest.mark.parametrize("restored", [False, True])
def test_a_merge_in_a_pipeline_goes_on_as_it_was(
    spark: SparkSession, tmp_path: Path, restored: bool
) -> None:
    pipeline = piped(tmp_path / "p", *NAMES)
    second = 1_000_000
    times = pa.array([0, 2 * second, 0, 2 * second]).cast(pa.timestamp("us", "UTC"))
    rows = pa.table({"ts": times, "seq": [0, 1, 100, 101], "text": ["", "", "", ""]})
    pipeline.channel("in").append(rows)
    with pipeline.start(spark):
        taken = pipeline.snapshot()
        pipeline.await_snapshot(taken, SECONDS_MAX)
        pipeline.await_idle(SECONDS_MAX)
    place = tmp_path / "p"
    if restored:
        place = pipeline.restore(taken, into=tmp_path / "r").path
    with pytest.raises(WrongCheckpoint, match="query 'merge' reads rows by .* as 'ewr'"):
        piped(place, *NAMES[::-1]).start(spark)
    with pytest.raises(WrongArgument, match="runs with bucket='2 s', .* written with bucket='1 s'"):
        piped(place, *NAMES, bucket="2 seconds").start(spark)
    with piped(place, *NAMES).start(spark) as again:
        again.await_idle(SECONDS_MAX)
    assert again.channel("rows").rows()["seq"].to_pylist() == [0, 100]
    note = json.loads((place / "queries" / "merge" / INPUTS_FILE).read_text())
    assert [(one["name"], one["source"]) for one in note["inputs"]] == [
        (name, "channel in") for name in NAMES
    ]


def test_inputs_are_told_with_the_merges_around_them(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a", "b", "c", "d"):
        (tmp_path / name).mkdir()
    a, b, c, d = (read(spark, tmp_path / name) for name in "abcd")
    east = stable_only(merged({"y": b.union(c), "x": a})).select("ts", "seq", "text")
    fixed = fixed_plan_of(merged({"west": d, "east": east}).where("stable_id > 0"))
    assert [(one.name, one.source[-2:]) for one in fixed.inputs] == [
        ("east/x", "/a"),
        ("east/y", "/b"),
        ("east/y", "/c"),
        ("west", "/d"),
    ]
    assert [merge["streams"] for merge in fixed.merges] == [["east", "west"], ["x", "y"]]


def test_what_a_source_reads_is_told_without_secrets() -> None:
    kafka = {
        "kafka.bootstrap.servers": "two:9092, one:9092",
        "subscribe": "a,b",
        "kafka.sasl.jaas.config": "password=geheim",
        "maxoffsetspertrigger": "3",
    }
    other = {**kafka, "kafka.bootstrap.servers": "one:9092,two:9092", "subscribe": "b,a"}
    source = described("kafka", kafka)
    assert source == described("kafka", other)
    assert source.reads == "kafka kafka.bootstrap.servers one:9092,two:9092, subscribe a,b"
    assert source.options == described("kafka", {**kafka, "maxoffsetspertrigger": "4"}).options
    for one in ({"subscribe": "c"}, {"kafka.bootstrap.servers": "one:9093"}):
        assert described("kafka", {**kafka, **one}).reads != source.reads
    pattern = described("kafka", {"subscribepattern": "a.*"})
    assert pattern.reads == "kafka subscribepattern a.*"
    assert described("parquet", {"path": "s3a://me:geheim@bucket/x"}).reads == "path s3a://bucket/x"
    container = {"path": "abfss://box@account.dfs.core.windows.net/x"}
    assert described("delta", container).reads == f"path {container['path']}"
    assert described("iceberg", {}, "shop.orders").reads == "iceberg table shop.orders"
    assert described("rate", {"rowspersecond": "1"}).reads == "rate"
    airport, again, another = (
        described("airport", {"code": code, "apitoken": "geheim"}) for code in ("EWR", "EWR", "JFK")
    )
    assert airport == again != another


def test_paths_are_compared_as_spark_reads_them(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    texts = (f"{tmp_path}/a", f"{tmp_path}//a/", f"file://{tmp_path}/a")
    sources = {fixed_plan_of(read(spark, text)).inputs[0].source for text in texts}
    assert sources == {f"path file:{tmp_path}/a"}
