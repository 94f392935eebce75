"""The DPC node at random: tuples arrive in any order, and effects are carried out on plain lists.

Beside the node stands an oracle that sorts all tuples there are, and says of each event whether the
node may take it. Mistaken nodes show that it notices.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols.dpc import (
    Condition,
    EmitTentative,
    Policy,
    RecDone,
    TakeCheckpoint,
    Undo,
    emit,
    emit_tentative,
    initial_node,
    on_boundary,
    on_timeout,
    restart,
    stabilize,
)
from streamproof.protocols.sunion import EmitStable

STREAMS = Domain.of("stream", ("ewr", "jfk"))
BUCKETS_MAX = 4
CRASHES_MAX = 1
AHEAD = st.integers(0, 3)
"""Buckets from where the node stands to where it is told to go; 0 is refused."""


class NodeMachine(RuleBasedStateMachine):
    """A node, its operator and its client, as a binding would have them."""

    mistakes = {}  # events that are replaced by mistaken ones

    @initialize(
        policy=st.sampled_from(Policy),
        source=st.lists(
            st.tuples(st.integers(0, BUCKETS_MAX - 1), st.sampled_from(STREAMS.elements)),
            min_size=4,
            max_size=12,
        ),
    )
    def start(self, policy, source):
        """Choose which tuples there will ever be: pairs of a bucket and a stream, and a number."""
        self.policy = policy
        self.source = sorted((b, stream, n) for n, (b, stream) in enumerate(source))
        self.node = initial_node(Map.fill(STREAMS, 0), 0)
        self.come = dict.fromkeys(STREAMS, 0)  # tuples of a stream that have arrived
        self.processed = self.checkpoint = ()  # what the operator has seen, in order
        self.prefix, self.tail, self.guessed = [], [], set()
        self.rec_done = False
        self.crashes = 0

    def of(self, stream):
        """List the tuples of a stream, in order."""
        return [each for each in self.source if each[1] == stream]

    def arrived(self, begin, end):
        """List what has arrived of a range of buckets, in order."""
        come = [each for stream in STREAMS for each in self.of(stream)[: self.come[stream]]]
        return sorted(each for each in come if begin <= each[0] < end)

    def look_for_new(self, end):
        """List what a tentative emission gives: what the client does not have."""
        shown = [each for each, _ in self.tail]
        kept = self.arrived(self.node.serializer.emitted, end)
        self.new = [each for each in kept if each not in shown]

    def tried(self, is_possible, event, *arguments):
        """Step the node, or see it refuse, as the oracle says."""
        try:
            node, effects = self.mistakes.get(event, event)(self.node, *arguments)
        except Disabled:
            assert not is_possible
        else:
            assert is_possible
            self.node = node
            self.carry_out(effects)

    def carry_out(self, effects):
        for effect in effects:
            match effect:
                case EmitStable(begin, end):
                    assert not self.tail
                    self.prefix += self.through(self.arrived(begin, end))
                case TakeCheckpoint():
                    self.checkpoint = self.processed
                case EmitTentative():
                    new = self.through(self.new)
                    self.tail += new
                    self.guessed |= {each for each, _ in new}
                    self.rec_done = self.rec_done and not new
                case Undo(stable):
                    assert stable == len(self.prefix)
                    self.tail.clear()
                    self.processed = self.checkpoint
                case RecDone():
                    self.rec_done = True

    def through(self, tuples):
        """Let tuples pass the operator, whose result is a tuple and all before it."""
        results = []
        for each in tuples:
            self.processed = (*self.processed, each)
            results.append((each, self.processed))
        return results

    def is_whole(self, end):
        """Tell whether both streams have said that nothing before an end will follow."""
        return all(self.node.serializer.boundary[stream] >= end for stream in STREAMS)

    @rule(stream=st.sampled_from(STREAMS.elements))
    def arrive(self, stream):
        self.come[stream] = min(self.come[stream] + 1, len(self.of(stream)))

    @rule(stream=st.sampled_from(STREAMS.elements), ahead=AHEAD)
    def promise(self, stream, ahead):
        """A boundary comes, and before it the tuples of earlier buckets."""
        bucket = self.node.serializer.boundary[stream] + ahead
        before = sum(each[0] < bucket for each in self.of(stream))
        self.come[stream] = max(self.come[stream], before)
        self.tried(True, on_boundary, stream, bucket)

    @rule(ahead=AHEAD)
    def emit_stable(self, ahead):
        begin = self.node.serializer.emitted
        end = begin + ahead
        is_possible = (
            self.node.condition != Condition.UP_FAILURE and begin < end and self.is_whole(end)
        )
        self.tried(is_possible, emit, end, len(self.arrived(begin, end)))

    @rule(ahead=AHEAD)
    def time_out(self, ahead):
        begin = self.node.serializer.emitted
        end = begin + ahead
        self.look_for_new(end)
        is_possible = (
            begin < end
            and {
                Condition.STABLE: not self.is_whole(begin + 1),
                Condition.UP_FAILURE: self.policy != Policy.SUSPEND,
                Condition.STABILIZATION: not self.is_whole(end),
                Condition.FAILURE: False,
            }[self.node.condition]
        )
        self.tried(is_possible, on_timeout, self.policy, end, len(self.new))

    @rule(ahead=AHEAD)
    def go_on(self, ahead):
        begin = self.node.serializer.emitted
        end = begin + ahead
        self.look_for_new(end)
        is_possible = (
            self.node.condition == Condition.UP_FAILURE
            and self.policy == Policy.PROCESS
            and begin < end
        )
        self.tried(is_possible, emit_tentative, self.policy, end, len(self.new))

    @rule(ahead=AHEAD)
    def correct(self, ahead):
        begin = self.node.serializer.emitted
        due = begin + ahead
        is_possible = (
            self.node.condition == Condition.UP_FAILURE and begin < due and self.is_whole(due)
        )
        self.tried(is_possible, stabilize, due)

    @precondition(lambda self: self.crashes < CRASHES_MAX and len(self.prefix) > 1)
    @rule(later=AHEAD)
    def crash(self, later):
        """What is not stable is forgotten; sources give again what was not emitted stable."""
        self.crashes += 1
        kept = self.node.serializer.emitted
        present = max([kept, *(each[0] + 1 for each in self.guessed)]) + later
        self.processed = self.checkpoint = tuple(each for each, _ in self.prefix)
        for stream in STREAMS:
            self.come[stream] = sum(each[0] < kept for each in self.of(stream))
        self.tried(True, restart, present)

    @invariant()
    def the_prefix_is_that_of_the_sorted_source(self):
        right = self.source[: len(self.prefix)]
        assert [each for each, _ in self.prefix] == right
        assert [seen for _, seen in self.prefix] == [
            tuple(right[: place + 1]) for place in range(len(right))
        ]

    @invariant()
    def the_node_knows_what_the_client_has(self):
        assert self.node.stable == len(self.prefix)
        assert self.node.tentative == len(self.tail)
        assert not self.tail or self.node.condition == Condition.UP_FAILURE

    @invariant()
    def who_is_stable_has_corrected_every_guess(self):
        if self.rec_done or self.node.condition == Condition.STABLE:
            assert self.guessed <= {each for each, _ in self.prefix}
            assert not self.tail


AT_RANDOM = settings(
    max_examples=100,
    stateful_step_count=50,
)


def test_a_node_does_at_random_what_the_oracle_expects():
    run_state_machine_as_test(NodeMachine, settings=AT_RANDOM)


def rec_done_early(node, end, count):
    return emit(replace(node, reached=end), end, count)


def undo_of_a_stable_tuple(node, due):
    after, effects = stabilize(node, due)
    return after, tuple(Undo(undo.stable - 1) for undo in effects)


def late_checkpoint(node, policy, end, count):
    after, effects = on_timeout(node, policy, end, count)
    return after, effects[::-1]


def stable_in_a_failure(node, end, count):
    after, effects = emit(replace(node, condition=Condition.STABLE), end, count)
    return replace(after, condition=node.condition), effects


@pytest.mark.parametrize(
    ("event", "mistake"),
    [
        (emit, rec_done_early),
        (stabilize, undo_of_a_stable_tuple),
        (on_timeout, late_checkpoint),
        (emit, stable_in_a_failure),
    ],
    ids=lambda part: part.__name__,
)
def test_the_oracle_notices_a_mistake(event, mistake):
    mistaken = type("Mistaken", (NodeMachine,), {"mistakes": {event: mistake}})
    with pytest.raises(AssertionError):
        run_state_machine_as_test(mistaken, settings=settings(AT_RANDOM, phases=[Phase.generate]))
