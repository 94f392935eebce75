"""Chandy-Lamport snapshots on any channel graph, with the application's messages as counters.

What is abstracted away, and why that is sound
----------------------------------------------
* A channel is not a queue but three counters: messages sent, messages received, and for each
  marker the number of messages ahead of it. Message n of a channel is the n-th ever sent on it, so
  counters lose nothing: which messages a channel log holds is known from where it starts and ends.
* Two markers with the same number of messages ahead may be received in either order. FIFO allows
  one of the two, so this adds behaviour and removes none; recorders of different ids are
  independent.
* What the application computes is left out; `token_passing.py` adds an application whose tokens can
  be told apart.
* `left` bounds the messages of a process, since a finite search needs an end. Proofs leave it open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, assert_never

from streamproof.lang import (
    Domain,
    Fairness,
    Map,
    Model,
    action,
    always,
    every_step,
    exists,
    final,
    forall,
    implies,
    init,
    leads_to,
    require,
    sometimes,
)
from streamproof.models.snapshots.graph import Graph, channels_of
from streamproof.models.snapshots.state import (
    App,
    Application,
    Marker,
    Process,
    Snapshot,
    System,
    SystemOf,
    Travel,
    received_one,
    sent_one,
    splice,
)
from streamproof.protocols import chandy_lamport as protocol
from streamproof.protocols.chandy_lamport import (
    SaveState,
    SendMarkers,
    SnapshotEffect,
    initial_recorder,
    is_complete,
)

__all__ = [
    "MODEL",
    "Application",
    "ChandyLamport",
    "Marker",
    "Process",
    "Snapshot",
    "SnapshotModel",
    "System",
    "SystemOf",
    "Travel",
    "received_one",
    "sent_one",
]


@dataclass(frozen=True)
class SnapshotModel(Model[SystemOf[App]], ABC, Generic[App]):
    """Snapshots of an application; a subclass says how it starts, sends and receives.

    Attributes
    ----------
    channel : whether there is a channel from the first process to the second
    may_initiate : whether a process may initiate a snapshot
    messages : messages that a process may send in all
    """

    protocol_name: ClassVar[str] = "chandy_lamport"
    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""

    processes: Domain[Process]
    snapshots: Domain[Snapshot]
    channel: Map[tuple[Process, Process], bool]
    may_initiate: Map[tuple[Snapshot, Process], bool]
    messages: Map[Process, int]

    @property
    def messages_max(self) -> int:
        """The most messages that any process may send: the bound of every counter."""
        return max((count for _, count in self.messages.items()), default=0)

    # ----------------------------------------------------------------------- the application

    @abstractmethod
    def received(self, app: App, p: Process, q: Process) -> App:
        """Receive the next message from p at q."""

    @abstractmethod
    def is_application_step(self, before: App, after: App) -> bool:
        """Return whether the application can go from one state to the other in at most one step."""

    def splice(self, app: App, other: App, chosen: Callable[[Process], bool]) -> App:
        """Take the chosen processes' local states from another state of the application."""
        return splice(app, other, chosen)

    def write_log(
        self, before: SystemOf[App], after: SystemOf[App], p: Process, q: Process
    ) -> SystemOf[App]:
        """Keep what the machine at q has just logged; where messages are counted, a count will do.

        Parameters
        ----------
        before, after : the step in which q received a message from p
        """
        del before, p, q
        return after

    def can_send(self, app: App, p: Process, q: Process) -> bool:
        """Return whether the application lets p send to q."""
        return self.channel[p, q] and app.left[p] > 0

    def can_receive(self, app: App, p: Process, q: Process) -> bool:
        """Return whether there is a message from p for q."""
        return app.received[p, q] < app.sent[p, q]

    # ----------------------------------------------------------------------- behaviour

    def with_application(self, app: App) -> SystemOf[App]:
        """Return the system at its start: no snapshot has begun."""
        processes, snapshots = self.processes, self.snapshots
        return SystemOf(
            app=app,
            recorders=Map.build(
                processes,
                lambda q: Map.build(
                    snapshots,
                    lambda _: initial_recorder(Map.build(processes, lambda p: self.channel[p, q])),
                ),
            ),
            markers=Map.fill(snapshots, processes, processes, Marker(Travel.UNSENT, 0)),
            saved=Map.fill(snapshots, app),
        )

    @action(fairness=Fairness.WEAK)
    def receive(self, s: SystemOf[App], p: Process, q: Process) -> SystemOf[App]:
        """The application at q receives the next message from p; no marker is ahead of it."""
        require(self.can_receive(s.app, p, q))
        require(forall(self.snapshots, lambda k: not self.marker_is_next(s, k, p, q)))
        recorders, _ = self.machine.on_messages(s.recorders[q], p, 1)
        app = self.received(s.app, p, q)
        after = replace(s, app=app, recorders=s.recorders.set(q, recorders))
        return self.write_log(s, after, p, q)

    @action
    def initiate(self, s: SystemOf[App], k: Snapshot, p: Process) -> SystemOf[App]:
        """Process p begins snapshot k by itself."""
        require(self.may_initiate[k, p])
        recorders, effects = self.machine.initiate(s.recorders[p], k)
        return self.carry_out(replace(s, recorders=s.recorders.set(p, recorders)), p, effects)

    @action(fairness=Fairness.WEAK)
    def receive_marker(
        self, s: SystemOf[App], k: Snapshot, p: Process, q: Process
    ) -> SystemOf[App]:
        """Process q receives the marker of snapshot k from p."""
        require(self.marker_is_next(s, k, p, q))
        marker = replace(s.markers[k, p, q], travel=Travel.RECEIVED)
        recorders, effects = self.machine.on_marker(s.recorders[q], k, p)
        received = replace(
            s,
            recorders=s.recorders.set(q, recorders),
            markers=s.markers.set((k, p, q), marker),
        )
        return self.carry_out(received, q, effects)

    def marker_is_next(self, s: SystemOf[App], k: Snapshot, p: Process, q: Process) -> bool:
        """Return whether the marker is at the head of its channel. FIFO is assumed here."""
        marker = s.markers[k, p, q]
        return marker.travel == Travel.TRAVELLING and marker.ahead == s.app.received[p, q]

    def carry_out(
        self, s: SystemOf[App], p: Process, effects: tuple[SnapshotEffect[Snapshot], ...]
    ) -> SystemOf[App]:
        """Do for process p what its machine asks for, as a binding does for a Spark query."""
        for effect in effects:
            match effect:
                case SaveState(k):
                    s = self.save_state(s, k, p)
                case SendMarkers(k):
                    s = self.send_markers(s, k, p)
                case _:
                    assert_never(effect)
        return s

    def save_state(self, s: SystemOf[App], k: Snapshot, p: Process) -> SystemOf[App]:
        """Write down p's local state."""
        return replace(s, saved=s.saved.set(k, self.splice(s.saved[k], s.app, lambda r: r == p)))

    def send_markers(self, s: SystemOf[App], k: Snapshot, p: Process) -> SystemOf[App]:
        """Put the marker behind everything that p has sent, on each of its output channels."""
        return replace(
            s,
            markers=s.markers.map_items(
                lambda j, a, b, marker: (
                    Marker(Travel.TRAVELLING, s.app.sent[a, b])
                    if j == k and a == p and self.channel[a, b]
                    else marker
                )
            ),
        )

    # ----------------------------------------------------------------------- properties

    def recorded(self, s: SystemOf[App], k: Snapshot, p: Process) -> bool:
        """Return whether p has recorded its state for k."""
        return s.recorders[p][k].recorded

    def closed(self, s: SystemOf[App], k: Snapshot, p: Process, q: Process) -> bool:
        """Return whether the recorded state of the channel from p to q is final."""
        return self.channel[p, q] and s.recorders[q][k].closed[p]

    def complete(self, s: SystemOf[App], k: Snapshot) -> bool:
        """Return whether every process has done its part in k."""
        return forall(self.processes, lambda p: is_complete(s.recorders[p][k]))

    @always
    def consistent_cut(self, s: SystemOf[App]) -> bool:
        """S1: what was received inside the cut was sent inside it."""
        return forall(
            s.markers,
            lambda k, p, q: implies(
                self.channel[p, q] and self.recorded(s, k, p) and self.recorded(s, k, q),
                s.saved[k].received[p, q] <= s.saved[k].sent[p, q],
            ),
        )

    @always
    def channel_exact(self, s: SystemOf[App]) -> bool:
        """S2: a closed channel's log is exactly what was in flight across the cut."""
        return forall(
            s.markers,
            lambda k, p, q: implies(
                self.closed(s, k, p, q),
                self.recorded(s, k, p)
                and s.saved[k].received[p, q] + s.recorders[q][k].log[p] == s.saved[k].sent[p, q],
            ),
        )

    @every_step
    def non_interference(self, before: SystemOf[App], after: SystemOf[App]) -> bool:
        """Without its markers, the run is a run of the application."""
        return self.is_application_step(before.app, after.app)

    @every_step
    def shadow_simulation(self, before: SystemOf[App], after: SystemOf[App]) -> bool:
        """S3, first lemma: the cut itself runs as the application does, so it is reachable."""
        return forall(
            self.snapshots,
            lambda k: self.is_application_step(self.shadow(before, k), self.shadow(after, k)),
        )

    def shadow(self, s: SystemOf[App], k: Snapshot) -> App:
        """Return the cut: recorded processes as they were recorded, the others as they are.

        At the end of the snapshot this is the recorded global state S*.
        """
        return self.splice(s.app, s.saved[k], lambda p: self.recorded(s, k, p))

    @leads_to
    def every_snapshot_completes(self, s: SystemOf[App], k: Snapshot) -> tuple[bool, bool]:
        """A snapshot that has begun is completed, if channels deliver."""
        begun = exists(self.processes, lambda p: self.recorded(s, k, p))
        return begun, self.complete(s, k)

    @sometimes
    def a_snapshot_completes(self, s: SystemOf[App]) -> bool:
        """The search sees a whole snapshot."""
        return exists(self.snapshots, lambda k: self.complete(s, k))

    @final
    def quiet(self, s: SystemOf[App]) -> bool:
        """All messages are received, and every snapshot that began is complete."""
        return forall(s.app.sent, lambda p, q: s.app.received[p, q] == s.app.sent[p, q]) and forall(
            self.snapshots,
            lambda k: implies(
                exists(self.processes, lambda p: self.recorded(s, k, p)), self.complete(s, k)
            ),
        )


def fields_at(
    messages: tuple[int, ...], graph: Graph, snapshots: int, initiators: int
) -> dict[str, Any]:
    """Return the fields of a model at a size, which `ChandyLamport.sized` explains."""
    processes, ids = Domain(Process, len(messages)), Domain(Snapshot, snapshots)
    return {
        "processes": processes,
        "snapshots": ids,
        "channel": channels_of(graph, processes),
        "may_initiate": Map.build(
            ids, processes, lambda _, p: not initiators or p.index < initiators
        ),
        "messages": Map.build(processes, lambda p: messages[p.index]),
    }


@dataclass(frozen=True)
class ChandyLamport(SnapshotModel[Application]):
    """Snapshots of processes whose messages are only counted."""

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"messages": (1, 1)},
        "default": {"messages": (1, 1, 1), "initiators": 1},
        "large": {"messages": (2, 2, 2), "initiators": 1},
        "ring": {"messages": (1, 1, 1), "graph": Graph.RING},
        "dag": {"messages": (2, 1, 0), "graph": Graph.DAG, "initiators": 1},
        "overlapping": {"messages": (1, 0), "snapshots": 2},
    }

    @classmethod
    def sized(
        cls,
        *,
        messages: tuple[int, ...] = (1, 1),
        graph: Graph = Graph.COMPLETE,
        snapshots: int = 1,
        initiators: int = 0,
    ) -> ChandyLamport:
        """Build the model of a size.

        Parameters
        ----------
        messages : for each process, how many messages it may send
        graph : which processes have channels between them
        snapshots : number of snapshot ids
        initiators : the first so many processes may initiate any snapshot; 0 means all
        """
        return cls(**fields_at(messages, graph, snapshots, initiators))

    @init
    def start(self) -> System:
        """Nothing has been sent, no snapshot has begun."""
        no_messages = Map.fill(self.processes, self.processes, 0)
        return self.with_application(Application(self.messages, no_messages, no_messages))

    @action
    def send(self, s: System, p: Process, q: Process) -> System:
        """The application at p sends a message to q."""
        require(self.can_send(s.app, p, q))
        return replace(s, app=sent_one(s.app, p, q))

    def received(self, app: Application, p: Process, q: Process) -> Application:
        """Count one more message from p received at q."""
        return received_one(app, p, q)

    def is_application_step(self, before: Application, after: Application) -> bool:
        """Return whether the application can go from one state to the other in at most one step."""
        return before == after or exists(
            self.processes,
            self.processes,
            lambda p, q: (
                (self.can_send(before, p, q) and after == sent_one(before, p, q))
                or (self.can_receive(before, p, q) and after == received_one(before, p, q))
            ),
        )


MODEL = ChandyLamport
