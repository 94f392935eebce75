"""Catch-up: a new copy begins in the survivor's state, and the survivor does not pause.

The survivor's checkpoint as of its last completed turn never changes, so it is linked, file by
file, while the survivor goes on; what it keeps of the turns until then, and its part in snapshots,
are linked too. From there on the new copy follows the order log, as any copy does.
"""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.layout import incarnation
from streamproof.spark_bindings.layout.output_buffer import OutputBuffer
from streamproof.spark_bindings.layout.pairs import Copy, CopyDirectory, PairDirectory
from streamproof.spark_bindings.names import BatchId, Turn
from streamproof.spark_bindings.processes.heartbeat import BEATS_PER_TIMEOUT, Watch
from streamproof.spark_bindings.processes.order_log import OrderLog
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles
from streamproof.spark_bindings.storage.builds import hidden_beside
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import move, remove_at_once, sync_below, sync_names

_ATTEMPTS_MAX = 10


@dataclass(frozen=True, slots=True)
class CaughtUp:
    """How a copy begins.

    Attributes
    ----------
    taken : turns that its state has
    is_transferred : its state is the survivor's; else its own
    seconds : what the transfer took
    """

    taken: Turn
    is_transferred: bool
    seconds: float

    def __str__(self) -> str:
        """Describe it for a log."""
        if self.is_transferred:
            return (
                f"in the other copy's state, of {self.taken} turns, given in {self.seconds:.3f} s"
            )
        return f"in its own state, of {self.taken} turns" if self.taken else "with no state"


def catch_up(
    pair: PairDirectory, copy: Copy, channel: AnyPlace, suspect_after_seconds: float
) -> CaughtUp:
    """Make the state that a copy begins in: the other copy's while that one runs, else its own.

    Called when a copy is started, by the process that holds its lock. May be repeated.

    Parameters
    ----------
    pair, copy, channel : which copy, and the directory of the output channel
    suspect_after_seconds : the suspicion timeout: a running copy is silent no longer

    Raises
    ------
    DamagedFile : if the checkpoint that it would begin in cannot be read
    """
    own, survivor = pair.copy(copy), pair.copy(copy.other)
    taken = _taken(own.checkpoint)
    can_follow = taken > 0 and OrderLog(pair.order).has_from(taken)
    has_state = survivor.checkpoint.last_committed() is not None
    is_damaged = not _is_readable(own.checkpoint)  # as the power may leave it
    can_stay = can_follow and not is_damaged
    if not has_state or (can_stay and not _is_running(survivor.beat, suspect_after_seconds)):
        own.checkpoint.check_readable()
        incarnation.keep(own.checkpoint)
        return CaughtUp(taken, is_transferred=False, seconds=0.0)
    survivor.checkpoint.check_readable()
    begun = time.monotonic()
    reached(RaceFailpoint.CATCH_UP_BEGUN, copy.value)
    # Before a batch is chosen: no vacuum goes on beyond it on account of what this copy had.
    number = incarnation.supersede(own.checkpoint)
    place, recorders = map(hidden_beside, (own.checkpoint.place, own.recorders))
    # First: if these fail, nothing has changed. The survivor keeps its recorders for some steps.
    batch = _copy_recorders(survivor, recorders)
    survivor.checkpoint.copy_as_of(batch, place)
    incarnation.sign(place, number)
    for made in (place, recorders):
        if store_at(made).has():
            sync_below(made)  # before it has its name: a part of a checkpoint is none
    # A crash from here on leaves no checkpoint, and the next start begins anew.
    remove_at_once(own.checkpoint.place)
    remove_at_once(own.kept)
    remove_at_once(own.recorders)
    if store_at(recorders).has():
        move(recorders, own.recorders)
    channel = Place.of(channel)
    OutputBuffer(survivor.kept, channel).copy_to(
        OutputBuffer(own.kept, channel), Turn(batch + 1), f"{copy.value}-{uuid.uuid4().hex[:8]}"
    )
    move(place, own.checkpoint.place)
    sync_names(own.place)
    return CaughtUp(Turn(batch + 1), is_transferred=True, seconds=time.monotonic() - begun)


def _copy_recorders(survivor: CopyDirectory, target: Place) -> BatchId:
    """Copy the survivor's part in snapshots as of its last completed batch; give that batch."""
    for attempt in range(1, _ATTEMPTS_MAX + 1):
        batch = survivor.checkpoint.last_committed()
        assert batch is not None  # the caller has seen one, and it only goes on
        reached(RaceFailpoint.SURVIVOR_TURN_CHOSEN, survivor.place.name)
        try:
            RecorderFiles(survivor.recorders, ()).copy_as_of(batch, target)
        except FileNotFoundError:
            if attempt == _ATTEMPTS_MAX:
                raise
            continue
        return batch
    raise AssertionError("unreachable")


def _taken(checkpoint: Checkpoint) -> Turn:
    batch = checkpoint.last_committed()
    return Turn(0 if batch is None else batch + 1)


def _is_readable(checkpoint: Checkpoint) -> bool:
    try:
        checkpoint.check_readable()
    except DamagedFile:
        return False
    return True


def _is_running(beat: Place, suspect_after_seconds: float) -> bool:
    watch = Watch(beat, suspect_after_seconds)
    first = watch.beat
    while watch.beat == first and not watch.has_failed:
        time.sleep(suspect_after_seconds / BEATS_PER_TIMEOUT)
        watch.look()
    return watch.beat != first
