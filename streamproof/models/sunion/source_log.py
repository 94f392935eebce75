"""What the sources of some streams have written: logs of tuples and boundaries.

A log is persistent: whoever reads it, and whenever, reads the same. A source is disciplined if no
tuple of its log lies behind a boundary that excludes it [BBMS08, section 4.2].
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Range,
    assume,
    exists,
    forall,
    implies,
)
from streamproof.protocols.sunion import Key


class Stream(Element):
    """A stream, which one source writes."""


class Entry(Element):
    """A place in the log of a stream."""


class World(Element):
    """One way in which the sources may have written all their logs."""


class Kind(Enum):
    """What a source writes."""

    TUPLE = "tuple"
    BOUNDARY = "boundary"


@dataclass(frozen=True, slots=True)
class Written:
    """What a source wrote at a place of its log.

    Attributes
    ----------
    time : of a tuple; of a boundary, where its bucket begins
    bucket : of a tuple, the one that its time lies in; of a boundary, the first one of which
        tuples may follow
    """

    kind: Kind
    time: Annotated[int, Range(0, "times_max")]
    bucket: Annotated[int, Range(0, "buckets_max")]


Logs: TypeAlias = Map[Entry, Written]
"""The logs of all streams."""
S = TypeVar("S")


@dataclass(frozen=True)
class SourceModel(Model[S], Generic[S]):
    """A model of what reads the logs of some streams.

    Attributes
    ----------
    number : per stream, its number in the order of the merge
    stream, position : of an entry; positions in a stream begin with 0
    may_be_written : all that the sources may have written
    """

    streams: Domain[Stream]
    entries: Domain[Entry]
    worlds: Domain[World]
    number: Map[Stream, int]
    stream: Map[Entry, Stream]
    position: Map[Entry, int]
    may_be_written: Map[tuple[World, Entry], Written]

    @property
    def length_max(self) -> int:
        """The most entries that a log has."""
        return max((position + 1 for _, position in self.position.items()), default=0)

    @property
    def buckets_max(self) -> int:
        """The last bucket that anything written names."""
        return max((written.bucket for _, written in self.may_be_written.items()), default=0)

    @property
    def times_max(self) -> int:
        """The last time that anything written names."""
        return max((written.time for _, written in self.may_be_written.items()), default=0)

    @assume
    def streams_are_numbered(self) -> bool:
        """No two streams have one number."""
        return forall(
            self.streams,
            self.streams,
            lambda t, u: implies(self.number[t] == self.number[u], t == u),
        )

    @assume
    def entries_have_positions(self) -> bool:
        """No two entries of a stream have one position, and none is negative."""
        return forall(self.entries, lambda e: self.position[e] >= 0) and forall(
            self.entries,
            self.entries,
            lambda e, f: implies(
                self.stream[e] == self.stream[f] and self.position[e] == self.position[f], e == f
            ),
        )

    @assume
    def buckets_cut_time(self) -> bool:
        """Buckets are numbered from 0, and an earlier bucket has earlier times."""
        written = self.may_be_written
        return forall(written, lambda w, e: written[w, e].bucket >= 0) and forall(
            self.worlds,
            self.entries,
            self.entries,
            lambda w, e, f: implies(
                written[w, e].bucket < written[w, f].bucket,
                written[w, e].time < written[w, f].time,
            ),
        )

    # ----------------------------------------------------------------------- what the logs say

    def key(self, logs: Logs, e: Entry) -> Key:
        """Return what a tuple's place in the merged stream depends on."""
        return Key(logs[e].time, self.number[self.stream[e]], self.position[e])

    def is_tuple(self, logs: Logs, e: Entry) -> bool:
        """Return whether an entry is a tuple."""
        return logs[e].kind == Kind.TUPLE

    def is_excluded(self, logs: Logs, e: Entry) -> bool:
        """Return whether a boundary ahead of an entry says that its bucket is over."""
        return exists(
            self.entries,
            lambda f: (
                self.stream[f] == self.stream[e]
                and self.position[f] < self.position[e]
                and logs[f].kind == Kind.BOUNDARY
                and logs[f].bucket > logs[e].bucket
            ),
        )

    def is_merged(self, logs: Logs, e: Entry) -> bool:
        """Return whether an entry is a tuple that is not late, so that a merge must have it."""
        return self.is_tuple(logs, e) and not self.is_excluded(logs, e)

    def is_disciplined(self, logs: Logs, t: Stream) -> bool:
        """Return whether the source of a stream keeps the promises that its boundaries are."""
        return forall(
            self.entries,
            lambda e: implies(
                self.stream[e] == t and self.is_tuple(logs, e), not self.is_excluded(logs, e)
            ),
        )


def source_fields(lengths: tuple[int, ...], buckets: int, width: int) -> dict[str, Any]:
    """Return the fields of a model at a size: all logs that sources can write, disciplined or not.

    Parameters
    ----------
    lengths : per stream, the entries of its log
    buckets : their number; boundaries stand at their ends
    width : of a bucket, in units of time
    """
    streams, entries = Domain(Stream, len(lengths)), Domain(Entry, sum(lengths))
    places = [(t, position) for t in streams for position in range(lengths[t.index])]
    tuples = [Written(Kind.TUPLE, time, time // width) for time in range(buckets * width)]
    boundaries = [Written(Kind.BOUNDARY, b * width, b) for b in range(1, buckets + 1)]
    written = tuple(itertools.product(tuples + boundaries, repeat=len(places)))
    worlds = Domain(World, len(written))
    return {
        "streams": streams,
        "entries": entries,
        "worlds": worlds,
        "number": Map.build(streams, lambda t: t.index),
        "stream": Map.build(entries, lambda e: places[e.index][0]),
        "position": Map.build(entries, lambda e: places[e.index][1]),
        "may_be_written": Map.build(worlds, entries, lambda w, e: written[w.index][e.index]),
    }
