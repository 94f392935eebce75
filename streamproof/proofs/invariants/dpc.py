"""Why a DPC node works: the invariant, for any number of streams, buckets and tuples.

The one idea is that nothing moves the serializer while anything is tentative: so it stands at the
end of the stable output, and that is where operators go back to. All else follows from there.
"""

from __future__ import annotations

from streamproof.lang import implies
from streamproof.models.dpc.counts import Counts, DpcCounts
from streamproof.models.dpc.state import Bucket, Stream
from streamproof.proofs.invariant import Invariant
from streamproof.protocols.dpc import Condition


def emitted_is_complete(m: DpcCounts, s: Counts, a: Stream) -> bool:
    """N1: every boundary has reached what is emitted stable."""
    return s.node.serializer.emitted <= s.node.serializer.boundary[a]


def serializer_is_at_the_end_of_the_prefix(m: DpcCounts, s: Counts) -> bool:
    """N2: the client has every bucket before the serializer, and the node counts its tuples."""
    return s.corrected == s.node.serializer.emitted and s.stable == s.node.stable


def tail_is_counted(m: DpcCounts, s: Counts) -> bool:
    """N3: the node counts the tentative tuples that the client has."""
    return s.tail == s.node.tentative and s.tail >= 0


def only_failures_have_a_tail(m: DpcCounts, s: Counts) -> bool:
    """N4: nothing is tentative but in UP_FAILURE."""
    return implies(s.node.condition != Condition.UP_FAILURE, s.tail == 0)


def operator_has_seen_prefix_and_tail(m: DpcCounts, s: Counts) -> bool:
    """N5: the operator has processed what the client has, and nothing else."""
    return s.position == s.stable + s.tail


def checkpoint_is_before_the_tail(m: DpcCounts, s: Counts) -> bool:
    """N6: in a failure, the operator can go back to where only stable tuples are processed."""
    return implies(s.node.condition == Condition.UP_FAILURE, s.checkpoint == s.stable)


def corrections_are_behind_the_prefix(m: DpcCounts, s: Counts, b: Bucket) -> bool:
    """N7: what is in the prefix needs no correction any more, and the node knows what does."""
    emitted, reached = s.node.serializer.emitted, s.node.reached
    return implies(s.owed[b], emitted <= m.number[b] < reached)


def rec_done_is_the_last_word(m: DpcCounts, s: Counts, b: Bucket) -> bool:
    """N8: a client that heard REC_DONE last has every correction, and nothing tentative."""
    return implies(s.settled, s.tail == 0 and not s.owed[b])


INVARIANT = Invariant(
    DpcCounts,
    conjuncts=(
        emitted_is_complete,
        serializer_is_at_the_end_of_the_prefix,
        tail_is_counted,
        only_failures_have_a_tail,
        operator_has_seen_prefix_and_tail,
        checkpoint_is_before_the_tail,
        corrections_are_behind_the_prefix,
        rec_done_is_the_last_word,
    ),
)
