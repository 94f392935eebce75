"""Mistakes in Flux's lanes, each caught by a property of the model.

The short ids are those of our notes. `takeover-from-production` and `no-takeover` are masked where
failed copies are replaced: a new twin feeds the starving consumer from the first tuple that it
lacks. So they are run without repair. Those in catch-up need a failure, a repair and another
failure.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang.machine import replaced
from streamproof.models.flux.flux import Copy, Flux
from streamproof.models.kit.mutant import Mutant
from streamproof.protocols import flux as protocol
from streamproof.protocols.flux import ApplyTuples, Consumer, ConsumerStep, Producer, ProducerStep


def apply_whatever_comes(consumer: Consumer, begin: int, end: int) -> ConsumerStep:
    """Do not look at the numbers of tuples."""
    return replace(consumer, next=end), (ApplyTuples(begin, end),)


class NoDeduplication(Flux):
    """A consumer applies whatever comes (FX-nodedup)."""

    machine = replaced(protocol, on_tuples=apply_whatever_comes)


def forget_for_both_sides(
    producer: Producer[Copy], own: Copy, consumer: Copy, incarnation: int, end: int
) -> ProducerStep[Copy]:
    """Let an ack of the own consumer count for both."""
    if consumer != own:
        return protocol.on_ack(producer, own, consumer, incarnation, end)
    outlets = producer.outlets.map(lambda outlet: replace(outlet, begin=max(outlet.begin, end)))
    return replace(producer, outlets=outlets), ()


class WrongAck(Flux):
    """What is kept for the other side's consumer is forgotten when the own side's has it.

    Short id: FX-wrongack.
    """

    machine = replaced(protocol, on_ack=forget_for_both_sides)


def send_from_production(producer: Producer[Copy], across: Copy, is_up: bool) -> ProducerStep[Copy]:
    """Begin behind what was produced."""
    after, effects = protocol.on_twin_failure(producer, across, is_up)
    outlet = after.outlets[across]
    outlet = replace(outlet, sent=max(outlet.begin, producer.next) if is_up else 0)
    return replace(after, outlets=after.outlets.set(across, outlet)), effects


class TakeoverFromProduction(Flux):
    """Whoever takes over sends what it produces from now on (FX-takeoverprod)."""

    machine = replaced(protocol, on_twin_failure=send_from_production)


def ignore_twin_failure(producer: Producer[Copy], across: Copy, is_up: bool) -> ProducerStep[Copy]:
    """Do nothing."""
    del across, is_up
    return producer, ()


class NoTakeover(Flux):
    """A producer does not care whether its twin fails (FX-notakeover)."""

    machine = replaced(protocol, on_twin_failure=ignore_twin_failure)


def settled_at_any_time(survivor: Producer[Copy], own: Copy) -> bool:
    """Do not wait for acks."""
    del survivor, own
    return True


class EarlyFold(Flux):
    """A new producer copy begins though what is under way beside it may be lost (FX-earlyfold)."""

    machine = replaced(protocol, is_settled=settled_at_any_time)


def passed_at_any_time(survivor: Consumer, producer: Producer[Copy], consumer: Copy) -> bool:
    """Do not wait for the survivor."""
    del survivor, producer, consumer
    return True


class EarlySnapshot(Flux):
    """The survivor's state is transferred though it lacks tuples that were not retained.

    Short id: FX-earlysnap.
    """

    machine = replaced(protocol, has_passed=passed_at_any_time)


def retain_nothing(producer: Producer[Copy], consumer: Copy, survivor: Copy) -> ProducerStep[Copy]:
    """Keep nothing."""
    del consumer, survivor
    return producer, ()


def fold_in_behind_production(
    producer: Producer[Copy], consumer: Copy, incarnation: int, feeds: bool
) -> ProducerStep[Copy]:
    """Begin behind what was produced."""
    outlet = replace(producer.outlets[consumer], begin=producer.next)
    kept = replace(producer, outlets=producer.outlets.set(consumer, outlet))
    return protocol.fold_in_consumer(kept, consumer, incarnation, feeds)


class NoRetention(Flux):
    """Nothing is retained for a new consumer copy, which gets what is produced from then on.

    Short id: FX-noretain.
    """

    machine = replaced(protocol, retain=retain_nothing, fold_in_consumer=fold_in_behind_production)


def take_any_incarnation(
    producer: Producer[Copy], own: Copy, consumer: Copy, incarnation: int, end: int
) -> ProducerStep[Copy]:
    """Do not look at the incarnation."""
    del incarnation
    present = producer.outlets[consumer].incarnation
    return protocol.on_ack(producer, own, consumer, present, end)


class StaleAck(Flux):
    """An ack of a consumer copy that was replaced is taken for one of its replacement.

    Short id: FX-staleack.
    """

    machine = replaced(protocol, on_ack=take_any_incarnation)


_ONE_FAILURE = {"tuples": 1, "source_failures": 1, "sink_failures": 0}
_UNREPAIRED = {"tuples": 1, "source_failures": 1, "sink_failures": 0, "repairs": False}
_TWO_FAILURES = {"tuples": 1, "source_failures": 2, "sink_failures": 0}
_BOTH_ENDS = {"tuples": 1, "source_failures": 1, "sink_failures": 1}
_TWO_TUPLES = {"tuples": 2, "source_failures": 1, "sink_failures": 1}

MUTANTS = (
    Mutant(
        "flux/no-deduplication",
        NoDeduplication,
        _ONE_FAILURE,
        "copies_agree",
        7,
        "a tuple comes from the old producer copy and from its twin, and is applied twice",
    ),
    Mutant(
        "flux/wrong-ack",
        WrongAck,
        _ONE_FAILURE,
        "nothing_is_lost",
        7,
        "a producer copy takes over, and has forgotten what the other side's consumer lacks",
    ),
    Mutant(
        "flux/takeover-from-production",
        TakeoverFromProduction,
        _UNREPAIRED,
        "a_live_consumer_goes_on",
        7,
        "what the failed twin had not sent is kept, and never sent",
    ),
    Mutant(
        "flux/no-takeover",
        NoTakeover,
        _UNREPAIRED,
        "a_live_consumer_goes_on",
        6,
        "the consumer of a producer copy that failed is fed by nobody",
    ),
    Mutant(
        "flux/early-fold",
        EarlyFold,
        _TWO_FAILURES,
        "nothing_is_lost",
        11,
        "what was under way to the survivor's own consumer is kept by no copy",
    ),
    Mutant(
        "flux/early-snapshot",
        EarlySnapshot,
        _BOTH_ENDS,
        "nothing_is_lost",
        11,
        "a new copy begins before a tuple that is kept for nobody",
    ),
    Mutant(
        "flux/no-retention",
        NoRetention,
        _BOTH_ENDS,
        "nothing_is_lost",
        9,
        "a new copy lacks what was produced before tuples were retained for it",
    ),
    Mutant(
        "flux/stale-ack",
        StaleAck,
        _TWO_TUPLES,
        "nothing_is_lost",
        12,
        "the old copy had more than the new one, for which its ack is taken",
    ),
)
