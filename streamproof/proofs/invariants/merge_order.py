"""Why the client sees one history: for any number of lanes, tuples, failures and repairs.

The log is what all agree on: the leader's history is in it (O2), the follower's is a part of what
it has of the log (O3, O4), and what the client has seen is in it (O5). And the client never has
more than a copy that is up can give, so whoever is left goes on behind it.
"""

from __future__ import annotations

from streamproof.lang import implies
from streamproof.models.merge_order import Copy, Lane, MergeOrder, Place, State
from streamproof.proofs.invariant import Invariant


def leads(s: State, c: Copy) -> bool:
    """Return whether a copy is up and leads."""
    return s.up[c] and s.mergers[c].leads


def follows(s: State, c: Copy) -> bool:
    """Return whether a copy is up and follows the log."""
    return s.up[c] and not s.mergers[c].leads


def one_of_two_leads(m: MergeOrder, s: State, c: Copy, d: Copy) -> bool:
    """O0: of two copies one leads and one follows; who has no twin knows it."""
    one, other = s.mergers[c], s.mergers[d]
    both = s.up[c] and s.up[d]
    return implies(c != d and both, one.leads != other.leads and not one.alone) and implies(
        c != d and s.up[c] and not s.up[d], one.alone
    )


def who_is_down_knows_nothing(m: MergeOrder, s: State, c: Copy) -> bool:
    """O0, for the others: a copy that is down has merged nothing."""
    return implies(not s.up[c], s.mergers[c].merged == 0)


def counters_in_order(m: MergeOrder, s: State, c: Copy) -> bool:
    """O1: nothing is counted below zero, and a follower has merged no more than is logged."""
    merger = s.mergers[c]
    return s.outputs >= 0 and merger.merged >= 0 and implies(follows(s, c), within_log(s, c))


def within_log(s: State, c: Copy) -> bool:
    """Return whether a copy has merged no more than it has of the log."""
    return s.mergers[c].merged <= s.mergers[c].logged


def the_log_comes_from_the_leader(m: MergeOrder, s: State, c: Copy, d: Copy) -> bool:
    """O1, between copies: a follower has nothing but what was chosen, and its acks are true."""
    leader, follower = s.mergers[c], s.mergers[d]
    return implies(leads(s, c) and follows(s, d), leader.logged <= follower.logged <= leader.merged)


def the_leader_is_in_the_log(m: MergeOrder, s: State, c: Copy, k: Place, x: Lane) -> bool:
    """O2: the log is the leader's history."""
    return implies(leads(s, c), s.log[k, x] == s.histories[c, k, x])


def the_follower_is_in_the_log(m: MergeOrder, s: State, c: Copy, k: Place, x: Lane) -> bool:
    """O3: what a follower has merged is what the log says."""
    is_merged = m.number[k] < s.mergers[c].merged
    return implies(follows(s, c) and is_merged, s.histories[c, k, x] == s.log[k, x])


def a_log_that_is_left_has_arrived(m: MergeOrder, s: State, c: Copy, k: Place, x: Lane) -> bool:
    """O2, without a leader: the log is what has arrived at the follower."""
    is_left = follows(s, c) and s.mergers[c].alone
    return implies(is_left and s.log[k, x], m.number[k] < s.mergers[c].logged)


def histories_end(m: MergeOrder, s: State, c: Copy, k: Place, x: Lane) -> bool:
    """O3, and beyond it: a history has nothing behind its end."""
    return implies(s.histories[c, k, x], m.number[k] < s.mergers[c].merged)


def a_place_has_one_lane(m: MergeOrder, s: State, k: Place, x: Lane, y: Lane) -> bool:
    """O3, for each place: one lane was chosen."""
    return implies(s.log[k, x] and s.log[k, y], x == y)


def the_client_has_no_more(m: MergeOrder, s: State, c: Copy) -> bool:
    """O4: each copy has merged, or has in its log, what the client has seen."""
    merger = s.mergers[c]
    return implies(s.up[c], s.outputs <= (merger.merged if merger.leads else merger.logged))


def the_client_is_in_the_log(m: MergeOrder, s: State, k: Place, x: Lane) -> bool:
    """O5: what the client has seen is what the log says."""
    return implies(m.number[k] < s.outputs, s.shown[k, x] == s.log[k, x])


INVARIANT = Invariant(
    MergeOrder,
    conjuncts=(
        one_of_two_leads,
        who_is_down_knows_nothing,
        counters_in_order,
        the_log_comes_from_the_leader,
        the_leader_is_in_the_log,
        the_follower_is_in_the_log,
        a_log_that_is_left_has_arrived,
        histories_end,
        a_place_has_one_lane,
        the_client_has_no_more,
        the_client_is_in_the_log,
    ),
)
