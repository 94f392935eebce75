"""Replicas of a node that ask each other for permission to stabilize, again and again, and crash.

What is abstracted away, and why that is sound
----------------------------------------------
* A channel is not a queue but three facts: a request, a grant, a release is under way on it. There
  is never more than one of each (the invariant says so). Of a release and the request after it, the
  release arrives first; a grant may overtake either, which adds behaviour and removes none, since
  it is about another request.
* Why a replica wants to stabilize, and what it does then, is left out: it may want to at any time.
  So runs are infinite, and states are few.
* Clocks are left out: that a lease expires is an event, which comes some time after a crash. It
  closes the connection to the crashed incarnation: what was under way is lost, and what the next
  incarnation sends is received behind it. A replica that is down refuses a request, which is
  another failure. Crashed replicas may stay so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, assert_never

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    action,
    always,
    assume,
    exists,
    forall,
    implies,
    init,
    leads_to,
    require,
    sometimes,
)
from streamproof.protocols import permission as protocol
from streamproof.protocols.permission import (
    Permission,
    PermissionEffect,
    PermissionStep,
    Phase,
    Request,
    SendGrant,
    SendReleases,
    SendRequest,
    Stabilize,
)


class Replica(Element):
    """A replica of the node."""


@dataclass(frozen=True, slots=True)
class State:
    """The machines, and what is under way from one replica to another.

    Attributes
    ----------
    requests, grants, releases : whether one is under way from the first replica to the second
    up : whether a replica is running; one that is down has forgotten everything
    failures : whether the first replica has crashed, and the second one has yet to learn of it
    """

    machines: Map[Replica, Permission[Replica]]
    requests: Map[tuple[Replica, Replica], bool]
    grants: Map[tuple[Replica, Replica], bool]
    releases: Map[tuple[Replica, Replica], bool]
    up: Map[Replica, bool]
    failures: Map[tuple[Replica, Replica], bool]


@dataclass(frozen=True)
class PermissionModel(Model[State]):
    """Replicas that stabilize one at a time.

    Attributes
    ----------
    order : in which replicas are asked
    may_crash : whether a replica may crash, and again and again
    """

    protocol_name: ClassVar[str] = "permission"
    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"replicas": 2, "crashing": 1},
        "default": {"replicas": 2, "crashing": 2},
        "three": {"replicas": 3, "crashing": 1},
        "large": {"replicas": 3, "crashing": 3},
    }

    replicas: Domain[Replica]
    order: Map[Replica, int]
    may_crash: Map[Replica, bool]

    @classmethod
    def sized(cls, *, replicas: int = 2, crashing: int = 0) -> PermissionModel:
        """Build the model of a size.

        Parameters
        ----------
        replicas : how many; they are asked in the order of their numbers
        crashing : the first so many may crash
        """
        domain = Domain(Replica, replicas)
        order = Map.build(domain, lambda r: r.index)
        return cls(domain, order, order.map(lambda place: place < crashing))

    @assume
    def no_two_have_the_same_place(self) -> bool:
        """The order is total."""
        return forall(
            self.replicas,
            self.replicas,
            lambda r, q: implies(self.order[r] == self.order[q], r == q),
        )

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self) -> State:
        """Nobody wants to stabilize, and nothing is under way."""
        nothing = Map.fill(self.replicas, self.replicas, False)
        machines = Map.fill(self.replicas, self.fresh())
        up = Map.fill(self.replicas, True)
        return State(machines, nothing, nothing, nothing, up, nothing)

    def fresh(self) -> Permission[Replica]:
        """Return a machine that knows nothing."""
        no_requests = Map.fill(self.replicas, Request.NONE)
        return Permission(Phase.IDLE, no_requests, no_requests)

    @action
    def want(self, s: State, r: Replica) -> State:
        """A replica's inputs are corrected, so that it wants to stabilize."""
        require(s.up[r])
        return self.carry_out(s, r, self.machine.begin(s.machines[r]))

    @action(fairness=Fairness.WEAK)
    def ask(self, s: State, r: Replica, q: Replica) -> State:
        """Replica r asks replica q, which is next."""
        return self.carry_out(s, r, self.machine.request(s.machines[r], self.order, q))

    @action(fairness=Fairness.WEAK)
    def receive_request(self, s: State, r: Replica, q: Replica) -> State:
        """Replica q receives the request of r."""
        require(s.requests[r, q] and s.up[q])
        require(self.release_has_arrived(s, r, q) and not s.failures[r, q])
        received = replace(s, requests=s.requests.set((r, q), False))
        return self.carry_out(received, q, self.machine.on_request(s.machines[q], r))

    def release_has_arrived(self, s: State, r: Replica, q: Replica) -> bool:
        """Return whether nothing is ahead of a request. Here is where FIFO is assumed."""
        return not s.releases[r, q]

    @action(fairness=Fairness.STRONG)
    def give(self, s: State, r: Replica, q: Replica) -> State:
        """Replica q grants the request of r; none is passed over forever."""
        return self.carry_out(s, q, self.machine.grant(s.machines[q], r))

    @action(fairness=Fairness.WEAK)
    def receive_grant(self, s: State, r: Replica, q: Replica) -> State:
        """Replica r receives the grant of q."""
        require(s.grants[q, r])
        received = replace(s, grants=s.grants.set((q, r), False))
        return self.carry_out(received, r, self.machine.on_grant(s.machines[r], q))

    @action(fairness=Fairness.WEAK)
    def finish(self, s: State, r: Replica) -> State:
        """A replica is done with stabilizing."""
        return self.carry_out(s, r, self.machine.finish(s.machines[r]))

    @action(fairness=Fairness.WEAK)
    def receive_release(self, s: State, r: Replica, q: Replica) -> State:
        """Replica q receives the release of r."""
        require(s.releases[r, q])
        received = replace(s, releases=s.releases.set((r, q), False))
        return self.carry_out(received, q, self.machine.on_release(s.machines[q], r))

    @action
    def crash(self, s: State, r: Replica) -> State:
        """A replica goes down; its connections break."""
        require(s.up[r] and self.may_crash[r])
        down = replace(s, machines=s.machines.set(r, self.fresh()), up=s.up.set(r, False))
        return replace(
            self.lose_messages(down, r),
            failures=s.failures.map_items(
                lambda a, b, unknown: s.up[b] and a != b if a == r else unknown and b != r
            ),
        )

    def lose_messages(self, s: State, r: Replica) -> State:
        """Lose what is under way from and to a replica that crashes."""

        def kept(a: Replica, b: Replica, under_way: bool) -> bool:
            return under_way and r not in (a, b)

        return replace(
            s,
            requests=s.requests.map_items(kept),
            grants=s.grants.map_items(kept),
            releases=s.releases.map_items(kept),
        )

    @action
    def restart(self, s: State, r: Replica) -> State:
        """The next incarnation of a replica begins."""
        require(not s.up[r])
        return replace(s, up=s.up.set(r, True))

    @action(fairness=Fairness.WEAK)
    def refuse(self, s: State, r: Replica, q: Replica) -> State:
        """The request of r finds replica q down."""
        require(s.requests[r, q] and not s.up[q])
        refused = replace(s, requests=s.requests.set((r, q), False))
        return replace(refused, failures=s.failures.set((q, r), True))

    @action(fairness=Fairness.WEAK)
    def notice(self, s: State, r: Replica, q: Replica) -> State:
        """The lease of r expires at replica q."""
        require(s.failures[r, q])
        noticed = replace(s, failures=s.failures.set((r, q), False))
        return self.carry_out(noticed, q, self.machine.on_failure(s.machines[q], r))

    def carry_out(self, s: State, r: Replica, step: PermissionStep[Replica]) -> State:
        """Put the machine of r into the state that it steps to, and its messages under way."""
        machine, effects = step
        s = replace(s, machines=s.machines.set(r, machine))
        for effect in effects:
            s = self.send(s, r, effect)
        return s

    def send(self, s: State, r: Replica, effect: PermissionEffect[Replica]) -> State:
        """Do for replica r what its machine asks for; a broken connection loses it."""
        match effect:
            case SendRequest(q):
                return replace(s, requests=s.requests.set((r, q), not s.failures[q, r]))
            case SendGrant(q):
                return replace(s, grants=s.grants.set((r, q), self.is_connected(s, r, q)))
            case SendReleases():
                return replace(
                    s,
                    releases=s.releases.map_items(
                        lambda a, q, on: on or (a == r and self.is_connected(s, r, q))
                    ),
                )
            case Stabilize():
                return s  # the machine's phase says so
            case _:
                assert_never(effect)

    def is_connected(self, s: State, r: Replica, q: Replica) -> bool:
        """Return whether a message from r may reach q: q is up, and r knows its incarnation."""
        return s.up[q] and not s.failures[q, r]

    # ----------------------------------------------------------------------- properties

    def is_stabilizing(self, s: State, r: Replica) -> bool:
        """Return whether a replica stabilizes."""
        return s.machines[r].phase == Phase.STABILIZING

    @always
    def one_stabilizes(self, s: State) -> bool:
        """P5: at most one replica of a node stabilizes at a time."""
        return forall(
            self.replicas,
            self.replicas,
            lambda r, q: implies(self.is_stabilizing(s, r) and self.is_stabilizing(s, q), r == q),
        )

    @leads_to
    def who_wants_to_does(self, s: State, r: Replica) -> tuple[bool, bool]:
        """A replica that wants to stabilize does so in the end, or crashes, whatever others do."""
        wants = s.machines[r].phase == Phase.REQUESTING
        return wants, self.is_stabilizing(s, r) or not s.up[r]

    @sometimes
    def one_waits_for_another(self, s: State) -> bool:
        """The search sees a replica that stabilizes while another one waits for its grant."""
        return exists(
            self.replicas,
            self.replicas,
            lambda r, q: (
                self.is_stabilizing(s, r)
                and s.machines[r].received[q] == Request.PENDING
                and r != q
            ),
        )


MODEL = PermissionModel
