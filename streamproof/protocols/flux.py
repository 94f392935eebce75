"""Flux: every partition of a dataflow has two copies, and either can replace the other.

A *lane* leads from one partition's copies to another's. A producer copy feeds the consumer copy of
its own side, and both sides do the same work, loosely in step: nobody waits for anybody. The tuples
of a lane are numbered. A consumer acknowledges to both producers how many it has, and *the acks
cross*: a producer keeps the tuples that the other side's consumer has not acknowledged. So if the
other side's producer fails, this producer can feed that consumer, from the first tuple that may be
missing. A tuple that comes twice is recognised by its number. Acks to the own side's producer count
while it has no twin, and before a new twin is folded in [SHB04, sections 3 and 4].

A failed copy is replaced while the dataflow goes on. Producers begin to *retain* for the new
consumer copy what they keep for the survivor, and once the survivor has passed all that was not
retained, its state is transferred. Then the new copy is *folded in*: it is fed as any other, and
feeds its own side [SHB04, section 5]. Roles are per partition: a machine may host primaries and
secondaries.

| fails | acts | so that |
|---|---|---|
| primary producer | secondary producer, `on_twin_failure` | it feeds both consumers |
| secondary producer | primary producer, `on_twin_failure` | it feeds both consumers |
| primary consumer | both producers, `on_consumer_failure` | the survivor alone is fed |
| secondary consumer | both producers, `on_consumer_failure` | the survivor alone is fed |

A machine works on numbers of tuples; a step may stand for a million of them.

Assumptions
-----------
* The copies of a producer give the same tuples in the same order. Where a partition merges lanes,
  `merge_order` sees to that.
* A connection is FIFO and loses nothing, unless one of its ends fails.
* Failures are noticed by a controller, and a copy that is taken to have failed stays away. Both
  copies of a partition never fail before one is replaced; if they do, its state is lost, and a
  controller must say so.

Deviations from the paper
-------------------------
* Acks are cumulative. The paper marks tuples one by one, and must remember an ack that comes ahead
  of its tuple; here an ack may run ahead of production.
* Incarnations fence the acks of a consumer copy that was replaced (mutant `stale-ack`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from streamproof.lang import Map, Step, require

Copy = TypeVar("Copy")

# --------------------------------------------------------------------------- machines


@dataclass(frozen=True, slots=True)
class Outlet:
    """What a producer copy does for one copy of the consumer.

    Attributes
    ----------
    begin : the first tuple that is kept for it
    acked : tuples that it has acknowledged here
    incarnation : of the consumer copy; acks of other ones do not count
    feeds : whether tuples are sent to it from here
    sent : the next tuple to send; 0 where none are sent
    """

    begin: int
    acked: int
    incarnation: int
    feeds: bool
    sent: int


@dataclass(frozen=True, slots=True)
class Producer(Generic[Copy]):
    """One producer copy's part in a lane. It keeps what some outlet keeps.

    Attributes
    ----------
    next : tuples produced so far, so the number of the next one
    single : there is no twin: this copy feeds both consumers
    outlets : per consumer copy
    """

    next: int
    single: bool
    outlets: Map[Copy, Outlet]


@dataclass(frozen=True, slots=True)
class Consumer:
    """One consumer copy's part in a lane.

    Attributes
    ----------
    next : tuples applied so far, so the number of the next one
    incarnation : how often this copy was replaced
    """

    next: int
    incarnation: int


@dataclass(frozen=True, slots=True)
class SendTuples(Generic[Copy]):
    """Send tuples number `begin` to `end` - 1 to a consumer copy."""

    to: Copy
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Discard(Generic[Copy]):
    """Keep nothing before `end` for a consumer copy; what no outlet keeps is forgotten."""

    consumer: Copy
    end: int


@dataclass(frozen=True, slots=True)
class ApplyTuples:
    """Apply tuples number `begin` to `end` - 1 to the operator's state."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class SendAcks:
    """Tell both producer copies that all tuples before `end` were applied."""

    incarnation: int
    end: int


ProducerEffect: TypeAlias = SendTuples[Copy] | Discard[Copy]
ProducerStep: TypeAlias = Step[Producer[Copy], ProducerEffect[Copy]]
ConsumerEffect: TypeAlias = ApplyTuples | SendAcks
ConsumerStep: TypeAlias = Step[Consumer, ConsumerEffect]


def initial_producer(feeds: Map[Copy, bool]) -> Producer[Copy]:
    """Return a producer copy before anything happened.

    Parameters
    ----------
    feeds : per consumer copy, whether this copy feeds it, which holds for its own side's alone
    """
    outlets = feeds.map(lambda is_fed: Outlet(0, 0, 0, feeds=is_fed, sent=0))
    return Producer(next=0, single=False, outlets=outlets)


# --------------------------------------------------------------------------- without failures


def produce(producer: Producer[Copy], count: int) -> ProducerStep[Copy]:
    """Number tuples that were produced, and keep them."""
    return replace(producer, next=producer.next + count), ()


def send(producer: Producer[Copy], consumer: Copy, end: int) -> ProducerStep[Copy]:
    """Send a consumer copy that is fed from here what it was not sent, before number `end`."""
    outlet = producer.outlets[consumer]
    require(outlet.feeds and outlet.sent < end <= producer.next)
    assert outlet.begin <= outlet.sent  # else what is to be sent was forgotten
    fed = replace(outlet, sent=end)
    return _with(producer, consumer, fed), (SendTuples(consumer, outlet.sent, end),)


def on_tuples(consumer: Consumer, begin: int, end: int) -> ConsumerStep:
    """Apply tuples `begin` to `end` - 1, without those that were (mutant `no-deduplication`)."""
    assert begin <= consumer.next  # else tuples in between were lost
    if end <= consumer.next:
        return consumer, ()
    return replace(consumer, next=end), (ApplyTuples(consumer.next, end),)


def acknowledge(consumer: Consumer) -> ConsumerStep:
    """Acknowledge to both producer copies what has been applied, at any time."""
    return consumer, (SendAcks(consumer.incarnation, consumer.next),)


def on_ack(
    producer: Producer[Copy], own: Copy, consumer: Copy, incarnation: int, end: int
) -> ProducerStep[Copy]:
    """Forget what a consumer copy has, if it is kept for that one by acks.

    Parameters
    ----------
    own : the consumer copy of this producer's side
    consumer, incarnation : who acknowledges; an ack of a replaced copy is none (mutant `stale-ack`)
    end : tuples that it has
    """
    outlet = producer.outlets[consumer]
    if incarnation != outlet.incarnation:
        return producer, ()
    acked = replace(outlet, acked=max(outlet.acked, end))
    if consumer == own and not producer.single:
        # What its own consumer has says nothing of what the other side's lacks (`wrong-ack`).
        return _with(producer, consumer, acked), ()
    # The ack may be ahead of what was sent from here; what was not sent stays.
    begin = max(outlet.begin, min(end, outlet.sent) if outlet.feeds else end)
    kept = replace(acked, begin=begin)
    return _with(producer, consumer, kept), (Discard(consumer, begin),)


def discard_sent(producer: Producer[Copy], own: Copy) -> ProducerStep[Copy]:
    """Keep nothing for the own side's consumer that was sent: if it is lost, the twin has it."""
    outlet = producer.outlets[own]
    require(not producer.single and outlet.feeds and outlet.begin < outlet.sent)
    kept = replace(outlet, begin=outlet.sent)
    return _with(producer, own, kept), (Discard(own, outlet.sent),)


# --------------------------------------------------------------------------- takeover


def on_twin_failure(producer: Producer[Copy], across: Copy, is_up: bool) -> ProducerStep[Copy]:
    """Let the producer that is left feed the other side's consumer as well, from what it may lack.

    Parameters
    ----------
    across : that consumer copy
    is_up : whether it is running; if not, nobody feeds it
    """
    outlet = producer.outlets[across]
    # From `begin`, not from what is produced next: the twin may not have sent it all
    # (mutant `takeover-from-production`).
    fed = replace(outlet, feeds=is_up, sent=outlet.begin if is_up else 0)
    return replace(_with(producer, across, fed), single=True), ()


def on_consumer_failure(producer: Producer[Copy], consumer: Copy) -> ProducerStep[Copy]:
    """Send a consumer copy that has failed nothing more."""
    stopped = replace(producer.outlets[consumer], feeds=False, sent=0)
    return _with(producer, consumer, stopped), ()


# --------------------------------------------------------------------------- catch-up


def retain(producer: Producer[Copy], consumer: Copy, survivor: Copy) -> ProducerStep[Copy]:
    """Begin to keep the survivor's tuples for a new consumer copy, too (`no-retention`)."""
    begin = producer.outlets[survivor].begin
    return _with(producer, consumer, replace(producer.outlets[consumer], begin=begin)), ()


def has_passed(survivor: Consumer, producer: Producer[Copy], consumer: Copy) -> bool:
    """Return whether the survivor has all tuples that were not retained for the new copy.

    Only then is its state one that the new copy can go on from (mutant `early-snapshot`).
    """
    return producer.outlets[consumer].begin <= survivor.next


def transfer_consumer(consumer: Consumer, survivor: Consumer) -> ConsumerStep:
    """Begin a new consumer copy in the survivor's state."""
    return Consumer(survivor.next, consumer.incarnation + 1), ()


def fold_in_consumer(
    producer: Producer[Copy], consumer: Copy, incarnation: int, feeds: bool
) -> ProducerStep[Copy]:
    """Let a producer listen to a new consumer copy, and feed it what was retained.

    Parameters
    ----------
    consumer, incarnation : the new copy; acks of older ones count no more
    feeds : whether it is fed from here: by the producer of its side, or by that one's twin if it
        is down
    """
    begin = producer.outlets[consumer].begin
    fed = Outlet(begin, 0, incarnation, feeds=feeds, sent=begin if feeds else 0)
    return _with(producer, consumer, fed), ()


def is_settled(survivor: Producer[Copy], own: Copy) -> bool:
    """Return whether the survivor's own consumer has all that was forgotten for its sake.

    Only then can a new producer copy, which keeps for that consumer what the survivor does, stand
    in for the survivor (mutant `early-fold`).
    """
    outlet = survivor.outlets[own]
    return outlet.begin <= outlet.acked


def transfer_producer(survivor: Producer[Copy], own: Copy, is_up: bool) -> ProducerStep[Copy]:
    """Begin a new producer copy in the survivor's state; it feeds its own side's consumer.

    Parameters
    ----------
    own, is_up : that consumer copy, and whether it is running
    """
    outlets = survivor.outlets.map(lambda outlet: replace(outlet, feeds=False, sent=0))
    begin = survivor.outlets[own].begin
    fed = replace(outlets[own], feeds=is_up, sent=begin if is_up else 0)
    return Producer(survivor.next, single=False, outlets=outlets.set(own, fed)), ()


def fold_in_producer(survivor: Producer[Copy], across: Copy) -> ProducerStep[Copy]:
    """Leave the other side's consumer to the new producer copy."""
    left = replace(survivor.outlets[across], feeds=False, sent=0)
    return replace(_with(survivor, across, left), single=False), ()


def _with(producer: Producer[Copy], consumer: Copy, outlet: Outlet) -> Producer[Copy]:
    return replace(producer, outlets=producer.outlets.set(consumer, outlet))
