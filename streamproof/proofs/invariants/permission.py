"""Why never two replicas stabilize, and why they never wait for each other: for any number of them.

Each conjunct speaks of the request of one replica r to one replica q, of which either may be the
other. A grant is in one place at a time: on its way to r, with r, or on its way back. Wherever it
is, q knows that it has given it, and it gives no second one. So a stabilizing replica, which has
all grants and its own among them, has granted to nobody else, and nobody else has all.

That no run ends in a deadlock is what the lemmas say. A request waits for a grant that can move, or
for a replica that can go on, or for one that itself waits at a replica farther on in the order. The
last of these finds nobody in its way who waits.
"""

from __future__ import annotations

from streamproof.lang import exists, forall, implies, require
from streamproof.models.permission import PermissionModel, Replica, State
from streamproof.proofs.invariant import Invariant
from streamproof.protocols.permission import Phase, Request, is_settled


def made(s: State, r: Replica, q: Replica) -> Request:
    """Return r's view of its request to q."""
    return s.machines[r].made[q]


def received(s: State, r: Replica, q: Replica) -> Request:
    """Return q's view of the request of r."""
    return s.machines[q].received[r]


def is_connected(s: State, r: Replica, q: Replica) -> bool:
    """Return whether neither of r and q has crashed without the other's knowing."""
    return not s.failures[r, q] and not s.failures[q, r]


# --------------------------------------------------------------------------- conjuncts


def stabilizing_is_settled(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D1: no replica stands in the way of one that stabilizes."""
    return implies(m.is_stabilizing(s, r), is_settled(s.machines[r], q))


def settled_is_stabilizing(m: PermissionModel, s: State, r: Replica) -> bool:
    """D1, the other way: a replica with all that it needs is not kept waiting."""
    settled = forall(m.replicas, lambda q: is_settled(s.machines[r], q))
    return implies(settled, m.is_stabilizing(s, r))


def idle_asks_nothing(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D0: an idle replica has made no request."""
    return implies(s.machines[r].phase == Phase.IDLE, made(s, r, q) == Request.NONE)


def a_grant_is_given(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D2: q knows of its grant, if that is under way or with r."""
    is_with_r = s.grants[q, r] or made(s, r, q) == Request.GRANTED
    return implies(is_connected(s, r, q) and is_with_r, received(s, r, q) == Request.GRANTED)


def a_given_grant_is_somewhere(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D2, the other way: what q has granted to r is under way, with r, or on its way back."""
    return implies(
        is_connected(s, r, q) and received(s, r, q) == Request.GRANTED,
        s.grants[q, r] or made(s, r, q) == Request.GRANTED or s.releases[r, q],
    )


def a_grant_is_in_one_place(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D3: a grant under way is not with r; one on its way back is neither, nor asked for again."""
    return implies(s.grants[q, r], made(s, r, q) == Request.PENDING) and implies(
        s.releases[r, q],
        not s.grants[q, r]
        and made(s, r, q) != Request.GRANTED
        and received(s, r, q) != Request.PENDING,
    )


def no_second_grant(m: PermissionModel, s: State, r: Replica, p: Replica, q: Replica) -> bool:
    """D4: q has granted to one at most, so while it stabilizes, to itself alone."""
    both = received(s, r, q) == Request.GRANTED and received(s, p, q) == Request.GRANTED
    return implies(both, r == p)


def a_pending_request_is_somewhere(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D5: a request waits under way, at q, or as a grant under way to r, and in one of them."""
    under_way, waits = s.requests[r, q], received(s, r, q) == Request.PENDING
    granted = s.grants[q, r]
    is_somewhere = under_way or waits or granted
    in_one_place = not ((under_way and waits) or (under_way and granted) or (waits and granted))
    return implies(
        is_connected(s, r, q),
        (made(s, r, q) == Request.PENDING) == is_somewhere and in_one_place,
    ) and implies(s.failures[r, q], (made(s, r, q) == Request.PENDING) == under_way)


def replicas_are_asked_in_order(
    m: PermissionModel, s: State, r: Replica, p: Replica, q: Replica
) -> bool:
    """D6: no replica before q stands in the way of a replica that has asked q."""
    return implies(
        made(s, r, q) != Request.NONE and m.order[p] < m.order[q], is_settled(s.machines[r], p)
    )


def no_two_waive(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D7: of two replicas, one at most does without the other's grant."""
    return not (made(s, r, q) == Request.WAIVED and made(s, q, r) == Request.WAIVED)


def only_who_asks_waives(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D7, on the other side: who is asked either grants or has not done so yet."""
    return received(s, r, q) != Request.WAIVED


def who_is_down_knows_nothing(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D8: a replica that is down has made and received no request, and learns of no failure."""
    return implies(
        not s.up[r],
        s.machines[r].phase == Phase.IDLE
        and received(s, q, r) == Request.NONE
        and not s.failures[q, r]
        and not s.grants[q, r]
        and not s.grants[r, q]
        and not s.releases[q, r]
        and not s.releases[r, q]
        and not s.requests[r, q],
    )


def a_crash_comes_first(m: PermissionModel, s: State, r: Replica, q: Replica) -> bool:
    """D9: until q learns that r has crashed, nothing but a new request is under way."""
    return implies(
        s.failures[r, q],
        r != q
        and not s.failures[q, r]
        and made(s, r, q) in (Request.NONE, Request.PENDING)
        and received(s, q, r) == Request.NONE
        and not s.grants[r, q]
        and not s.grants[q, r]
        and not s.releases[r, q]
        and not s.releases[q, r]
        and not s.requests[q, r],
    )


# --------------------------------------------------------------------------- no deadlock


def is_next(m: PermissionModel, s: State, p: Replica, a: Replica) -> bool:
    """Return whether a's grant is the next that p has to get."""
    return (
        s.machines[p].phase == Phase.REQUESTING
        and not is_settled(s.machines[p], a)
        and forall(
            m.replicas,
            lambda b: implies(m.order[b] < m.order[a], is_settled(s.machines[p], b)),
        )
    )


def who_asks_lacks_something(m: PermissionModel, s: State, p: Replica) -> bool:
    """A replica that asks on has somebody in its way, the first of whom is next."""
    require(s.machines[p].phase == Phase.REQUESTING)
    return exists(m.replicas, lambda a: not is_settled(s.machines[p], a))


def who_waits_waits_for_a_holder(
    m: PermissionModel, s: State, r: Replica, q: Replica, p: Replica
) -> bool:
    """If r waits since p has q's grant, it is under way or void, or p stabilizes or asks on."""
    require(received(s, r, q) == Request.PENDING and received(s, p, q) == Request.GRANTED)
    holds = made(s, p, q) == Request.GRANTED
    return (
        s.grants[q, p]
        or s.releases[p, q]
        or s.failures[p, q]
        or (holds and s.machines[p].phase in (Phase.STABILIZING, Phase.REQUESTING))
    )


def who_holds_waits_farther_on(
    m: PermissionModel, s: State, q: Replica, p: Replica, a: Replica
) -> bool:
    """If p has q's grant and asks on, what it has to get next comes behind q."""
    require(made(s, p, q) == Request.GRANTED and is_next(m, s, p, a))
    return m.order[q] < m.order[a]


INVARIANT = Invariant(
    PermissionModel,
    conjuncts=(
        idle_asks_nothing,
        stabilizing_is_settled,
        settled_is_stabilizing,
        a_grant_is_given,
        a_given_grant_is_somewhere,
        a_grant_is_in_one_place,
        no_second_grant,
        a_pending_request_is_somewhere,
        replicas_are_asked_in_order,
        no_two_waive,
        only_who_asks_waives,
        who_is_down_knows_nothing,
        a_crash_comes_first,
    ),
    lemmas=(who_asks_lacks_something, who_waits_waits_for_a_holder, who_holds_waits_farther_on),
)
