"""A pair's parts in snapshots, made by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from streamproof.spark_bindings import Pipeline, Query, Standby
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.output_buffer import Output
from streamproof.spark_bindings.layout.pairs import Copy, Pair
from streamproof.spark_bindings.names import (
    ChannelName,
    Position,
    ProcessName,
    QueryName,
    SnapshotId,
    Turn,
)
from streamproof.spark_bindings.snapshots.chandy_lamport import Recording
from streamproof.spark_bindings.standby.client import ChannelClient
from streamproof.spark_bindings.storage.parquet_files import write_file
from tests.spark.support.handmade import batch, spark_checkpoint, write


def same(rows: DataFrame) -> DataFrame:
    return rows


def parted(path: Path) -> Pipeline:
    """Two pairs share the work of one query, and a third pair reads what they write."""
    return Pipeline(
        path,
        channels={"a": "x long", "b": "x long", "c": "x long"},
        queries=[
            Query("q", ("a",), "b", plan=same, standby=Standby(2, by="x")),
            Query("r", ("b",), "c", plan=same, standby=Standby()),
        ],
    )


def client_of(pipeline: Pipeline, query: int, partition: int) -> ChannelClient:
    pair = Pair(pipeline.queries[query], partition)
    channel = pipeline.channel(pair.query.output)
    client = ChannelClient(channel, pair, Copy.A, PipelineDirectory.open(pipeline.path).id)
    assert client.take_over(1)
    return client


def output(channel: Channel, turn: int, *numbers: int, marker: SnapshotId | None = None) -> Output:
    rows = pa.table({"x": pa.array(numbers, pa.int64())}, schema=channel.schema)
    written = write_file(channel.place, f"t-{turn}", channel.schema, iter(rows.to_batches()))
    return Output(Turn(turn), () if written is None else (written,), "", marker)


def record(pipeline: Pipeline, process: str, channel: str, *ends: int) -> list[SnapshotId]:
    """Let a pair record what it reads in batches that end so; give the markers that it sends."""
    directory = PipelineDirectory.open(pipeline.path)
    place = directory.query_place(QueryName(process)) / "A"
    checkpoint = spark_checkpoint((place / "checkpoint").local, last=len(ends) - 1)
    for number, end in enumerate(ends):
        offset = json.dumps({"channel": channel, "position": end})
        write((checkpoint.place / f"offsets/{number}").local, f"v1\n{{}}\n{offset}")
    recording = Recording(
        ProcessName(process),
        place,
        checkpoint,
        inputs={ChannelName(channel): pipeline.channel(channel)},
        snapshots=directory.snapshots,
    )
    sent: list[SnapshotId] = []
    for number, end in enumerate(ends):
        recording.on_batch(batch(number), {ChannelName(channel): Position(end)}, sent.append)
    return sent
