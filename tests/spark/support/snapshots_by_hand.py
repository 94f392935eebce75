"""Snapshots put together from files by hand."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from streamproof.spark_bindings import (
    Pipeline,
    Snapshot,
    SnapshotStatus,
)
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import (
    Position,
    ProcessName,
)
from streamproof.spark_bindings.snapshots.collector import Collector
from tests.spark.support.handmade import A, Q, batch, spark_checkpoint
from tests.spark.support.lives import one


def feed(pipeline: Pipeline, *numbers: int) -> None:
    for number in numbers:
        pipeline.channel("a").append(pa.table({"x": [number]}), producer="t", sequence=number)


def collector_of(pipeline: Pipeline) -> Collector:
    directory = PipelineDirectory.open(pipeline.path)
    channels = {name: pipeline.channel(name) for name in directory.wiring.channels}
    return Collector(directory, pipeline.queries, channels)


def snapshot_by_hand(path: Path) -> tuple[Pipeline, Snapshot]:
    """Do by hand what a run does: q has received 2 of 3 rows, and sends one on for each."""
    pipeline = one(path)
    feed(pipeline, 1, 2, 3)
    name = pipeline.snapshot()  # the marker is commit 4
    feed(pipeline, 4, 5)
    files = SnapshotFiles(path / "snapshots")
    spark_checkpoint(path / "queries/q/checkpoint", last=4)
    files.save_state(name, Q, RecordedState(batch(1), {A: Position(2)}))
    pipeline.channel("b").append_marker_once(name)
    collector = collector_of(pipeline)
    assert collector.collect()  # a is still open
    assert files.read(name).status is SnapshotStatus.REQUESTED
    files.save_channels(name, ProcessName("q"), {A: 1})
    assert not collector.collect()
    return pipeline, files.read(name)
