"""Mistakes in merging lanes, each caught by a property of the model.

`no-order` and `emit-first` are those of our notes, and `free-early` is named there.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import require
from streamproof.lang.machine import replaced
from streamproof.models.kit.mutant import Mutant
from streamproof.models.merge_order import Lane, MergeOrder
from streamproof.protocols import merge_order as protocol
from streamproof.protocols.merge_order import Merger, MergeStep, TakeFrom


def choose_whoever_leads(merger: Merger, lane: Lane) -> MergeStep[Lane]:
    """Choose, whoever leads."""
    return replace(merger, merged=merger.merged + 1), (TakeFrom(lane),)


class NoOrder(MergeOrder):
    """Each copy takes tuples as they arrive (FX-noorder)."""

    machine = replaced(protocol, choose=choose_whoever_leads)


def committed_once_merged(merger: Merger, end: int) -> bool:
    """Ask only whether there are so many."""
    return end <= merger.merged


class EmitFirst(MergeOrder):
    """The leader gives outputs before the twin has the choices that they depend on.

    Short id: FX-emitfirst.
    """

    machine = replaced(protocol, is_committed=committed_once_merged)


def choose_behind_the_log(merger: Merger, lane: Lane) -> MergeStep[Lane]:
    """Choose behind the log."""
    require(merger.leads or merger.merged >= merger.logged)
    return protocol.choose(replace(merger, leads=True), lane)


class FreeEarly(MergeOrder):
    """A follower that has finished its log chooses, though the leader is up (FX-freeearly)."""

    machine = replaced(protocol, choose=choose_behind_the_log)


def forget_the_log(merger: Merger) -> MergeStep[Lane]:
    """Forget the rest of the log."""
    require(merger.alone and not merger.leads)
    return replace(merger, leads=True, logged=merger.merged), ()


class LeadEarly(MergeOrder):
    """A twin that is left alone leads before it has finished its log (FX-leadearly)."""

    machine = replaced(protocol, take_over=forget_the_log)


def wait_for_a_leader(merger: Merger) -> MergeStep[Lane]:
    """Wait for a leader."""
    require(merger.logged < 0)
    return merger, ()


class NoTakeover(MergeOrder):
    """A twin finishes its log, and never leads (FX-noleader)."""

    machine = replaced(protocol, take_over=wait_for_a_leader)


def stay_alone(survivor: Merger) -> MergeStep[Lane]:
    """Go on alone."""
    require(survivor.leads and survivor.alone)
    return survivor, ()


class FoldInAlone(MergeOrder):
    """The survivor does not note that it has a twin again (FX-foldalone)."""

    machine = replaced(protocol, fold_in=stay_alone)


_ONE_FAILURE = {"lanes": 2, "lane_tuples": 1, "failures": 1, "repairs": False}
_REPAIRED = {"lanes": 2, "lane_tuples": 1, "failures": 2, "repairs": True}

MUTANTS = (
    Mutant(
        "merge_order/no-order",
        NoOrder,
        _ONE_FAILURE,
        "copies_agree",
        6,
        "the copies take two tuples in different orders",
    ),
    Mutant(
        "merge_order/emit-first",
        EmitFirst,
        _ONE_FAILURE,
        "the_client_sees_one_history",
        6,
        "the leader's choice dies with it when the client has seen its output",
    ),
    Mutant(
        "merge_order/free-early",
        FreeEarly,
        _ONE_FAILURE,
        "copies_agree",
        6,
        "the follower chooses otherwise than the leader, whose choice is under way",
    ),
    Mutant(
        "merge_order/lead-early",
        LeadEarly,
        _ONE_FAILURE,
        "the_client_sees_one_history",
        8,
        "the twin chooses otherwise than its log says, by which the client has seen an output",
    ),
    Mutant(
        "merge_order/no-takeover",
        NoTakeover,
        _ONE_FAILURE,
        "deadlock",
        4,
        "nobody chooses any more",
    ),
    Mutant(
        "merge_order/fold-in-alone",
        FoldInAlone,
        _REPAIRED,
        "the_client_sees_one_history",
        12,
        "the survivor takes itself to be alone, so it commits what its new twin was not told",
    ),
)
