"""The names and numbers that the bindings speak of: a batch is no position, an index no count."""

from __future__ import annotations

import re
from typing import NewType

Position = NewType("Position", int)
"""A place in a channel: the number of a commit, from 1; 0 is before the first. Unit: commits."""

BatchId = NewType("BatchId", int)
"""The number of a query's micro-batch, from 0, as Spark counts it."""

ChannelName = NewType("ChannelName", str)
QueryName = NewType("QueryName", str)

LaneName = NewType("LaneName", str)
"""What one process writes of a channel: the channel's name, and ``.i`` for the i-th of several."""

ProcessName = NewType("ProcessName", str)
"""A process of the protocol: a query's or a pair's name, or ``feed.<channel>`` for the feed of a
source channel."""

Turn = NewType("Turn", int)
"""A place in the order log of a pair of copies, from 0: micro-batch n of either takes turn n."""

PairName = NewType("PairName", str)
"""A pair of copies: its query's name, and ``.i`` for the i-th partition of several, from 0."""

SnapshotId = NewType("SnapshotId", str)
"""A snapshot's name within its pipeline: six digits, ``000001`` being the first."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


def is_name(text: object) -> bool:
    """Tell whether a channel or a query may be called so: it becomes a directory's name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


def part_of(name: str, number: int, count: int) -> str:
    """Name a part of a query or a channel, from 0: itself, if it is the only one."""
    return name if count == 1 else f"{name}.{number}"


def channel_of(lane: LaneName) -> ChannelName:
    """Return the channel that a lane is of."""
    return ChannelName(lane.partition(".")[0])


def query_of(process: ProcessName | PairName) -> QueryName:
    """Return the query that a process is, or that a pair of copies runs a partition of."""
    return QueryName(process.partition(".")[0])


def feed_of(channel: ChannelName) -> ProcessName:
    """Name the process that stands for whoever writes a source channel."""
    return ProcessName(f"feed.{channel}")  # no query has a dot in its name
