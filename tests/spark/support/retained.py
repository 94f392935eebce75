"""Pipelines whose readers, pairs and snapshots are files made by hand."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable

from streamproof.spark_bindings import Pipeline, Standby
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import LaneName, Position, ProcessName
from tests.spark.support.handmade import ONE, A, batch, spark_checkpoint
from tests.spark.support.lives import one
from tests.spark.support.snapshots_by_hand import collector_of


def pipeline_at(path: Path, fed: int = 6, **more: int) -> Pipeline:
    pipeline = one(path, **more)
    for number in range(1, fed + 1):
        pipeline.channel("a").append(pa.table({"x": [number]}))
    return pipeline


def pair_at(path: Path, *taken: int) -> Pipeline:
    """Make a pair whose copies have taken so many of six commits; batch n takes commit n + 1."""
    pipeline = pipeline_at(path, standby=Standby())
    (path / "queries/q/order").mkdir(parents=True)
    for copy, number in zip(Copy, taken, strict=False):
        spark_checkpoint(path / "queries/q" / copy.value / "checkpoint", last=number - 1)
    return pipeline


def left(pipeline: Pipeline) -> list[int]:
    """Return the numbers that any reader of the Delta table finds, and check that their files are
    the only ones.
    """
    table = DeltaTable(pipeline.channel("a").place.local)
    assert len(list(pipeline.channel("a").place.local.glob("*.parquet"))) == len(table.file_uris())
    return sorted(table.to_pyarrow_table()["x"].to_pylist())


def snapshot_by_hand(path: Path) -> Pipeline:
    """Cut a query when it had received 2 of 6 commits, and let it go on to the sixth."""
    pipeline = pipeline_at(path)
    files = SnapshotFiles(path / "snapshots")
    name = pipeline.snapshot()  # commit 7
    pipeline.channel("a").append(pa.table({"x": [8]}))
    spark_checkpoint(path / "queries/q/checkpoint", last=5)
    process = ProcessName("q")
    files.save_state(name, process, RecordedState(batch(1), {A: Position(2)}))
    return pipeline


def complete(pipeline: Pipeline) -> None:
    SnapshotFiles(pipeline.path / "snapshots").save_channels(
        ONE, ProcessName("q"), {LaneName("a"): 4}
    )
    pipeline.channel("b").append_marker_once(ONE)
    assert not collector_of(pipeline).collect()
