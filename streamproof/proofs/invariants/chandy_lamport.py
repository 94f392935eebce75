"""Why Chandy-Lamport works: the invariant, for any number of processes, channels and messages.

Each conjunct speaks of one snapshot k and one channel from p to q; that snapshots overlap costs
nothing, since a recorder is touched by its own id alone. Together with the two lemmas of
reachable-between they say what [CL85, section 4] says: the recorded state lies on a path from the
state in which the snapshot began to the state in which it ended.

* Shadow simulation: take the recorded processes as they were recorded and the others as they are.
  Every step of the system is a step of the application on this cut, or leaves it alone. So the cut,
  which ends as S*, is reachable from where the snapshot began.
* Diamond: where a process that has recorded acts just before one that has not, the two steps can be
  exchanged. So all steps after the cut can be moved behind all steps before it, and the end is
  reachable from S*.
"""

from __future__ import annotations

from streamproof.lang import implies, require
from streamproof.models.snapshots.chandy_lamport import (
    Application,
    ChandyLamport,
    Process,
    Snapshot,
    System,
    Travel,
    received_one,
    sent_one,
)
from streamproof.proofs.invariant import Invariant

# --------------------------------------------------------------------------- conjuncts


def counters_in_order(m: ChandyLamport, s: System, p: Process, q: Process) -> bool:
    """I1: what is received has been sent."""
    return 0 <= s.app.received[p, q] <= s.app.sent[p, q]


def nothing_is_sent_without_a_channel(m: ChandyLamport, s: System, p: Process, q: Process) -> bool:
    """I0: where there is no channel, nothing travels."""
    return implies(not m.channel[p, q], s.app.sent[p, q] == 0)


def markers_follow_recording(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process
) -> bool:
    """I2: a marker is on its channel, or past it, exactly if the sender has recorded."""
    is_sent = s.markers[k, p, q].travel != Travel.UNSENT
    return is_sent == (m.channel[p, q] and m.recorded(s, k, p))


def marker_is_at_the_cut(m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process) -> bool:
    """I3: ahead of a marker is what its sender had sent when it recorded."""
    saved = s.saved[k].sent[p, q]
    return implies(
        s.markers[k, p, q].travel != Travel.UNSENT,
        s.markers[k, p, q].ahead == saved and 0 <= saved <= s.app.sent[p, q],
    )


def marker_is_not_overtaken(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process
) -> bool:
    """I4: nothing behind a travelling marker is received before it (FIFO)."""
    marker = s.markers[k, p, q]
    return implies(marker.travel == Travel.TRAVELLING, s.app.received[p, q] <= marker.ahead)


def marker_closes_its_channel(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process
) -> bool:
    """I5: a channel is closed just if its marker was received, and the receiver has recorded."""
    is_received = s.markers[k, p, q].travel == Travel.RECEIVED
    return m.closed(s, k, p, q) == is_received and implies(is_received, m.recorded(s, k, q))


def open_log_is_what_arrived_since(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process
) -> bool:
    """I6: the log of an open channel is what was received since the recording."""
    log, saved = s.recorders[q][k].log[p], s.saved[k].received[p, q]
    return implies(
        m.channel[p, q] and m.recorded(s, k, q) and not m.closed(s, k, p, q),
        log >= 0 and saved + log == s.app.received[p, q],
    )


def closed_log_is_what_was_in_flight(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process
) -> bool:
    """I7: the log of a closed channel is what was sent inside the cut and received outside it."""
    log, saved = s.recorders[q][k].log[p], s.saved[k].received[p, q]
    return implies(m.closed(s, k, p, q), log >= 0 and saved + log == s.saved[k].sent[p, q])


def nothing_is_logged_before_recording(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process
) -> bool:
    """I8: a process that has not recorded has an empty log, so that I6 can begin."""
    return implies(not m.recorded(s, k, q), s.recorders[q][k].log[p] == 0)


# --------------------------------------------------------------------------- shadow simulation


def shadow_of_a_send(m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process) -> bool:
    """A send is a send on the cut, or behind it."""
    before, after = m.shadow(s, k), m.shadow(m.send(s, p, q), k)
    if m.recorded(s, k, p):
        return after == before
    return m.can_send(before, p, q) and after == sent_one(before, p, q)


def shadow_of_a_receive(m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process) -> bool:
    """A receive is a receive on the cut, where the message is then in flight, or behind it."""
    before, after = m.shadow(s, k), m.shadow(m.receive(s, p, q), k)
    if m.recorded(s, k, q):
        return after == before
    return can_receive(before, p, q) and after == received_one(before, p, q)


def shadow_of_a_marker(
    m: ChandyLamport, s: System, j: Snapshot, k: Snapshot, p: Process, q: Process
) -> bool:
    """Receiving any snapshot's marker leaves the cut alone, even where it records the process."""
    return m.shadow(m.receive_marker(s, j, p, q), k) == m.shadow(s, k)


def shadow_of_an_initiation(
    m: ChandyLamport, s: System, j: Snapshot, k: Snapshot, p: Process
) -> bool:
    """Initiating any snapshot leaves the cut alone."""
    return m.shadow(m.initiate(s, j, p), k) == m.shadow(s, k)


# --------------------------------------------------------------------------- diamond


def can_receive(app: Application, p: Process, q: Process) -> bool:
    """Return whether a message is in flight from p to q."""
    return app.received[p, q] < app.sent[p, q]


def a_send_moves_behind_a_send(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process, a: Process, b: Process
) -> bool:
    """p, which has recorded, sends to q; then a, which has not, sends to b: either order does."""
    require(m.recorded(s, k, p) and not m.recorded(s, k, a))
    after = m.send(m.send(s, p, q), a, b)
    first = sent_one(s.app, a, b)
    return (
        m.can_send(s.app, a, b) and m.can_send(first, p, q) and (sent_one(first, p, q) == after.app)
    )


def a_send_moves_behind_a_receive(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process, a: Process, b: Process
) -> bool:
    """p, which has recorded, sends to q; then b, which has not, receives from a."""
    require(m.recorded(s, k, p) and not m.recorded(s, k, b))
    after = m.receive(m.send(s, p, q), a, b)
    first = received_one(s.app, a, b)
    # On the same channel this is where the marker matters: it lies ahead of p's new message, so the
    # one that b receives had been sent before.
    return (
        can_receive(s.app, a, b)
        and m.can_send(first, p, q)
        and (sent_one(first, p, q) == after.app)
    )


def a_receive_moves_behind_a_send(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process, a: Process, b: Process
) -> bool:
    """q, which has recorded, receives from p; then a, which has not, sends to b."""
    require(m.recorded(s, k, q) and not m.recorded(s, k, a))
    after = m.send(m.receive(s, p, q), a, b)
    first = sent_one(s.app, a, b)
    return (
        m.can_send(s.app, a, b)
        and can_receive(first, p, q)
        and (received_one(first, p, q) == after.app)
    )


def a_receive_moves_behind_a_receive(
    m: ChandyLamport, s: System, k: Snapshot, p: Process, q: Process, a: Process, b: Process
) -> bool:
    """q, which has recorded, receives from p; then b, which has not, receives from a."""
    require(m.recorded(s, k, q) and not m.recorded(s, k, b))
    after = m.receive(m.receive(s, p, q), a, b)
    first = received_one(s.app, a, b)
    return (
        can_receive(s.app, a, b)
        and can_receive(first, p, q)
        and (received_one(first, p, q) == after.app)
    )


INVARIANT = Invariant(
    ChandyLamport,
    conjuncts=(
        nothing_is_sent_without_a_channel,
        counters_in_order,
        markers_follow_recording,
        marker_is_at_the_cut,
        marker_is_not_overtaken,
        marker_closes_its_channel,
        open_log_is_what_arrived_since,
        closed_log_is_what_was_in_flight,
        nothing_is_logged_before_recording,
    ),
    lemmas=(
        shadow_of_a_send,
        shadow_of_a_receive,
        shadow_of_a_marker,
        shadow_of_an_initiation,
        a_send_moves_behind_a_send,
        a_send_moves_behind_a_receive,
        a_receive_moves_behind_a_send,
        a_receive_moves_behind_a_receive,
    ),
)
