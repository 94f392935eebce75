"""Subscriptions: a node reads a stream from any replica of its upstream neighbour, and changes it.

The stable tuples of a stream are numbered, and the same at all replicas; behind them each replica
may have tentative ones, which are its own. A subscriber asks a replica for what follows its last
stable tuple. The answer revokes the tentative tuples that it has from elsewhere, goes on with the
stable ones it lacks, then with the replica's own tentative ones, then with what is new. So the
subscriber's view is a stable prefix, which only grows, and a tentative tail, which is revoked
before the prefix goes on [BBMS08, sections 4.3 and 4.4].

A replica keeps its stable tuples in an *output buffer* until all replicas of all its downstream
neighbours have acknowledged them, whether connected or not: each may come and ask for them.

A machine works on numbers of tuples; a step may stand for a million of them.

Assumptions
-----------
* Stable tuple n is the same at all replicas (`sunion`), and is never revoked there.
* A connection is FIFO. When the answer to a new request arrives, the old connection is closed.
* What a subscriber acknowledges is durable with it.

Deviations from the paper
-------------------------
* The paper's subscriber says whether it has seen tentative tuples. Here the answer always begins
  with UNDO: more may come from the old connection while the request travels (`revoke-early`).
* For the same reason stable tuples may come twice, and are told by their numbers
  (mutant `no-deduplication`).
* A tentative tuple says behind which stable one it is, and is ignored by who has more.
* The paper goes on reading corrections from a replica in STABILIZATION beside tentative tuples from
  another one. Here one replica is read at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from streamproof.lang import Map, Step, forall, require
from streamproof.protocols.dpc import Condition

Upstream = TypeVar("Upstream")
Subscriber = TypeVar("Subscriber")


# --------------------------------------------------------------------------- choosing a replica


def preference(condition: Condition) -> int:
    """Rank conditions; the lowest is the best to read from [BBMS08, section 4.3].

    A replica in UP_FAILURE gives new tuples at least, one in STABILIZATION is late.
    """
    if condition == Condition.STABLE:
        return 0
    if condition == Condition.UP_FAILURE:
        return 1
    return 2 if condition == Condition.STABILIZATION else 3


def is_best(conditions: Map[Upstream, Condition], upstream: Upstream) -> bool:
    """Return whether no replica is in a better condition."""
    best = preference(conditions[upstream])
    return forall(conditions, lambda other: best <= preference(conditions[other]))


# --------------------------------------------------------------------------- the subscriber


@dataclass(frozen=True, slots=True)
class View(Generic[Upstream]):
    """What a subscriber has of the stream.

    Attributes
    ----------
    source : the replica that it has asked last
    stable : stable tuples, so the number of the next one
    tentative : tentative tuples behind them
    """

    source: Upstream
    stable: int
    tentative: int


@dataclass(frozen=True, slots=True)
class SendSubscribe(Generic[Upstream]):
    """Ask a replica for what follows the first `stable` stable tuples."""

    to: Upstream
    stable: int


@dataclass(frozen=True, slots=True)
class AcceptStable:
    """Take stable tuples number `begin` to `end` - 1 into the view."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class AcceptTentative:
    """Take so many tentative tuples into the view, behind all others."""

    count: int


@dataclass(frozen=True, slots=True)
class Revoke:
    """Take all tentative tuples out of the view."""


ViewEffect: TypeAlias = SendSubscribe[Upstream] | AcceptStable | AcceptTentative | Revoke
ViewStep: TypeAlias = Step[View[Upstream], ViewEffect[Upstream]]


def subscribe(view: View[Upstream], upstream: Upstream) -> ViewStep[Upstream]:
    """Ask a replica to go on where this view's stable prefix ends [BBMS08, section 4.3].

    Its tentative tuples do not count, since they are another replica's (mutant `count-tentative`).
    """
    return replace(view, source=upstream), (SendSubscribe(upstream, view.stable),)


def switch(
    view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
) -> ViewStep[Upstream]:
    """Change to the best replica, unless the present one is as good [BBMS08, section 4.3]."""
    require(preference(conditions[upstream]) < preference(conditions[view.source]))
    require(is_best(conditions, upstream))
    return subscribe(view, upstream)


def on_stable(view: View[Upstream], begin: int, end: int) -> ViewStep[Upstream]:
    """Take stable tuples `begin` to `end` - 1, without those that the view has."""
    assert begin <= view.stable  # else tuples in between were lost
    if end <= view.stable:
        return view, ()
    assert view.tentative == 0  # else they would be taken to come before these
    return replace(view, stable=end), (AcceptStable(view.stable, end),)


def on_tentative(view: View[Upstream], behind: int, count: int) -> ViewStep[Upstream]:
    """Take tentative tuples, if they come behind the view's last stable one.

    Parameters
    ----------
    behind, count : stable tuples ahead of them, and how many they are
    """
    if behind != view.stable:
        return view, ()
    return replace(view, tentative=view.tentative + count), (AcceptTentative(count),)


def on_undo(view: View[Upstream], stable: int) -> ViewStep[Upstream]:
    """Revoke all tuples behind the first `stable` stable ones, which are tentative."""
    assert stable <= view.stable
    return replace(view, tentative=0), (Revoke(),)


# --------------------------------------------------------------------------- the output buffer


@dataclass(frozen=True, slots=True)
class OutputBuffer(Generic[Subscriber]):
    """What a replica has emitted.

    Attributes
    ----------
    begin : the first stable tuple that is kept
    stable : stable tuples emitted so far, so the number of the next one
    tentative : tentative tuples emitted behind them and not revoked
    acked : per replica of each downstream neighbour, how many stable tuples it has for good
    """

    begin: int
    stable: int
    tentative: int
    acked: Map[Subscriber, int]


@dataclass(frozen=True, slots=True)
class Discard:
    """Forget the stable tuples before `end`."""

    end: int


BufferStep: TypeAlias = Step[OutputBuffer[Subscriber], Discard]


def emit_stable(buffer: OutputBuffer[Subscriber], count: int) -> BufferStep[Subscriber]:
    """Append stable tuples; what is tentative was revoked before."""
    assert buffer.tentative == 0
    return replace(buffer, stable=buffer.stable + count), ()


def emit_tentative(buffer: OutputBuffer[Subscriber], count: int) -> BufferStep[Subscriber]:
    """Append tentative tuples."""
    return replace(buffer, tentative=buffer.tentative + count), ()


def emit_undo(buffer: OutputBuffer[Subscriber]) -> BufferStep[Subscriber]:
    """Revoke all tentative tuples; every feed must be told (`undo`)."""
    return replace(buffer, tentative=0), ()


def on_ack(
    buffer: OutputBuffer[Subscriber], subscriber: Subscriber, stable: int
) -> BufferStep[Subscriber]:
    """Note that a subscriber has the first `stable` stable tuples for good; an old ack is none."""
    if stable <= buffer.acked[subscriber]:
        return buffer, ()
    return replace(buffer, acked=buffer.acked.set(subscriber, stable)), ()


def truncate(buffer: OutputBuffer[Subscriber], end: int) -> BufferStep[Subscriber]:
    """Forget what all have acknowledged, be they connected or not (mutant `truncate-connected`)."""
    require(buffer.begin < end)
    require(forall(buffer.acked, lambda subscriber: end <= buffer.acked[subscriber]))
    return replace(buffer, begin=end), (Discard(end),)


# --------------------------------------------------------------------------- a feed


@dataclass(frozen=True, slots=True)
class Feed:
    """How far a replica has come with one subscriber.

    Attributes
    ----------
    stable : the next stable tuple to send
    tentative : tentative tuples that were sent behind the stable ones
    revokes : an UNDO has to be sent before anything else
    """

    stable: int
    tentative: int
    revokes: bool


@dataclass(frozen=True, slots=True)
class SendStable:
    """Send stable tuples number `begin` to `end` - 1."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class SendTentative:
    """Send so many of the tentative tuples, which come behind the first `behind` stable ones."""

    behind: int
    count: int


@dataclass(frozen=True, slots=True)
class SendUndo:
    """Send UNDO: revoke everything behind the first `stable` stable tuples."""

    stable: int


FeedEffect: TypeAlias = SendStable | SendTentative | SendUndo
FeedStep: TypeAlias = Step[Feed, FeedEffect]


def on_subscribe(feed: Feed, stable: int) -> FeedStep:
    """Begin anew behind the first `stable` stable tuples, with UNDO [BBMS08, section 4.3]."""
    return replace(feed, stable=stable, tentative=0, revokes=True), ()


def undo(feed: Feed) -> FeedStep:
    """Note that the tentative tuples that were sent have been revoked here."""
    return replace(feed, revokes=feed.revokes or feed.tentative > 0), ()


def send_undo(feed: Feed) -> FeedStep:
    """Revoke what was sent tentatively."""
    require(feed.revokes)
    return replace(feed, tentative=0, revokes=False), (SendUndo(feed.stable),)


def next_stable(feed: Feed, buffer: OutputBuffer[Subscriber]) -> int:
    """Return the number of the next stable tuple to send, or of the first that is kept.

    What is not kept any more was acknowledged by all, and so by this subscriber.
    """
    return max(feed.stable, buffer.begin)


def send_stable(feed: Feed, buffer: OutputBuffer[Subscriber], end: int) -> FeedStep:
    """Send the stable tuples before `end` that were not sent."""
    begin = next_stable(feed, buffer)
    require(not feed.revokes and feed.tentative == 0 and begin < end <= buffer.stable)
    return replace(feed, stable=end), (SendStable(begin, end),)


def send_tentative(feed: Feed, buffer: OutputBuffer[Subscriber], end: int) -> FeedStep:
    """Send tentative tuples up to number `end`, once all stable ones were sent."""
    require(not feed.revokes and feed.stable == buffer.stable)
    require(feed.tentative < end <= buffer.tentative)
    sent = replace(feed, tentative=end)
    return sent, (SendTentative(feed.stable, end - feed.tentative),)
