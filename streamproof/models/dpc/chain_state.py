"""States of a chain of DPC nodes with a clock, and what is due in a state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, TypeAlias

from streamproof.lang import Domain, Element, Map, Range, count, forall
from streamproof.models.dpc.node import NodeModel
from streamproof.models.dpc.state import Bucket, Machine, Stream
from streamproof.protocols.dpc import Condition, Policy


class Hop(Element):
    """A place in the chain, with a node."""


class Label(Enum):
    """What a node has emitted of a bucket, and not revoked."""

    NONE = "none"
    TENTATIVE = "tentative"
    STABLE = "stable"


Labels: TypeAlias = Map[tuple[Hop, Bucket], Label]
Time = Annotated[int, Range(0, "end")]


@dataclass(frozen=True, slots=True)
class Chain:
    """The nodes and the clock.

    Attributes
    ----------
    policy : what the user has chosen, for all nodes
    clock : now, in ticks
    stalled : the source that may stall gives nothing
    stalled_since : when it last began to stall
    stalled_long : it has once stalled for as long as a node waits
    label : per node and bucket, what the node has emitted
    first : per node and bucket, when it emitted something of it for the first time; 0 if never
    """

    policy: Policy
    clock: Time
    stalled: bool
    stalled_since: Time
    stalled_long: bool
    stalls_left: Annotated[int, Range(0, "stalls")]
    nodes: Map[Hop, Machine]
    label: Labels
    first: Map[tuple[Hop, Bucket], Time]


@dataclass(frozen=True)
class ChainModel(NodeModel[Chain]):
    """A chain of nodes. The first reads two sources, and each other one the node before it.

    Attributes
    ----------
    before : the node before a node; of no meaning for the first
    is_first : whether a node reads the sources
    is_read : whether a node has an input; one that it has not counts as having ended
    may_stall : whether an input may stall
    number : of a bucket, is also the tick in which it begins
    wait : alpha X, the ticks that a node waits for a boundary that is due
    bound : X, the ticks that a user accepts to wait in all; more than `wait`, and less than twice
    end : the clock's last tick
    """

    hops: Domain[Hop]
    before: Map[Hop, Hop]
    is_first: Map[Hop, bool]
    is_read: Map[tuple[Hop, Stream], bool]
    may_stall: Map[Stream, bool]
    wait: int
    bound: int
    stalls: int
    end: int

    # ----------------------------------------------------------------------- what is read

    def given(self, s: Chain, h: Hop, a: Stream) -> int:
        """Return the boundary on a node's input."""
        if not self.is_first[h]:
            return s.nodes[self.before[h]].serializer.emitted
        is_silent = s.stalled and self.may_stall[a]
        return s.stalled_since if is_silent else s.clock

    def can_read(self, s: Chain, h: Hop, a: Stream) -> bool:
        """Return whether there is a boundary that a node has not read."""
        return self.is_read[h, a] and s.nodes[h].serializer.boundary[a] < self.given(s, h, a)

    # ----------------------------------------------------------------------- what is due

    def is_due(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether a node has to do something about a bucket before the clock goes on."""
        node = s.nodes[h]
        if self.is_whole(s, h, b) and node.condition != Condition.UP_FAILURE:
            return node.serializer.emitted <= self.number[b]
        return self.must_guess(s, h, b)

    def is_whole(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether all inputs of a node have come behind a bucket."""
        boundary = s.nodes[h].serializer.boundary
        return forall(self.streams, lambda a: boundary[a] > self.number[b])

    def must_guess(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether the policy owes the tuple of a bucket now, complete or not."""
        is_failing = s.nodes[h].condition == Condition.UP_FAILURE
        if is_failing and s.policy != Policy.DELAY:
            return s.policy == Policy.PROCESS and self.is_waiting(s, h, b)
        return self.is_waiting(s, h, b) and self.has_waited(s, h, b)

    def is_waiting(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether the tuple of a bucket has come to a node, which has not emitted it."""
        return self.has_tuple(s, h, b) and s.label[h, b] == Label.NONE

    def has_waited(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether a bucket may wait no longer at a node."""
        return s.clock >= self.waits_since(s, h, b) + self.wait

    def has_tuple(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether the tuple of a bucket has come to a node."""
        if self.is_first[h]:
            return self.number[b] <= s.clock
        return s.label[self.before[h], b] != Label.NONE

    def waits_since(self, s: Chain, h: Hop, b: Bucket) -> int:
        """Return since when a node waits: since the boundary was due, wherever it is missing."""
        del s, h
        return self.number[b] + 1

    # ----------------------------------------------------------------------- what is emitted

    def kept(self, s: Chain, h: Hop, b: Bucket) -> Map[Bucket, bool]:
        """Return the buckets behind a node's checkpoint, up to b, whose tuple has come."""
        return self.come(s, h, s.nodes[h].serializer.emitted, self.number[b] + 1)

    def unshown(self, s: Chain, h: Hop, b: Bucket) -> Map[Bucket, bool]:
        """Return the buckets behind a node's checkpoint, up to b, that the node has not emitted."""
        return self.kept(s, h, b).map_items(
            lambda c, has_come: has_come and s.label[h, c] == Label.NONE
        )

    def come(self, s: Chain, h: Hop, begin: int, end: int) -> Map[Bucket, bool]:
        """Return the buckets of a range whose tuple has come to a node."""
        return Map.build(
            self.buckets, lambda b: begin <= self.number[b] < end and self.has_tuple(s, h, b)
        )


def labelled(labels: Labels, h: Hop, chosen: Map[Bucket, bool], old: Label, new: Label) -> Labels:
    """Label anew what has an old label, of a node's chosen buckets."""
    return labels.map_items(
        lambda g, b, label: new if g == h and chosen[b] and label == old else label
    )


def size(chosen: Map[Bucket, bool]) -> int:
    """Count the chosen buckets, each of which has one tuple."""
    return count(chosen, lambda b: chosen[b])
