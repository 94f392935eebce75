"""Mistakes in subscriptions, each of which a property of the model must catch.

`count-tentative`, `from-current`, `no-undo`, `no-deduplication` and `truncate-connected` are those
of our notes.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import Fairness, Map, action, forall, implies, require
from streamproof.lang.machine import replaced
from streamproof.models.kit.mutant import Mutant
from streamproof.models.subscription.subscription import (
    State,
    Subscriber,
    SubscriptionModel,
    Upstream,
)
from streamproof.protocols import subscription as protocol
from streamproof.protocols.dpc import Condition
from streamproof.protocols.subscription import (
    AcceptStable,
    AcceptTentative,
    BufferStep,
    Feed,
    FeedStep,
    OutputBuffer,
    Revoke,
    SendSubscribe,
    View,
    ViewStep,
)


def ask_behind_all_tuples(view: View[Upstream], upstream: Upstream) -> ViewStep[Upstream]:
    """Count all tuples of the view."""
    asked = SendSubscribe(upstream, view.stable + view.tentative)
    return replace(view, source=upstream), (asked,)


def switch_behind_all_tuples(
    view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
) -> ViewStep[Upstream]:
    """Count them also where a better replica is asked."""
    protocol.switch(view, conditions, upstream)
    return ask_behind_all_tuples(view, upstream)


class CountTentative(SubscriptionModel):
    """A subscriber asks for what follows its last tuple, tentative or not (SW-counttent)."""

    machine = replaced(protocol, subscribe=ask_behind_all_tuples, switch=switch_behind_all_tuples)


class FromCurrent(SubscriptionModel):
    """A replica answers with what it emits from now on (SW-fromcurrent)."""

    @action(fairness=Fairness.WEAK)
    def answer(self, s: State, d: Subscriber) -> State:
        """Begin behind the last stable tuple, as if that had been asked for."""
        current = s.buffers[s.views[d].source].stable
        asking = replace(s.connections[d], stable=current)
        return super().answer(replace(s, connections=s.connections.set(d, asking)), d)


def answer_without_undo(feed: Feed, stable: int) -> FeedStep:
    """Begin with the first tuple that is asked for."""
    return replace(feed, stable=stable, tentative=0, revokes=False), ()


class NoUndo(SubscriptionModel):
    """An answer does not begin with UNDO (SW-noundo)."""

    machine = replaced(protocol, on_subscribe=answer_without_undo)


def forget_what_was_guessed(feed: Feed) -> FeedStep:
    """Send no UNDO, and go on with the stable tuples."""
    return replace(feed, tentative=0), ()


class NoCorrection(SubscriptionModel):
    """A replica that corrects itself does not tell its subscribers (SW-nocorrection)."""

    machine = replaced(protocol, undo=forget_what_was_guessed)


def revoke_and_ask(view: View[Upstream], upstream: Upstream) -> ViewStep[Upstream]:
    """Revoke, though the old connection may go on."""
    asked, effects = protocol.subscribe(view, upstream)
    return replace(asked, tentative=0), (*effects, Revoke())


def revoke_and_switch(
    view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
) -> ViewStep[Upstream]:
    """Revoke them also where a better replica is asked."""
    protocol.switch(view, conditions, upstream)
    return revoke_and_ask(view, upstream)


class RevokeEarly(NoUndo):
    """A subscriber revokes its tentative tuples when it asks, and the answer brings no UNDO.

    Short id: SW-revokeearly.
    """

    machine = replaced(NoUndo.machine, subscribe=revoke_and_ask, switch=revoke_and_switch)


def show_whatever_is_stable(view: View[Upstream], begin: int, end: int) -> ViewStep[Upstream]:
    """Do not look at the number of a stable tuple."""
    return replace(view, stable=end), (AcceptStable(begin, end),)


class NoDeduplication(SubscriptionModel):
    """A subscriber takes every stable tuple that comes (SW-nodedup)."""

    machine = replaced(protocol, on_stable=show_whatever_is_stable)


def revoke_stable_tuples(view: View[Upstream], stable: int) -> ViewStep[Upstream]:
    """Go back to where the UNDO says."""
    after, effects = protocol.on_undo(view, stable)
    return replace(after, stable=stable), effects


class UndoStable(SubscriptionModel):
    """An UNDO revokes stable tuples that came since the request (SW-undostable)."""

    machine = replaced(protocol, on_undo=revoke_stable_tuples)


def show_whatever_is_tentative(view: View[Upstream], behind: int, count: int) -> ViewStep[Upstream]:
    """Do not look at what tentative tuples come behind."""
    del behind
    return replace(view, tentative=view.tentative + count), (AcceptTentative(count),)


class StaleTail(SubscriptionModel):
    """A subscriber takes tentative tuples that come behind less than it has (SW-staletail)."""

    machine = replaced(protocol, on_tentative=show_whatever_is_tentative)


def switch_to_any_best(
    view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
) -> ViewStep[Upstream]:
    """Ask another one, if none is better."""
    require(upstream != view.source and protocol.is_best(conditions, upstream))
    return protocol.subscribe(view, upstream)


class SwitchToEqual(SubscriptionModel):
    """A subscriber changes to any replica that is as good as its own (SW-restless)."""

    machine = replaced(protocol, switch=switch_to_any_best)


class TruncateConnected(SubscriptionModel):
    """A buffer is truncated at what the connected subscribers have acknowledged (TR-connected)."""

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
    """A subscriber is taken to have what was sent to it (TR-sent)."""

    @action
    def truncate(self, s: State, u: Upstream, d: Subscriber) -> State:
        """Forget what was sent."""
        sent, buffer = s.connections[d].feed.stable, s.buffers[u]
        require(buffer.begin < sent <= buffer.stable)
        return replace(s, buffers=s.buffers.set(u, replace(buffer, begin=sent)))


class TruncateOne(SubscriptionModel):
    """A buffer is truncated at what one subscriber has acknowledged (TR-one)."""

    def truncated(self, s: State, u: Upstream, end: int) -> OutputBuffer[Subscriber]:
        """Do not ask what the others have."""
        buffer = s.buffers[u]
        require(buffer.begin < end)
        return replace(buffer, begin=end)


def best_or_failed(conditions: Map[Upstream, Condition], upstream: Upstream) -> bool:
    """Take FAILURE for STABILIZATION."""
    late = Condition.STABILIZATION
    return protocol.is_best(
        conditions.map(lambda c: late if c == Condition.FAILURE else c), upstream
    )


class FailureIsLate(SubscriptionModel):
    """A replica that has crashed is as good as one that is late (SW-failure)."""

    machine = replaced(protocol, is_best=best_or_failed)


def switch_after_failure(
    view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
) -> ViewStep[Upstream]:
    """Change only if nothing at all comes."""
    require(conditions[view.source] == Condition.FAILURE)
    return protocol.switch(view, conditions, upstream)


class NeverSwitch(SubscriptionModel):
    """A subscriber stays with its replica for as long as it is connected (SW-faithful)."""

    machine = replaced(protocol, switch=switch_after_failure)


def next_of_feed(feed: Feed, buffer: OutputBuffer[Subscriber]) -> int:
    """Begin where the request says."""
    del buffer
    return feed.stable


def send_as_if_kept(feed: Feed, buffer: OutputBuffer[Subscriber], end: int) -> FeedStep:
    """Take the buffer to begin with the first tuple."""
    return protocol.send_stable(feed, replace(buffer, begin=0), end)


class SendForgotten(SubscriptionModel):
    """A replica sends what was asked for, and does not look where its buffer begins.

    Short id: SW-forgotten.
    """

    machine = replaced(protocol, next_stable=next_of_feed, send_stable=send_as_if_kept)


def note_the_last_ack(
    buffer: OutputBuffer[Subscriber], subscriber: Subscriber, stable: int
) -> BufferStep[Subscriber]:
    """Note whatever comes."""
    return replace(buffer, acked=buffer.acked.set(subscriber, stable)), ()


class OldAck(SubscriptionModel):
    """The last ack that arrives counts, and not the greatest (TR-oldack)."""

    machine = replaced(protocol, on_ack=note_the_last_ack)


_TWO_REPLICAS = {"upstreams": 2, "subscribers": 1, "tuples": 1, "failures": 1}
_TWO_TUPLES = {"upstreams": 2, "subscribers": 1, "tuples": 2, "failures": 1}
_TWO_FAILURES = {"upstreams": 2, "subscribers": 1, "tuples": 1, "failures": 2}
_ONE_REPLICA = {"upstreams": 1, "subscribers": 1, "tuples": 1, "failures": 1}
_NEIGHBOURS = {"upstreams": 1, "subscribers": 2, "tuples": 1, "failures": 1}

MUTANTS = (
    Mutant(
        "subscription/count-tentative",
        CountTentative,
        _TWO_TUPLES,
        "claims.on_undo",
        12,
        "a stable tuple is skipped, since a tentative one was taken for it",
    ),
    Mutant(
        "subscription/from-current",
        FromCurrent,
        _ONE_REPLICA,
        "claims.on_undo",
        5,
        "what was emitted before the request is lost",
    ),
    Mutant(
        "subscription/no-undo",
        NoUndo,
        _TWO_REPLICAS,
        "claims.on_stable",
        11,
        "a tuple that another replica guessed stays in front of stable ones",
    ),
    Mutant(
        "subscription/no-correction",
        NoCorrection,
        _ONE_REPLICA,
        "claims.on_stable",
        12,
        "what a replica guessed stays in front of its corrections",
    ),
    Mutant(
        "subscription/revoke-early",
        RevokeEarly,
        _TWO_REPLICAS,
        "claims.on_stable",
        11,
        "a tentative tuple of the old replica arrives when all were revoked",
    ),
    Mutant(
        "subscription/no-deduplication",
        NoDeduplication,
        _TWO_REPLICAS,
        "the_view_is_right.prefix",
        15,
        "a tuple comes from the old replica and from the new one, and is shown twice",
    ),
    Mutant(
        "subscription/undo-stable",
        UndoStable,
        _TWO_REPLICAS,
        "the_view_is_right.prefix",
        15,
        "a stable tuple that came while the request was under way is shown twice",
    ),
    Mutant(
        "subscription/stale-tail",
        StaleTail,
        _TWO_FAILURES,
        "the_view_is_right.tail",
        16,
        "another replica's guess at a tuple is shown behind the tuple itself",
    ),
    Mutant(
        "subscription/switch-to-equal",
        SwitchToEqual,
        _TWO_REPLICAS,
        "the_view_is_complete",
        11,
        "two replicas that are equally good are asked in turn, and neither gets to answer",
    ),
    Mutant(
        "subscription/truncate-connected",
        TruncateConnected,
        _NEIGHBOURS,
        "everybody_can_catch_up",
        9,
        "a neighbour that was not connected lacks what is not kept any more",
    ),
    Mutant(
        "subscription/truncate-sent",
        TruncateSent,
        _ONE_REPLICA,
        "everybody_can_catch_up",
        6,
        "what is under way to a subscriber is forgotten, and then lost with the connection",
    ),
    Mutant(
        "subscription/truncate-one",
        TruncateOne,
        _NEIGHBOURS,
        "everybody_can_catch_up",
        9,
        "what one neighbour has is forgotten, and another one lacks it",
    ),
    Mutant(
        "subscription/failure-is-late",
        FailureIsLate,
        _TWO_FAILURES,
        "the_best_is_asked",
        4,
        "a replica is asked that does not answer, while another one would",
    ),
    Mutant(
        "subscription/never-switch",
        NeverSwitch,
        _TWO_REPLICAS,
        "the_view_is_complete",
        6,
        "a subscriber never gets the rest if the input of its replica fails forever",
    ),
    Mutant(
        "subscription/send-forgotten",
        SendForgotten,
        _TWO_REPLICAS,
        "what_is_sent_is_kept",
        15,
        "a replica has to send a tuple that it does not have any more",
    ),
    Mutant(
        "subscription/old-ack",
        OldAck,
        _TWO_TUPLES,
        "an_ack_is_for_good",
        12,
        "a replica keeps tuples that everybody has",
    ),
)
