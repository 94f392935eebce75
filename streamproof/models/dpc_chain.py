"""DPC nodes in a chain, with a clock: a user waits X in all, and not X at each node.

All nodes begin to wait when a boundary is missing, so they wait at the same time: each measures
from when the boundary was due, not from when it heard the first tentative tuple.

What is abstracted away, and why that is sound
----------------------------------------------
* Time goes in ticks. A bucket is one tick long and has one tuple, from a source that never stalls.
  The other source has boundaries alone, and its stall is what the tuple has to wait for.
* Whatever is due happens before the clock goes on, since the bound is about waiting and leaves
  processing out. Permission to stabilize takes as long as it likes.
* The policy is DELAY, under which each bucket waits for as long as it may. Under PROCESS a tuple is
  emitted no later.
* What passes between nodes is a label for each bucket: a node reads the boundaries that the one
  before it emits, and the tuples as they are labelled last. What an operator makes of them is in
  `models/dpc.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Any, ClassVar, TypeAlias, assert_never

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    Range,
    action,
    always,
    count,
    eventually,
    exists,
    final,
    forall,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.models.dpc_state import Bucket, Machine, Stream
from streamproof.protocols import dpc as protocol
from streamproof.protocols.dpc import (
    Condition,
    EmitTentative,
    NodeEffect,
    Policy,
    RecDone,
    TakeCheckpoint,
    Undo,
    initial_node,
)
from streamproof.protocols.sunion import EmitStable, is_complete


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
    clock : now, in ticks
    stalled : the source that may stall gives nothing
    stalled_since : when it last began to stall
    stalled_long : it has once stalled for as long as a node waits
    label : per node and bucket, what the node has emitted
    first : per node and bucket, when it emitted something of it for the first time; 0 if never
    """

    clock: Time
    stalled: bool
    stalled_since: Time
    stalled_long: bool
    stalls_left: Annotated[int, Range(0, "stalls")]
    nodes: Map[Hop, Machine]
    label: Labels
    first: Map[tuple[Hop, Bucket], Time]


@dataclass(frozen=True)
class DpcChain(Model[Chain]):
    """A chain of nodes. The first reads two sources, and each other one the node before it.

    Attributes
    ----------
    before : the node before a node; of no meaning for the first
    is_first : whether a node reads the sources
    is_read : whether a node has an input; one that it has not counts as having ended
    may_stall : whether an input may stall
    number : a bucket's number, which is also the tick in which it begins
    wait : alpha X, the ticks that a node waits for a boundary that is due
    bound : X, the ticks that a user accepts to wait in all; more than `wait`, and less than twice
    end : the clock's last tick
    """

    protocol_name: ClassVar[str] = "dpc"
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"buckets": 1},
        "default": {"buckets": 2, "stalls": 2},
        "long": {"hops": 3, "buckets": 1},
    }

    hops: Domain[Hop]
    streams: Domain[Stream]
    buckets: Domain[Bucket]
    before: Map[Hop, Hop]
    is_first: Map[Hop, bool]
    is_read: Map[tuple[Hop, Stream], bool]
    may_stall: Map[Stream, bool]
    number: Map[Bucket, int]
    wait: int
    bound: int
    stalls: int
    end: int

    @classmethod
    def sized(
        cls, *, hops: int = 2, buckets: int = 2, wait: int = 2, bound: int = 3, stalls: int = 1
    ) -> DpcChain:
        """Build the model of a size.

        Parameters
        ----------
        hops, buckets : how many there are
        wait, bound : alpha X and X, in ticks
        stalls : how often the source may stall
        """
        chain, streams, some = Domain(Hop, hops), Domain(Stream, 2), Domain(Bucket, buckets)
        return cls(
            hops=chain,
            streams=streams,
            buckets=some,
            before=Map.build(chain, lambda h: Hop(max(h.index - 1, 0))),
            is_first=Map.build(chain, lambda h: h.index == 0),
            is_read=Map.build(chain, streams, lambda h, a: h.index == 0 or a.index == 0),
            may_stall=Map.build(streams, lambda a: a.index == 1),
            number=Map.build(some, lambda b: b.index),
            wait=wait,
            bound=bound,
            stalls=stalls,
            end=buckets + bound + wait,
        )

    @init
    def start(self) -> Chain:
        """The first bucket begins."""

        def boundaries(h: Hop) -> Map[Stream, int]:
            return Map.build(self.streams, lambda a: 0 if self.is_read[h, a] else self.end)

        return Chain(
            clock=0,
            stalled=False,
            stalled_since=0,
            stalled_long=False,
            stalls_left=self.stalls,
            nodes=Map.build(self.hops, lambda h: initial_node(boundaries(h), 0)),
            label=Map.fill(self.hops, self.buckets, Label.NONE),
            first=Map.fill(self.hops, self.buckets, 0),
        )

    # ----------------------------------------------------------------------- time

    @action(fairness=Fairness.WEAK)
    def tick(self, s: Chain) -> Chain:
        """The clock goes on, once all is done that is due."""
        require(s.clock < self.end)
        require(forall(self.hops, self.streams, lambda h, a: not self.can_read(s, h, a)))
        require(forall(self.hops, self.buckets, lambda h, b: not self.is_due(s, h, b)))
        now = s.clock + 1
        is_long = s.stalled & (now - s.stalled_since >= self.wait)
        return replace(s, clock=now, stalled_long=s.stalled_long | is_long)

    def is_due(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Tell whether a node has to do something about a bucket before the clock goes on."""
        node = s.nodes[h]
        is_failing = node.condition == Condition.UP_FAILURE
        if is_complete(node.serializer, self.number[b] + 1) and not is_failing:
            return node.serializer.emitted <= self.number[b]
        return self.is_overdue(s, h, b)

    def is_overdue(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Tell whether a node has waited too long with the tuple of a bucket."""
        is_waiting = self.has_tuple(s, h, b) and s.label[h, b] == Label.NONE
        return is_waiting and s.clock >= self.waits_since(s, h, b) + self.wait

    def has_tuple(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Tell whether the tuple of a bucket has come to a node."""
        if self.is_first[h]:
            return self.number[b] <= s.clock
        return s.label[self.before[h], b] != Label.NONE

    def waits_since(self, s: Chain, h: Hop, b: Bucket) -> int:
        """Say since when a node waits: since the boundary was due, wherever it is missing."""
        del s, h
        return self.number[b] + 1

    # ----------------------------------------------------------------------- what is read

    def given(self, s: Chain, h: Hop, a: Stream) -> int:
        """Give the boundary on a node's input."""
        if not self.is_first[h]:
            return s.nodes[self.before[h]].serializer.emitted
        is_silent = s.stalled and self.may_stall[a]
        return s.stalled_since if is_silent else s.clock

    def can_read(self, s: Chain, h: Hop, a: Stream) -> bool:
        """Tell whether there is a boundary that a node has not read."""
        return self.is_read[h, a] and s.nodes[h].serializer.boundary[a] < self.given(s, h, a)

    @action(fairness=Fairness.WEAK)
    def read_boundary(self, s: Chain, h: Hop, a: Stream) -> Chain:
        """A node reads that nothing follows of earlier buckets."""
        require(self.can_read(s, h, a))
        node, _ = protocol.on_boundary(s.nodes[h], a, self.given(s, h, a))
        return replace(s, nodes=s.nodes.set(h, node))

    @action
    def stall(self, s: Chain) -> Chain:
        """The source stalls."""
        require(s.stalls_left > 0 and not s.stalled)
        return replace(s, stalled=True, stalled_since=s.clock, stalls_left=s.stalls_left - 1)

    @action(fairness=Fairness.WEAK)
    def heal(self, s: Chain) -> Chain:
        """The source gives again, and all that it owes."""
        require(s.stalled)
        return replace(s, stalled=False)

    # ----------------------------------------------------------------------- what is emitted

    @action(fairness=Fairness.WEAK)
    def emit(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node emits what is complete."""
        number = count(self.buckets, lambda c: self.is_kept(s, h, c, b))
        node, effects = protocol.emit(s.nodes[h], self.number[b] + 1, number)
        return self.carry_out(s, h, node, effects)

    @action
    def time_out(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node goes on without a boundary."""
        require(self.is_overdue(s, h, b))
        number = count(
            self.buckets,
            lambda c: self.is_kept(s, h, c, b) and s.label[h, c] == Label.NONE,
        )
        node, effects = protocol.on_timeout(s.nodes[h], Policy.DELAY, self.number[b] + 1, number)
        return self.carry_out(s, h, node, effects)

    @action(fairness=Fairness.WEAK)
    def stabilize(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node begins to correct, if no bucket behind this one has waited too long."""
        oldest = s.clock - self.wait
        require(
            forall(
                self.buckets,
                lambda c: self.number[c] <= self.number[b] or oldest <= self.number[c],
            )
        )
        node, effects = protocol.stabilize(s.nodes[h], self.number[b] + 1)
        return self.carry_out(s, h, node, effects)

    def is_kept(self, s: Chain, h: Hop, c: Bucket, b: Bucket) -> bool:
        """Tell whether the tuple of c is at a node, behind its checkpoint, and not behind b."""
        is_near = s.nodes[h].serializer.emitted <= self.number[c] <= self.number[b]
        return is_near and self.has_tuple(s, h, c)

    def carry_out(self, s: Chain, h: Hop, node: Machine, effects: tuple[NodeEffect, ...]) -> Chain:
        """Label buckets as a node has just emitted or revoked them."""
        label = s.label
        for effect in effects:
            match effect:
                case EmitStable():
                    label = self.labelled(label, s, h, effect, Label.STABLE)
                case EmitTentative():
                    label = self.labelled(label, s, h, effect, Label.TENTATIVE)
                case Undo():
                    label = label.map_items(
                        lambda g, _, old: Label.NONE if g == h and old == Label.TENTATIVE else old
                    )
                case TakeCheckpoint() | RecDone():
                    pass
                case _:
                    assert_never(effect)
        first = s.first.map_items(
            lambda g, b, time: s.clock if time == 0 and label[g, b] != Label.NONE else time
        )
        return replace(s, nodes=s.nodes.set(h, node), label=label, first=first)

    def labelled(
        self, labels: Labels, s: Chain, h: Hop, emission: EmitStable | EmitTentative, label: Label
    ) -> Labels:
        """Label what a node has of a range of buckets and has not labelled."""
        return labels.map_items(
            lambda g, b, old: (
                label
                if g == h
                and emission.begin <= self.number[b] < emission.end
                and self.has_tuple(s, h, b)
                and old == Label.NONE
                else old
            )
        )

    # ----------------------------------------------------------------------- properties

    @always
    def in_time(self, s: Chain) -> bool:
        """P3: nobody waits longer than X for a tuple, however many nodes it has passed."""
        return forall(
            s.first,
            lambda h, b: implies(s.clock > self.number[b] + 1 + self.bound, s.first[h, b] > 0),
        )

    @always
    def short_stalls_are_not_seen(self, s: Chain) -> bool:
        """P6: a stall that is shorter than the wait makes nothing tentative."""
        nothing_is = forall(s.label, lambda h, b: s.label[h, b] != Label.TENTATIVE)
        return s.stalled_long or nothing_is

    @always
    def stable_comes_from_stable(self, s: Chain) -> bool:
        """What a node emits as stable, the node before it has emitted as stable."""
        return forall(
            s.label,
            lambda h, b: implies(
                s.label[h, b] == Label.STABLE and not self.is_first[h],
                s.label[self.before[h], b] == Label.STABLE,
            ),
        )

    @eventually
    def everything_is_corrected(self, s: Chain) -> bool:
        """P4: if stalls end, then in the end everything is stable."""
        return self.is_settled(s)

    def is_settled(self, s: Chain) -> bool:
        """Tell whether all nodes are STABLE and have emitted everything."""
        return forall(self.hops, lambda h: s.nodes[h].condition == Condition.STABLE) and forall(
            s.label, lambda h, b: s.label[h, b] == Label.STABLE
        )

    @final
    def quiet(self, s: Chain) -> bool:
        """The clock stops; that everything is corrected by then is promised above."""
        return s.clock == self.end

    @sometimes
    def all_nodes_guess(self, s: Chain) -> bool:
        """A failure goes through the whole chain."""
        return forall(self.hops, lambda h: s.nodes[h].condition == Condition.UP_FAILURE)

    @sometimes
    def a_correction_is_on_its_way(self, s: Chain) -> bool:
        """A node shows as tentative what the one before it has corrected."""
        return exists(
            s.label,
            lambda h, b: (
                s.label[h, b] == Label.TENTATIVE and s.label[self.before[h], b] == Label.STABLE
            ),
        )

    @sometimes
    def a_stall_is_not_noticed(self, s: Chain) -> bool:
        """Short stalls are over, and the clock stops."""
        return s.stalls_left < self.stalls and not s.stalled_long and self.quiet(s)


MODEL = DpcChain
