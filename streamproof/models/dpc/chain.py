"""DPC nodes in a chain, with a clock: a user waits X in all, and not X at each node.

All nodes begin to wait when a boundary is missing, so they wait at the same time: each measures
from when the boundary was due, not from when it heard the first tentative tuple.

What is abstracted away, and why that is sound
----------------------------------------------
* Time goes in ticks. A bucket is one tick long and has one tuple, from a source that never stalls.
  The other source has boundaries alone, and its stall is what the tuple has to wait for.
* Whatever is due happens before the clock goes on, since the bound is about waiting and leaves
  processing out. Permission to stabilize takes as long as it likes.
* A node does what is due if its machine lets it. A stall may last forever, so nothing that is due
  is done because the source came back in time.
* What passes between nodes is a label for each bucket: a node reads the boundaries that the one
  before it emits, and the tuples as they are labelled last. What an operator makes of them is in
  `dpc.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, assert_never

from streamproof.lang import (
    Domain,
    Fairness,
    Map,
    action,
    always,
    every_step,
    exists,
    final,
    forall,
    implies,
    init,
    leads_to,
    require,
    sometimes,
)
from streamproof.models.dpc.chain_state import Chain, ChainModel, Hop, Label, labelled, size
from streamproof.models.dpc.node import ALL_POLICIES, Choice, node_fields, passes
from streamproof.models.dpc.state import Bucket, Machine, Stream
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
from streamproof.protocols.sunion import EmitStable


@dataclass(frozen=True)
class DpcChain(ChainModel):
    """A chain of nodes, all of which have the same policy."""

    machine = protocol

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {},
        "default": {"stalls": 2},
        "long": {"hops": 3},
    }

    @classmethod
    def sized(
        cls,
        *,
        hops: int = 2,
        buckets: int = 2,
        policies: tuple[Policy, ...] = ALL_POLICIES,
        wait: int = 2,
        stalls: int = 1,
    ) -> DpcChain:
        """Build the model of a size.

        Parameters
        ----------
        hops, buckets : how many there are
        policies : those that the user may have chosen
        wait : alpha X, in ticks; X is one more
        stalls : how often the source may stall
        """
        chain, fields = Domain(Hop, hops), node_fields(2, buckets, policies)
        streams = fields["streams"]
        return cls(
            **fields,
            hops=chain,
            before=Map.build(chain, lambda h: Hop(max(h.index - 1, 0))),
            is_first=Map.build(chain, lambda h: h.index == 0),
            is_read=Map.build(chain, streams, lambda h, a: h.index == 0 or a.index == 0),
            may_stall=Map.build(streams, lambda a: a.index == 1),
            wait=wait,
            bound=wait + 1,
            stalls=stalls,
            end=buckets + 2 * wait + 1,
        )

    @init
    def start(self, c: Choice) -> Chain:
        """The user has chosen, and the first bucket begins."""

        def boundaries(h: Hop) -> Map[Stream, int]:
            return Map.build(self.streams, lambda a: 0 if self.is_read[h, a] else self.end)

        return Chain(
            policy=self.chosen[c],
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

    # ----------------------------------------------------------------------- what is read

    @action(fairness=Fairness.WEAK)
    def read_boundary(self, s: Chain, h: Hop, a: Stream) -> Chain:
        """A node reads that nothing follows of earlier buckets."""
        require(self.can_read(s, h, a))
        node, _ = self.machine.on_boundary(s.nodes[h], a, self.given(s, h, a))
        return replace(s, nodes=s.nodes.set(h, node))

    @action
    def stall(self, s: Chain) -> Chain:
        """The source stalls."""
        require(s.stalls_left > 0 and not s.stalled)
        return replace(s, stalled=True, stalled_since=s.clock, stalls_left=s.stalls_left - 1)

    @action
    def heal(self, s: Chain) -> Chain:
        """The source gives again, and all that it owes."""
        require(s.stalled)
        return replace(s, stalled=False)

    # ----------------------------------------------------------------------- what is emitted

    @action(fairness=Fairness.WEAK)
    def emit(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node emits what is complete."""
        end, kept = self.number[b] + 1, self.kept(s, h, b)
        node, effects = self.machine.emit(s.nodes[h], end, size(kept))
        return self.carry_out(s, h, node, effects)

    @action(fairness=Fairness.WEAK)
    def time_out(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node goes on without a boundary."""
        require(self.is_waiting(s, h, b) and self.has_waited(s, h, b))
        end, number = self.number[b] + 1, size(self.unshown(s, h, b))
        node, effects = self.machine.on_timeout(s.nodes[h], s.policy, end, number)
        return self.carry_out(s, h, node, effects)

    @action(fairness=Fairness.WEAK)
    def emit_tentative(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node goes on as soon as a tuple comes."""
        require(self.is_waiting(s, h, b))
        end, number = self.number[b] + 1, size(self.unshown(s, h, b))
        node, effects = self.machine.emit_tentative(s.nodes[h], s.policy, end, number)
        return self.carry_out(s, h, node, effects)

    @action(fairness=Fairness.WEAK)
    def stabilize(self, s: Chain, h: Hop, b: Bucket) -> Chain:
        """A node begins to correct, if no bucket behind this one has waited too long."""
        require(
            forall(
                self.buckets,
                lambda c: self.number[c] <= self.number[b] or not self.has_waited(s, h, c),
            )
        )
        node, effects = self.machine.stabilize(s.nodes[h], self.number[b] + 1)
        return self.carry_out(s, h, node, effects)

    def carry_out(self, s: Chain, h: Hop, node: Machine, effects: tuple[NodeEffect, ...]) -> Chain:
        """Label buckets as a node has just emitted or revoked them."""
        label, every = s.label, Map.fill(self.buckets, True)
        for effect in effects:
            match effect:
                case EmitStable(begin, end):
                    chosen = self.come(s, h, begin, end)
                    label = labelled(label, h, chosen, Label.NONE, Label.STABLE)
                case EmitTentative(begin, end):
                    chosen = self.come(s, h, begin, end)
                    label = labelled(label, h, chosen, Label.NONE, Label.TENTATIVE)
                case Undo():
                    label = labelled(label, h, every, Label.TENTATIVE, Label.NONE)
                case TakeCheckpoint() | RecDone():
                    pass
                case _:
                    assert_never(effect)
        first = s.first.map_items(
            lambda g, b, time: s.clock if time == 0 and label[g, b] != Label.NONE else time
        )
        return replace(s, nodes=s.nodes.set(h, node), label=label, first=first)

    # ----------------------------------------------------------------------- properties

    @always
    def in_time(self, s: Chain) -> bool:
        """P3: nobody waits longer than X for a tuple, however many nodes it has passed.

        Under SUSPEND, the time in which a failure holds it up does not count.
        """
        return forall(
            s.first,
            lambda h, b: (
                implies(s.clock > self.number[b] + 1 + self.bound, s.first[h, b] > 0)
                or (s.policy == Policy.SUSPEND and self.is_held_up(s, h, b))
            ),
        )

    def is_held_up(self, s: Chain, h: Hop, b: Bucket) -> bool:
        """Return whether a node, or the one before it, is in a failure, or has just left it."""
        is_failing = s.nodes[h].condition == Condition.UP_FAILURE
        return is_failing or not self.has_tuple(s, h, b) or self.is_due(s, h, b)

    @leads_to
    def what_is_due_is_done(self, s: Chain, h: Hop, b: Bucket) -> tuple[bool, bool]:
        """P3: a node can do what is due, whether or not the source ever comes back."""
        is_due = self.is_due(s, h, b)
        return is_due, not is_due

    @always
    def guesses_have_waited(self, s: Chain) -> bool:
        """P6: nothing is tentative that has not waited as long as it may, but under PROCESS."""
        return s.policy == Policy.PROCESS or forall(
            s.label,
            lambda h, b: implies(
                s.label[h, b] == Label.TENTATIVE,
                s.first[h, b] >= self.waits_since(s, h, b) + self.wait,
            ),
        )

    @every_step
    def a_suspended_node_is_silent(self, before: Chain, after: Chain) -> bool:
        """P6: under SUSPEND, nothing more is guessed once a failure has begun."""
        failing = Condition.UP_FAILURE
        return forall(
            after.label,
            lambda h, b: implies(
                before.policy == Policy.SUSPEND
                and passes(before.nodes[h], after.nodes[h], failing, failing),
                before.label[h, b] == after.label[h, b],
            ),
        )

    @every_step
    def who_stabilizes_does_not_fail_at_once(self, before: Chain, after: Chain) -> bool:
        """A node that begins to correct has every bucket that has waited for as long as it may."""
        failing = Condition.UP_FAILURE
        return forall(
            after.label,
            lambda h, b: implies(
                passes(before.nodes[h], after.nodes[h], failing, Condition.STABILIZATION)
                and self.has_tuple(after, h, b)
                and self.has_waited(after, h, b),
                self.is_whole(after, h, b),
            ),
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

    @leads_to
    def everything_is_corrected(self, s: Chain) -> tuple[bool, bool]:
        """P4: if stalls end, then in the end everything is stable."""
        return not s.stalled, s.stalled or self.is_settled(s)

    def is_settled(self, s: Chain) -> bool:
        """Return whether all nodes are STABLE and have emitted everything."""
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
