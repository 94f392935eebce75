"""The replicas and subscribers of a stream, and the machines that they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from streamproof.lang import Domain, Map, Model, assume, forall, implies
from streamproof.models.subscription.state import (
    Kind,
    Message,
    Slot,
    State,
    Subscriber,
    Upstream,
)
from streamproof.protocols import subscription as protocol
from streamproof.protocols.dpc import Condition
from streamproof.protocols.subscription import Feed, FeedStep, OutputBuffer, View, ViewStep


@dataclass(frozen=True)
class MachinesModel(Model[State]):
    """Subscribers of one stream, and the replicas that give it.

    Attributes
    ----------
    place : the number of a slot: message n of a connection lies in the n-th
    tuples : how long the right output is
    failures_max : failures that may happen
    """

    protocol_name: ClassVar[str] = "subscription"

    upstreams: Domain[Upstream]
    subscribers: Domain[Subscriber]
    slots: Domain[Slot]
    place: Map[Slot, int]
    tuples: int
    failures_max: int

    @property
    def messages_max(self) -> int:
        """The most messages of a connection."""
        return len(self.slots)

    @property
    def shown_max(self) -> int:
        """The most tuples that a client shows, be it by mistake."""
        return self.tuples + 1

    @assume
    def no_two_slots_have_the_same_place(self) -> bool:
        """Places tell slots apart."""
        return forall(
            self.slots, self.slots, lambda x, y: implies(self.place[x] == self.place[y], x == y)
        )

    @assume
    def tuples_are_counted(self) -> bool:
        """There are not less than none."""
        return self.tuples >= 0

    # The protocol that is checked; a mutant replaces one of these.

    @staticmethod
    def subscribe(view: View[Upstream], upstream: Upstream) -> ViewStep[Upstream]:
        """Step the machine of a subscriber that asks a replica."""
        return protocol.subscribe(view, upstream)

    @staticmethod
    def switch(
        view: View[Upstream], conditions: Map[Upstream, Condition], upstream: Upstream
    ) -> ViewStep[Upstream]:
        """Step the machine of a subscriber that changes to a better replica."""
        return protocol.switch(view, conditions, upstream)

    @staticmethod
    def is_best(conditions: Map[Upstream, Condition], upstream: Upstream) -> bool:
        """Ask the protocol which replica a subscriber without a connection may choose."""
        return protocol.is_best(conditions, upstream)

    @staticmethod
    def on_message(view: View[Upstream], message: Message) -> ViewStep[Upstream]:
        """Step the machine of a subscriber that receives a message."""
        match message.kind:
            case Kind.STABLE:
                return protocol.on_stable(view, message.stable, message.stable + 1)
            case Kind.TENTATIVE:
                return protocol.on_tentative(view, message.stable, 1)
            case _:
                return protocol.on_undo(view, message.stable)

    @staticmethod
    def on_subscribe(feed: Feed, buffer: OutputBuffer[Subscriber], stable: int) -> FeedStep:
        """Step the feed of a replica that is asked."""
        del buffer
        return protocol.on_subscribe(feed, stable)

    @staticmethod
    def undo(feed: Feed) -> FeedStep:
        """Step a feed of a replica whose tentative tuples were revoked."""
        return protocol.undo(feed)

    @staticmethod
    def on_ack(
        buffer: OutputBuffer[Subscriber], subscriber: Subscriber, stable: int
    ) -> OutputBuffer[Subscriber]:
        """Step the buffer of a replica that receives an ack."""
        return protocol.on_ack(buffer, subscriber, stable)[0]

    @staticmethod
    def send_stable_machine(feed: Feed, buffer: OutputBuffer[Subscriber]) -> FeedStep:
        """Step the feed of a replica that has a stable tuple to send."""
        return protocol.send_stable(feed, buffer, protocol.next_stable(feed, buffer) + 1)

    def truncated(self, s: State, u: Upstream, end: int) -> OutputBuffer[Subscriber]:
        """Step the buffer of a replica that forgets what is not needed any more."""
        return protocol.truncate(s.buffers[u], end)[0]
