"""States of subscriptions: what replicas have emitted, what is under way, and what has arrived."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, assert_never

from streamproof.lang import Element, Map, Range
from streamproof.protocols.dpc import Condition
from streamproof.protocols.subscription import (
    AcceptStable,
    AcceptTentative,
    Feed,
    FeedEffect,
    OutputBuffer,
    Revoke,
    SendStable,
    SendTentative,
    SendUndo,
    View,
)


class Upstream(Element):
    """A replica of the upstream neighbour."""


class Subscriber(Element):
    """A replica of a downstream neighbour."""


class Slot(Element):
    """A place of a connection: the n-th for the n-th message that is ever sent on it."""


WELL = (Condition.STABLE, Condition.STABILIZATION)
"""Conditions in which a replica emits stable tuples, now or in the end."""


def rank(condition: Condition) -> int:
    """Rank conditions as [BBMS08, section 4.3] does, the best to read from first."""
    if condition == Condition.STABLE:
        return 0
    if condition == Condition.UP_FAILURE:
        return 1
    return 2 if condition == Condition.STABILIZATION else 3


Tuples = Annotated[int, Range(0, "tuples")]
"""A number of tuples, or the number of one."""
Shown = Annotated[int, Range(0, "shown_max")]
Messages = Annotated[int, Range(0, "messages_max")]


class Kind(Enum):
    """What a message is."""

    NOTHING = "nothing"
    STABLE = "stable"
    TENTATIVE = "tentative"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a connection.

    Attributes
    ----------
    stable : stable tuples ahead of it: its own number, or behind which one it comes
    tentative : tentative tuples ahead of it that were not revoked; the message does not carry this
    """

    kind: Kind
    stable: Tuples
    tentative: Tuples


NOTHING = Message(Kind.NOTHING, 0, 0)


def message_of(effect: FeedEffect, tail: int) -> Message:
    """Return the message that a feed sends, by its effect.

    Parameters
    ----------
    tail : tentative tuples that it has sent and not revoked
    """
    match effect:
        case SendStable(begin, _):
            return Message(Kind.STABLE, begin, tail)
        case SendTentative(behind, _):
            return Message(Kind.TENTATIVE, behind, tail)
        case SendUndo(stable):
            return Message(Kind.UNDO, stable, tail)
        case _:
            assert_never(effect)


@dataclass(frozen=True, slots=True)
class Connection:
    """The connection that a subscriber reads, and the request for the next one.

    Attributes
    ----------
    is_open : whether there is one, and no link has failed since
    source : the replica at its other end
    sent, received : messages since it was opened
    asked : whether a request is under way
    stable : what the request says
    """

    is_open: bool
    source: Upstream
    feed: Feed
    sent: Messages
    received: Messages
    messages: Map[Slot, Message]
    asked: bool
    stable: Tuples


@dataclass(frozen=True, slots=True)
class Client:
    """What a subscriber has made of its machine's effects.

    Attributes
    ----------
    stable, tentative : tuples that it shows
    is_right : its stable tuples are number 0, 1, 2 and so on, none twice and none left out
    is_clean : no stable tuple was put behind a tentative one
    """

    stable: Shown
    tentative: Shown
    is_right: bool
    is_clean: bool


def shown(client: Client, effect: AcceptStable | AcceptTentative | Revoke) -> Client:
    """Return the client after an effect of its machine."""
    match effect:
        case AcceptStable(begin, end):
            # Not `and`, which would fork where a client was wrong before: that never is the case.
            return Client(
                client.stable + end - begin,
                client.tentative,
                client.is_right & (begin == client.stable),
                client.is_clean & (client.tentative == 0),
            )
        case AcceptTentative(count):
            return replace(client, tentative=client.tentative + count)
        case Revoke():
            return replace(client, tentative=0)
        case _:
            assert_never(effect)


@dataclass(frozen=True, slots=True)
class State:
    """The replicas of the upstream neighbour, and those of its downstream neighbours.

    Attributes
    ----------
    failures : how many may still come
    """

    conditions: Map[Upstream, Condition]
    failures: Annotated[int, Range(0, "failures_max")]
    buffers: Map[Upstream, OutputBuffer[Subscriber]]
    views: Map[Subscriber, View[Upstream]]
    connections: Map[Subscriber, Connection]
    clients: Map[Subscriber, Client]
