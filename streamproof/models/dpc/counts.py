"""A DPC node in any environment, with tuples that are only counted: what proofs are about.

What is abstracted away, and why that is sound
----------------------------------------------
* Boundaries, time-outs, permissions and crashes come at any time, under any policy, and any number
  of tuples is in any buckets: every environment does some of what happens here.
* The client's view and the operator's state are numbers of tuples. Which tuples they are follows
  from the buckets, which are emitted without a gap; `dpc.py` has tuples that can be told apart.
* `left` bounds what is emitted, since a finite search needs an end. Proofs leave it open.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, assert_never

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Range,
    action,
    always,
    assume,
    every_step,
    exists,
    forall,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.models.dpc.node import ALL_POLICIES, Choice, OneNodeModel, node_fields
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


class Amount(Element):
    """How many tuples some buckets have."""


Count = Annotated[int, Range(0, "tuples")]
Number = Annotated[int, Range(0, "last")]


@dataclass(frozen=True, slots=True)
class Counts:
    """The node, and what its effects have done.

    Attributes
    ----------
    policy : what the user has chosen
    left : tuples that may still be emitted
    position, checkpoint : tuples in the operator's state, and in that which it goes back to
    stable, tail : the length of the client's stable prefix, and of the tentative tail behind it
    corrected : the first bucket that is not in the prefix
    owed : per bucket, it was ever emitted tentatively and is not in the prefix
    settled : REC_DONE is the last that the client heard of any tentative tuple
    """

    policy: Policy
    node: Machine
    left: Count
    position: Count
    checkpoint: Count
    stable: Count
    tail: Count
    corrected: Number
    owed: Map[Bucket, bool]
    settled: bool


@dataclass(frozen=True)
class DpcCounts(OneNodeModel[Counts]):
    """A node, an operator and a client, as numbers.

    Attributes
    ----------
    amount : a number of tuples
    tuples : the most that are emitted
    """

    machine = protocol

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"streams": 1, "tuples": 1},
        "default": {"tuples": 2},
    }

    amounts: Domain[Amount]
    amount: Map[Amount, int]
    tuples: int

    @classmethod
    def sized(
        cls,
        *,
        streams: int = 2,
        buckets: int = 2,
        policies: tuple[Policy, ...] = ALL_POLICIES,
        tuples: int = 2,
    ) -> DpcCounts:
        """Build the model of a size.

        Parameters
        ----------
        streams, buckets : how many there are
        policies : those that the user may have chosen
        tuples : how many may be emitted in all; each time, none or one is
        """
        amounts = Domain(Amount, 2)
        return cls(
            **node_fields(streams, buckets, policies),
            amounts=amounts,
            amount=Map.build(amounts, lambda n: n.index),
            tuples=tuples,
        )

    @property
    def last(self) -> int:
        """The first bucket behind all."""
        return len(self.buckets)

    @assume
    def amounts_are_not_negative(self) -> bool:
        """No bucket has less than no tuples."""
        return forall(self.amounts, lambda n: self.amount[n] >= 0)

    @assume
    def there_is_a_bucket(self) -> bool:
        """A stream of none would be complete before it begins."""
        return exists(self.buckets, lambda _: True)

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self, c: Choice) -> Counts:
        """The user has chosen, and nothing has been emitted."""
        return Counts(
            policy=self.chosen[c],
            node=initial_node(Map.fill(self.streams, 0), 0),
            left=self.tuples,
            position=0,
            checkpoint=0,
            stable=0,
            tail=0,
            corrected=0,
            owed=Map.fill(self.buckets, False),
            settled=False,
        )

    @action
    def read_boundary(self, s: Counts, a: Stream, b: Bucket) -> Counts:
        """A boundary arrives, the one behind any bucket."""
        node, _ = self.machine.on_boundary(s.node, a, self.number[b] + 1)
        return replace(s, node=node)

    @action
    def emit(self, s: Counts, b: Bucket, n: Amount) -> Counts:
        """The node emits what is complete."""
        number = self.amount[n]
        node, effects = self.machine.emit(s.node, self.number[b] + 1, number)
        # A node that guessed nothing has nothing to tell.
        assert RecDone() not in effects or s.node.condition != Condition.STABLE
        return self.carry_out(s, node, effects, number)

    @action
    def time_out(self, s: Counts, b: Bucket, n: Amount) -> Counts:
        """The node has waited too long."""
        number = self.amount[n]
        node, effects = self.machine.on_timeout(s.node, s.policy, self.number[b] + 1, number)
        return self.carry_out(s, node, effects, number)

    @action
    def emit_tentative(self, s: Counts, b: Bucket, n: Amount) -> Counts:
        """The node emits at once what has arrived."""
        number = self.amount[n]
        node, effects = self.machine.emit_tentative(s.node, s.policy, self.number[b] + 1, number)
        assert s.policy == Policy.PROCESS  # under the others, every bucket waits
        return self.carry_out(s, node, effects, number)

    @action
    def stabilize(self, s: Counts, b: Bucket) -> Counts:
        """The node begins to correct."""
        due = self.number[b] + 1
        node, effects = self.machine.stabilize(s.node, due)
        assert forall(self.streams, lambda a: due <= s.node.serializer.boundary[a])
        assert not effects or s.tail > 0  # nothing is revoked where nothing was guessed
        return self.carry_out(s, node, effects, 0)

    @action
    def crash(self, s: Counts, b: Bucket) -> Counts:
        """The node crashes, and restarts with its stable output."""
        present = self.number[b] + 1
        require(forall(self.buckets, lambda c: implies(s.owed[c], self.number[c] < present)))
        node, effects = self.machine.restart(s.node, present)
        restarted = replace(s, position=node.stable, checkpoint=node.stable)
        return self.carry_out(restarted, node, effects, 0)

    def carry_out(
        self, s: Counts, node: Machine, effects: tuple[NodeEffect, ...], number: int
    ) -> Counts:
        """Do what the node's machine asks for, with a number of tuples that it was told."""
        require(s.left >= number)
        s = replace(s, left=s.left - number)
        for effect in effects:
            match effect:
                case EmitStable(begin, end):
                    assert begin == s.corrected  # no bucket is emitted twice, and none left out
                    s = replace(
                        s,
                        position=s.position + number,
                        stable=s.stable + number,
                        corrected=end,
                        owed=self.owed_from(s.owed, end),
                    )
                case TakeCheckpoint():
                    s = replace(s, checkpoint=s.position)
                case EmitTentative(begin, end):
                    assert begin == s.corrected
                    s = replace(
                        s,
                        position=s.position + number,
                        tail=s.tail + number,
                        owed=self.owed_before(s.owed, begin, end),
                        settled=False,
                    )
                case Undo(stable):
                    assert stable == s.stable  # UNDO names exactly what is stable
                    s = replace(s, position=s.checkpoint, tail=0)
                case RecDone():
                    assert self.nothing_is_owed(s)  # also at the moment when it is said
                    s = replace(s, settled=True)
                case _:
                    assert_never(effect)
        return replace(s, node=node)

    def owed_from(self, owed: Map[Bucket, bool], end: int) -> Map[Bucket, bool]:
        """Settle the buckets before an end."""
        return owed.map_items(lambda b, is_owed: is_owed and self.number[b] >= end)

    def owed_before(self, owed: Map[Bucket, bool], begin: int, end: int) -> Map[Bucket, bool]:
        """Owe the buckets of a range."""
        return owed.map_items(lambda b, is_owed: is_owed or begin <= self.number[b] < end)

    # ----------------------------------------------------------------------- properties

    @every_step
    def stable_prefix_grows(self, before: Counts, after: Counts) -> bool:
        """What is stable stays."""
        return before.stable <= after.stable and before.corrected <= after.corrected

    @always
    def stable_is_complete(self, s: Counts) -> bool:
        """No further tuple can arrive of a bucket that is stable."""
        return forall(self.streams, lambda a: s.corrected <= s.node.serializer.boundary[a])

    @every_step
    def nothing_is_stable_in_a_failure(self, before: Counts, after: Counts) -> bool:
        """Nothing is emitted stable in UP_FAILURE, nor behind a tentative tuple."""
        is_emitted = before.corrected < after.corrected
        return implies(
            is_emitted, before.node.condition != Condition.UP_FAILURE and before.tail == 0
        )

    @every_step
    def who_rebuilds_guesses_nothing(self, before: Counts, after: Counts) -> bool:
        """A node in FAILURE leaves it with its whole stable output, or not at all."""
        ways_out = (Condition.FAILURE, Condition.STABLE)
        return implies(before.node.condition == Condition.FAILURE, after.node.condition in ways_out)

    @always
    def operator_is_right(self, s: Counts) -> dict[str, bool]:
        """What comes out stable comes from a state that has seen the stable tuples alone."""
        is_failing = s.node.condition == Condition.UP_FAILURE
        return {
            "untainted": implies(not is_failing, s.position == s.stable),
            "checkpoint": implies(is_failing, s.checkpoint == s.stable),
        }

    @always
    def counts_agree(self, s: Counts) -> bool:
        """The node knows how much of the client's view is stable, and how much is not."""
        return s.stable == s.node.stable and s.tail == s.node.tentative

    @always
    def rec_done_is_true(self, s: Counts) -> bool:
        """After REC_DONE nothing is tentative, and every bucket that ever was is corrected."""
        return implies(s.settled, s.tail == 0 and self.nothing_is_owed(s))

    def nothing_is_owed(self, s: Counts) -> bool:
        """Return whether every bucket that ever was tentative is stable."""
        return forall(self.buckets, lambda b: not s.owed[b])

    @sometimes
    def a_tail_is_corrected(self, s: Counts) -> bool:
        """The client hears REC_DONE, and there are stable tuples."""
        return s.settled and s.stable > 0

    @sometimes
    def a_crash_is_survived(self, s: Counts) -> bool:
        """The node rebuilds its state."""
        return s.node.condition == Condition.FAILURE


MODEL = DpcCounts
