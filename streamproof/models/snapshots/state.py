"""States: of an application, and of the system that also takes snapshots of it.

The application knows nothing of markers. A model of a snapshot protocol runs it, and takes its
states apart and together again, process by process.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Generic, TypeAlias, TypeVar

from streamproof.lang import Element, Map, Range, Step
from streamproof.protocols.chandy_lamport import Recorders, SnapshotEffect


class Process(Element):
    """A process of the distributed system."""


Count = Annotated[int, Range(0, "messages_max")]


@dataclass(frozen=True, slots=True)
class Application:
    """A state of the application. A channel is named by its sender and receiver.

    Attributes
    ----------
    left : messages that a process may still send
    sent, received : per channel, messages in all
    """

    left: Map[Process, Count]
    sent: Map[tuple[Process, Process], Count]
    received: Map[tuple[Process, Process], Count]


App = TypeVar("App", bound=Application)


def sent_one(app: App, p: Process, q: Process) -> App:
    """Send one message from p to q."""
    return replace(
        app, left=app.left.set(p, app.left[p] - 1), sent=app.sent.set((p, q), app.sent[p, q] + 1)
    )


def received_one(app: App, p: Process, q: Process) -> App:
    """Receive one message from p at q."""
    return replace(app, received=app.received.set((p, q), app.received[p, q] + 1))


def splice(app: App, other: App, chosen: Callable[[Process], bool]) -> App:
    """Take the chosen processes' counts from another state of the application."""
    return replace(
        app,
        left=app.left.map_items(lambda p, left: other.left[p] if chosen(p) else left),
        sent=app.sent.map_items(lambda p, q, sent: other.sent[p, q] if chosen(p) else sent),
        received=app.received.map_items(
            lambda p, q, received: other.received[p, q] if chosen(q) else received
        ),
    )


# --------------------------------------------------------------------------- with snapshots


class Snapshot(Element):
    """The id of a snapshot."""


Machine: TypeAlias = Recorders[Snapshot, Process]
"""What the protocol keeps at one process. A channel's name there is the process it comes from."""
MachineStep: TypeAlias = Step[Machine, SnapshotEffect[Snapshot]]


class Travel(Enum):
    """Where a marker is."""

    UNSENT = "unsent"
    TRAVELLING = "travelling"
    RECEIVED = "received"


@dataclass(frozen=True, slots=True)
class Marker:
    """One snapshot's marker on one channel.

    Attributes
    ----------
    ahead : messages that were sent on the channel before it
    """

    travel: Travel
    ahead: Count


@dataclass(frozen=True, slots=True)
class SystemOf(Generic[App]):
    """The application, the protocol's machines, and what their effects have done.

    Attributes
    ----------
    saved : per snapshot, the saved states of the processes that have recorded; the rest is as at
        the start
    """

    app: App
    recorders: Map[Process, Machine]
    markers: Map[tuple[Snapshot, Process, Process], Marker]
    saved: Map[Snapshot, App]


System: TypeAlias = SystemOf[Application]
"""The system whose messages are only counted."""
