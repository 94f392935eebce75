"""Mistakes in egress, each caught by a property of the model.

`no-deduplication` and `tell-first` are those of our notes.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang.machine import replaced
from streamproof.models.egress import Copy, EgressPair, State
from streamproof.models.kit.mutant import Mutant
from streamproof.protocols import egress as protocol
from streamproof.protocols.egress import Client, ClientStep, Egress, EgressStep, TakeOutputs


def take_whatever_comes(client: Client, begin: int, end: int) -> ClientStep:
    """Do not look at the numbers of outputs."""
    del client
    return Client(end), (TakeOutputs(begin, end),)


class NoDeduplication(EgressPair):
    """The client takes whatever comes (EG-nodedup)."""

    machine = replaced(protocol, on_outputs=take_whatever_comes)


class TellFirst(EgressPair):
    """The active copy notes an output as delivered before it is sent (EG-tellfirst)."""

    def delivered(self, s: State, c: Copy) -> int:
        """Take the client to have all that there is."""
        return s.pair[c].next


class SentIsDelivered(EgressPair):
    """The active copy notes an output as delivered when it is sent; no client acknowledges.

    Short id: EG-sent.
    """

    def delivered(self, s: State, c: Copy) -> int:
        """Take the client to have what was sent to it, though the client may fall behind."""
        return s.pair[c].sent


def send_from_next(egress: Egress) -> EgressStep:
    """Begin behind what was given."""
    after, effects = protocol.take_over(egress)
    return replace(after, sent=egress.next), effects


class TakeoverFromNext(EgressPair):
    """A copy that takes over sends what it gives from then on (EG-takeovernext)."""

    machine = replaced(protocol, take_over=send_from_next)


def do_nothing(egress: Egress) -> EgressStep:
    """Do nothing."""
    return egress, ()


class NoTakeover(EgressPair):
    """A copy does not care whether its twin fails (EG-notakeover)."""

    machine = replaced(protocol, take_over=do_nothing)


_ONE_OUTPUT = {"outputs": 1, "failures": 1, "repairs": False}

MUTANTS = (
    Mutant(
        "egress/no-deduplication",
        NoDeduplication,
        _ONE_OUTPUT,
        "each_output_is_seen_once",
        7,
        "an output comes from the failed copy and from its twin, and is seen twice",
    ),
    Mutant(
        "egress/tell-first",
        TellFirst,
        _ONE_OUTPUT,
        "nothing_is_lost",
        5,
        "an output is noted as delivered, and its copy fails before it is sent",
    ),
    Mutant(
        "egress/sent-is-delivered",
        SentIsDelivered,
        _ONE_OUTPUT,
        "nothing_is_lost",
        4,
        "an output is noted as delivered while it is under way",
    ),
    Mutant(
        "egress/takeover-from-next",
        TakeoverFromNext,
        _ONE_OUTPUT,
        "deadlock",
        6,
        "what the failed copy had not sent is kept by its twin, and never sent",
    ),
    Mutant(
        "egress/no-takeover",
        NoTakeover,
        _ONE_OUTPUT,
        "deadlock",
        4,
        "nobody sends any more",
    ),
)
