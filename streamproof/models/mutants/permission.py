"""Mistakes in the permission protocol, each of which a property of the model must catch.

`no-grant`, `both-yield` and `request-after-grant` are those of our protocol notes, whose machines
make one step of what here are several; `tie-break` is the form of the protocol that the notes give.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import Fairness, action, exists, forall, implies, require
from streamproof.lang.machine import replaced
from streamproof.models.kit.mutant import Mutant
from streamproof.models.permission import PermissionModel, Replica, State
from streamproof.protocols import permission as protocol
from streamproof.protocols.permission import (
    Order,
    Permission,
    PermissionStep,
    Phase,
    Request,
    SendGrant,
    SendRequest,
    Stabilize,
)


def stabilize_at_once(machine: Permission[Replica]) -> PermissionStep[Replica]:
    """Ask nobody."""
    require(machine.phase == Phase.IDLE)
    return replace(machine, phase=Phase.STABILIZING), (Stabilize(),)


class NoGrant(PermissionModel):
    """A replica stabilizes without a grant (GR-nogrant)."""

    machine = replaced(protocol, begin=stabilize_at_once)


def grant_whoever_asks(machine: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Grant without asking whether somebody has the grant."""
    require(machine.received[replica] == Request.PENDING)
    received = machine.received.set(replica, Request.GRANTED)
    return replace(machine, received=received), (SendGrant(replica),)


class BothYield(PermissionModel):
    """A replica grants while a grant of its own is outstanding (GR-bothyield)."""

    machine = replaced(protocol, grant=grant_whoever_asks)


def request_in_any_order(
    machine: Permission[Replica], order: Order[Replica], replica: Replica
) -> PermissionStep[Replica]:
    """Ask without waiting for the grants of those before."""
    del order
    require(machine.phase == Phase.REQUESTING and machine.made[replica] == Request.NONE)
    made = machine.made.set(replica, Request.PENDING)
    return replace(machine, made=made), (SendRequest(replica),)


class RequestAfterGrant(PermissionModel):
    """A replica that has granted asks others: replicas are asked in any order.

    Short id: GR-reqaftergrant.
    """

    machine = replaced(protocol, request=request_in_any_order)


class TieBreak(RequestAfterGrant):
    """All others are asked at once, and requests that meet are decided by the replicas' places.

    Short id: GR-tiebreak.

    A replica that has granted does not ask. One that asks still grants requests of those before it,
    unless somebody has granted to it. It enters, which here is to grant to itself, when all others
    have granted and no grant of its own is outstanding.
    """

    @action(fairness=Fairness.WEAK)
    def ask(self, s: State, r: Replica, q: Replica) -> State:
        """Ask the others as long as nothing was granted, and itself when they all have granted."""
        machine = s.machines[r]
        others_granted = forall(
            self.replicas, lambda p: implies(p != r, machine.made[p] == Request.GRANTED)
        )
        begun = exists(self.replicas, lambda p: machine.made[p] != Request.NONE)
        require(others_granted if q == r else begun or not protocol.has_granted(machine))
        return super().ask(s, r, q)

    @action(fairness=Fairness.STRONG)
    def give(self, s: State, r: Replica, q: Replica) -> State:
        """Grant unless this replica's own request goes before."""
        machine = s.machines[q]
        collecting = exists(self.replicas, lambda p: machine.made[p] == Request.GRANTED)
        yields = self.order[r] < self.order[q] and not collecting
        require(r == q or machine.phase == Phase.IDLE or yields)
        return super().give(s, r, q)


class NonFifo(PermissionModel):
    """A request may overtake the release before it (GR-nonfifo)."""

    def release_has_arrived(self, s: State, r: Replica, q: Replica) -> bool:
        """Let the request arrive at any time."""
        del s, r, q
        return True


class NoRelease(PermissionModel):
    """A replica that is done gives back its own grant alone (GR-norelease)."""

    @action(fairness=Fairness.WEAK)
    def finish(self, s: State, r: Replica) -> State:
        """Send one release, to itself."""
        after = super().finish(s, r)
        return replace(
            after, releases=after.releases.map_items(lambda a, b, on: on and (a != r or b == r))
        )


class EarlyRelease(PermissionModel):
    """Grants are given back when stabilizing begins (GR-earlyrelease)."""

    @action(fairness=Fairness.WEAK)
    def receive_grant(self, s: State, r: Replica, q: Replica) -> State:
        """Release all grants as soon as the last one has come."""
        after = super().receive_grant(s, r, q)
        if not self.is_stabilizing(after, r):
            return after
        return replace(after, releases=after.releases.map_items(lambda a, _, on: on or a == r))

    @action(fairness=Fairness.WEAK)
    def finish(self, s: State, r: Replica) -> State:
        """Send no further release."""
        return replace(super().finish(s, r), releases=s.releases)


class UnfairGrant(PermissionModel):
    """Of two that wait, a replica may pass one over again and again (GR-favour)."""

    @action(fairness=Fairness.WEAK)
    def give(self, s: State, r: Replica, q: Replica) -> State:
        """Grant with a fairness that another's grant interrupts."""
        return super().give(s, r, q)


class Unfenced(PermissionModel):
    """What a replica sent before it crashed arrives after the failure is known (GR-unfenced)."""

    def lose_messages(self, s: State, r: Replica) -> State:
        """Lose nothing."""
        del r
        return s


class LeaseTooShort(PermissionModel):
    """A lease expires while its holder goes on to stabilize (GR-suspect)."""

    @action
    def suspect(self, s: State, r: Replica, q: Replica) -> State:
        """Replica q takes r for crashed."""
        require(self.is_stabilizing(s, r) and s.up[q] and r != q)
        return replace(s, failures=s.failures.set((r, q), True))


def keep_the_grant(machine: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Forget the request alone."""
    after, effects = protocol.on_failure(machine, replica)
    if machine.received[replica] != Request.GRANTED:
        return after, effects
    return replace(after, received=machine.received), effects


class NoLease(PermissionModel):
    """A grant stays with a replica that has crashed (GR-nolease)."""

    machine = replaced(protocol, on_failure=keep_the_grant)


def keep_waiting(machine: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Forget what the other one asked, and go on waiting for it."""
    return replace(machine, received=machine.received.set(replica, Request.NONE)), ()


class NoWaiver(PermissionModel):
    """A replica waits for the grant of one that has crashed (GR-nowaiver)."""

    machine = replaced(protocol, on_failure=keep_waiting)


_TWO = {"replicas": 2}
_ONE_CRASHES = {"replicas": 2, "crashing": 1}
_THREE = {"replicas": 3}

MUTANTS = (
    Mutant(
        "permission/no-grant",
        NoGrant,
        _TWO,
        "one_stabilizes",
        2,
        "both replicas want to stabilize, and both do",
    ),
    Mutant(
        "permission/both-yield",
        BothYield,
        _TWO,
        "one_stabilizes",
        18,
        "each replica grants both requests, and both stabilize",
    ),
    Mutant(
        "permission/request-after-grant",
        RequestAfterGrant,
        _TWO,
        "deadlock",
        14,
        "each replica grants to the other, asks itself, and waits forever",
    ),
    Mutant(
        "permission/tie-break",
        TieBreak,
        _THREE,
        "deadlock",
        20,
        "the third replica grants to the second, and the first two wait for each other",
    ),
    Mutant(
        "permission/non-fifo",
        NonFifo,
        _TWO,
        "claims.on_request",
        14,
        "a new request arrives while the grant to the old one is not released",
    ),
    Mutant(
        "permission/no-release",
        NoRelease,
        _TWO,
        "claims.on_request",
        14,
        "the next request meets a grant that was never released",
    ),
    Mutant(
        "permission/early-release",
        EarlyRelease,
        _TWO,
        "one_stabilizes",
        24,
        "a replica grants to another while it stabilizes",
    ),
    Mutant(
        "permission/unfair-grant",
        UnfairGrant,
        _TWO,
        "who_wants_to_does",
        40,
        "one replica stabilizes again and again while the other waits",
    ),
    Mutant(
        "permission/unfenced",
        Unfenced,
        _ONE_CRASHES,
        "claims.on_grant",
        20,
        "a message of a crashed incarnation is taken for one of the next",
    ),
    Mutant(
        "permission/lease-too-short",
        LeaseTooShort,
        _ONE_CRASHES,
        "one_stabilizes",
        30,
        "a replica is taken for crashed while it stabilizes, and another one begins to",
    ),
    Mutant(
        "permission/no-lease",
        NoLease,
        _ONE_CRASHES,
        "claims.on_request",
        20,
        "a crashed replica has the grant forever",
    ),
    Mutant(
        "permission/no-waiver",
        NoWaiver,
        _ONE_CRASHES,
        "who_wants_to_does",
        20,
        "a replica waits forever for one that is down",
    ),
)
