"""Pipelines and checkpoints for the tests of who may go on where: made by hand, without Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.offsets import offset_at
from streamproof.spark_bindings.channels.source import ChannelReader, OutsideReader
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.planned_sources import PlannedSource
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.synced_commits import commit_file
from tests.spark.support.handmade import write


def one(path: Path, **more: int) -> Pipeline:
    """A query that reads a channel and writes another one; nothing runs it."""
    query = Query("q", ("a",), "b", plan=lambda rows: rows, **more)  # type: ignore[arg-type]
    return Pipeline(path, channels={"a": "x long", "b": "x long"}, queries=[query])


def two(path: Path, plan: Callable[..., Any] = lambda a, b: a.union(b)) -> Pipeline:
    """A query that reads two channels; nothing runs it."""
    return Pipeline(
        path,
        channels={"a": "x long", "b": "x long", "c": "x long"},
        queries=[Query("q", ("a", "b"), "c", plan=plan)],
    )


def feed(channel: Channel, *numbers: int) -> None:
    """Append a commit of one row for each number."""
    for number in numbers:
        channel.append(pa.table({"x": [number]}))


def offset(channel: Channel, position: int) -> dict[str, Any]:
    """Return the offset behind a commit of a channel, as Spark keeps it."""
    return offset_at(Position(position), channel.name, channel.log)


def reader(channel: Channel, kind: type[ChannelReader] = ChannelReader) -> ChannelReader:
    """Make what Spark's planner has of a channel."""
    return kind(str(channel.place), channel.log.pipeline, channel.name, ["x"], 1000, None)


def planned(*channels: Channel, outside: bool = False) -> list[PlannedSource | None]:
    """Say that a plan reads these channels, in this order."""
    return [PlannedSource(c.place, c.log.pipeline, c.name, outside=outside) for c in channels]


def checkpoint(path: Path, *batches: list[Mapping[str, Any]], life: str = "one") -> Checkpoint:
    """Write what Spark has after batches that ended so, all of them completed."""
    write(path / "metadata", json.dumps({"id": life}))
    for number, offsets in enumerate(batches):
        lines = [json.dumps(each) for each in offsets]
        write(path / "offsets" / str(number), "\n".join(["v1", "{}", *lines]))
        write(path / "commits" / str(number), "v2\n{}")
    return Checkpoint(path)


def lose(channel: Channel, *positions: int) -> None:
    """Let commits of a channel disappear, as a power cut or an older backup does."""
    for position in positions:
        commit_file(channel.place, Position(position)).local.unlink()


def opened(channel: Channel) -> Channel:
    """Open a channel anew, as the next process does."""
    return Channel(
        channel.place, channel.name, pipeline=channel.log.pipeline, writer=channel.writer
    )


__all__ = ["OutsideReader"]
