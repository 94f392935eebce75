"""Pairs in a Flux dataflow: how a failed copy is replaced, and what must hold of the lanes.

The abstractions are listed in `flux.py`. A failure takes down one copy of one partition there. In
`exchange.py` it takes down a node, with a copy of every partition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from streamproof.lang import (
    Map,
    action,
    always,
    exists,
    final,
    forall,
    implies,
    leads_to,
    require,
    sometimes,
)
from streamproof.models.flux.lanes import Lanes
from streamproof.models.flux.state import Applied, Copy, Lane, Partition, State
from streamproof.protocols import flux as protocol
from streamproof.protocols.flux import Producer

Producers = Map[tuple[Lane, Copy], Producer[Copy]]


@dataclass(frozen=True)
class Pairs(Lanes):
    """Partitions whose copies are replaced when they have failed."""

    machine = protocol

    def ruled_out(self) -> Collection[str]:
        """Return what needs an ack, a failure or a repair, where a size has none."""
        fail = [p for p in self.partitions if self.may_fail[p] > 0]
        is_possible = {
            "acknowledge": self.acks_max > 0,
            "receive_ack": self.acks_max > 0,
            "fail": bool(fail),
            "begin_to_retain": self.repairs and any(self.has_inputs(p) for p in fail),
            "fold_in": self.repairs and bool(fail),
        }
        return [name for name, possible in is_possible.items() if not possible]

    # ----------------------------------------------------------------------- failures

    def without(self, s: State, is_lost: Callable[[Partition, Copy], bool]) -> State:
        """Take lost copies down; what the consumers among them have applied is forgotten."""

        def forgets(x: Lane, d: Copy) -> bool:
            return is_lost(self.sink[x], d)

        return replace(
            s,
            up=s.up.map_items(lambda p, c, was: was and not is_lost(p, c)),
            consumers=s.consumers.map_items(
                lambda x, d, m: replace(m, next=0) if forgets(x, d) else m
            ),
            applied=s.applied.map_items(
                lambda x, d, m: Applied(0, is_right=True) if forgets(x, d) else m
            ),
        )

    # ----------------------------------------------------------------------- catch-up

    @action
    def begin_to_retain(self, s: State, p: Partition, c: Copy, o: Copy) -> State:
        """All producers of partition p retain tuples for a new copy c of it, as for survivor o."""
        require(self.repairs and o != c and s.up[p, o] and not s.up[p, c])
        require(not s.retaining[p, c] and self.has_inputs(p))
        retain = self.machine.retain

        def told(x: Lane, a: Copy, producer: Producer[Copy]) -> Producer[Copy]:
            if self.sink[x] == p and s.up[self.source[x], a]:
                return retain(producer, c, o)[0]
            return producer

        return replace(
            s,
            retaining=s.retaining.set((p, c), True),
            producers=s.producers.map_items(told),
        )

    @action
    def fold_in(self, s: State, p: Partition, c: Copy, o: Copy) -> State:
        """A new copy c of partition p begins in the state of survivor o, and takes its place."""
        require(self.repairs and o != c and s.up[p, o] and not s.up[p, c])
        require(s.retaining[p, c] or not self.has_inputs(p))
        require(forall(self.lanes, self.copies, lambda x, a: self.may_consume(s, p, c, o, x, a)))
        require(forall(self.lanes, lambda x: self.may_produce(s, p, o, x)))

        def joined(x: Lane, d: Copy) -> bool:
            return self.sink[x] == p and d == c

        return self.reconnected(
            replace(
                s,
                up=s.up.set((p, c), True),
                retaining=s.retaining.set((p, c), False),
                consumers=s.consumers.map_items(
                    lambda x, d, m: (
                        self.machine.transfer_consumer(m, s.consumers[x, o])[0]
                        if joined(x, d)
                        else m
                    )
                ),
                applied=s.applied.map_items(lambda x, d, m: s.applied[x, o] if joined(x, d) else m),
            ),
            s.producers.map_items(lambda x, a, m: self.folded_in(s, p, c, o, x, a, m)),
        )

    def has_inputs(self, p: Partition) -> bool:
        """Return whether a lane leads to a partition; else there is nothing to retain for it."""
        return exists(self.lanes, lambda x: self.sink[x] == p)

    def may_consume(self, s: State, p: Partition, c: Copy, o: Copy, x: Lane, a: Copy) -> bool:
        """Return whether survivor o has passed what producer a does not retain for c in a lane."""
        counts = self.sink[x] == p and s.up[self.source[x], a]
        return implies(counts, self.machine.has_passed(s.consumers[x, o], s.producers[x, a], c))

    def may_produce(self, s: State, p: Partition, o: Copy, x: Lane) -> bool:
        """Return whether what survivor o produced in a lane is settled, and nobody catches up."""
        sink = self.sink[x]
        settled = implies(s.up[sink, o], self.machine.is_settled(s.producers[x, o], o))
        calm = forall(self.copies, lambda d: not s.retaining[sink, d])
        return implies(self.source[x] == p, settled and calm)

    def folded_in(
        self, s: State, p: Partition, c: Copy, o: Copy, x: Lane, a: Copy, producer: Producer[Copy]
    ) -> Producer[Copy]:
        """Return producer copy a as copy c of partition p takes its place beside survivor o."""
        if self.source[x] == p:
            if a == c:
                is_up = s.up[self.sink[x], c]
                return self.machine.transfer_producer(s.producers[x, o], c, is_up)[0]
            return self.machine.fold_in_producer(producer, c)[0]
        if self.sink[x] == p and s.up[self.source[x], a]:
            feeds = a == c or not s.up[self.source[x], c]
            incarnation = s.consumers[x, c].incarnation + 1
            return self.machine.fold_in_consumer(producer, c, incarnation, feeds)[0]
        return producer

    def reconnected(self, s: State, producers: Producers) -> State:
        """Step the producers; nothing is under way in a connection that was made or closed."""

        def received(x: Lane, a: Copy, d: Copy, number: int) -> int:
            before, after = s.producers[x, a].outlets[d], producers[x, a].outlets[d]
            return number if before.feeds and after.feeds else after.sent

        return replace(s, producers=producers, received=s.received.map_items(received))

    # ----------------------------------------------------------------------- properties

    @always
    def copies_agree(self, s: State) -> bool:
        """Whatever a copy has applied is number 0, 1, 2 and so on: none skipped, none twice."""
        return forall(self.lanes, self.copies, lambda x, d: s.applied[x, d].is_right)

    @always
    def nothing_is_lost(self, s: State) -> bool:
        """The next tuple of a live consumer copy is under way to it, or kept, or yet to come."""
        return forall(
            self.lanes,
            self.copies,
            lambda x, d: implies(
                s.up[self.sink[x], d], exists(self.copies, lambda c: self.can_give(s, x, c, d))
            ),
        )

    def can_give(self, s: State, x: Lane, c: Copy, d: Copy) -> bool:
        """Return whether a producer copy can give a consumer copy its next tuple."""
        outlet, number = s.producers[x, c].outlets[d], s.applied[x, d].count
        under_way = outlet.feeds and s.received[x, c, d] <= number
        return s.up[self.source[x], c] and (outlet.begin <= number or under_way)

    @leads_to
    def a_live_consumer_goes_on(self, s: State, x: Lane, d: Copy) -> tuple[bool, bool]:
        """When failures are over, every consumer copy that is up gets all tuples."""
        is_up = s.up[self.sink[x], d]
        return is_up, not is_up or s.applied[x, d].count == self.tuples

    @final
    def complete(self, s: State) -> bool:
        """Every consumer copy that is up has all tuples."""
        return forall(
            self.lanes,
            self.copies,
            lambda x, d: implies(s.up[self.sink[x], d], s.applied[x, d].count == self.tuples),
        )

    @sometimes
    def one_copy_feeds_both(self, s: State) -> bool:
        """The search sees a producer copy that has taken over."""
        return exists(
            self.lanes,
            self.copies,
            lambda x, c: forall(self.copies, lambda d: s.producers[x, c].outlets[d].feeds),
        )
