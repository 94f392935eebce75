"""SUNION: several streams become one. Its order is the same for all replicas.

Time is cut into *buckets*. A *boundary* on a stream says that no tuple of an earlier bucket will
follow on it. Once the boundaries of all streams lie behind a bucket, its tuples are complete, and
they are emitted in an order that depends on the tuples alone: by time, then stream, then position
in the stream. So two replicas that read the same streams emit the same tuples in the same order,
whatever arrived when [BBMS08, section 4.2].

A machine works on bucket numbers, never on tuples: one step may emit a million rows.

Assumptions
-----------
* A source's log is persistent: every replica reads the same, in the same order
  (mutant `boundary-overtakes`), and positions within a stream are unique.
* A source is disciplined: behind a boundary it writes no tuple of an earlier bucket. One that it
  writes all the same is late (`is_late`) and no part of the merged stream. Replicas agree even
  then, but the tuple is lost (mutants `undisciplined-source`, `accept-late`).
* Whoever carries out `EmitStable` sorts by `precedes`, never by arrival (mutant `arrival-order`).

Deviations from the paper
-------------------------
* A step may emit any number of complete buckets at once.
* What is emitted before it is complete is the business of `dpc`; this machine alone never emits a
  tentative tuple, and waits for as long as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from streamproof.lang import Domain, Map, Step, forall, require

Stream = TypeVar("Stream")


@dataclass(frozen=True, slots=True)
class Serializer(Generic[Stream]):
    """How far each stream has come, and how far the merged stream.

    Attributes
    ----------
    boundary : per stream, the first bucket of which tuples may still arrive
    emitted : the first bucket that has not been emitted
    """

    boundary: Map[Stream, int]
    emitted: int


@dataclass(frozen=True, slots=True)
class EmitStable:
    """Emit all tuples of some buckets in the order of `precedes`, then the boundary `end`.

    Attributes
    ----------
    begin, end : from which bucket on, and the first one behind them
    """

    begin: int
    end: int


SerializerStep: TypeAlias = Step[Serializer[Stream], EmitStable]


@dataclass(frozen=True, slots=True)
class Key:
    """All that a tuple's place in the merged stream depends on.

    Attributes
    ----------
    time : of the tuple, in any unit; an earlier time never has a later bucket
    stream : the number of its stream, the same at every replica
    position : in its stream
    """

    time: int
    stream: int
    position: int


def precedes(first: Key, second: Key) -> bool:
    """Return whether one tuple comes out before another, whichever arrived first.

    The order is total, since no two tuples have one key (mutant `time-alone`).
    """
    return (first.time, first.stream, first.position) < (
        second.time,
        second.stream,
        second.position,
    )


def initial_serializer(streams: Domain[Stream], first: int) -> Serializer[Stream]:
    """Return the machine before it has learned anything.

    Parameters
    ----------
    streams : those that are merged
    first : the bucket that the merged stream begins with; tuples of earlier ones are late
    """
    return Serializer(boundary=Map.fill(streams, first), emitted=first)


def is_late(serializer: Serializer[Stream], stream: Stream, bucket: int) -> bool:
    """Return whether a tuple comes behind a boundary that says that it will not come."""
    return bucket < serializer.boundary[stream]


def on_boundary(
    serializer: Serializer[Stream], stream: Stream, bucket: int
) -> SerializerStep[Stream]:
    """Note that nothing of earlier buckets follows on a stream [BBMS08, section 4.2].

    Parameters
    ----------
    serializer : this replica's, before the boundary
    bucket : the first one of which tuples may still arrive; a boundary that says less than an
        earlier one says nothing
    """
    if bucket <= serializer.boundary[stream]:
        return serializer, ()
    return replace(serializer, boundary=serializer.boundary.set(stream, bucket)), ()


def is_complete(serializer: Serializer[Stream], end: int) -> bool:
    """Return whether every tuple of the buckets before `end` has arrived."""
    return forall(serializer.boundary, lambda stream: serializer.boundary[stream] >= end)


def emit(serializer: Serializer[Stream], end: int) -> SerializerStep[Stream]:
    """Emit the buckets up to `end`, all of which are complete [BBMS08, section 4.2].

    Parameters
    ----------
    serializer : this replica's, before the buckets
    end : the first bucket that is not emitted; best the least of all boundaries
    """
    require(serializer.emitted < end and is_complete(serializer, end))
    return replace(serializer, emitted=end), (EmitStable(serializer.emitted, end),)
