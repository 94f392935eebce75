"""Permission to stabilize: of all replicas of a node, at most one corrects its state at a time.

While a replica stabilizes, its output is late. So it first asks all replicas for their *grant*: a
promise not to stabilize, and so to serve fresh data, until the grant is *released* [BBMS08, section
4.5]. It asks itself too, as it asks the others, and grants one request at a time. Two stabilizing
replicas would each have granted the other, and itself.

Replicas that ask at the same time could wait for each other forever. Therefore all of them ask in
the same order, one after the other. A replica that waits for a grant holds only earlier grants. The
replica that has come farthest waits for nobody but a replica that is stabilizing. In particular, a
replica that has granted another's request asks none that comes behind itself until the grant is
released.

Assumptions
-----------
* Messages between two replicas arrive once, in the order in which they were sent (`non-fifo`).
* A replica that stabilizes finishes, and grants are fair: none that waits is passed over again and
  again (mutant `unfair-grant`). To grant in the order of arrival is fair.
* A replica may crash, and forgets everything. Grants are leases: a holder stops stabilizing before
  its lease ends, so when the lease expires at the others, it has stopped or crashed
  (mutant `lease-too-short`). What it sent before never arrives after that, being fenced by its
  incarnation (mutant `unfenced`).

Deviations from the paper
-------------------------
* The paper asks one other replica, and so lets two of three stabilize. Here at most one does.
* The paper breaks ties by identifiers: a replica that itself wants to stabilize grants requests of
  higher ones alone. A replica that asks after it has granted then deadlocks, and so do three
  replicas in any case (`request-after-grant`, `tie-break`). Here the order of asking breaks ties.
* The paper rejects a request, which is sent again after a while; here it waits until it is granted.
* Leases are ours.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from streamproof.lang import Map, Step, exists, forall, implies, require

Replica = TypeVar("Replica")


class Phase(Enum):
    """How far a replica is with correcting its state."""

    IDLE = "idle"
    """It does not want to."""
    REQUESTING = "requesting"
    """It collects grants."""
    STABILIZING = "stabilizing"
    """It has all grants."""


class Request(Enum):
    """What has become of a request from one replica to another."""

    NONE = "none"
    """There is none."""
    PENDING = "pending"
    """It was made, and waits for the grant."""
    GRANTED = "granted"
    """It was granted, and the grant was not released."""
    WAIVED = "waived"
    """The replica that was asked has crashed: its grant is not needed."""


@dataclass(frozen=True, slots=True)
class Permission(Generic[Replica]):
    """One replica's part: as one that wants to stabilize, and as one that is asked.

    Attributes
    ----------
    made : per replica, what has become of our request to it
    received : per replica, what has become of its request to us; at most one is granted
    """

    phase: Phase
    made: Map[Replica, Request]
    received: Map[Replica, Request]


@dataclass(frozen=True, slots=True)
class SendRequest(Generic[Replica]):
    """Ask a replica, which may be this one, for its grant."""

    to: Replica


@dataclass(frozen=True, slots=True)
class SendGrant(Generic[Replica]):
    """Promise a replica, which may be this one, that nobody else has this one's grant."""

    to: Replica


@dataclass(frozen=True, slots=True)
class Stabilize:
    """Enter the state STABILIZATION."""


@dataclass(frozen=True, slots=True)
class SendReleases:
    """Return all grants: those of the other replicas, and this one's own."""


PermissionEffect: TypeAlias = SendRequest[Replica] | SendGrant[Replica] | Stabilize | SendReleases
PermissionStep: TypeAlias = Step[Permission[Replica], PermissionEffect[Replica]]

Order: TypeAlias = Map[Replica, int]
"""Per replica its place in the order of asking; the same for all, and no two have the same."""


# --------------------------------------------------------------------------- asking


def begin(permission: Permission[Replica]) -> PermissionStep[Replica]:
    """Want to stabilize, since all inputs are corrected [BBMS08, section 4.5]."""
    require(permission.phase == Phase.IDLE)
    return replace(permission, phase=Phase.REQUESTING), ()


def request(
    permission: Permission[Replica], order: Order[Replica], replica: Replica
) -> PermissionStep[Replica]:
    """Ask the next replica, if those before it have granted.

    Out of order, two replicas could each wait for what the other has (mutant
    `request-after-grant`).
    """
    require(permission.phase == Phase.REQUESTING and permission.made[replica] == Request.NONE)
    require(
        forall(
            order,
            lambda earlier: implies(
                order[earlier] < order[replica], is_settled(permission, earlier)
            ),
        )
    )
    made = permission.made.set(replica, Request.PENDING)
    return replace(permission, made=made), (SendRequest(replica),)


def on_grant(permission: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Note a grant; the last one lets this replica stabilize."""
    assert permission.made[replica] == Request.PENDING
    return _enter_if_settled(permission, permission.made.set(replica, Request.GRANTED))


def is_settled(permission: Permission[Replica], replica: Replica) -> bool:
    """Return whether a replica stands in the way no more: it has granted, or it has crashed."""
    return permission.made[replica] in (Request.GRANTED, Request.WAIVED)


def _enter_if_settled(
    permission: Permission[Replica], made: Map[Replica, Request]
) -> PermissionStep[Replica]:
    """Stabilize once no replica stands in the way.

    Parameters
    ----------
    permission, made : as it was, and what has become of its requests since
    """
    after = replace(permission, made=made)
    if forall(made, lambda other: is_settled(after, other)):
        return replace(after, phase=Phase.STABILIZING), (Stabilize(),)
    return after, ()


def finish(permission: Permission[Replica]) -> PermissionStep[Replica]:
    """Be done with stabilizing, or give it up as a new failure has begun."""
    require(permission.phase == Phase.STABILIZING)
    made = permission.made.map(lambda _: Request.NONE)
    return replace(permission, phase=Phase.IDLE, made=made), (SendReleases(),)


# --------------------------------------------------------------------------- being asked


def on_request(permission: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Let a request wait until it can be granted."""
    assert permission.received[replica] == Request.NONE
    received = permission.received.set(replica, Request.PENDING)
    return replace(permission, received=received), ()


def grant(permission: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Grant a request, if no grant is outstanding [BBMS08, section 4.5]."""
    require(permission.received[replica] == Request.PENDING and not has_granted(permission))
    received = permission.received.set(replica, Request.GRANTED)
    return replace(permission, received=received), (SendGrant(replica),)


def has_granted(permission: Permission[Replica]) -> bool:
    """Return whether some replica, maybe this one, has this one's grant."""
    received = permission.received
    return exists(received, lambda other: received[other] == Request.GRANTED)


def on_release(permission: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Take a grant back; one that an earlier incarnation gave, or never did, is none."""
    assert permission.received[replica] != Request.PENDING
    received = permission.received.set(replica, Request.NONE)
    return replace(permission, received=received), ()


# --------------------------------------------------------------------------- failures


def on_failure(permission: Permission[Replica], replica: Replica) -> PermissionStep[Replica]:
    """Learn that a replica's lease has expired: it holds no grant, and owes none.

    It cannot stabilize again without this replica's grant, so its own is not needed. What it asked
    and held is void; its next incarnation asks anew.
    """
    received = permission.received.set(replica, Request.NONE)
    void = replace(permission, received=received)
    if permission.made[replica] == Request.NONE:
        return void, ()
    made = permission.made.set(replica, Request.WAIVED)
    if permission.phase == Phase.STABILIZING:
        return replace(void, made=made), ()
    return _enter_if_settled(void, made)
