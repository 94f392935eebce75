"""A pipeline that is fed and read for weeks, without Spark."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotStatus
from streamproof.spark_bindings.names import LaneName, Position, ProcessName, SnapshotId
from tests.spark.support.handmade import A, batch, spark_checkpoint
from tests.spark.support.lives import one
from tests.spark.support.snapshots_by_hand import collector_of

Q = ProcessName("q")


def pipeline_at(path: Path, fed: int = 0) -> Pipeline:
    pipeline = one(path)
    feed(pipeline, 1, fed + 1)
    return pipeline


def feed(pipeline: Pipeline, start: int, stop: int) -> None:
    for number in range(start, stop):
        rows = pa.table({"x": [number]})
        pipeline.channel("a").append(rows, producer="gate", sequence=number)


def taken(pipeline: Pipeline, position: int) -> None:
    """Let the query have completed a batch for each commit of channel a up to a position."""
    checkpoint = pipeline.path / "queries/q/checkpoint"
    shutil.rmtree(checkpoint, ignore_errors=True)  # Spark keeps the newest batches alone
    spark_checkpoint(checkpoint, last=position - 1, first=max(0, position - 3))


def complete_snapshot(pipeline: Pipeline, received: int) -> SnapshotId:
    directory = PipelineDirectory.open(pipeline.path)
    name = pipeline.snapshot()
    marker = pipeline.channel("a").log.last()
    count = sum(e.is_message for e in pipeline.channel("a").log.entries(Position(received), marker))
    directory.snapshots.save_state(
        name, Q, RecordedState(batch(received - 1), {A: Position(received)})
    )
    directory.snapshots.save_channels(name, Q, {LaneName("a"): count})
    pipeline.channel("b").append_marker_once(name)
    assert not collector_of(pipeline).collect()
    assert directory.snapshots.read(name).status is SnapshotStatus.COMPLETE
    return name
