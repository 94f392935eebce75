"""`sunion` in Spark: the same bytes, whatever the batches, the partitions and the crashes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.certified.record import DIRECTORY_VARIABLE
from streamproof.lang import StreamproofError
from streamproof.spark_bindings.errors import (
    UnsuitableSession,
    UnverifiedProtocol,
    WrongArgument,
    WrongSchema,
    WrongWiring,
)
from streamproof.spark_bindings.sunion import TupleType, late_rows, sunion
from tests.spark.support.merges import (
    NAMES,
    PARTITIONS,
    content,
    example,
    in_pieces,
    merge,
    of,
    placed,
    spread,
    stream,
)
from tests.spark.support.merging import Streams, reference
from tests.support.stamped import stamp

pytestmark = pytest.mark.timeout(600)


def run(merged: DataFrame, place: Path) -> pa.Table:
    """Run a merge to the end of its inputs, and give the output of the batches that it ran."""
    found: dict[int, pa.Table] = {}

    def keep(rows: DataFrame, batch: int) -> None:
        found[batch] = rows.toArrow()
        assert late_rows(rows).count() == of(TupleType.LATE, found[batch]).num_rows

    writer = merged.writeStream.option("checkpointLocation", str(place / "checkpoint"))
    query = writer.trigger(availableNow=True).foreachBatch(keep).start()
    query.awaitTermination()
    for batch in query.recentProgress:
        # What Spark's progress says of each type is what came out.
        if batch.batchId in found:
            counts = batch.observedMetrics["sunion(ewr, jfk)"].asDict()
            told = {kind.value: of(kind, found[batch.batchId]).num_rows for kind in TupleType}
            assert {kind: count or 0 for kind, count in counts.items()} == told
    (place / "output").mkdir(exist_ok=True)
    for batch, rows in found.items():
        pq.write_table(rows, place / "output" / f"{batch:03}.parquet")
    files = sorted((place / "output").glob("*.parquet"))
    return pa.concat_tables([pq.read_table(file) for file in files])


@pytest.fixture
def partitions(spark: SparkSession) -> Iterator[SparkSession]:
    """Return a session whose number of shuffle partitions may be changed."""
    before = spark.conf.get(PARTITIONS)
    yield spark
    spark.conf.set(PARTITIONS, before)


def test_batches_partitions_and_crashes_change_nothing(
    partitions: SparkSession, tmp_path: Path
) -> None:
    streams: Streams = example()
    expected, late = reference(streams)
    assert len(late) == 1
    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    for name in NAMES:
        spread(whole, name, [streams[name]])
        spread(pieces, name, in_pieces(streams[name], seed=len(name) + len(streams[name])))
    once = run(merge(partitions, whole, 10), whole)
    partitions.conf.set(PARTITIONS, "2")
    run(merge(partitions, pieces, 2), pieces)
    # A crash after the sink and before Spark's commit: the last batch runs once more.
    newest = max(
        (pieces / "checkpoint" / "commits").glob("[0-9]*"), key=lambda file: int(file.name)
    )
    newest.unlink()
    again = run(merge(partitions, pieces, 2), pieces)
    stable = of(TupleType.INSERTION, once)
    state = partitions.read.format("statestore").option("stateVarName", "pending")
    waiting = state.load(str(whole / "checkpoint")).select("user_map_key.bucket").collect()
    # Rows leave the state with their bucket: what waits is of buckets that are open, a blob each.
    buckets = {row.second // 10 for rows in streams.values() for row in rows}
    open_buckets = buckets - {row.second // 10 for row in expected}
    assert sorted(row["bucket"] for row in waiting) == sorted(open_buckets)
    assert placed(stable) == expected
    assert stable["stable_id"].to_pylist() == list(range(len(expected)))
    assert content(of(TupleType.INSERTION, again)) == content(stable)
    for output in (once, again):
        assert set(placed(of(TupleType.LATE, output))) == late
        assert of(TupleType.LATE, output).num_rows == len(late)


def test_each_serializer_merges_its_part(partitions: SparkSession, tmp_path: Path) -> None:
    streams = example()
    for name in NAMES:
        spread(tmp_path, name, in_pieces(streams[name], seed=3))
    partitions.conf.set(PARTITIONS, "2")
    output = run(merge(partitions, tmp_path, 3, partition_by=["text"]), tmp_path)
    expected, late = reference(streams)
    stable = of(TupleType.INSERTION, output)
    parts = [stable.filter(pc.equal(stable["serializer"], number)) for number in (0, 1)]
    assert all(part.num_rows > 0 for part in parts)
    for part in parts:
        assert part["stable_id"].to_pylist() == list(range(part.num_rows))
        assert placed(part) == sorted(placed(part))
    # Together they emit what one would: each knows how far the streams are by others' rows too.
    assert sorted(row for part in parts for row in placed(part)) == expected
    assert set(placed(of(TupleType.LATE, output))) == late


GOOD = {"time": "ts", "position": "seq", "bucket": "1 minute", "lateness": "30 seconds"}


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"time": "when"}, WrongSchema, "time='when', but the inputs have the columns ts, seq"),
        ({"position": "ts"}, WrongSchema, "position='ts', which is of type timestamp"),
        ({"time": "seq"}, WrongSchema, "time='seq', which is of type bigint"),
        ({"bucket": "a while"}, WrongArgument, "bucket='a while', which is no duration"),
        ({"bucket": True}, WrongArgument, "bucket=True, which is no duration"),
        ({"bucket": "60"}, WrongArgument, "bucket='60', which is no duration"),
        ({"bucket": timedelta(0)}, WrongArgument, "at least 1 microseconds"),
        (
            {"lateness": "-1 second"},
            WrongArgument,
            "lateness='-1 second'. It must be at least 0",
        ),
        ({"max_delay": "0 seconds"}, WrongArgument, "max_delay='0 seconds'"),
        ({"policy": "proceed"}, WrongArgument, "policy='proceed'.*Write: policy=\"process\", "),
        ({"margin": 1.5}, WrongArgument, "margin=1.5"),
        ({"policy": "delay"}, WrongArgument, "policy='delay', but no max_delay"),
        ({"margin": 0.5}, WrongArgument, "margin=0.5, but no max_delay"),
        ({"partitions": 3}, WrongArgument, "partitions=3, but no partition_by"),
        ({"partition_by": "seq"}, WrongArgument, "Write: partition_by=.'seq'."),
        ({"partition_by": ["no"]}, WrongSchema, "partition_by='no'"),
    ],
    ids=str,
)
def test_wrong_arguments_are_refused(
    spark: SparkSession, wrong: dict[str, object], error: type[StreamproofError], words: str
) -> None:
    with pytest.raises(error, match=words):
        sunion({"a": stream(spark)}, **(GOOD | wrong))


WORDS = r"'a' has \(ts timestamp, seq bigint.*\).*'b' has \(ts timestamp, seq string"
"""Both schemas are shown."""


def test_wrong_inputs_are_refused(spark: SparkSession) -> None:
    good = stream(spark)
    refused = [
        ([good], WrongArgument, "mapping from names"),
        ({}, WrongWiring, "0 inputs"),
        ({"a b": good}, WrongWiring, "is called 'a b'"),
        ({"a": "rows"}, WrongArgument, "input 'a' of sunion is 'rows'"),
        ({"a": spark.range(3)}, WrongArgument, "is not a stream"),
        ({"a": good, "b": good.withColumn("seq", F.lit("x"))}, WrongSchema, WORDS),
        ({"a": good.withColumn("bucket", F.lit(1))}, WrongSchema, "have the columns bucket"),
        ({"a": good.select("ts", "seq", "seq")}, WrongSchema, "the columns seq twice"),
    ]
    for inputs, error, words in refused:
        with pytest.raises(error, match=words):
            sunion(inputs, **GOOD)


def test_columns_are_found_by_name(spark: SparkSession) -> None:
    swapped = stream(spark).select("seq", "ts")
    merged = sunion({"a": stream(spark), "b": swapped}, **GOOD)
    assert merged.isStreaming
    assert merged.columns == ["ts", "seq", "tuple_type", "bucket", "stable_id", "stream"]


def test_a_protocol_that_was_changed_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    for protocol in ("sunion", "dpc"):
        stamp(protocol, tmp_path, sources={"streamproof.lang": "0"})
    with pytest.raises(UnverifiedProtocol, match="was changed after it was certified"):
        sunion({"a": stream(spark)}, **GOOD)


def test_an_unsuitable_session_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "spark.sql.streaming.stateStore.checkpointFormatVersion"
    spark.conf.set(key, "1")
    try:
        with pytest.raises(UnsuitableSession, match="checkpointFormatVersion is '1'"):
            sunion({"a": stream(spark)}, **GOOD)
    finally:
        spark.conf.set(key, "2")
