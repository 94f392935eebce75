"""Mistakes in SUNION that its model must catch.

Each is one changed function of the protocol, or one changed assumption about sources and streams.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import action, exists, forall, require
from streamproof.lang.machine import replaced
from streamproof.models.kit.mutant import Mutant
from streamproof.models.sunion.output import Output
from streamproof.models.sunion.source_log import Entry, Kind, Logs, Stream
from streamproof.models.sunion.sunion import Machine, MachineStep, Node, Replica, Sunion, System
from streamproof.protocols import sunion as protocol
from streamproof.protocols.sunion import EmitStable


def emitted(serializer: Machine, end: int) -> MachineStep:
    """Emit up to a bucket, as the protocol does, without asking whether it is complete."""
    return replace(serializer, emitted=end), (EmitStable(serializer.emitted, end),)


def emit_at_one_boundary(serializer: Machine, end: int) -> MachineStep:
    """Ask for one boundary instead of all."""
    boundary = serializer.boundary
    require(serializer.emitted < end and exists(boundary, lambda t: boundary[t] >= end))
    return emitted(serializer, end)


class OneBoundary(Sunion):
    """A bucket counts as complete as soon as one stream has passed it (SU-existsB)."""

    machine = replaced(protocol, emit=emit_at_one_boundary)


def emit_at_any_time(serializer: Machine, end: int) -> MachineStep:
    """Emit at any time."""
    require(serializer.emitted < end)
    return emitted(serializer, end)


class NoBoundary(Sunion):
    """Boundaries are not asked for, as if each tuple that has arrived were the last one.

    Short id: SU-nobnd.
    """

    machine = replaced(protocol, emit=emit_at_any_time)


def emit_at_the_beginning(serializer: Machine, end: int) -> MachineStep:
    """Ask for the bucket's beginning instead of its end."""
    boundary = serializer.boundary
    require(serializer.emitted < end and forall(boundary, lambda t: boundary[t] >= end - 1))
    return emitted(serializer, end)


class OffByOne(Sunion):
    """A bucket counts as complete as soon as all streams have reached it (SU-offbyone)."""

    machine = replaced(protocol, emit=emit_at_the_beginning)


def emit_after_the_next(serializer: Machine, end: int) -> MachineStep:
    """Ask for the next bucket's end."""
    boundary = serializer.boundary
    require(serializer.emitted < end and forall(boundary, lambda t: boundary[t] > end))
    return emitted(serializer, end)


class TooStrict(Sunion):
    """A bucket counts as complete once all streams have passed the next one as well (SU-strict)."""

    machine = replaced(protocol, emit=emit_after_the_next)


def learn_nothing(serializer: Machine, stream: Stream, bucket: int) -> MachineStep:
    """Learn nothing."""
    del stream, bucket
    return serializer, ()


class BoundaryIgnored(Sunion):
    """Boundaries are read and not noted (SU-deaf)."""

    machine = replaced(protocol, on_boundary=learn_nothing)


def note_the_last_boundary(serializer: Machine, stream: Stream, bucket: int) -> MachineStep:
    """Note the last boundary instead of the greatest."""
    boundary = serializer.boundary.set(stream, bucket)
    return replace(serializer, boundary=boundary), ()


class BoundaryBack(Sunion):
    """A boundary that says less takes back what an earlier one has said (SU-back)."""

    machine = replaced(protocol, on_boundary=note_the_last_boundary)


def note_for_all_streams(serializer: Machine, stream: Stream, bucket: int) -> MachineStep:
    """Note the boundary everywhere."""
    del stream
    further = serializer.boundary.map(lambda old: max(old, bucket))
    return replace(serializer, boundary=further), ()


class AnyStream(Sunion):
    """A boundary is taken to speak of all streams (SU-anystream)."""

    machine = replaced(protocol, on_boundary=note_for_all_streams)


def never_late(serializer: Machine, stream: Stream, bucket: int) -> bool:
    """Call nothing late."""
    del serializer, stream, bucket
    return False


class AcceptLate(Sunion):
    """A late tuple is put into the buffer like any other (SU-acceptlate)."""

    machine = replaced(protocol, is_late=never_late)


class UndisciplinedSource(Sunion):
    """Nothing may be lost, even if a source breaks its promise (SU-undisciplined)."""

    def is_disciplined(self, logs: Logs, t: Stream) -> bool:
        """Excuse no loss."""
        del logs, t
        return True


class BoundaryOvertakes(Sunion):
    """A boundary may overtake the tuples ahead of it (SU-overtake)."""

    @action
    def overtake(self, s: System, r: Replica, e: Entry) -> System:
        """Replica r reads a boundary early."""
        require(s.logs[e].kind == Kind.BOUNDARY and not self.has_read(s.nodes[r], e))
        return replace(s, nodes=s.nodes.set(r, self.receive(s, s.nodes[r], e)))


class Union(Sunion):
    """A tuple comes out when it arrives, as from a union of the streams (SU-union)."""

    def receive(self, s: System, node: Node, e: Entry) -> Node:
        """Emit a tuple at once."""
        received = super().receive(s, node, e)
        output = received.output.append(lambda x: received.buffer[x], lambda _x, _y: False)
        return replace(received, buffer=node.buffer, output=output)


class ArrivalOrder(Sunion):
    """The tuples of a bucket come out in the order in which they arrived (DPC-arrival)."""

    def receive(self, s: System, node: Node, e: Entry) -> Node:
        """Note behind which waiting tuples a tuple arrives."""
        received = super().receive(s, node, e)
        before = node.output.before.map_items(
            lambda x, y, was: was or (node.buffer[x] and received.buffer[y] and y == e)
        )
        return replace(received, output=Output(node.output.contains, before))

    def precedes(self, s: System, node: Node, x: Entry, y: Entry) -> bool:
        """Look at what the node has seen."""
        del s
        return node.output.before[x, y]


class WithoutTime(Sunion):
    """Within a bucket, one stream comes out after the other (SU-notime)."""

    def precedes(self, s: System, node: Node, x: Entry, y: Entry) -> bool:
        """Order by stream and position."""
        del s, node
        return (self.number[self.stream[x]], self.position[x]) < (
            self.number[self.stream[y]],
            self.position[y],
        )


class TimeAlone(Sunion):
    """Tuples are ordered by their times, and those of one time not at all (SU-timealone)."""

    def precedes(self, s: System, node: Node, x: Entry, y: Entry) -> bool:
        """Order by time."""
        del node
        return s.logs[x].time < s.logs[y].time


class PositionFirst(Sunion):
    """Tuples of one time are ordered by position, and only then by stream (SU-positionfirst)."""

    def precedes(self, s: System, node: Node, x: Entry, y: Entry) -> bool:
        """Order by time, position and stream."""
        del node
        first, second = self.key(s.logs, x), self.key(s.logs, y)
        return (first.time, first.position, first.stream) < (
            second.time,
            second.position,
            second.stream,
        )


def emit_the_last_bucket(serializer: Machine, end: int) -> MachineStep:
    """Leave out what comes before the last bucket."""
    after, _ = protocol.emit(serializer, end)
    return after, (EmitStable(end - 1, end),)


class SkipBuckets(Sunion):
    """All complete buckets count as emitted, and only the last one is (SU-gap)."""

    machine = replaced(protocol, emit=emit_the_last_bucket)


class EmitAgain(Sunion):
    """What was emitted stays in the buffer, and comes out once more with the next bucket.

    Short id: SU-again.
    """

    def emit_stable(self, s: System, node: Node, begin: int, end: int) -> Node:
        """Emit from the first bucket on, and forget nothing."""
        del begin
        return replace(super().emit_stable(s, node, 0, end), buffer=node.buffer)


_ONE_BUCKET = {"lengths": (2, 2), "buckets": 1, "replicas": 1}

MUTANTS = (
    Mutant(
        "sunion/one-boundary",
        OneBoundary,
        {"lengths": (2, 1), "buckets": 1},
        "nothing_is_lost",
        2,
        "a bucket is emitted whose tuples of another stream are still to come",
    ),
    Mutant(
        "sunion/no-boundary",
        NoBoundary,
        {"lengths": (2,), "buckets": 1},
        "nothing_is_lost",
        1,
        "a bucket is emitted before anything of it was read",
    ),
    Mutant(
        "sunion/off-by-one",
        OffByOne,
        {"lengths": (2,), "buckets": 1},
        "nothing_is_lost",
        1,
        "a bucket is emitted that a stream has just begun",
    ),
    Mutant(
        "sunion/too-strict",
        TooStrict,
        {"lengths": (2,), "buckets": 1},
        "deadlock",
        4,
        "the last bucket never comes out",
    ),
    Mutant(
        "sunion/boundary-ignored",
        BoundaryIgnored,
        {"lengths": (2,), "buckets": 1},
        "complete_buckets_come_out",
        4,
        "nothing ever comes out",
    ),
    Mutant(
        "sunion/boundary-back",
        BoundaryBack,
        {"lengths": (4,), "buckets": 2, "replicas": 1},
        "output_is_a_prefix_of_the_merge",
        5,
        "a tuple is accepted that a replica which has emitted its bucket must refuse",
    ),
    Mutant(
        "sunion/any-stream",
        AnyStream,
        {"lengths": (2, 1), "buckets": 1},
        "nothing_is_lost",
        2,
        "a stream's tuples are late because another stream is ahead",
    ),
    Mutant(
        "sunion/accept-late",
        AcceptLate,
        {"lengths": (3,), "buckets": 1},
        "output_is_a_prefix_of_the_merge",
        3,
        "a late tuple comes out at a replica that has not emitted its bucket yet",
    ),
    Mutant(
        "sunion/undisciplined-source",
        UndisciplinedSource,
        {"lengths": (2,), "buckets": 1},
        "nothing_is_lost",
        2,
        "a source breaks its promise, and its tuple is lost",
    ),
    Mutant(
        "sunion/boundary-overtakes",
        BoundaryOvertakes,
        {"lengths": (2,), "buckets": 1},
        "nothing_is_lost",
        2,
        "a bucket is emitted whose tuple was overtaken by its boundary",
    ),
    Mutant(
        "sunion/union",
        Union,
        {"lengths": (2, 1), "buckets": 1},
        "output_is_a_prefix_of_the_merge",
        1,
        "what arrives first comes out first",
    ),
    Mutant(
        "sunion/arrival-order",
        ArrivalOrder,
        _ONE_BUCKET,
        "output_is_a_prefix_of_the_merge",
        5,
        "two streams come out as they happened to arrive",
    ),
    Mutant(
        "sunion/without-time",
        WithoutTime,
        {**_ONE_BUCKET, "width": 2},
        "output_is_a_prefix_of_the_merge",
        5,
        "a later tuple comes out before an earlier one of its bucket",
    ),
    Mutant(
        "sunion/time-alone",
        TimeAlone,
        _ONE_BUCKET,
        "output_is_a_prefix_of_the_merge",
        5,
        "the order of two tuples of one time is left to chance",
    ),
    Mutant(
        "sunion/position-first",
        PositionFirst,
        {"lengths": (3, 2), "buckets": 1, "replicas": 1},
        "output_is_a_prefix_of_the_merge",
        6,
        "the order is total, and not the one that all others go by",
    ),
    Mutant(
        "sunion/skip-buckets",
        SkipBuckets,
        {"lengths": (2,), "buckets": 2},
        "claims.carry_out",
        2,
        "whoever reads the output takes a bucket for empty that was left out",
    ),
    Mutant(
        "sunion/emit-again",
        EmitAgain,
        {"lengths": (2,), "buckets": 2},
        "nothing_comes_twice",
        4,
        "a tuple comes out with its bucket and again with the next one",
    ),
)
