"""Directories that 0.1.0 made go on working, forever, or are refused with a clear way out.

`tests/data/make_0_1_0.py` made the archives. They are unpacked elsewhere than where they were made.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event, Thread

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from streamproof.spark_bindings import (
    Pipeline,
    SnapshotStatus,
    list_snapshots,
    restore_snapshot,
)
from streamproof.spark_bindings.errors import ReusedSequence, WrongArgument
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.snapshots.vacuum import vacuum
from streamproof.spark_bindings.standby.copy_run import run_copy
from tests.data.make_0_1_0 import SNAPSHOT, feed_tokens, merged, pair, pipeline, update_table
from tests.spark.support.archives import unpack
from tests.spark.support.waiting import SECONDS_MAX, await_that

pytestmark = pytest.mark.timeout(900)


def test_channels_and_snapshots_of_a_pipeline_can_be_read(tmp_path: Path) -> None:
    made = pipeline(unpack("pipeline", tmp_path))
    assert sorted(made.channel("sink").rows()["id"].to_pylist()) == [1, 2, 3, *range(100, 110)]
    assert sorted(made.channel("source").rows()["id"].to_pylist()) == [1, 2, 3, 4, 5]
    (found,) = made.snapshots()
    assert (found.id, found.status) == (SNAPSHOT, SnapshotStatus.COMPLETE)
    assert {part.channel: part.rows for part in found.channels}["other"] == 5


def test_a_pipeline_takes_rows_and_a_producer_goes_on_where_it_was(tmp_path: Path) -> None:
    made = pipeline(unpack("pipeline", tmp_path))
    source = made.channel("source")
    last = source.rows().slice(4, 1)
    before = source.log.last()
    assert source.append(last, producer="bridge", sequence=5) is None
    with pytest.raises(ReusedSequence, match="1 other rows were appended with it, at position 1"):
        source.append(last, producer="bridge", sequence=1)
    assert source.append(last, producer="bridge", sequence=6) == before + 1


def test_a_snapshot_of_each_kind_can_be_restored(tmp_path: Path) -> None:
    for name, make in (("pipeline", pipeline), ("pair", pair)):
        restored = tmp_path / f"restored-{name}"
        restore_snapshot(unpack(name, tmp_path), SNAPSHOT, into=restored)
        assert make(restored).snapshots() == []
    place = unpack("merged", tmp_path)
    restore_snapshot(place / "pipeline", SNAPSHOT, into=tmp_path / "restored" / "pipeline")
    assert merged(tmp_path / "restored").channel("merged").rows().num_rows > 0


def test_rows_that_nobody_needs_can_be_removed(tmp_path: Path) -> None:
    place = unpack("pipeline", tmp_path)
    assert {part.channel: part.until for part in vacuum(place)} == {
        "source": 4,
        "middle": 4,
        "other": 5,
    }


def test_a_table_and_a_pair_can_be_read(tmp_path: Path) -> None:
    table = DeltaTable(unpack("merged", tmp_path) / "table").to_pyarrow_table()
    assert sorted(table["text"].to_pylist()) == ["ewr 0", "ewr 1", "jfk 0", "jfk 1"]
    place = unpack("pair", tmp_path)
    totals = pair(place).channel("totals").rows().to_pylist()
    assert max(row["total"] for row in totals if row["id"] == 0) == 8
    (found,) = list_snapshots(place)
    assert found.pairs == ("totals",)


def started(spark: SparkSession, made: Pipeline) -> Pipeline:
    """Run a pipeline until it is idle."""
    with made.start(spark):
        made.await_idle(SECONDS_MAX)
    return made


@pytest.mark.slow
@pytest.mark.spark
def test_a_pipeline_and_a_restored_one_go_on(spark: SparkSession, tmp_path: Path) -> None:
    place = unpack("pipeline", tmp_path)
    made = started(spark, pipeline(place))
    ids = [1, 2, 3, 4, 5, *range(100, 111)]
    assert sorted(made.channel("sink").rows()["id"].to_pylist()) == ids
    restored = started(spark, made.restore(SNAPSHOT, into=tmp_path / "restored"))
    assert sorted(restored.channel("sink").rows()["id"].to_pylist()) == ids
    feed_tokens(made, "source", 6)
    with made.start(spark):
        second = made.await_snapshot(made.snapshot(), SECONDS_MAX)
        made.await_idle(SECONDS_MAX)
    again = started(spark, made.restore(second.id, into=tmp_path / "again"))
    assert sorted(again.channel("sink").rows()["id"].to_pylist()) == sorted([*ids, 6])


@pytest.mark.slow
@pytest.mark.spark
def test_a_pair_and_a_restored_one_go_on(spark: SparkSession, tmp_path: Path) -> None:
    place = unpack("pair", tmp_path)
    restore_snapshot(place, SNAPSHOT, into=tmp_path / "restored")
    for path in (place, tmp_path / "restored"):
        stop, made = Event(), pair(path)
        runs = [
            Thread(
                target=run_copy,
                args=(pair(path), "totals", copy, lambda: spark),
                kwargs={"stop": stop},
            )
            for copy in Copy
        ]
        for run in runs:
            run.start()
        try:
            await_that(lambda made=made: total(made) == 10, "all rows in the totals")
        finally:
            stop.set()
            for run in runs:
                run.join()
        rows = made.channel("totals").rows().to_pylist()
        assert [row["number"] for row in rows if row["id"] > 0] == [1] * 10
        assert all(row["total"] == row["number"] for row in rows if row["id"] == 0)


def total(made: Pipeline) -> int:
    rows = made.channel("totals").rows().to_pylist()
    return max(row["total"] for row in rows if row["id"] == 0)


@pytest.mark.slow
@pytest.mark.spark
def test_a_merge_and_its_table_go_on_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    """Spark notes the whole path of some of a merge's files: where they were made."""
    place = unpack("merged", tmp_path)
    made = started(spark, merged(place))
    update_table(spark, made, place)
    table = DeltaTable(place / "table").to_pyarrow_table()
    assert sorted(table["text"].to_pylist()) == [
        *(f"ewr {number}" for number in range(3)),
        *(f"jfk {number}" for number in range(3)),
    ]
    late = DeltaTable(f"{place / 'table'}.late").to_pyarrow_table()
    assert late["text"].to_pylist() == ["ewr 3"]
    restored = tmp_path / "restored"
    restore_snapshot(place / "pipeline", SNAPSHOT, into=restored / "pipeline")
    shutil.rmtree(place / "pipeline")  # what was restored needs nothing of it
    again = started(spark, merged(restored))
    with pytest.raises(WrongArgument, match="runs with pipeline=.*, but its checkpoint"):
        update_table(spark, again, place)
    update_table(spark, again, restored)
    found = DeltaTable(restored / "table").to_pyarrow_table()
    assert sorted(found["text"].to_pylist()) == sorted(table["text"].to_pylist())
