"""Why a Flux lane loses and repeats nothing: for any number of partitions, lanes, tuples and acks.

Each conjunct speaks of a lane x, a producer copy c and a consumer copy d of it. The core is F4:
what a producer copy has forgotten, the consumer of the other side has. So whoever takes over begins
at or before the first tuple that is lacking (F2), and the consumer, which takes nothing twice, has
applied exactly the tuples before its next one (F0). All else says that what is fed is fed without a
gap.

Further true statements are in `ALSO_TRUE`. Nothing here rests on them, and a test proves them with
the invariant. That a producer copy knows whether it is alone (F7) decides whether it begins
to feed a lost copy's consumer, which `a_live_consumer_is_fed` says of all copies. That tuples are
retained only for who is down (F10) follows from the guards of the two actions that retain, and the
tuples themselves are kept by F4, whoever is down.
"""

from __future__ import annotations

from streamproof.lang import exists, implies
from streamproof.models.flux.flux import Copy, Flux, Lane, Number, Partition, State
from streamproof.proofs.invariant import Invariant
from streamproof.protocols.flux import Outlet

# --------------------------------------------------------------------------- what it speaks of


def outlet_of(s: State, x: Lane, c: Copy, d: Copy) -> Outlet:
    """Return what producer copy c does for consumer copy d."""
    return s.producers[x, c].outlets[d]


def gives(m: Flux, s: State, x: Lane, c: Copy) -> bool:
    """Return whether a producer copy is up."""
    return s.up[m.source[x], c]


def takes(m: Flux, s: State, x: Lane, d: Copy) -> bool:
    """Return whether a consumer copy is up."""
    return s.up[m.sink[x], d]


# --------------------------------------------------------------------------- conjuncts


def applied_is_what_the_machine_says(m: Flux, s: State, x: Lane, d: Copy) -> bool:
    """F0: a copy has applied the tuples before its next one, each once."""
    consumer, applied = s.consumers[x, d], s.applied[x, d]
    return consumer.next >= 0 and applied.is_right and applied.count == consumer.next


def a_connection_has_no_gap(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F2: the next tuple to arrive is due, or was applied already."""
    outlet, received = outlet_of(s, x, c, d), s.received[x, c, d]
    return implies(outlet.feeds, received <= s.consumers[x, d].next and received <= outlet.sent)


def what_was_not_sent_is_kept(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F3: a producer copy that feeds keeps the tuples that it has yet to send."""
    outlet = outlet_of(s, x, c, d)
    return implies(outlet.feeds, outlet.begin <= outlet.sent)


def the_other_side_can_be_fed(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F4: a producer copy keeps all that the other side's consumer lacks."""
    both = c != d and gives(m, s, x, c) and takes(m, s, x, d)
    return implies(both, outlet_of(s, x, c, d).begin <= s.consumers[x, d].next)


def acks_are_true(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F5: a copy has what it has acknowledged, as a producer copy knows it."""
    both = gives(m, s, x, c) and takes(m, s, x, d)
    return implies(both, outlet_of(s, x, c, d).acked <= s.consumers[x, d].next)


def acks_under_way_are_true(
    m: Flux, s: State, x: Lane, c: Copy, d: Copy, e: Number, n: Number
) -> bool:
    """F5, on the way: an ack of the present incarnation is true, and none is of a later one."""
    consumer = s.consumers[x, d]
    is_present = m.value[e] == consumer.incarnation
    return implies(
        s.acks[x, c, d, e, n],
        m.value[e] <= consumer.incarnation
        and implies(is_present and takes(m, s, x, d), m.value[n] <= consumer.next),
    )


def incarnations_are_known(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F5, fencing: a producer copy listens to the present incarnation alone."""
    return implies(
        gives(m, s, x, c), outlet_of(s, x, c, d).incarnation == s.consumers[x, d].incarnation
    )


def a_live_consumer_is_fed(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F1, F6: by its own side's producer copy, or if that is down, by the other; nobody else is."""
    ought = gives(m, s, x, c) and takes(m, s, x, d) and (c == d or not gives(m, s, x, d))
    return outlet_of(s, x, c, d).feeds == ought


def a_single_copy_has_no_twin(m: Flux, s: State, x: Lane, c: Copy, d: Copy) -> bool:
    """F7: a producer copy knows whether it is alone."""
    return implies(c != d and gives(m, s, x, c), s.producers[x, c].single != gives(m, s, x, d))


def a_copy_is_left(m: Flux, s: State, p: Partition) -> bool:
    """F7, else nothing can be said: of each partition, a copy is up."""
    return exists(m.copies, lambda c: s.up[p, c])


def who_catches_up_is_down(m: Flux, s: State, p: Partition, c: Copy) -> bool:
    """F10: tuples are retained only for a copy that is yet to be folded in."""
    return implies(s.retaining[p, c], not s.up[p, c])


INVARIANT = Invariant(
    Flux,
    conjuncts=(
        applied_is_what_the_machine_says,
        a_connection_has_no_gap,
        what_was_not_sent_is_kept,
        the_other_side_can_be_fed,
        acks_are_true,
        acks_under_way_are_true,
        incarnations_are_known,
        a_live_consumer_is_fed,
        a_copy_is_left,
    ),
)
ALSO_TRUE = (a_single_copy_has_no_twin, who_catches_up_is_down)
"""Conjuncts that every run keeps, and without which the others are kept as well."""
