"""Mistakes in a DPC node, each of which a property of the model must catch.

Each is one changed function of the node or of what surrounds it. The short ids are those of our
protocol notes; the lengths are those of the shortest runs.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import exists, require
from streamproof.lang.machine import replaced
from streamproof.models.dpc.dpc import Dpc
from streamproof.models.dpc.state import Bucket, Machine, MachineStep, Stream, System, Tuples
from streamproof.models.kit.mutant import Mutant
from streamproof.protocols import dpc as protocol
from streamproof.protocols.dpc import (
    Condition,
    EmitTentative,
    Policy,
    RecDone,
    TakeCheckpoint,
    Undo,
)
from streamproof.protocols.sunion import EmitStable, is_complete


class Mislabel(Dpc):
    """What is incomplete is emitted as INSERTION (DPC-mislabel)."""

    def guess(self, s: System, chosen: Tuples) -> System:
        """Emit the tuples as stable ones."""
        return self.insert(s, chosen)


class NoUndo(Dpc):
    """Corrections come without UNDO (DPC-noundo)."""

    def revoke(self, s: System, stable: int) -> System:
        """Send no UNDO to the client."""
        del stable
        return s


class UndoStable(Dpc):
    """UNDO revokes the last stable tuple too (DPC-undostable)."""

    def revoke(self, s: System, stable: int) -> System:
        """Leave one tuple too few."""
        return super().revoke(s, max(stable - 1, 0))


def guess_before_checkpoint(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Put the checkpoint behind what it should come before."""
    after, effects = protocol.on_timeout(node, policy, end, number)
    return after, (*effects[1:], *effects[:1])


class LateCheckpoint(Dpc):
    """The checkpoint is taken when the first tentative tuples have been processed.

    Short id: DPC-lateckpt.
    """

    machine = replaced(protocol, on_timeout=guess_before_checkpoint)


def emit_at_one_boundary(node: Machine, end: int, number: int) -> MachineStep:
    """Ask for one boundary instead of all."""
    begin, boundary = node.serializer.emitted, node.serializer.boundary
    require(node.condition != Condition.UP_FAILURE and begin < end)
    require(exists(boundary, lambda stream: boundary[stream] >= end))
    serializer = replace(node.serializer, emitted=end)
    emitted = replace(node, serializer=serializer, stable=node.stable + number)
    return emitted, (EmitStable(begin, end),)


class OneBoundary(Dpc):
    """The boundary of one stream makes a bucket complete (DPC-existsB)."""

    machine = replaced(protocol, emit=emit_at_one_boundary)


def stabilize_without_corrections(node: Machine, due: int) -> MachineStep:
    """Leave out UNDO and corrections."""
    require(protocol.is_corrected(node, due))
    serializer = replace(node.serializer, emitted=due)
    return replace(node, condition=Condition.STABLE, serializer=serializer), (RecDone(),)


class NoReconcile(Dpc):
    """When the inputs are corrected, the node is STABLE, and goes on as if nothing had been.

    Short id: DPC-noreconcile.
    """

    machine = replaced(protocol, stabilize=stabilize_without_corrections)


def forget_what_was_guessed(node: Machine, end: int, number: int) -> MachineStep:
    """Forget how far the node has guessed."""
    return protocol.emit(replace(node, reached=end), end, number)


class RecDoneEarly(Dpc):
    """REC_DONE comes with the first correction (DPC-recdoneearly)."""

    machine = replaced(protocol, emit=forget_what_was_guessed)


class ArrivalOrder(Dpc):
    """Tuples are emitted as they happen to arrive: here, those of the last stream first.

    Short id: DPC-arrival.
    """

    def precedes(self, a: Stream, b: Bucket, c: Stream, d: Bucket) -> bool:
        """Turn the order of the streams around."""
        return self.number[b] < self.number[d] or (
            self.number[b] == self.number[d] and self.rank[c, d] < self.rank[a, b]
        )


def guess_what_is_complete(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Guess complete buckets together with the one that is not."""
    require(node.condition == Condition.STABLE and not is_complete(node.serializer, end))
    failed = replace(node, condition=Condition.UP_FAILURE)
    after, effects = protocol.on_timeout(failed, policy, end, number)
    return after, (TakeCheckpoint(), *effects)


class GuessComplete(Dpc):
    """A time-out asks whether its last bucket is complete, and not whether any is.

    Short id: DPC-guesscomplete.
    """

    machine = replaced(protocol, on_timeout=guess_what_is_complete)


def guess_what_is_stable(node: Machine, policy: Policy, end: int, number: int) -> MachineStep:
    """Show a stable bucket once more."""
    after, effects = protocol.on_timeout(node, policy, end, number)
    return after, (*effects[:-1], EmitTentative(node.serializer.emitted - 1, end))


class GuessAgain(Dpc):
    """What is emitted tentatively begins with the last bucket that is stable (DPC-guessagain)."""

    machine = replaced(protocol, on_timeout=guess_what_is_stable)


def emit_the_last_bucket_again(node: Machine, end: int, number: int) -> MachineStep:
    """Emit a bucket once more."""
    after, effects = protocol.emit(node, end, number)
    return after, (EmitStable(node.serializer.emitted - 1, end), *effects[1:])


class EmitAgain(Dpc):
    """Complete buckets are emitted together with the last one that was (DPC-emitagain)."""

    machine = replaced(protocol, emit=emit_the_last_bucket_again)


def revoke_without_corrections(node: Machine, due: int) -> MachineStep:
    """Be content with what is emitted anyway."""
    del due
    require(node.condition == Condition.UP_FAILURE)
    return replace(node, condition=Condition.STABILIZATION, tentative=0), (Undo(node.stable),)


class RevokeAtOnce(Dpc):
    """A node begins to correct as soon as it may guess: nothing is complete (DPC-revokeatonce)."""

    machine = replaced(protocol, stabilize=revoke_without_corrections)


_ONE_BUCKET = {"buckets": 1}
_ONE_STREAM = {"streams": 1}

MUTANTS = (
    Mutant(
        "dpc/mislabel",
        Mislabel,
        _ONE_BUCKET,
        "stable_prefix",
        3,
        "a tuple of an incomplete bucket is taken for stable, and can never be corrected",
    ),
    Mutant(
        "dpc/no-undo",
        NoUndo,
        _ONE_BUCKET,
        "corrections_follow_undo",
        8,
        "the client keeps a tentative tuple beside its correction",
    ),
    Mutant(
        "dpc/undo-stable",
        UndoStable,
        _ONE_STREAM,
        "undo_revokes_no_stable_tuple",
        9,
        "the client loses a stable tuple, which nobody sends again",
    ),
    Mutant(
        "dpc/late-checkpoint",
        LateCheckpoint,
        _ONE_BUCKET,
        "stable_prefix",
        8,
        "the operator goes back to a state that has seen a tentative tuple, and skips a number",
    ),
    Mutant(
        "dpc/one-boundary",
        OneBoundary,
        _ONE_BUCKET,
        "stable_prefix",
        3,
        "a stable bucket lacks the tuple of a stream that is behind",
    ),
    Mutant(
        "dpc/no-reconcile",
        NoReconcile,
        _ONE_BUCKET,
        "rec_done_is_true",
        7,
        "what was guessed is taken for right",
    ),
    Mutant(
        "dpc/rec-done-early",
        RecDoneEarly,
        _ONE_STREAM,
        "rec_done_is_true",
        9,
        "the client takes its view for corrected while a tuple that it has seen is missing",
    ),
    Mutant(
        "dpc/arrival-order",
        ArrivalOrder,
        _ONE_BUCKET,
        "stable_prefix",
        5,
        "two replicas emit the same tuples in different orders",
    ),
    Mutant(
        "dpc/guess-complete",
        GuessComplete,
        _ONE_STREAM,
        "what_is_complete_is_not_guessed",
        4,
        "a tuple is shown as tentative that might be shown as stable",
    ),
    Mutant(
        "dpc/guess-again",
        GuessAgain,
        _ONE_STREAM,
        "guesses_are_new",
        5,
        "a tuple is shown as stable and as tentative",
    ),
    Mutant(
        "dpc/emit-again",
        EmitAgain,
        _ONE_STREAM,
        "stable_prefix",
        6,
        "a stable tuple comes twice",
    ),
    Mutant(
        "dpc/revoke-at-once",
        RevokeAtOnce,
        _ONE_BUCKET,
        "corrections_are_at_hand",
        3,
        "tentative tuples are revoked, and nothing comes instead",
    ),
)
