"""The names and numbers that the bindings speak of: a batch is no position, an index no count."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NewType, TypeVar

Position = NewType("Position", int)
"""A place in a channel: the number of a commit, from 1; 0 is before the first. Unit: commits."""

BatchId = NewType("BatchId", int)
"""The number of a query's micro-batch, from 0, as Spark counts it."""

ChannelName = NewType("ChannelName", str)
QueryName = NewType("QueryName", str)

LaneName = NewType("LaneName", str)
"""The name of a `Lane`: the channel's, and ``.i`` for the i-th of several."""

ProcessName = NewType("ProcessName", str)
"""A process of the protocol: a query's or a pair's name, or ``feed.<channel>`` for the feed of a
source channel."""

Turn = NewType("Turn", int)
"""A place in the order log of a pair of copies, from 0: micro-batch n of either takes turn n."""

PairName = NewType("PairName", str)
"""The name of a `PairId`: its query's, and ``.i`` for the i-th partition of several, from 0."""

SnapshotId = NewType("SnapshotId", str)
"""A snapshot's name within its pipeline: six digits, ``000001`` being the first."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


def is_name(text: object) -> bool:
    """Return whether a channel or a query may be called so: it becomes a directory's name."""
    return isinstance(text, str) and _NAME.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class Lane:
    """What one process writes of a channel. In files it is a text, its `name`.

    Attributes
    ----------
    number : of the process among the channel's writers, from 0; None if there is one alone
    """

    channel: ChannelName
    number: int | None = None

    @staticmethod
    def of(name: LaneName) -> Lane:
        """Return the lane that has a name."""
        return Lane(*_taken_apart(name, ChannelName))

    @property
    def name(self) -> LaneName:
        """Its name."""
        return LaneName(_put_together(self.channel, self.number))


@dataclass(frozen=True, slots=True)
class PairId:
    """A query, or the pair of copies that runs a partition of it. In files it is its `name`.

    Attributes
    ----------
    partition : its number, from 0; None if the query has one alone
    """

    query: QueryName
    partition: int | None = None

    @staticmethod
    def of(name: ProcessName | PairName) -> PairId:
        """Return the query or pair that has a name."""
        return PairId(*_taken_apart(name, QueryName))

    @property
    def name(self) -> PairName:
        """Its name."""
        return PairName(_put_together(self.query, self.partition))


def number_of(part: int, count: int) -> int | None:
    """Return the number of a part, from 0; None if there is one part alone."""
    return None if count == 1 else part


def lanes_of(channel: ChannelName, count: int) -> tuple[Lane, ...]:
    """Return the lanes of a channel that so many processes write, in the order of their numbers."""
    return tuple(Lane(channel, number_of(part, count)) for part in range(count))


_Whole = TypeVar("_Whole", bound=str)


def _taken_apart(name: str, whole: Callable[[str], _Whole]) -> tuple[_Whole, int | None]:
    text, dot, number = name.rpartition(".")
    return (whole(text), int(number)) if dot and number.isdigit() else (whole(name), None)


def _put_together(whole: str, number: int | None) -> str:
    return whole if number is None else f"{whole}.{number}"


def feed_of(channel: ChannelName) -> ProcessName:
    """Name the process that stands for whoever writes a source channel."""
    return ProcessName(f"feed.{channel}")  # no query has a dot in its name
