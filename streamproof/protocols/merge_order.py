"""Merge order: two copies of a partition merge its lanes in the same order.

Tuples of different lanes arrive in another order at each copy. Where the order matters to the
operator, one copy *leads*: it chooses from which lane the next tuple is taken, and sends its
choices to its twin as an *order log*. The twin follows the log. When the leader fails, the twin
finishes the log, and from then on it chooses itself.

What the leader has chosen and not told dies with it. So before an output leaves the pair, the
choices that it depends on must be at the twin: *output commit*. Otherwise the outside has seen an
output that the twin, which chooses otherwise, contradicts (mutant `emit-first`) [SHB04, section 3].

A machine works on numbers of choices, and never sees which lane was chosen.

Assumptions
-----------
* The log is FIFO and loses nothing, unless one of its ends fails.
* A lane gives both copies the same tuples in the same order (`flux`).
* Failures are noticed, and a copy that is taken to have failed stays away.

Deviations from the paper
-------------------------
* The paper leaves operators whose result depends on the order of several inputs aside. The log and
  its commit are the usual way of state-machine replication.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from streamproof.lang import Step, require

Lane = TypeVar("Lane")


@dataclass(frozen=True, slots=True)
class Merger:
    """One copy's part in merging the lanes of a partition.

    Attributes
    ----------
    merged : tuples taken so far, so the place of the next one
    logged : choices that both copies have, as far as this one knows
    leads : this copy chooses
    alone : there is no twin
    """

    merged: int
    logged: int
    leads: bool
    alone: bool


@dataclass(frozen=True, slots=True)
class TakeFrom(Generic[Lane]):
    """Take the next tuple of a lane, and let the operator process it."""

    lane: Lane


@dataclass(frozen=True, slots=True)
class TakeAsLogged:
    """Take the next tuple of the lane that the log has at a place."""

    place: int


@dataclass(frozen=True, slots=True)
class SendChoice(Generic[Lane]):
    """Append to the twin's log that a lane was chosen at a place."""

    place: int
    lane: Lane


@dataclass(frozen=True, slots=True)
class AcknowledgeLog:
    """Tell the leader that all choices before `end` have arrived."""

    end: int


MergeEffect: TypeAlias = TakeFrom[Lane] | TakeAsLogged | SendChoice[Lane] | AcknowledgeLog
MergeStep: TypeAlias = Step[Merger, MergeEffect[Lane]]


def choose(merger: Merger, lane: Lane) -> MergeStep[Lane]:
    """Take a tuple from a lane that has one, and tell the twin."""
    require(merger.leads)
    chosen = replace(merger, merged=merger.merged + 1)
    return chosen, (TakeFrom(lane), SendChoice(merger.merged, lane))


def on_choice(merger: Merger, place: int) -> MergeStep[Lane]:
    """Append a choice of the leader to the log."""
    assert place == merger.logged  # else the log has lost an entry
    logged = replace(merger, logged=place + 1)
    return logged, (AcknowledgeLog(place + 1),)


def follow(merger: Merger) -> MergeStep[Lane]:
    """Take a tuple as the log says (mutant `no-order`)."""
    require(not merger.leads and merger.merged < merger.logged)
    return replace(merger, merged=merger.merged + 1), (TakeAsLogged(merger.merged),)


def on_log_ack(merger: Merger, end: int) -> MergeStep[Lane]:
    """Note that the twin has all choices before `end`."""
    return replace(merger, logged=max(merger.logged, end)), ()


def is_committed(merger: Merger, end: int) -> bool:
    """Return whether the output of the first `end` tuples may leave the pair.

    It may if the twin cannot come to choose otherwise: it has the choices, or there is none.
    """
    return end <= merger.merged and (merger.alone or end <= merger.logged)


def on_twin_failure(merger: Merger) -> MergeStep[Lane]:
    """Note that this copy is alone: it sends no choices, and receives none."""
    return replace(merger, alone=True), ()


def take_over(merger: Merger) -> MergeStep[Lane]:
    """Lead, once the log of the failed leader is finished (mutant `free-early`)."""
    require(merger.alone and not merger.leads and merger.merged == merger.logged)
    return replace(merger, leads=True), ()


def transfer(survivor: Merger) -> Merger:
    """Return a new copy in the survivor's state, with an empty log. It follows."""
    return Merger(survivor.merged, survivor.merged, leads=False, alone=False)


def fold_in(survivor: Merger) -> MergeStep[Lane]:
    """Begin to send choices to a new twin. Its state has the earlier choices."""
    require(survivor.leads and survivor.alone)
    return replace(survivor, logged=survivor.merged, alone=False), ()
