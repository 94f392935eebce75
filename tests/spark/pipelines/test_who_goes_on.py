"""Who goes on with a checkpoint that is not its own is told, and has changed nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.log_checks import newest
from streamproof.spark_bindings.errors import ChannelDamaged, FencedDriver, WrongCheckpoint
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.standby.copy_run import run_copy
from tests.spark.standby.support import copies
from tests.spark.standby.support.copies import pair_run
from tests.spark.support.handmade import names
from tests.spark.support.lives import feed, lose
from tests.spark.support.waiting import SECONDS_MAX, await_that

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]


def forward(a: DataFrame, b: DataFrame) -> DataFrame:
    return a.union(b).dropDuplicates(["x"])


def backward(a: DataFrame, b: DataFrame) -> DataFrame:
    return b.union(a).dropDuplicates(["x"])


def two(path: Path, plan: Callable[..., DataFrame]) -> Pipeline:
    return Pipeline(
        path,
        channels={"a": "x long", "b": "x long", "c": "x long"},
        queries=[Query("q", ("a", "b"), "c", plan=plan)],
    )


def run(spark: SparkSession, pipeline: Pipeline) -> list[int]:
    """Run a pipeline until it is idle; give what came out in all its lives."""
    with pipeline.start(spark):
        pipeline.await_idle(SECONDS_MAX)
    return sorted(pipeline.channel("c").rows()["x"].to_pylist())


def test_a_rewritten_plan_is_refused_and_the_old_one_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = two(tmp_path / "p", forward)
    feed(made.channel("a"), 1, 2, 3)
    feed(made.channel("b"), 10)
    snapshot = made.snapshot()
    with made.start(spark):
        made.await_snapshot(snapshot, SECONDS_MAX)
        made.await_idle(SECONDS_MAX)
    feed(made.channel("a"), 4)
    feed(made.channel("b"), 20, 30)
    swapped = two(tmp_path / "p", backward)
    before = names(made.path / "queries")
    with pytest.raises(WrongCheckpoint, match="in the order that it had"):
        swapped.start(spark)
    assert names(made.path / "queries") == before
    restored = made.restore(snapshot, into=tmp_path / "restored")
    with pytest.raises(WrongCheckpoint):
        two(restored.path, backward).start(spark)
    expected = [1, 2, 3, 4, 10, 20, 30]
    assert run(spark, two(tmp_path / "p", forward)) == expected
    assert run(spark, restored) == expected


def joined(a: DataFrame, b: DataFrame) -> DataFrame:
    return a.join(b, "x")


def exchanged(a: DataFrame, b: DataFrame) -> DataFrame:
    return b.join(a, "x")


@pytest.mark.slow
def test_a_join_whose_sides_are_exchanged_is_refused_and_the_old_one_goes_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A row that waits on either side meets its other half, which came after the refusal."""
    made = two(tmp_path / "p", joined)
    feed(made.channel("a"), 1, 2)
    feed(made.channel("b"), 2, 3)
    snapshot = made.snapshot()
    with made.start(spark):
        made.await_snapshot(snapshot, SECONDS_MAX)
        made.await_idle(SECONDS_MAX)
    feed(made.channel("a"), 3, 4)
    feed(made.channel("b"), 1, 4, 5)
    restored = made.restore(snapshot, into=tmp_path / "restored")
    for path in (made.path, restored.path):
        before = contents(path)
        with pytest.raises(WrongCheckpoint, match="in the order that it had"):
            two(path, exchanged).start(spark)
        assert contents(path) == before
    assert run(spark, two(made.path, joined)) == [1, 2, 3, 4]
    assert run(spark, restored) == [1, 2, 3, 4]


def contents(path: Path) -> dict[str, bytes]:
    return {name: (path / name).read_bytes() for name in names(path)}


def outside(frames: list[DataFrame], place: Path, found: list[int], **trigger: object) -> list[int]:
    """Run a sink of the user's own over streams of channels; give what it has received."""
    rows = frames[0]
    for other in frames[1:]:
        rows = rows.union(other)

    def keep(batch: DataFrame, _: int) -> None:
        found.extend(batch.toArrow()["x"].to_pylist())

    writer = rows.writeStream.option("checkpointLocation", str(place))
    query = writer.trigger(**(trigger or {"availableNow": True})).foreachBatch(keep).start()
    query.awaitTermination()
    return sorted(found)


@pytest.mark.slow
def test_a_sink_of_the_users_own(spark: SparkSession, tmp_path: Path) -> None:
    made, found = two(tmp_path / "p", forward), []
    a, b = made.channel("a"), made.channel("b")
    feed(a, 1, 2, 3)
    made.snapshot()
    feed(a, 4)
    feed(b, 10)

    def streams(*channels: Channel) -> list[DataFrame]:
        return [channel.stream(spark) for channel in channels]

    place = tmp_path / "ck"
    assert outside(streams(a, b), place, found) == [1, 2, 3, 4, 10]  # past the marker
    feed(a, 5)
    feed(b, 20)
    before = names(place)
    for channels in ((b, a), (a, b, b), (a,)):
        with pytest.raises(StreamingQueryException):
            outside(streams(*channels), place, found)
    assert {name for name in names(place) if "tmp" not in name} == before
    assert outside(streams(a, b), place, found) == [1, 2, 3, 4, 5, 10, 20]
    with made.start(spark):
        made.await_idle(SECONDS_MAX)
    restored = made.restore("000001", into=tmp_path / "restored")
    before = names(place)
    with pytest.raises(StreamingQueryException, match="is of pipeline"):
        outside(streams(restored.channel("a"), restored.channel("b")), place, found)
    assert names(place) == before
    lose(a, 5, 6)
    with pytest.raises(StreamingQueryException, match="has lost commits"):
        outside(streams(a, b), place, found)


@pytest.mark.slow
def test_offsets_that_a_frozen_driver_replaced(spark: SparkSession, tmp_path: Path) -> None:
    made = two(tmp_path / "p", forward)
    for name in ("a", "b"):
        feed(made.channel(name), *range(1 if name == "a" else 10, 4 if name == "a" else 13))
    with made.start(spark):
        made.await_idle(SECONDS_MAX)
        feed(made.channel("a"), 4)
        made.await_idle(SECONDS_MAX)
        place = made.path / "queries" / "q" / "checkpoint" / "offsets"
        newest = max(place.glob("[0-9]*"), key=lambda file: int(file.name))
        text = newest.read_text()
        *head, one, other = text.splitlines()
        earlier = {**json.loads(one), "position": 2}
        newest.write_text("\n".join([*head, json.dumps(earlier), other]))
        feed(made.channel("a"), 5)
        with pytest.raises(Exception, match="Two drivers ran this batch"):
            made.await_idle(SECONDS_MAX)
    with pytest.raises((FencedDriver, ChannelDamaged)):
        made.start(spark)
    newest.write_text(text)
    assert run(spark, made) == [1, 2, 3, 4, 5, 10, 11, 12]


@pytest.mark.slow
def test_a_pair_with_a_rewritten_plan(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p"
    with pair_run(path, spark) as pair:
        for copy in Copy:
            pair.begin_here(copy)
        pair.feed(4)
        pair.await_output()
        for own in pair.here:
            own.stop()
        pair.feed(3)
        plan = copies.totals
        with monkeypatch.context() as patch:
            patch.setattr(copies, "totals", lambda left, right: plan(right, left))
            for copy in Copy:
                with pytest.raises(WrongCheckpoint, match="in the order that it had"):
                    run_copy(copies.pair(path), "totals", copy, lambda: spark)
        pair.here.clear()
        for copy in Copy:
            pair.begin_here(copy)
        pair.await_output()


@pytest.mark.slow
def test_a_pair_whose_channels_have_lost_commits(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "p"
    with pair_run(path, spark) as pair:
        own = pair.begin_here(Copy.A)
        pair.feed(4)
        await_that(lambda: copies.is_complete(pair.pipeline, 4), "all rows", lambda: own.failure)
        own.stop()
    for name in ("left", "totals"):
        channel = pair.pipeline.channel(name)
        last = newest(channel.log)
        (file,) = channel.place.local.glob(f"_delta_log/*{last}.json")
        kept = file.read_text()
        lose(channel, last)
        with pytest.raises(ChannelDamaged, match="has lost|ends at"):
            run_copy(copies.pair(path), "totals", Copy.A, lambda: spark)
        file.write_text(kept)
    own = pair.begin_here(Copy.A)
    pair.feed(2)
    await_that(lambda: copies.is_complete(pair.pipeline, 6), "all rows", lambda: own.failure)
    own.stop()


def test_a_channel_that_lost_its_newest_commit_between_two_queries(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = Pipeline(
        tmp_path / "p",
        channels={"a": "x long", "b": "x long", "c": "x long"},
        queries=[
            Query("q", ("a",), "b", plan=lambda rows: rows.dropDuplicates(["x"])),
            Query("r", ("b",), "c", plan=lambda rows: rows),
        ],
    )
    feed(made.channel("a"), 1)
    assert run(spark, made) == [1]
    feed(made.channel("a"), 2)
    assert run(spark, made) == [1, 2]
    middle = made.channel("b")
    kept = pa.table(middle.rows())
    lose(middle, newest(middle.log))
    with pytest.raises(ChannelDamaged, match="channel 'b'|as commit 2"):
        made.start(spark)
    assert kept.num_rows == 2
