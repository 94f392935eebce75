"""Mistakes in egress, each caught by a property; EG-nodedup, EG-tellfirst are of our notes, 2.6."""

from __future__ import annotations

from dataclasses import replace

from streamproof.models.egress import Copy, EgressPair, State
from streamproof.models.kit.mutant import Mutant
from streamproof.protocols import egress as protocol
from streamproof.protocols.egress import Client, ClientStep, Egress, EgressStep, TakeOutputs


class NoDeduplication(EgressPair):
    """The client takes whatever comes."""

    @staticmethod
    def on_outputs(client: Client, begin: int, end: int) -> ClientStep:
        """Do not look at the numbers of outputs."""
        del client
        return Client(end), (TakeOutputs(begin, end),)


class TellFirst(EgressPair):
    """The active copy notes an output as delivered before it is sent."""

    def delivered(self, s: State, c: Copy) -> int:
        """Take the client to have all that there is."""
        return s.pair[c].next


class SentIsDelivered(EgressPair):
    """The active copy notes an output as delivered when it is sent; no client acknowledges."""

    def delivered(self, s: State, c: Copy) -> int:
        """Take the client to have what was sent to it, though the client may fall behind."""
        return s.pair[c].sent


class TakeoverFromNext(EgressPair):
    """A copy that takes over sends what it gives from then on."""

    @staticmethod
    def take_over(egress: Egress) -> EgressStep:
        """Begin behind what was given."""
        after, effects = protocol.take_over(egress)
        return replace(after, sent=egress.next), effects


class NoTakeover(EgressPair):
    """A copy does not care whether its twin fails."""

    @staticmethod
    def take_over(egress: Egress) -> EgressStep:
        """Do nothing."""
        return egress, ()


_ONE_OUTPUT = {"outputs": 1, "failures": 1, "repairs": False}

MUTANTS = (
    Mutant(
        "EG-nodedup",
        NoDeduplication,
        _ONE_OUTPUT,
        "each_output_is_seen_once",
        7,
        "an output comes from the failed copy and from its twin, and is seen twice",
    ),
    Mutant(
        "EG-tellfirst",
        TellFirst,
        _ONE_OUTPUT,
        "nothing_is_lost",
        5,
        "an output is noted as delivered, and its copy fails before it is sent",
    ),
    Mutant(
        "EG-sent",
        SentIsDelivered,
        _ONE_OUTPUT,
        "nothing_is_lost",
        4,
        "an output is noted as delivered while it is under way",
    ),
    Mutant(
        "EG-takeovernext",
        TakeoverFromNext,
        _ONE_OUTPUT,
        "deadlock",
        6,
        "what the failed copy had not sent is kept by its twin, and never sent",
    ),
    Mutant(
        "EG-notakeover",
        NoTakeover,
        _ONE_OUTPUT,
        "deadlock",
        4,
        "nobody sends any more",
    ),
)
