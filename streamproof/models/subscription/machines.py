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
from streamproof.protocols.subscription import OutputBuffer, View, ViewStep


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
    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""

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

    def on_message(self, view: View[Upstream], message: Message) -> ViewStep[Upstream]:
        """Step the machine of a subscriber that receives a message."""
        match message.kind:
            case Kind.STABLE:
                return self.machine.on_stable(view, message.stable, message.stable + 1)
            case Kind.TENTATIVE:
                return self.machine.on_tentative(view, message.stable, 1)
            case _:
                return self.machine.on_undo(view, message.stable)

    def truncated(self, s: State, u: Upstream, end: int) -> OutputBuffer[Subscriber]:
        """Step the buffer of a replica that forgets what is not needed any more."""
        return self.machine.truncate(s.buffers[u], end)[0]
