"""Following a channel from outside of its pipeline, commit by commit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from streamproof.spark_bindings.arguments import require_whole
from streamproof.spark_bindings.channels.channel_log import COPY_KEY, ChannelLog
from streamproof.spark_bindings.durations import Duration, seconds
from streamproof.spark_bindings.names import Position

_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with rows, as a reader outside of the pipeline receives it.

    Attributes
    ----------
    position : its number in the channel, from 1; the next call of `follow` continues behind it
    rows : Arrow table
    copy : the copy that delivered it, ``"A"`` or ``"B"``; None if no pair writes the channel

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> import pyarrow as pa
    >>> position = shop.channel("raw").append(pa.table({"x": [1, 2]}))
    >>> for commit in shop.channel("raw").follow(idle=0):
    ...     print(commit.position, commit.rows.num_rows, commit.copy)
    1 2 None
    """

    position: Position
    rows: pa.Table
    copy: str | None


def follow(
    log: ChannelLog, name: str, schema: pa.Schema, after: int, idle: Duration | None
) -> Iterator[Commit]:
    """Iterate over commits with rows; see `Channel.follow`."""
    said = f"follow was given after={after!r} for channel {name!r}"
    done = f"Positions count commits, and the newest is {log.last()}. Nothing was read"
    require_whole(said, after, 0, log.last(), done=done)
    idle_seconds = None if idle is None else seconds("follow", "idle", idle)
    return _commits(log, schema, Position(after), idle_seconds)


def _commits(
    log: ChannelLog, schema: pa.Schema, after: Position, idle_seconds: float | None
) -> Iterator[Commit]:
    position, heard = after, time.monotonic()
    while True:
        while position < log.last():
            position, heard = Position(position + 1), time.monotonic()
            entry = log.entry(position)
            batches = list(log.batches([entry], schema.names))
            if entry.is_message:
                copy = entry.information.get(COPY_KEY)
                rows = pa.Table.from_batches(batches, schema=schema)
                yield Commit(position, rows, None if copy is None else str(copy))
        if idle_seconds is not None and time.monotonic() - heard >= idle_seconds:
            return
        time.sleep(_POLL_SECONDS)
