"""Why the client sees each output once: for any number of outputs, failures and repairs.

What a copy has forgotten the client has (E3), so whoever sends began at or before the next output
that the client lacks, and goes on without a gap (E2).
"""

from __future__ import annotations

from streamproof.lang import implies
from streamproof.models.egress import Copy, EgressPair, State
from streamproof.proofs.invariant import Invariant


def seen_is_what_the_machine_says(m: EgressPair, s: State) -> bool:
    """E1: the client has seen the outputs before its next one, each once."""
    return s.client.next >= 0 and s.seen.is_right and s.seen.count == s.client.next


def a_connection_has_no_gap(m: EgressPair, s: State, c: Copy) -> bool:
    """E2: the next output to arrive from a copy is due, or was seen already."""
    return s.connections[c].received <= s.client.next


def what_is_forgotten_was_seen(m: EgressPair, s: State, c: Copy) -> bool:
    """E3: a copy keeps all outputs that the client lacks."""
    return implies(s.up[c], s.pair[c].begin <= s.client.next)


INVARIANT = Invariant(
    EgressPair,
    conjuncts=(
        seen_is_what_the_machine_says,
        a_connection_has_no_gap,
        what_is_forgotten_was_seen,
    ),
)
