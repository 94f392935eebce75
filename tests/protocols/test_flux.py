"""The machines of a lane, event by event, and together against plain lists of tuples.

The oracle carries what the machines never see: the tuples. Producers are strings with what they
still keep, connections are queues, and a consumer's state is the string of what it has applied.
Runs of any length are sent at once; copies fail, are stood in for and replaced, and acks come late.
"""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols import flux as protocol
from streamproof.protocols.flux import (
    ApplyTuples,
    Consumer,
    Discard,
    Outlet,
    Producer,
    SendAcks,
    SendTuples,
)

COPIES = Domain.of("copy", ("p", "s"))


def producer(p, s, made=5, single=False):
    """Make a producer copy of two outlets."""
    return Producer(made, single, Map.build(COPIES, {"p": p, "s": s}.__getitem__))


def fed(begin, sent, acked=0):
    return Outlet(begin, acked, 0, feeds=True, sent=sent)


def kept(begin, acked=0, incarnation=0):
    return Outlet(begin, acked, incarnation, feeds=False, sent=0)


# --------------------------------------------------------------------------- event by event


def test_what_was_not_sent_is_sent_and_not_more():
    after, effects = protocol.send(producer(fed(0, 2), kept(0)), "p", 5)
    assert effects == (SendTuples("p", 2, 5),)
    for consumer, end in (("p", 6), ("s", 1)):
        with pytest.raises(Disabled):
            protocol.send(after, consumer, end)


def test_tuples_that_were_applied_are_left_out():
    assert protocol.on_tuples(Consumer(5, 0), 3, 8) == (Consumer(8, 0), (ApplyTuples(5, 8),))
    assert protocol.on_tuples(Consumer(5, 0), 3, 5) == (Consumer(5, 0), ())


def test_a_gap_breaks_a_claim():
    with pytest.raises(AssertionError):
        protocol.on_tuples(Consumer(5, 0), 6, 7)


def test_an_ack_of_the_other_side_trims_and_one_of_the_own_side_does_not():
    pair = producer(fed(0, 3), kept(0))
    after, effects = protocol.on_ack(pair, "p", "s", 0, 4)
    assert (after.outlets["s"].begin, effects) == (4, (Discard("s", 4),))
    after, effects = protocol.on_ack(pair, "p", "p", 0, 3)
    assert (after.outlets["p"], effects) == (fed(0, 3, acked=3), ())


def test_a_copy_without_a_twin_keeps_for_its_own_side_by_acks_too():
    alone = producer(fed(1, 3), fed(0, 0), single=True)
    assert protocol.on_ack(alone, "p", "p", 0, 2)[1] == (Discard("p", 2),)
    with pytest.raises(Disabled):
        protocol.discard_sent(alone, "p")


def test_an_ack_may_be_ahead_of_what_is_produced_but_nothing_unsent_is_forgotten():
    ahead, _ = protocol.on_ack(producer(fed(0, 0), kept(0), made=5), "p", "s", 0, 7)
    assert ahead.outlets["s"].begin == 7
    alone = producer(fed(0, 2), fed(0, 1), single=True)
    assert protocol.on_ack(alone, "p", "s", 0, 7)[1] == (Discard("s", 1),)


def test_an_ack_of_another_incarnation_is_none():
    pair = producer(fed(0, 3), kept(0, incarnation=2))
    for incarnation in (1, 3):
        assert protocol.on_ack(pair, "p", "s", incarnation, 4) == (pair, ())


def test_a_takeover_begins_with_what_may_be_lacking():
    after, _ = protocol.on_twin_failure(producer(fed(3, 3), kept(2)), "s", is_up=True)
    assert after == producer(fed(3, 3), fed(2, 2), single=True)
    after, _ = protocol.on_twin_failure(producer(fed(3, 3), kept(2)), "s", is_up=False)
    assert after == producer(fed(3, 3), kept(2), single=True)


def test_a_failed_consumer_is_sent_nothing_and_its_replacement_what_was_retained():
    pair, _ = protocol.on_consumer_failure(producer(fed(3, 4), kept(2)), "p")
    assert pair == producer(kept(3), kept(2))
    pair, _ = protocol.retain(pair, "p", "s")
    assert pair == producer(kept(2), kept(2))
    assert not protocol.has_passed(Consumer(1, 0), pair, "p")
    assert protocol.has_passed(Consumer(2, 0), pair, "p")
    new, _ = protocol.transfer_consumer(Consumer(4, 7), Consumer(2, 0))
    assert new == Consumer(2, 8)
    pair, _ = protocol.fold_in_consumer(pair, "p", 8, feeds=True)
    assert pair.outlets["p"] == Outlet(2, 0, 8, feeds=True, sent=2)
    assert protocol.acknowledge(new)[1] == (SendAcks(8, 2),)


def test_a_new_producer_waits_until_the_survivor_is_settled():
    alone = producer(fed(3, 4, acked=2), fed(1, 2), single=True)
    assert not protocol.is_settled(alone, "p")
    alone, _ = protocol.on_ack(alone, "p", "p", 0, 3)
    assert protocol.is_settled(alone, "p")
    new, _ = protocol.transfer_producer(alone, "s", is_up=True)
    assert new == producer(kept(3, acked=3), fed(1, 1))
    left, _ = protocol.fold_in_producer(alone, "s")
    assert left == producer(fed(3, 4, acked=3), kept(1))


# --------------------------------------------------------------------------- against lists

TUPLES = "the tuples of a lane, one letter each"
OTHER = {"p": "s", "s": "p"}


class World:
    """A lane, with the tuples that its machines never see."""

    def __init__(self):
        self.producers = {c: producer(*self.feeds(c), made=0) for c in "ps"}
        self.consumers = {d: Consumer(0, 0) for d in "ps"}
        self.gives, self.takes = {"p", "s"}, {"p", "s"}
        self.queues = {(c, d): deque() for c in "ps" for d in "ps"}
        self.applied = dict.fromkeys("ps", "")
        self.acks = deque()
        self.seen = set()

    @staticmethod
    def feeds(own):
        return [fed(0, 0) if d == own else kept(0) for d in "ps"]

    def keep(self, c, step):
        self.producers[c] = step[0]
        return step[1]

    def produce(self, c, count):
        if c in self.gives:
            room = len(TUPLES) - self.producers[c].next
            self.keep(c, protocol.produce(self.producers[c], min(count, room)))

    def send(self, c, d, count):
        made = self.producers[c]
        end = min(made.outlets[d].sent + count, made.next)
        if c in self.gives and made.outlets[d].feeds and made.outlets[d].sent < end:
            (sent,) = self.keep(c, protocol.send(made, d, end))
            forgotten = min(outlet.begin for _, outlet in made.outlets.items())
            assert sent.begin >= forgotten, "it is sent, and not kept any more"
            self.queues[c, d].append((sent.begin, TUPLES[sent.begin : sent.end]))

    def receive(self, c, d):
        if self.queues[c, d]:
            begin, text = self.queues[c, d].popleft()
            step = protocol.on_tuples(self.consumers[d], begin, begin + len(text))
            self.consumers[d] = step[0]
            for effect in step[1]:
                assert effect.begin == len(self.applied[d])
                self.applied[d] += text[effect.begin - begin : effect.end - begin]
            self.seen |= {"repeated"} if not step[1] else set()

    def acknowledge(self, c, d):
        if d in self.takes:
            (ack,) = protocol.acknowledge(self.consumers[d])[1]
            self.acks.append((c, d, ack))

    def hear(self):
        if self.acks:
            c, d, ack = self.acks.popleft()
            if c in self.gives:
                self.keep(c, protocol.on_ack(self.producers[c], c, d, ack.incarnation, ack.end))

    def discard(self, c):
        outlet = self.producers[c].outlets[c]
        if c in self.gives and not self.producers[c].single and outlet.begin < outlet.sent:
            self.keep(c, protocol.discard_sent(self.producers[c], c))

    def reconnect(self, before):
        for (c, d), queue in self.queues.items():
            if not (before[c].outlets[d].feeds and self.producers[c].outlets[d].feeds):
                queue.clear()

    def fail_producer(self, c):
        o, before = OTHER[c], dict(self.producers)
        if self.gives == {"p", "s"}:
            self.gives.discard(c)
            self.producers[c] = producer(kept(0), kept(0), made=0)
            self.keep(o, protocol.on_twin_failure(self.producers[o], c, c in self.takes))
            self.reconnect(before)

    def fail_consumer(self, d):
        before = dict(self.producers)
        if self.takes == {"p", "s"}:
            self.takes.discard(d)
            self.applied[d] = ""
            for c in self.gives:
                self.keep(c, protocol.on_consumer_failure(self.producers[c], d))
                self.keep(c, protocol.retain(self.producers[c], d, OTHER[d]))
            self.reconnect(before)

    def replace_consumer(self, d):
        o, before = OTHER[d], dict(self.producers)
        survivor = self.consumers[o]
        is_ready = all(protocol.has_passed(survivor, self.producers[c], d) for c in self.gives)
        if d not in self.takes and is_ready:
            self.takes.add(d)
            self.applied[d] = self.applied[o]
            new, _ = protocol.transfer_consumer(self.consumers[d], survivor)
            self.consumers[d] = new
            feeder = d if d in self.gives else o
            for c in self.gives:
                step = protocol.fold_in_consumer(self.producers[c], d, new.incarnation, c == feeder)
                self.keep(c, step)
            self.reconnect(before)
            self.seen.add("new consumer")

    def replace_producer(self, c):
        o, before = OTHER[c], dict(self.producers)
        survivor = self.producers[o]
        is_ready = o not in self.takes or protocol.is_settled(survivor, o)
        if c not in self.gives and self.takes == {"p", "s"} and is_ready:
            self.gives.add(c)
            self.keep(c, protocol.transfer_producer(survivor, c, is_up=True))
            self.keep(o, protocol.fold_in_producer(survivor, c))
            self.reconnect(before)
            self.seen.add("new producer")

    def check(self):
        for d in self.takes:
            assert self.applied[d] == TUPLES[: self.consumers[d].next]

    def settle(self):
        for c in "ps":
            self.produce(c, len(TUPLES))
        for c, d in self.queues:
            self.send(c, d, len(TUPLES))
            while self.queues[c, d]:
                self.receive(c, d)


def happen(world, what, number):
    """Let one thing happen; what is usual comes more often."""
    c, d, count = "ps"[number % 2], "ps"[number // 2 % 2], 1 + number // 4 % 5
    events = (
        (4, lambda: world.produce(c, count)),
        (6, lambda: world.send(c, d, count)),
        (7, lambda: world.receive(c, d)),
        (4, lambda: world.acknowledge(c, d)),
        (4, world.hear),
        (2, lambda: world.discard(c)),
        (1, lambda: world.fail_producer(c)),
        (1, lambda: world.fail_consumer(d)),
        (3, lambda: world.replace_consumer(d)),
        (3, lambda: world.replace_producer(c)),
    )
    weighted = [event for weight, event in events for _ in range(weight)]
    weighted[what % len(weighted)]()


def run(choices):
    """Let choices say what happens; give the world."""
    world = World()
    for what, number in zip(choices[::2], choices[1::2], strict=False):
        happen(world, what, number)
        world.check()
    return world


CHOICES = st.binary(min_size=200, max_size=800)


@settings(max_examples=200)
@given(CHOICES)
def test_whatever_happens_each_tuple_is_applied_once_and_none_is_lost(choices):
    world = run(choices)
    world.settle()
    world.check()
    assert all(world.applied[d] == TUPLES for d in world.takes)


def test_the_chosen_runs_get_somewhere():
    seen = set()

    @settings(max_examples=50)
    @given(CHOICES)
    def look(choices):
        seen.update(run(choices).seen)

    look()
    assert seen == {"repeated", "new consumer", "new producer"}
