"""Snapshots of pipelines whose queries run as pairs: what is cut, and that it can be restored."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Replay, Snapshot, SnapshotStatus
from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory, pairs_of
from streamproof.spark_bindings.names import (
    ChannelName,
    LaneName,
    Position,
    Turn,
)
from streamproof.spark_bindings.snapshots.collector import Collector
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles
from streamproof.spark_bindings.standby.catch_up import catch_up
from streamproof.spark_bindings.standby.copy_run import run_copy
from streamproof.spark_bindings.storage.place import Place
from tests.spark.standby.support import copies
from tests.spark.standby.support.copies import feed, is_complete
from tests.spark.standby.support.pair_snapshots import client_of, output, parted, record
from tests.spark.support.handmade import batch, spark_checkpoint, write
from tests.spark.support.waiting import await_that

A, B = ChannelName("a"), ChannelName("b")


def collect(pipeline: Pipeline) -> Snapshot:
    directory = PipelineDirectory.open(pipeline.path)
    channels = {name: pipeline.channel(name) for name in directory.wiring.channels}
    Collector(directory, pipeline.queries, channels).collect()
    (found,) = pipeline.snapshots()
    return found


def snapshot_by_hand(path: Path) -> Pipeline:
    """Do by hand what pairs do; the one partition is further than the other when it is cut."""
    pipeline = parted(path)
    name = pipeline.snapshot()
    assert record(pipeline, "q.0", A, 1) == record(pipeline, "q.1", A, 1) == [name]
    b, c = pipeline.channel(B), pipeline.channel("c")
    one, two = client_of(pipeline, 0, 0), client_of(pipeline, 0, 1)  # 1 and 2: takeovers
    one.deliver(output(b, 1, 1), Turn(0), 1)  # 3
    one.deliver(output(b, 2, marker=name), Turn(2), 1)  # 4
    two.deliver(output(b, 1, 10), Turn(0), 1)  # 5
    assert collect(pipeline).status is SnapshotStatus.REQUESTED
    one.deliver(output(b, 3, 2), Turn(3), 1)  # 6: behind its marker
    two.deliver(output(b, 2, 11, marker=name), Turn(2), 1)  # 7: rows, and its marker behind them
    two.deliver(output(b, 3, 12), Turn(3), 1)  # 8
    assert record(pipeline, "r", B, 4, 7, 8) == [name]
    assert collect(pipeline).status is SnapshotStatus.REQUESTED  # r's marker is not delivered
    client_of(pipeline, 1, 0).deliver(output(c, 1, 1, marker=name), Turn(0), 1)
    return pipeline


def test_each_lane_is_cut_at_its_own_marker(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    found = collect(pipeline)
    assert found.status is SnapshotStatus.COMPLETE
    assert found.pairs == ("q.0", "q.1", "r")
    assert found.markers == {"a": 1, "b.0": 4, "b.1": 7, "c": 2}
    (part,) = (part for part in found.channels if part.reader == "r")
    assert (part.received, part.end, part.commits, part.rows) == (4, 7, 2, 2)


def test_a_restored_query_divides_its_rows_as_before(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    for query in pipeline.queries:
        (tmp_path / "p/queries" / query.name).mkdir(exist_ok=True)
    for pair in pairs_of(pipeline.queries[0]):
        own = PairDirectory(Place.of(tmp_path / "p/queries" / pair.name))
        own.order.local.mkdir()
        write(own.rows.local, json.dumps({"partition_by": "x", "partition_bounds": ["7"]}))
    restored = pipeline.restore(collect(pipeline).id, into=tmp_path / "r")
    with pytest.raises(WrongWiring, match=r"were divided by ranges of 'x' that begin at 7\."):
        restored.snapshot()


def test_what_a_lane_has_behind_its_marker_is_not_restored(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    restored = pipeline.restore(collect(pipeline).id, into=tmp_path / "r")
    assert sorted(restored.channel("b").rows()["x"].to_pylist()) == [1, 10, 11]
    assert restored.channel("b").log.last() == 7
    # 6 is a commit still, so that positions in checkpoints mean what they meant.
    assert not restored.channel("b").log.entry(Position(6)).is_message
    assert restored.channel("c").rows()["x"].to_pylist() == [1]
    both = [
        PairDirectory(Place.of(restored.path / "queries" / name))
        .copy(copy)
        .checkpoint.last_committed()
        for name in ("q.0", "q.1", "r")
        for copy in Copy
    ]
    assert both == [0] * 6


def test_a_copy_that_lost_the_batch_is_passed_over(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    shutil.rmtree(tmp_path / "p/snapshots/000001/checkpoints/r")
    places = [tmp_path / "p/queries/r" / copy.value / "checkpoint" for copy in Copy]
    places[0].rename(tmp_path / "kept")
    spark_checkpoint(places[0], first=5, last=9)  # begun again, in the other copy's later state
    assert collect(pipeline).status is SnapshotStatus.REQUESTED
    places[1].parent.mkdir()
    (tmp_path / "kept").rename(places[1])
    assert collect(pipeline).status is SnapshotStatus.COMPLETE


def test_a_batch_that_both_copies_have_lost_is_told(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    shutil.rmtree(tmp_path / "p/snapshots/000001/checkpoints/r")
    for copy in Copy:
        place = tmp_path / "p/queries/r" / copy.value / "checkpoint"
        if place.exists():
            place.rename(tmp_path / "gone")
        spark_checkpoint(place, first=5, last=9)
    found = collect(pipeline)
    assert found.status is SnapshotStatus.ABANDONED
    assert "no longer has batch 0" in found.reason


def test_a_new_copy_goes_on_with_the_survivors_recorders(tmp_path: Path) -> None:
    pipeline = parted(tmp_path / "p")
    name = pipeline.snapshot()
    client_of(pipeline, 0, 0).deliver(output(pipeline.channel(B), 1, marker=name), Turn(0), 1)
    assert record(pipeline, "r", B, 2) == [name]  # the other lane is still open
    pair = PairDirectory(Place.of(tmp_path / "p/queries/r"))
    begun = catch_up(pair, Copy.B, pipeline.channel("c").place, 0.1)
    assert (begun.taken, begun.is_transferred) == (1, True)
    lanes = (LaneName("b.0"), LaneName("b.1"))
    mine, its = (RecorderFiles(pair.copy(copy).recorders, lanes).before(batch(1)) for copy in Copy)
    assert mine == its
    assert dict(its[name].closed.items()) == {"b.0": True, "b.1": False}


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_pair_is_restored_and_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = copies.pair(tmp_path / "p")
    feed(pipeline, 0, 4)
    running = [copies.Here(pipeline.path, copy, spark) for copy in Copy]
    await_that(lambda: is_complete(pipeline, 4), "the first output")
    name = pipeline.snapshot()
    feed(pipeline, 4, 8)
    found = pipeline.await_snapshot(name)
    await_that(lambda: is_complete(pipeline, 8), "all output")
    stop(running)
    assert found.pairs == ("totals",)
    restored = pipeline.restore(name, into=tmp_path / "r")
    cut = pipeline.channel("totals").rows(until=found.markers[LaneName("totals")])
    assert restored.channel("totals").rows() == cut
    again = [copies.Here(restored.path, copy, spark) for copy in Copy]
    await_that(lambda: is_complete(restored, 8), "all output of the restored pair")
    stop(again)
    copies.check_history(restored, 8)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_pairs_behind_pairs_are_cut_together(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = parted(tmp_path / "p")
    with running(pipeline, spark):
        rows = pipeline.channel("a")
        for number in range(10):
            rows.append(pa.table({"x": [number]}))
        name = pipeline.snapshot()
        for number in range(10, 20):
            rows.append(pa.table({"x": [number]}))
        pipeline.await_snapshot(name)
        await_that(lambda: numbers_in(pipeline) == list(range(20)), "all output")
    restored = pipeline.restore(name, into=tmp_path / "r", replay=Replay.NONE)
    with running(restored, spark):
        await_that(lambda: numbers_in(restored) == list(range(10)), "the output of the cut")
        restored.channel("a").append(pa.table({"x": [10]}))
        await_that(lambda: numbers_in(restored) == list(range(11)), "the output behind the cut")


def numbers_in(pipeline: Pipeline) -> list[int]:
    return sorted(pipeline.channel("c").rows()["x"].to_pylist())


@contextmanager
def running(pipeline: Pipeline, spark: SparkSession) -> Iterator[None]:
    """Run all copies of all pairs in one session."""
    end = Event()
    with ThreadPoolExecutor() as pool:
        copies_run = [
            pool.submit(
                run_copy,
                pipeline,
                query.name,
                copy,
                lambda: spark,
                partition=pair.partition,
                stop=end,
            )
            for query in pipeline.queries
            for pair in pairs_of(query)
            for copy in Copy
        ]
        try:
            yield
        finally:
            end.set()
        for copy_run in copies_run:
            copy_run.result()


def stop(running: list[copies.Here]) -> None:
    for copy in running:
        copy.stop()
        assert copy.failure is None
