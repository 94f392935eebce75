"""Why SUNION serializes: the invariant, for any number of streams, replicas, tuples and buckets.

What a replica has emitted depends on its place in the buckets alone (S4), and so does the order of
it (S5). So of two replicas the one that has come further has emitted all that the other one has,
and the rest behind it, whatever arrived when [BBMS08, section 4.2].
"""

from __future__ import annotations

from streamproof.lang import forall, implies
from streamproof.models.sunion.source_log import Entry, Kind, Stream
from streamproof.models.sunion.sunion import Replica, Sunion, System
from streamproof.proofs.invariant import Invariant

# --------------------------------------------------------------------------- conjuncts


def buckets_cut_time(m: Sunion, s: System, e: Entry, f: Entry) -> bool:
    """S0: the logs stay as they were written: an earlier bucket has earlier times."""
    is_earlier = s.logs[e].bucket < s.logs[f].bucket
    return s.logs[e].bucket >= 0 and implies(is_earlier, s.logs[e].time < s.logs[f].time)


def boundaries_are_learned(m: Sunion, s: System, r: Replica, e: Entry) -> bool:
    """S1: a replica knows every boundary that it has read."""
    return implies(
        m.has_read(s.nodes[r], e) and s.logs[e].kind == Kind.BOUNDARY,
        s.nodes[r].serializer.boundary[m.stream[e]] >= s.logs[e].bucket,
    )


def nothing_follows_behind_a_boundary(m: Sunion, s: System, r: Replica, e: Entry) -> bool:
    """S2: what is still to be read and not late is of no bucket before the boundary."""
    return implies(
        not m.has_read(s.nodes[r], e) and m.is_merged(s.logs, e),
        s.logs[e].bucket >= s.nodes[r].serializer.boundary[m.stream[e]],
    )


def emitted_buckets_are_complete(m: Sunion, s: System, r: Replica, t: Stream) -> bool:
    """S3: no replica has emitted a bucket of which tuples may follow on some stream."""
    serializer = s.nodes[r].serializer
    return 0 <= serializer.emitted <= serializer.boundary[t]


def output_depends_on_buckets_alone(m: Sunion, s: System, r: Replica, e: Entry) -> bool:
    """S4: exactly the merge's tuples of the emitted buckets are out."""
    node = s.nodes[r]
    is_due = s.logs[e].bucket < node.serializer.emitted
    return node.output.contains[e] == (m.is_merged(s.logs, e) and is_due)


def output_ends_with_its_boundary(m: Sunion, s: System, r: Replica) -> bool:
    """S4, of the boundary: the boundary in the output is the end of the emitted buckets."""
    return s.nodes[r].boundary == s.nodes[r].serializer.emitted


def the_rest_waits(m: Sunion, s: System, r: Replica, e: Entry) -> bool:
    """S4, of the buffer: exactly the merge's tuples that were read and are not out are there."""
    node = s.nodes[r]
    is_due = s.logs[e].bucket < node.serializer.emitted
    is_here = m.has_read(node, e) and m.is_merged(s.logs, e)
    return node.buffer[e] == (is_here and not is_due)


def output_is_in_order(m: Sunion, s: System, r: Replica, x: Entry, y: Entry) -> bool:
    """S5: what is out came out in the order of the keys."""
    output = s.nodes[r].output
    both = output.contains[x] and output.contains[y]
    return output.before[x, y] == (both and m.merge(s).before[x, y])


# --------------------------------------------------------------------------- the order is total


def nothing_precedes_itself(m: Sunion, s: System) -> bool:
    """The order is irreflexive."""
    before = m.merge(s).before
    return forall(m.entries, lambda x: not before[x, x])


def order_is_transitive(m: Sunion, s: System) -> bool:
    """The order has no circles."""
    before = m.merge(s).before
    return forall(
        m.entries,
        m.entries,
        m.entries,
        lambda x, y, z: implies(before[x, y] and before[y, z], before[x, z]),
    )


def order_is_total(m: Sunion, s: System) -> bool:
    """The order leaves nothing to chance: times may be equal, keys are not."""
    before = m.merge(s).before
    return forall(m.entries, m.entries, lambda x, y: x == y or before[x, y] or before[y, x])


def earlier_buckets_come_first(m: Sunion, s: System) -> bool:
    """To emit bucket by bucket is to emit in order."""
    before = m.merge(s).before
    return forall(before, lambda x, y: implies(s.logs[x].bucket < s.logs[y].bucket, before[x, y]))


INVARIANT = Invariant(
    Sunion,
    conjuncts=(
        buckets_cut_time,
        boundaries_are_learned,
        nothing_follows_behind_a_boundary,
        emitted_buckets_are_complete,
        output_depends_on_buckets_alone,
        output_ends_with_its_boundary,
        the_rest_waits,
        output_is_in_order,
    ),
    lemmas=(
        nothing_precedes_itself,
        order_is_transitive,
        order_is_total,
        earlier_buckets_come_first,
    ),
)
