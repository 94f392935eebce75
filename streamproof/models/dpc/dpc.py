"""One DPC node whose operator depends on the order of its input, and a client that reads it.

What is abstracted away, and why that is sound
----------------------------------------------
* Each stream has one tuple a bucket, then a boundary. Sources keep them forever, so a link that
  fails only makes the node wait, and one that heals goes on where it stopped. Which replica a
  stream is read from is the business of `subscription`.
* The link to the client is FIFO and the client only listens, so it hears at once what the node
  emits: what it would hear later is what it has heard here at an earlier state.
* There is no clock. A bucket can time out while some link is down, however long that is; the model
  with a clock is `dpc_chain`.
* The user has chosen one policy or another. What a policy owes, and when, is for `dpc_chain`.
* Permission to stabilize comes at any time; that replicas do not have it together is shown in
  `permission`.
* The operator numbers the tuples that it sees. Its output shows every tuple that it has seen too
  early, twice or not at all, which is the most that an operator's state can show of order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, assert_never

from streamproof.lang import (
    Fairness,
    Map,
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
from streamproof.models.dpc.node import (
    ALL_POLICIES,
    Choice,
    OneNodeModel,
    has_complete,
    node_fields,
)
from streamproof.models.dpc.state import (
    Bucket,
    Client,
    Machine,
    Operator,
    Stream,
    Style,
    System,
    Tuples,
    View,
    go_back,
    nothing_is_owed,
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
from streamproof.protocols.sunion import EmitStable, Key, precedes


@dataclass(frozen=True)
class Dpc(OneNodeModel[System]):
    """A node, its operator and its client.

    Attributes
    ----------
    order : per stream, its number in the order of the merge
    rank : the place of a tuple in the right output, from 1
    tuples, failures : how many there are at most
    """

    machine = protocol

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"buckets": 1},
        "default": {"failures": 2},
        "undo": {"failures": 2, "style": Style.UNDO_REDO},
    }

    order: Map[Stream, int]
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
        policies: tuple[Policy, ...] = ALL_POLICIES,
        failures: int = 1,
        style: Style = Style.CHECKPOINT_REDO,
    ) -> Dpc:
        """Build the model of a size.

        Parameters
        ----------
        streams, buckets : how many there are, with a tuple each
        policies : those that the user may have chosen
        failures : how often a link may fail
        style : how the operator goes back
        """
        fields = node_fields(streams, buckets, policies)
        many, some = fields["streams"], fields["buckets"]
        return cls(
            **fields,
            order=Map.build(many, lambda a: a.index),
            rank=Map.build(many, some, lambda a, b: b.index * streams + a.index + 1),
            tuples=streams * buckets,
            failures=failures,
            style=style,
        )

    @property
    def numbers(self) -> int:
        """The bound of every count: a node that makes a mistake may number each tuple twice."""
        return 2 * self.tuples

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self, c: Choice) -> System:
        """The user has chosen, and nothing has been read."""
        none = Map.fill(self.streams, self.buckets, 0)
        zero = Map.fill(self.streams, 0)
        nothing = Map.fill(self.streams, self.buckets, False)
        return System(
            policy=self.chosen[c],
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
        node, _ = self.machine.on_boundary(s.node, a, s.read[a])
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
        number = size(self.arrived(s, s.node.serializer.emitted, end))
        node, effects = self.machine.emit(s.node, end, number)
        return self.carry_out(s, node, effects)

    @action
    def time_out(self, s: System, b: Bucket) -> System:
        """The node has waited too long for a bucket, which happens only while a link is down."""
        require(exists(self.streams, lambda a: s.down[a]))
        end = self.number[b] + 1
        number = size(self.unshown(s, s.node.serializer.emitted, end))
        node, effects = self.machine.on_timeout(s.node, s.policy, end, number)
        after = self.carry_out(s, node, effects)
        again = (s.node.condition == Condition.STABILIZATION) & has_complete(s.node)
        return replace(after, failed_again=s.failed_again | again)

    @action
    def emit_tentative(self, s: System, b: Bucket) -> System:
        """The node emits at once what has arrived, since it is in UP_FAILURE anyway."""
        end = self.number[b] + 1
        number = size(self.unshown(s, s.node.serializer.emitted, end))
        node, effects = self.machine.emit_tentative(s.node, s.policy, end, number)
        return self.carry_out(s, node, effects)

    @action(fairness=Fairness.WEAK)
    def stabilize(self, s: System, b: Bucket) -> System:
        """The node begins to correct, as of a bucket up to which its inputs are corrected."""
        node, effects = self.machine.stabilize(s.node, self.number[b] + 1)
        return self.carry_out(s, node, effects)

    # ----------------------------------------------------------------------- effects

    def carry_out(self, s: System, node: Machine, effects: tuple[NodeEffect, ...]) -> System:
        """Do what the node's machine asks for, as a binding does."""
        for effect in effects:
            match effect:
                case EmitStable(begin, end):
                    s = self.insert(s, self.arrived(s, begin, end))
                case TakeCheckpoint():
                    s = replace(s, operator=take_checkpoint(s.operator))
                case EmitTentative(begin, end):
                    s = self.guess(s, self.unshown(s, begin, end))
                case Undo(stable):
                    s = replace(s, operator=go_back(s.operator, self.style))
                    s = self.revoke(s, stable)
                case RecDone():
                    s = replace(s, client=on_rec_done(s.client))
                case _:
                    assert_never(effect)
        return replace(s, node=node)

    def arrived(self, s: System, begin: int, end: int) -> Tuples:
        """Return the tuples that have arrived of some buckets."""
        return Map.build(
            self.streams,
            self.buckets,
            lambda a, b: begin <= self.number[b] < end and self.number[b] < s.read[a],
        )

    def unshown(self, s: System, begin: int, end: int) -> Tuples:
        """Return the arrived tuples that were not emitted tentatively: the tail has the others."""
        return self.arrived(s, begin, end).map_items(
            lambda a, b, has_arrived: has_arrived and s.client.tail[a, b] == 0
        )

    def numbered(self, s: System, chosen: Tuples) -> View:
        """Let tuples pass the operator in the order of the serializer."""
        return chosen.map_items(lambda a, b, _: s.operator.position + self.ahead(chosen, a, b) + 1)

    def ahead(self, chosen: Tuples, a: Stream, b: Bucket) -> int:
        """Count the chosen tuples that come before one of them."""
        return count(chosen, lambda c, d: chosen[c, d] and self.precedes(c, d, a, b))

    def precedes(self, a: Stream, b: Bucket, c: Stream, d: Bucket) -> bool:
        """Ask the protocol whether the tuple of stream a and bucket b comes before that of c, d."""
        return precedes(self.key(a, b), self.key(c, d))

    def key(self, a: Stream, b: Bucket) -> Key:
        """Return what a tuple's place in the output depends on."""
        return Key(time=self.number[b], stream=self.order[a], position=self.number[b])

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

    @every_step
    def guesses_are_new(self, before: System, after: System) -> bool:
        """What becomes tentative is not in the stable prefix."""
        old, new = before.client, after.client
        return forall(
            new.tail,
            lambda a, b: implies(new.tail[a, b] > 0 and old.tail[a, b] == 0, old.stable[a, b] == 0),
        )

    @every_step
    def a_failure_shows_what_waits(self, before: System, after: System) -> bool:
        """P3: when a node stops waiting, all that has come of the first bucket comes out."""
        emitted, client = before.node.serializer.emitted, after.client
        is_calm = before.node.condition != Condition.UP_FAILURE
        begins = is_calm and after.node.condition == Condition.UP_FAILURE
        return forall(
            client.tail,
            lambda a, b: implies(
                begins and self.number[b] == emitted < before.read[a],
                client.tail[a, b] > 0 or client.stable[a, b] > 0,
            ),
        )

    @always
    def rec_done_is_true(self, s: System) -> dict[str, bool]:
        """After REC_DONE nothing is tentative, and all that ever was has been corrected.

        So it is while the node answers that it is STABLE.
        """
        is_corrected = nothing_is_owed(s.client)
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
        """Return whether the client has everything, and for good."""
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
        is_correcting = s.node.condition == Condition.STABILIZATION
        return is_correcting and not nothing_is_owed(s.client)

    @sometimes
    def rec_done_is_heard(self, s: System) -> bool:
        """The node is done with correcting."""
        return s.node.condition == Condition.STABLE and s.client.settled

    @sometimes
    def a_failure_begins_in_the_middle(self, s: System) -> bool:
        """A second failure ends the corrections of the first, whose rest takes too long."""
        return self.failures < 2 or s.failed_again


MODEL = Dpc
