"""One DPC node whose operator depends on the order of its input, and a client that reads it.

What is abstracted away, and why that is sound
----------------------------------------------
* Each stream has one tuple a bucket, then a boundary. Sources keep them for ever, so a link that
  fails only makes the node wait, and one that heals goes on where it stopped. Which replica a
  stream is read from is the business of `subscription`.
* The link to the client is FIFO and the client only listens, so it hears at once what the node
  emits: what it would hear later is what it has heard here at an earlier state.
* There is no clock. A bucket can time out while some link is down, however long that is; the model
  with a clock is `dpc_chain`.
* The policy is PROCESS, which lets the node emit tentative tuples whenever it likes but owes it
  nothing. The runs under DELAY and SUSPEND are among its runs, the fair ones too.
* Permission to stabilize comes at any time; that replicas do not have it together is shown in
  `permission`.
* The operator numbers the tuples that it sees. Its output shows every tuple that it has seen too
  early, twice or not at all, which is the most that an operator's state can show of order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, assert_never

from streamproof.lang import (
    Domain,
    Fairness,
    Map,
    Model,
    action,
    always,
    count,
    eventually,
    every_step,
    exists,
    final,
    forall,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.models.dpc_state import (
    Bucket,
    Client,
    Machine,
    MachineStep,
    Operator,
    Stream,
    Style,
    System,
    Tuples,
    View,
    go_back,
    on_insertion,
    on_rec_done,
    on_tentative,
    on_undo,
    process,
    process_and_log,
    size,
    take_checkpoint,
)
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
class Dpc(Model[System]):
    """A node, its operator and its client.

    Attributes
    ----------
    number : a bucket's number
    rank : the place of a tuple in the right output, from 1
    tuples, failures : how many there are at most
    """

    protocol_name: ClassVar[str] = "dpc"
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"buckets": 1},
        "default": {"failures": 2},
        "undo": {"failures": 2, "style": Style.UNDO_REDO},
    }

    streams: Domain[Stream]
    buckets: Domain[Bucket]
    number: Map[Bucket, int]
    rank: Map[tuple[Stream, Bucket], int]
    tuples: int
    failures: int
    style: Style

    @classmethod
    def sized(
        cls,
        *,
        streams: int = 2,
        buckets: int = 2,
        failures: int = 1,
        style: Style = Style.CHECKPOINT_REDO,
    ) -> Dpc:
        """Build the model of a size.

        Parameters
        ----------
        streams, buckets : how many there are, with a tuple each
        failures : how often a link may fail
        style : how the operator goes back
        """
        many, some = Domain(Stream, streams), Domain(Bucket, buckets)
        return cls(
            streams=many,
            buckets=some,
            number=Map.build(some, lambda b: b.index),
            rank=Map.build(many, some, lambda a, b: b.index * streams + a.index + 1),
            tuples=streams * buckets,
            failures=failures,
            style=style,
        )

    @property
    def numbers(self) -> int:
        """The bound of every count: a node that makes a mistake may number each tuple twice."""
        return 2 * self.tuples

    # The protocol that is checked; a mutant replaces one of these.

    @staticmethod
    def emit_machine(node: Machine, end: int, number: int) -> MachineStep:
        """Step the machine of a node that has complete buckets."""
        return protocol.emit(node, end, number)

    @staticmethod
    def on_timeout(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
        """Step the machine of a node that has waited for too long."""
        return protocol.on_timeout(node, policy, end, number)

    @staticmethod
    def stabilize_machine(node: Machine, due: int) -> MachineStep:
        """Step the machine of a node that may stabilize."""
        return protocol.stabilize(node, due)

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self) -> System:
        """Nothing has been read."""
        none = Map.fill(self.streams, self.buckets, 0)
        zero = Map.fill(self.streams, 0)
        nothing = Map.fill(self.streams, self.buckets, False)
        return System(
            node=initial_node(zero, 0),
            read=zero,
            down=Map.fill(self.streams, False),
            operator=Operator(0, 0, 0),
            client=Client(none, none, 0, 0, nothing, False),
            failures_left=self.failures,
            failed_again=False,
        )

    @action(fairness=Fairness.WEAK)
    def read_tuple(self, s: System, a: Stream, b: Bucket) -> System:
        """The tuple of a bucket arrives, behind the boundary of the bucket before."""
        next_bucket = s.read[a]
        require(not s.down[a] and self.number[b] == next_bucket)
        require(s.node.serializer.boundary[a] == next_bucket)
        return replace(s, read=s.read.set(a, next_bucket + 1))

    @action(fairness=Fairness.WEAK)
    def read_boundary(self, s: System, a: Stream) -> System:
        """The boundary behind the last tuple arrives."""
        require(not s.down[a] and s.node.serializer.boundary[a] < s.read[a])
        node, _ = protocol.on_boundary(s.node, a, s.read[a])
        return replace(s, node=node)

    @action
    def fail(self, s: System, a: Stream) -> System:
        """A link fails."""
        require(s.failures_left > 0 and not s.down[a])
        return replace(s, down=s.down.set(a, True), failures_left=s.failures_left - 1)

    @action(fairness=Fairness.WEAK)
    def heal(self, s: System, a: Stream) -> System:
        """A link heals."""
        require(s.down[a])
        return replace(s, down=s.down.set(a, False))

    @action(fairness=Fairness.WEAK)
    def emit(self, s: System, b: Bucket) -> System:
        """The node emits what is complete, to the end of a bucket."""
        end = self.number[b] + 1
        node, effects = self.emit_machine(s.node, end, size(self.complete(s, end)))
        return self.carry_out(s, node, effects)

    @action
    def time_out(self, s: System, b: Bucket) -> System:
        """The node has waited too long for a bucket, which happens only while a link is down."""
        require(exists(self.streams, lambda a: s.down[a]))
        end = self.number[b] + 1
        number = size(self.incomplete(s, end))
        node, effects = self.on_timeout(s.node, Policy.PROCESS, end, number)
        after = self.carry_out(s, node, effects)
        again = s.node.condition == Condition.STABILIZATION
        return replace(after, failed_again=s.failed_again | again)

    @action
    def emit_tentative(self, s: System, b: Bucket) -> System:
        """The node emits at once what has arrived, since it is in UP_FAILURE anyway."""
        end = self.number[b] + 1
        number = size(self.incomplete(s, end))
        node, effects = protocol.emit_tentative(s.node, Policy.PROCESS, end, number)
        return self.carry_out(s, node, effects)

    @action(fairness=Fairness.WEAK)
    def stabilize(self, s: System, b: Bucket) -> System:
        """The node begins to correct, as of a bucket up to which its inputs are corrected."""
        node, effects = self.stabilize_machine(s.node, self.number[b] + 1)
        return self.carry_out(s, node, effects)

    # ----------------------------------------------------------------------- effects

    def carry_out(self, s: System, node: Machine, effects: tuple[NodeEffect, ...]) -> System:
        """Do what the node's machine asks for, as a binding does."""
        for effect in effects:
            match effect:
                case EmitStable(_, end):
                    s = self.insert(s, self.complete(s, end))
                case TakeCheckpoint():
                    s = replace(s, operator=take_checkpoint(s.operator))
                case EmitTentative(_, end):
                    s = self.guess(s, self.incomplete(s, end))
                case Undo(stable):
                    s = replace(s, operator=go_back(s.operator, self.style))
                    s = self.revoke(s, stable)
                case RecDone():
                    s = replace(s, client=on_rec_done(s.client))
                case _:
                    assert_never(effect)
        return replace(s, node=node)

    def complete(self, s: System, end: int) -> Tuples:
        """Give the tuples that have arrived of the buckets behind the checkpoint."""
        begin = s.node.serializer.emitted
        return Map.build(
            self.streams,
            self.buckets,
            lambda a, b: begin <= self.number[b] < end and self.number[b] < s.read[a],
        )

    def incomplete(self, s: System, end: int) -> Tuples:
        """Give those of them that were not emitted tentatively: the tail has the others."""
        return self.complete(s, end).map_items(
            lambda a, b, arrived: arrived and s.client.tail[a, b] == 0
        )

    def numbered(self, s: System, chosen: Tuples) -> View:
        """Let tuples pass the operator in the order of the serializer."""
        return chosen.map_items(lambda a, b, _: s.operator.position + self.ahead(chosen, a, b) + 1)

    def ahead(self, chosen: Tuples, a: Stream, b: Bucket) -> int:
        """Count the chosen tuples that come before one of them."""
        return count(chosen, lambda c, d: chosen[c, d] and self.precedes(c, d, a, b))

    def precedes(self, a: Stream, b: Bucket, c: Stream, d: Bucket) -> bool:
        """Tell whether the tuple of stream a and bucket b comes before that of c and d."""
        return self.rank[a, b] < self.rank[c, d]

    def insert(self, s: System, chosen: Tuples) -> System:
        """Emit tuples as INSERTION."""
        client = on_insertion(s.client, chosen, self.numbered(s, chosen))
        return replace(s, client=client, operator=process(s.operator, size(chosen)))

    def guess(self, s: System, chosen: Tuples) -> System:
        """Emit tuples as TENTATIVE."""
        client = on_tentative(s.client, chosen, self.numbered(s, chosen))
        return replace(s, client=client, operator=process_and_log(s.operator, size(chosen)))

    def revoke(self, s: System, stable: int) -> System:
        """Emit UNDO."""
        return replace(s, client=on_undo(s.client, stable))

    # ----------------------------------------------------------------------- properties

    @always
    def stable_prefix(self, s: System) -> dict[str, bool]:
        """P1: the client's stable view is a prefix of the right output."""
        view = s.client.stable
        return {
            "right": forall(
                view, lambda a, b: implies(view[a, b] > 0, view[a, b] == self.rank[a, b])
            ),
            "whole": forall(
                view, lambda a, b: (view[a, b] > 0) == (self.rank[a, b] <= s.client.stable_count)
            ),
        }

    @every_step
    def undo_revokes_no_stable_tuple(self, before: System, after: System) -> bool:
        """What is stable stays."""
        old, new = before.client.stable, after.client.stable
        return forall(old, lambda a, b: implies(old[a, b] > 0, new[a, b] == old[a, b]))

    @every_step
    def corrections_follow_undo(self, before: System, after: System) -> bool:
        """No stable tuple comes behind a tentative one that is not revoked."""
        return implies(
            after.client.stable_count > before.client.stable_count, before.client.tail_count == 0
        )

    @always
    def rec_done_is_true(self, s: System) -> dict[str, bool]:
        """After REC_DONE nothing is tentative, and all that ever was has been corrected.

        So it is while the node answers that it is STABLE.
        """
        is_corrected = not exists(s.client.owed, lambda a, b: s.client.owed[a, b])
        is_stable = s.node.condition == Condition.STABLE
        return {
            "heard": implies(s.client.settled, s.client.tail_count == 0 and is_corrected),
            "answered": implies(is_stable, s.client.tail_count == 0 and is_corrected),
        }

    @always
    def guesses_need_a_failure(self, s: System) -> bool:
        """P6: as long as no link fails, nothing is tentative."""
        return implies(s.failures_left == self.failures, s.client.tail_count == 0)

    @eventually
    def everything_is_corrected(self, s: System) -> bool:
        """P4: if failures heal, then in the end the view is the right output and all is stable."""
        return self.is_settled(s)

    def is_settled(self, s: System) -> bool:
        """Tell whether the client has everything, and for good."""
        return (
            s.node.condition == Condition.STABLE
            and s.client.stable_count == self.tuples
            and s.client.tail_count == 0
        )

    @final
    def quiet(self, s: System) -> bool:
        """Everything has been emitted."""
        return self.is_settled(s)

    @sometimes
    def a_failure_begins(self, s: System) -> bool:
        """The node guesses."""
        return s.node.condition == Condition.UP_FAILURE and s.client.tail_count > 0

    @sometimes
    def undo_is_heard(self, s: System) -> bool:
        """The node corrects: what was tentative is revoked, and not all of it is stable again."""
        return s.node.condition == Condition.STABILIZATION and exists(
            s.client.owed, lambda a, b: s.client.owed[a, b]
        )

    @sometimes
    def rec_done_is_heard(self, s: System) -> bool:
        """The node is done with correcting."""
        return s.node.condition == Condition.STABLE and s.client.settled

    @sometimes
    def a_failure_begins_in_the_middle(self, s: System) -> bool:
        """A second failure ends the corrections of the first, where there may be two."""
        return self.failures < 2 or s.failed_again


MODEL = Dpc
