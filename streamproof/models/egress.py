"""A pair of copies that gives its output to a client, while copies fail and are replaced.

What is abstracted away, and why that is sound
----------------------------------------------
* Outputs are numbers: that both copies give the same ones, and that what is sent was committed, is
  what `merge_order` is about. The client notes whether it takes number 0, 1, 2 and so on.
* One output is given, sent and received at a time; a run of them is several such steps.
* The connection from a copy to the client is FIFO, and outlives the copy: what is under way is
  known by two numbers. It ends when the copy is replaced.
* Acks and notes arrive at once, but may be given at any time, or never. One that takes its time is
  one that was given early.
* `failures` bounds failures, since otherwise there is no end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    Range,
    action,
    always,
    assume,
    eventually,
    exists,
    final,
    forall,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.protocols import egress as protocol
from streamproof.protocols.egress import Client, Egress, EgressStep


class Copy(Element):
    """A copy of the partition that gives output."""


Outputs = Annotated[int, Range(0, "outputs")]


@dataclass(frozen=True, slots=True)
class Connection:
    """What is under way from a copy to the client.

    Attributes
    ----------
    received, sent : the next output to arrive, and the next to be sent
    """

    received: Outputs
    sent: Outputs


@dataclass(frozen=True, slots=True)
class Seen:
    """What the client has seen.

    Attributes
    ----------
    count : how many outputs
    is_right : they are number 0, 1, 2 and so on, none twice and none left out
    """

    count: Annotated[int, Range(0, "seen_max")]
    is_right: bool


@dataclass(frozen=True, slots=True)
class State:
    """The pair and its client.

    Attributes
    ----------
    up : whether a copy is running; one that is down has forgotten everything
    failures : how many may still come
    """

    up: Map[Copy, bool]
    failures: Annotated[int, Range(0, "failures_max")]
    pair: Map[Copy, Egress]
    connections: Map[Copy, Connection]
    client: Client
    seen: Seen


@dataclass(frozen=True)
class EgressPair(Model[State]):
    """Two copies that give output to a client.

    Attributes
    ----------
    outputs : how many there are
    repairs : whether a failed copy is replaced
    """

    protocol_name: ClassVar[str] = "egress"
    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"outputs": 1, "failures": 1},
        "default": {"outputs": 2, "failures": 2},
        "large": {"outputs": 3, "failures": 3},
    }

    copies: Domain[Copy]
    outputs: int
    failures_max: int
    repairs: bool

    @classmethod
    def sized(cls, *, outputs: int = 1, failures: int = 1, repairs: bool = True) -> EgressPair:
        """Build the model of a size.

        Parameters
        ----------
        outputs : how many there are
        failures : that may happen in all
        repairs : whether a failed copy is replaced
        """
        return cls(Domain(Copy, 2), outputs, failures, repairs)

    @property
    def seen_max(self) -> int:
        """The most outputs that the client sees, be it by mistake."""
        return 2 * self.outputs

    @assume
    def there_are_two_copies(self) -> bool:
        """Of three copies, two are the same."""
        return forall(self.copies, self.copies, self.copies, lambda a, b, c: b in (a, c) or a == c)

    def delivered(self, s: State, c: Copy) -> int:
        """Return how many outputs the active copy takes the client to have."""
        del c
        return s.client.next

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self, a: Copy) -> State:
        """There is no output yet; copy a is active."""
        return State(
            up=Map.fill(self.copies, True),
            failures=self.failures_max,
            pair=Map.build(self.copies, lambda c: Egress(0, 0, active=c == a, sent=0)),
            connections=Map.fill(self.copies, Connection(0, 0)),
            client=Client(0),
            seen=Seen(0, is_right=True),
        )

    @action(fairness=Fairness.WEAK)
    def give(self, s: State, c: Copy) -> State:
        """A copy gives its next output."""
        require(s.up[c] and s.pair[c].next < self.outputs)
        return self.stepped(s, c, self.machine.give(s.pair[c], 1))

    @action(fairness=Fairness.WEAK)
    def send(self, s: State, c: Copy) -> State:
        """The active copy sends an output."""
        require(s.up[c])
        end = s.pair[c].sent + 1
        sent = self.stepped(s, c, self.machine.send(s.pair[c], end))
        connection = replace(s.connections[c], sent=end)
        return replace(sent, connections=s.connections.set(c, connection))

    @action(fairness=Fairness.WEAK)
    def receive(self, s: State, c: Copy) -> State:
        """The next output of a copy arrives at the client."""
        connection = s.connections[c]
        number = connection.received
        require(number < connection.sent)
        client, effects = self.machine.on_outputs(s.client, number, number + 1)
        arrived = replace(connection, received=number + 1)
        s = replace(s, client=client, connections=s.connections.set(c, arrived))
        for effect in effects:
            count = s.seen.count + effect.end - effect.begin
            # Not `and`, which would fork where the client was wrong before: that never is the case.
            is_right = s.seen.is_right & (effect.begin == s.seen.count)
            s = replace(s, seen=Seen(count, is_right))
        return s

    @action
    def acknowledge(self, s: State, c: Copy) -> State:
        """The active copy learns what the client has."""
        require(s.up[c])
        egress, _ = self.machine.on_ack(s.pair[c], self.delivered(s, c))
        return replace(s, pair=s.pair.set(c, egress))

    @action
    def note(self, s: State, c: Copy, d: Copy) -> State:
        """The active copy c tells copy d what it has learned."""
        require(s.up[c] and s.pair[c].active and s.up[d] and s.pair[d].begin < s.pair[c].begin)
        return self.stepped(s, d, self.machine.on_note(s.pair[d], s.pair[c].begin))

    @action
    def fail(self, s: State, c: Copy, d: Copy) -> State:
        """Copy c fails, and copy d notices."""
        require(s.failures > 0 and c != d and s.up[c] and s.up[d])
        failed = replace(
            s,
            up=s.up.set(c, False),
            failures=s.failures - 1,
            pair=s.pair.set(c, Egress(0, 0, active=False, sent=0)),
        )
        if not s.pair[c].active:
            return failed
        step = self.machine.take_over(s.pair[d])
        begin = step[0].sent
        connections = s.connections.set(d, Connection(begin, begin))
        return self.stepped(replace(failed, connections=connections), d, step)

    @action
    def replace_copy(self, s: State, c: Copy, d: Copy) -> State:
        """A new copy c begins in the state of copy d; nothing is under way from it."""
        require(self.repairs and not s.up[c] and s.up[d])
        return replace(
            s,
            up=s.up.set(c, True),
            pair=s.pair.set(c, self.machine.transfer(s.pair[d])),
            connections=s.connections.set(c, Connection(0, 0)),
        )

    def stepped(self, s: State, c: Copy, step: EgressStep) -> State:
        """Put the machine of a copy into the state that it steps to."""
        return replace(s, pair=s.pair.set(c, step[0]))

    # ----------------------------------------------------------------------- properties

    @always
    def each_output_is_seen_once(self, s: State) -> bool:
        """What the client has seen is number 0, 1, 2 and so on: none left out, none twice."""
        return s.seen.is_right

    @always
    def nothing_is_lost(self, s: State) -> bool:
        """Every copy that is up keeps what the client lacks, or has yet to give it."""
        return forall(self.copies, lambda c: implies(s.up[c], s.pair[c].begin <= s.seen.count))

    @eventually
    def everything_is_seen(self, s: State) -> bool:
        """When failures are over, the client gets every output."""
        return self.complete(s)

    @final
    def complete(self, s: State) -> bool:
        """The client has every output."""
        return s.client.next == self.outputs

    @sometimes
    def an_output_comes_twice(self, s: State) -> bool:
        """The search sees that an output is under way which the client has."""
        return exists(
            self.copies,
            lambda c: s.connections[c].received < s.connections[c].sent <= s.client.next,
        )


MODEL = EgressPair
