"""Mistakes in subscriptions, each of which a property of the model must catch.

SW-counttent, SW-fromcurrent, SW-noundo, SW-nodedup and TR-connected are those of our notes.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import Map, action, forall, implies, require
from streamproof.models.mutant import Mutant
from streamproof.models.subscription import State, Subscriber, SubscriptionModel, Upstream
from streamproof.models.subscription_state import Kind, Message
from streamproof.protocols import subscription as protocol
from streamproof.protocols.dpc import Condition
from streamproof.protocols.subscription import (
    AcceptStable,
    AcceptTentative,
    Feed,
    FeedStep,
    OutputBuffer,
    Revoke,
    SendSubscribe,
    View,
    ViewStep,
)


class CountTentative(SubscriptionModel):
    """A subscriber asks for what follows its last tuple, tentative or not."""

    @staticmethod
    def subscribe(view: View[Upstream], upstream: Upstream) -> ViewStep[Upstream]:
        """Count all tuples of the view."""
        asked = SendSubscribe(upstream, view.stable + view.tentative)
        return replace(view, source=upstream), (asked,)

    @staticmethod
    def switch(
        view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
    ) -> ViewStep[Upstream]:
        """Count them also where a better replica is asked."""
        protocol.switch(view, conditions, upstream)
        return CountTentative.subscribe(view, upstream)


class FromCurrent(SubscriptionModel):
    """A replica answers with what it emits from now on."""

    @staticmethod
    def on_subscribe(feed: Feed, buffer: OutputBuffer[Subscriber], stable: int) -> FeedStep:
        """Begin behind the last stable tuple."""
        del stable
        return protocol.on_subscribe(feed, buffer.stable)


class NoUndo(SubscriptionModel):
    """An answer does not begin with UNDO."""

    @staticmethod
    def on_subscribe(feed: Feed, buffer: OutputBuffer[Subscriber], stable: int) -> FeedStep:
        """Begin with the first tuple that is asked for."""
        del buffer
        return replace(feed, stable=stable, tentative=0, revokes=False), ()


class NoCorrection(SubscriptionModel):
    """A replica that corrects itself does not tell its subscribers."""

    @staticmethod
    def undo(feed: Feed) -> FeedStep:
        """Send no UNDO, and go on with the stable tuples."""
        return replace(feed, tentative=0), ()


class RevokeEarly(NoUndo):
    """A subscriber revokes its tentative tuples when it asks, and the answer brings no UNDO."""

    @staticmethod
    def subscribe(view: View[Upstream], upstream: Upstream) -> ViewStep[Upstream]:
        """Revoke, though the old connection may go on."""
        asked, effects = protocol.subscribe(view, upstream)
        return replace(asked, tentative=0), (*effects, Revoke())

    @staticmethod
    def switch(
        view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
    ) -> ViewStep[Upstream]:
        """Revoke them also where a better replica is asked."""
        protocol.switch(view, conditions, upstream)
        return RevokeEarly.subscribe(view, upstream)


class NoDeduplication(SubscriptionModel):
    """A subscriber takes every stable tuple that comes."""

    @staticmethod
    def on_message(view: View[Upstream], message: Message) -> ViewStep[Upstream]:
        """Do not look at the number of a stable tuple."""
        if message.kind != Kind.STABLE:
            return SubscriptionModel.on_message(view, message)
        end = message.stable + 1
        return replace(view, stable=end), (AcceptStable(message.stable, end),)


class UndoStable(SubscriptionModel):
    """An UNDO revokes stable tuples that came since the request."""

    @staticmethod
    def on_message(view: View[Upstream], message: Message) -> ViewStep[Upstream]:
        """Go back to where the UNDO says."""
        after, effects = SubscriptionModel.on_message(view, message)
        if message.kind == Kind.UNDO:
            return replace(after, stable=message.stable), effects
        return after, effects


class StaleTail(SubscriptionModel):
    """A subscriber takes tentative tuples that come behind less than it has."""

    @staticmethod
    def on_message(view: View[Upstream], message: Message) -> ViewStep[Upstream]:
        """Do not look at what tentative tuples come behind."""
        if message.kind != Kind.TENTATIVE:
            return SubscriptionModel.on_message(view, message)
        return replace(view, tentative=view.tentative + 1), (AcceptTentative(1),)


class Restless(SubscriptionModel):
    """A subscriber changes to any replica that is as good as its own."""

    @staticmethod
    def switch(
        view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
    ) -> ViewStep[Upstream]:
        """Ask another one, if none is better."""
        require(upstream != view.source and protocol.is_best(conditions, upstream))
        return protocol.subscribe(view, upstream)


class TruncateConnected(SubscriptionModel):
    """A buffer is truncated at what the connected subscribers have acknowledged."""

    def truncated(self, s: State, u: Upstream, end: int) -> OutputBuffer[Subscriber]:
        """Leave out whoever is not connected."""
        buffer, connections = s.buffers[u], s.connections
        require(buffer.begin < end)
        require(
            forall(
                self.subscribers,
                lambda d: implies(connections[d].is_open, end <= buffer.acked[d]),
            )
        )
        return replace(buffer, begin=end)


class TruncateSent(SubscriptionModel):
    """A subscriber is taken to have what was sent to it."""

    @action
    def truncate(self, s: State, u: Upstream, d: Subscriber) -> State:
        """Forget what was sent."""
        sent, buffer = s.connections[d].feed.stable, s.buffers[u]
        require(buffer.begin < sent <= buffer.stable)
        return replace(s, buffers=s.buffers.set(u, replace(buffer, begin=sent)))


class TruncateOne(SubscriptionModel):
    """A buffer is truncated at what one subscriber has acknowledged."""

    def truncated(self, s: State, u: Upstream, end: int) -> OutputBuffer[Subscriber]:
        """Do not ask what the others have."""
        buffer = s.buffers[u]
        require(buffer.begin < end)
        return replace(buffer, begin=end)


_TWO_REPLICAS = {"upstreams": 2, "subscribers": 1, "tuples": 1, "failures": 1}
_TWO_TUPLES = {"upstreams": 2, "subscribers": 1, "tuples": 2, "failures": 1}
_TWO_FAILURES = {"upstreams": 2, "subscribers": 1, "tuples": 1, "failures": 2}
_ONE_REPLICA = {"upstreams": 1, "subscribers": 1, "tuples": 1, "failures": 1}
_NEIGHBOURS = {"upstreams": 1, "subscribers": 2, "tuples": 1, "failures": 1}

MUTANTS = (
    Mutant(
        "SW-counttent",
        CountTentative,
        _TWO_TUPLES,
        "claims",
        16,
        "a stable tuple is skipped, since a tentative one was taken for it",
    ),
    Mutant(
        "SW-fromcurrent",
        FromCurrent,
        _ONE_REPLICA,
        "claims",
        8,
        "what was emitted before the request is lost",
    ),
    Mutant(
        "SW-noundo",
        NoUndo,
        _TWO_REPLICAS,
        "claims",
        14,
        "a tuple that another replica guessed stays in front of stable ones",
    ),
    Mutant(
        "SW-nocorrection",
        NoCorrection,
        _ONE_REPLICA,
        "claims",
        12,
        "what a replica guessed stays in front of its corrections",
    ),
    Mutant(
        "SW-revokeearly",
        RevokeEarly,
        _TWO_REPLICAS,
        "claims",
        16,
        "a tentative tuple of the old replica arrives when all were revoked",
    ),
    Mutant(
        "SW-nodedup",
        NoDeduplication,
        _TWO_REPLICAS,
        "the_view_is_right.prefix",
        16,
        "a tuple comes from the old replica and from the new one, and is shown twice",
    ),
    Mutant(
        "SW-undostable",
        UndoStable,
        _TWO_REPLICAS,
        "the_view_is_right.prefix",
        18,
        "a stable tuple that came while the request was under way is shown twice",
    ),
    Mutant(
        "SW-staletail",
        StaleTail,
        _TWO_FAILURES,
        "the_view_is_right.tail",
        24,
        "another replica's guess at a tuple is shown behind the tuple itself",
    ),
    Mutant(
        "SW-restless",
        Restless,
        _TWO_REPLICAS,
        "the_view_is_complete",
        20,
        "two replicas that are equally good are asked in turn, and neither gets to answer",
    ),
    Mutant(
        "TR-connected",
        TruncateConnected,
        _NEIGHBOURS,
        "everybody_can_catch_up",
        10,
        "a neighbour that was not connected lacks what is not kept any more",
    ),
    Mutant(
        "TR-sent",
        TruncateSent,
        _ONE_REPLICA,
        "everybody_can_catch_up",
        8,
        "what is under way to a subscriber is forgotten, and then lost with the connection",
    ),
    Mutant(
        "TR-one",
        TruncateOne,
        _NEIGHBOURS,
        "everybody_can_catch_up",
        10,
        "what one neighbour has is forgotten, and another one lacks it",
    ),
)
