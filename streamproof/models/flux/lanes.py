"""Lanes of a Flux dataflow while nothing fails: tuples one way, acks the other way, and crosswise.

The abstractions are listed in `flux.py`, which adds failures and repairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from streamproof.lang import (
    Domain,
    Fairness,
    Map,
    Model,
    action,
    assume,
    exists,
    forall,
    init,
    require,
)
from streamproof.models.flux.state import (
    Applied,
    Copy,
    Lane,
    Number,
    Partition,
    State,
    apply,
)
from streamproof.protocols import flux as protocol
from streamproof.protocols.flux import ApplyTuples, Consumer, ConsumerStep, Producer, ProducerStep


def exchange(
    *,
    sources: int,
    sinks: int,
    tuples: int,
    source_failures: int,
    sink_failures: int,
    repairs: bool,
    acks: int,
) -> dict[str, Any]:
    """Return the fields of an exchange: from each partition of one operator to each of the next.

    Parameters
    ----------
    sources, sinks : partitions of the two operators
    tuples : of each lane
    source_failures, sink_failures : failures that each partition may have
    repairs : whether failed copies are replaced
    acks : that may be under way at a time
    """
    partitions = Domain(Partition, sources + sinks)
    lanes = Domain(Lane, sources * sinks)
    numbers = Domain(Number, max(tuples, sink_failures) + 1)
    failures = {True: source_failures, False: sink_failures}
    return {
        "partitions": partitions,
        "copies": Domain(Copy, 2),
        "lanes": lanes,
        "numbers": numbers,
        "source": Map.build(lanes, lambda x: Partition(x.index // sinks)),
        "sink": Map.build(lanes, lambda x: Partition(sources + x.index % sinks)),
        "value": Map.build(numbers, lambda n: n.index),
        "tuples": tuples,
        "may_fail": Map.build(partitions, lambda p: failures[p.index < sources]),
        "repairs": repairs,
        "acks_max": acks,
        "failures_max": max(source_failures, sink_failures),
    }


@dataclass(frozen=True)
class Lanes(Model[State]):
    """Partitions, of which each runs as two copies, and the lanes between them.

    Attributes
    ----------
    source, sink : the partitions at a lane's ends
    value : the number that a `Number` stands for
    tuples : of each lane
    may_fail : how many failures each partition may have
    repairs : whether failed copies are replaced
    acks_max : acks that may be under way at a time
    """

    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""

    partitions: Domain[Partition]
    copies: Domain[Copy]
    lanes: Domain[Lane]
    numbers: Domain[Number]
    source: Map[Lane, Partition]
    sink: Map[Lane, Partition]
    value: Map[Number, int]
    tuples: int
    may_fail: Map[Partition, int]
    repairs: bool
    acks_max: int
    failures_max: int

    @property
    def applications_max(self) -> int:
        """The most tuples that a copy applies, be it by mistake."""
        return self.tuples + 1

    @assume
    def there_are_two_copies(self) -> bool:
        """Of three copies, two are the same."""
        return forall(
            self.copies,
            self.copies,
            self.copies,
            lambda a, b, c: b in (a, c) or a == c,
        )

    @assume
    def there_is_a_copy(self) -> bool:
        """Else nobody could be up."""
        return exists(self.copies, lambda _: True)

    @assume
    def a_lane_has_two_ends(self) -> bool:
        """No partition feeds itself."""
        return forall(self.lanes, lambda x: self.source[x] != self.sink[x])

    # ----------------------------------------------------------------------- without failures

    @init
    def start(self) -> State:
        """Nothing was produced, and every producer copy feeds its own side."""
        everything = Map.fill(self.partitions, self.copies, True)
        nothing = Map.fill(self.partitions, self.copies, False)
        return State(
            up=everything,
            failures=self.may_fail,
            producers=Map.build(self.lanes, self.copies, lambda _, c: self.fresh(c)),
            consumers=Map.fill(self.lanes, self.copies, Consumer(0, 0)),
            received=Map.fill(self.lanes, self.copies, self.copies, 0),
            acks=Map.fill(self.lanes, self.copies, self.copies, self.numbers, self.numbers, False),
            acks_under_way=0,
            retaining=nothing,
            applied=Map.fill(self.lanes, self.copies, Applied(0, is_right=True)),
        )

    def fresh(self, c: Copy) -> Producer[Copy]:
        """Return a producer copy before anything happened."""
        return self.machine.initial_producer(Map.build(self.copies, lambda d: d == c))

    @action(fairness=Fairness.WEAK)
    def produce(self, s: State, x: Lane, c: Copy) -> State:
        """A producer copy gives its next tuple."""
        require(s.up[self.source[x], c] and s.producers[x, c].next < self.tuples)
        return self.produced(s, x, c, self.machine.produce(s.producers[x, c], 1))

    @action(fairness=Fairness.WEAK)
    def send(self, s: State, x: Lane, c: Copy, d: Copy) -> State:
        """A producer copy sends the next tuple to a consumer copy."""
        producer = s.producers[x, c]
        end = producer.outlets[d].sent + 1
        return self.produced(s, x, c, self.machine.send(producer, d, end))

    @action(fairness=Fairness.WEAK)
    def receive(self, s: State, x: Lane, c: Copy, d: Copy) -> State:
        """The next tuple of a connection arrives."""
        number = s.received[x, c, d]
        outlet = s.producers[x, c].outlets[d]
        require(outlet.feeds and number < outlet.sent)
        arrived = replace(s, received=s.received.set((x, c, d), number + 1))
        return self.consumed(
            arrived, x, d, self.machine.on_tuples(s.consumers[x, d], number, number + 1)
        )

    @action
    def discard_sent(self, s: State, x: Lane, c: Copy) -> State:
        """A producer copy forgets what it keeps for its own side and has sent."""
        return self.produced(s, x, c, self.machine.discard_sent(s.producers[x, c], c))

    @action
    def acknowledge(
        self, s: State, x: Lane, c: Copy, d: Copy, incarnation: Number, end: Number
    ) -> State:
        """Consumer copy d acknowledges to producer copy c what it has, if that is anything."""
        consumer = s.consumers[x, d]
        key = (x, c, d, incarnation, end)
        require(s.up[self.source[x], c] and s.up[self.sink[x], d])
        require(self.value[incarnation] == consumer.incarnation)
        require(0 < self.value[end] == consumer.next)
        require(not s.acks[key] and s.acks_under_way < self.acks_max)
        return replace(s, acks=s.acks.set(key, True), acks_under_way=s.acks_under_way + 1)

    @action
    def receive_ack(
        self, s: State, x: Lane, c: Copy, d: Copy, incarnation: Number, end: Number
    ) -> State:
        """Producer copy c receives an ack of consumer copy d; if c is down, the ack is lost."""
        key = (x, c, d, incarnation, end)
        require(s.acks[key])
        arrived = replace(s, acks=s.acks.set(key, False), acks_under_way=s.acks_under_way - 1)
        if not s.up[self.source[x], c]:
            return arrived
        step = self.machine.on_ack(
            s.producers[x, c], c, d, self.value[incarnation], self.value[end]
        )
        return self.produced(arrived, x, c, step)

    def produced(self, s: State, x: Lane, c: Copy, step: ProducerStep[Copy]) -> State:
        """Put the machine of a producer copy into the state that it steps to."""
        return replace(s, producers=s.producers.set((x, c), step[0]))

    def consumed(self, s: State, x: Lane, d: Copy, step: ConsumerStep) -> State:
        """Do for a consumer copy what its machine asks for."""
        consumer, effects = step
        s = replace(s, consumers=s.consumers.set((x, d), consumer))
        for effect in effects:
            if isinstance(effect, ApplyTuples):
                s = replace(s, applied=s.applied.set((x, d), apply(s.applied[x, d], effect)))
        return s
