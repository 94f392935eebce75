"""Subscribers that read from several replicas, which are at different places and may guess.

What is abstracted away, and why that is sound
----------------------------------------------
* Tuples are numbers: a stable one is the same at all replicas, which `sunion` is about. A client
  notes whether the stable tuples that it takes are number 0, 1, 2 and so on: then what it shows is
  a prefix of the right output.
* One tuple is sent and emitted at a time; a run of them is several such steps.
* The messages of a connection are numbered, so its queue is a map from places to messages and two
  counters. A place is emptied when its message has arrived.
* An old connection is closed when the request to the next replica is answered. That it may still
  deliver until the answer arrives is an answer that is given later: what follows it is the same.
* An ack may arrive at any time, as often as it likes, and behind later ones; or never.
* A replica that crashed emits nothing until it has rebuilt its state, which may never be. Its
  stable output is durable. The links to subscribers that read from it, or have asked it, fail.
* `failures` bounds failures of replicas, of links to them, and of their own inputs, since otherwise
  there is no end. An input may fail forever; a link that failed can be had again at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from streamproof.lang import (
    Domain,
    Fairness,
    Map,
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
from streamproof.models.subscription.machines import MachinesModel
from streamproof.models.subscription.state import (
    NOTHING,
    WELL,
    Client,
    Connection,
    Kind,
    Slot,
    State,
    Subscriber,
    Upstream,
    message_of,
    rank,
    shown,
)
from streamproof.protocols import subscription as protocol
from streamproof.protocols.dpc import Condition
from streamproof.protocols.subscription import (
    Feed,
    FeedStep,
    OutputBuffer,
    SendSubscribe,
    View,
    ViewEffect,
    ViewStep,
)

__all__ = ["MODEL", "Slot", "State", "Subscriber", "SubscriptionModel", "Upstream"]


@dataclass(frozen=True)
class SubscriptionModel(MachinesModel):
    """Subscribers of one stream, and the replicas that give it."""

    machine = protocol

    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"upstreams": 2, "subscribers": 1, "tuples": 1, "failures": 1},
        "default": {"upstreams": 2, "subscribers": 1, "tuples": 2, "failures": 1},
        "two_failures": {"upstreams": 2, "subscribers": 1, "tuples": 1, "failures": 2},
        "neighbours": {"upstreams": 1, "subscribers": 2, "tuples": 1, "failures": 1},
    }

    @classmethod
    def sized(
        cls, *, upstreams: int = 2, subscribers: int = 1, tuples: int = 1, failures: int = 1
    ) -> SubscriptionModel:
        """Build the model of a size.

        Parameters
        ----------
        upstreams, subscribers : replicas of the upstream neighbour, and of downstream ones
        tuples : how long the right output is
        failures : failures that may happen in all
        """
        # UNDO and all tuples; and for each failure, tentative ones and the UNDO that revokes them
        slots = Domain(Slot, 1 + tuples + failures * (tuples + 1))
        return cls(
            Domain(Upstream, upstreams),
            Domain(Subscriber, subscribers),
            slots,
            Map.build(slots, lambda x: x.index),
            tuples,
            failures,
        )

    # ----------------------------------------------------------------------- the replicas

    @init
    def start(self, u: Upstream) -> State:
        """Nothing has been emitted, and every subscriber is about to read from one replica."""
        acked = Map.fill(self.subscribers, 0)
        feed = Feed(0, 0, revokes=False)
        empty = Map.fill(self.slots, NOTHING)
        return State(
            conditions=Map.fill(self.upstreams, Condition.STABLE),
            failures=self.failures_max,
            buffers=Map.fill(self.upstreams, OutputBuffer(0, 0, 0, acked)),
            views=Map.fill(self.subscribers, View(u, 0, 0)),
            connections=Map.fill(
                self.subscribers, Connection(False, u, feed, 0, 0, empty, False, 0)
            ),
            clients=Map.fill(self.subscribers, Client(0, 0, True, True)),
        )

    @action(fairness=Fairness.WEAK)
    def emit(self, s: State, u: Upstream) -> State:
        """Replica u emits its next stable tuple."""
        require(s.conditions[u] in WELL)
        require(s.buffers[u].stable < self.tuples)
        buffer, _ = self.machine.emit_stable(s.buffers[u], 1)
        return replace(s, buffers=s.buffers.set(u, buffer))

    @action
    def fail(self, s: State, u: Upstream) -> State:
        """An input of replica u fails."""
        require(s.failures > 0 and s.conditions[u] in WELL)
        conditions = s.conditions.set(u, Condition.UP_FAILURE)
        return replace(s, conditions=conditions, failures=s.failures - 1)

    @action
    def guess(self, s: State, u: Upstream) -> State:
        """Replica u emits a tentative tuple."""
        buffer = s.buffers[u]
        require(s.conditions[u] == Condition.UP_FAILURE)
        require(buffer.stable + buffer.tentative < self.tuples)
        guessed, _ = self.machine.emit_tentative(buffer, 1)
        return replace(s, buffers=s.buffers.set(u, guessed))

    @action
    def reconcile(self, s: State, u: Upstream) -> State:
        """The inputs of replica u are corrected, and it revokes its tentative tuples."""
        require(s.conditions[u] == Condition.UP_FAILURE)
        buffer, _ = self.machine.emit_undo(s.buffers[u])
        undo = self.machine.undo

        def told(connection: Connection) -> Connection:
            if not (connection.is_open and connection.source == u):
                return connection
            return replace(connection, feed=undo(connection.feed)[0])

        return replace(
            s,
            conditions=s.conditions.set(u, Condition.STABILIZATION),
            buffers=s.buffers.set(u, buffer),
            connections=s.connections.map(told),
        )

    @action(fairness=Fairness.WEAK)
    def recover(self, s: State, u: Upstream) -> State:
        """Replica u has corrected everything."""
        require(s.conditions[u] == Condition.STABILIZATION)
        return replace(s, conditions=s.conditions.set(u, Condition.STABLE))

    @action
    def crash(self, s: State, u: Upstream) -> State:
        """Replica u crashes, and forgets what is not stable."""
        require(s.failures > 0 and s.conditions[u] != Condition.FAILURE)
        buffer, _ = self.machine.emit_undo(s.buffers[u])

        def failed(d: Subscriber, connection: Connection) -> Connection:
            reads = connection.is_open and connection.source == u
            has_asked = connection.asked and s.views[d].source == u
            return self.closed(connection) if reads or has_asked else connection

        return replace(
            s,
            conditions=s.conditions.set(u, Condition.FAILURE),
            failures=s.failures - 1,
            buffers=s.buffers.set(u, buffer),
            connections=s.connections.map_items(failed),
        )

    @action
    def rebuild(self, s: State, u: Upstream) -> State:
        """Replica u has rebuilt its state."""
        require(s.conditions[u] == Condition.FAILURE)
        return replace(s, conditions=s.conditions.set(u, Condition.STABLE))

    @action
    def truncate(self, s: State, u: Upstream, d: Subscriber) -> State:
        """Replica u forgets what all have acknowledged, d the least."""
        buffer = self.truncated(s, u, s.buffers[u].acked[d])
        return replace(s, buffers=s.buffers.set(u, buffer))

    # ----------------------------------------------------------------------- subscribing

    @action(fairness=Fairness.WEAK)
    def ask(self, s: State, d: Subscriber, u: Upstream) -> State:
        """Subscriber d asks the best replica, if its own is worse, or silent, or not connected."""
        connection, view = s.connections[d], s.views[d]
        is_silent = s.conditions[view.source] == Condition.FAILURE
        require(not connection.asked or is_silent)
        if connection.is_open:
            return self.carry_out(s, d, self.machine.switch(view, s.conditions, u))
        require(self.machine.is_best(s.conditions, u))
        return self.carry_out(s, d, self.machine.subscribe(view, u))

    @action(fairness=Fairness.WEAK)
    def answer(self, s: State, d: Subscriber) -> State:
        """The replica that d has asked opens a connection; the old one is closed."""
        old, source = s.connections[d], s.views[d].source
        require(old.asked and s.conditions[source] != Condition.FAILURE)
        feed, _ = self.machine.on_subscribe(old.feed, old.stable)
        empty = Map.fill(self.slots, NOTHING)
        opened = Connection(True, source, feed, 0, 0, empty, False, 0)
        return replace(s, connections=s.connections.set(d, opened))

    @action
    def cut(self, s: State, d: Subscriber) -> State:
        """The connection of d fails; what was under way is lost."""
        connection = s.connections[d]
        require(s.failures > 0 and connection.is_open)
        connections = s.connections.set(d, self.closed(connection))
        return replace(s, connections=connections, failures=s.failures - 1)

    def closed(self, connection: Connection) -> Connection:
        """Return a connection that has failed: nothing is under way on it."""
        empty = Map.fill(self.slots, NOTHING)
        return Connection(False, connection.source, Feed(0, 0, False), 0, 0, empty, False, 0)

    @action
    def ack(self, s: State, d: Subscriber, u: Upstream, x: Slot) -> State:
        """A replica learns how many stable tuples subscriber d has, or has had."""
        stable = self.place[x]
        require(0 < stable <= s.views[d].stable)
        return replace(s, buffers=s.buffers.set(u, self.machine.on_ack(s.buffers[u], d, stable)[0]))

    # ----------------------------------------------------------------------- the connection

    @action(fairness=Fairness.WEAK)
    def send_undo(self, s: State, d: Subscriber, x: Slot) -> State:
        """The replica that d reads from sends UNDO."""
        return self.send(s, d, x, self.machine.send_undo(s.connections[d].feed))

    @action(fairness=Fairness.WEAK)
    def send_stable(self, s: State, d: Subscriber, x: Slot) -> State:
        """The replica that d reads from sends a stable tuple."""
        feed, buffer = s.connections[d].feed, s.buffers[s.connections[d].source]
        end = self.machine.next_stable(feed, buffer) + 1
        return self.send(s, d, x, self.machine.send_stable(feed, buffer, end))

    @action(fairness=Fairness.WEAK)
    def send_tentative(self, s: State, d: Subscriber, x: Slot) -> State:
        """The replica that d reads from sends a tentative tuple."""
        feed, buffer = s.connections[d].feed, s.buffers[s.connections[d].source]
        return self.send(s, d, x, self.machine.send_tentative(feed, buffer, feed.tentative + 1))

    def send(self, s: State, d: Subscriber, x: Slot, step: FeedStep) -> State:
        """Put what a feed sends into the next place of its connection."""
        connection = s.connections[d]
        require(connection.is_open and self.place[x] == connection.sent)
        feed, (effect,) = step
        message = message_of(effect, connection.feed.tentative)
        messages = connection.messages.set(x, message)
        after = replace(connection, feed=feed, messages=messages, sent=connection.sent + 1)
        return replace(s, connections=s.connections.set(d, after))

    @action(fairness=Fairness.WEAK)
    def receive(self, s: State, d: Subscriber, x: Slot) -> State:
        """Subscriber d receives the next message."""
        old = s.connections[d]
        require(self.place[x] == old.received < old.sent)
        messages = old.messages.set(x, NOTHING)
        after = replace(old, messages=messages, received=old.received + 1)
        received = replace(s, connections=s.connections.set(d, after))
        return self.carry_out(received, d, self.on_message(s.views[d], old.messages[x]))

    def carry_out(self, s: State, d: Subscriber, step: ViewStep[Upstream]) -> State:
        """Do for subscriber d what its machine asks for."""
        view, effects = step
        s = replace(s, views=s.views.set(d, view))
        for effect in effects:
            s = self.do(s, d, effect)
        return s

    def do(self, s: State, d: Subscriber, effect: ViewEffect[Upstream]) -> State:
        """Ask a replica, or let the client show tuples."""
        if isinstance(effect, SendSubscribe):
            assert effect.to == s.views[d].source  # who is asked is who answers
            asking = replace(s.connections[d], asked=True, stable=effect.stable)
            return replace(s, connections=s.connections.set(d, asking))
        return replace(s, clients=s.clients.set(d, shown(s.clients[d], effect)))

    # ----------------------------------------------------------------------- properties

    @always
    def the_view_is_right(self, s: State) -> dict[str, bool]:
        """P1: a stable prefix of the right output, behind it a tentative tail for the rest."""
        clients = s.clients
        return {
            "prefix": forall(
                clients, lambda d: clients[d].is_right and clients[d].stable <= self.tuples
            ),
            "tail": forall(
                clients,
                lambda d: (
                    clients[d].is_clean and clients[d].stable + clients[d].tentative <= self.tuples
                ),
            ),
        }

    @every_step
    def the_stable_prefix_only_grows(self, before: State, after: State) -> bool:
        """No stable tuple is ever revoked, from a client or at a replica."""
        return forall(
            before.clients, lambda d: before.clients[d].stable <= after.clients[d].stable
        ) and forall(before.buffers, lambda u: before.buffers[u].stable <= after.buffers[u].stable)

    @always
    def everybody_can_catch_up(self, s: State) -> bool:
        """Every replica keeps what any subscriber lacks, whether it is connected or not."""
        return forall(
            self.upstreams,
            self.subscribers,
            lambda u, d: s.buffers[u].begin <= s.clients[d].stable,
        )

    @every_step
    def the_best_is_asked(self, before: State, after: State) -> bool:
        """P3: nobody asks a replica for tuples while another one is more likely to have them."""

        def is_asked(d: Subscriber) -> bool:
            is_new = not before.connections[d].asked
            has_changed = before.views[d].source != after.views[d].source
            return after.connections[d].asked and (is_new or has_changed)

        return forall(
            self.subscribers,
            self.upstreams,
            lambda d, u: implies(
                is_asked(d),
                rank(before.conditions[after.views[d].source]) <= rank(before.conditions[u]),
            ),
        )

    @every_step
    def what_is_sent_is_kept(self, before: State, after: State) -> bool:
        """No replica sends a tuple that it has forgotten."""

        def is_kept(d: Subscriber, x: Slot) -> bool:
            old, new = before.connections[d].messages[x], after.connections[d].messages[x]
            is_sent = old.kind == Kind.NOTHING and new.kind == Kind.STABLE
            return implies(
                is_sent, before.buffers[before.connections[d].source].begin <= new.stable
            )

        return forall(self.subscribers, self.slots, is_kept)

    @every_step
    def an_ack_is_for_good(self, before: State, after: State) -> bool:
        """A replica does not forget what a subscriber has."""
        return forall(
            self.upstreams,
            self.subscribers,
            lambda u, d: before.buffers[u].acked[d] <= after.buffers[u].acked[d],
        )

    @leads_to
    def the_view_is_complete(self, s: State) -> tuple[bool, bool]:
        """P4: while any replica is well, everybody gets the right output and no tentative tail."""
        one_is_well = exists(self.upstreams, lambda u: s.conditions[u] in WELL)
        return one_is_well, self.complete(s) or not one_is_well

    @final
    def complete(self, s: State) -> bool:
        """Every subscriber has the whole output, and nothing tentative."""
        return forall(
            s.clients,
            lambda d: s.clients[d].stable == self.tuples and s.clients[d].tentative == 0,
        )

    @sometimes
    def a_tentative_tail_is_shown(self, s: State) -> bool:
        """The search sees a client that shows a tentative tuple."""
        return exists(s.clients, lambda d: s.clients[d].tentative > 0)


MODEL = SubscriptionModel
