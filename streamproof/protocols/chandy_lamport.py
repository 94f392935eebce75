"""Chandy-Lamport snapshots: a consistent cut of a running system, without stopping it.

Any process may initiate a snapshot. It records its own state and sends a *marker* down every
output channel before anything else. A process that receives a snapshot's first marker does the
same. Since channels are FIFO, a message that arrives before the marker was sent before the sender
recorded. The state of a channel is what arrives between the receiver's recording and the channel's
marker, so the recorded states and channels together form a state that the system could have passed
through [CL85].

A machine works on counts, never on messages: `log` says how many messages of a channel belong to
the snapshot, and they are the ones received right after the recording.

Assumptions
-----------
* Channels are FIFO and neither lose nor duplicate (mutants `non-fifo`, `channel-empty`).
* A step is atomic: nothing is sent between recording and sending the markers (`marker-late`).
* Every process is reachable from an initiator, else a snapshot never completes.

Deviations from the paper
-------------------------
* Snapshots carry ids and may overlap: each has a recorder of its own, and a marker touches only
  the recorder of its id (mutant `id-blind`). The paper has one snapshot at a time.
* Several processes may initiate the same snapshot.
* The paper logs messages; we count them, because a FIFO channel's messages are known by number.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, TypeAlias, TypeVar

from streamproof.lang import Map, Step, forall, require

SnapshotId = TypeVar("SnapshotId")
Channel = TypeVar("Channel")


@dataclass(frozen=True, slots=True)
class Recorder(Generic[Channel]):
    """One process's part in one snapshot.

    Attributes
    ----------
    recorded : the process has recorded its state
    closed : per input channel, the marker has arrived; a channel that does not exist is closed
    log : per input channel, messages that belong to the channel's recorded state
    """

    recorded: bool
    closed: Map[Channel, bool]
    log: Map[Channel, int]


Recorders: TypeAlias = Map[SnapshotId, Recorder[Channel]]
"""One process's part in every snapshot."""


@dataclass(frozen=True, slots=True)
class SaveState(Generic[SnapshotId]):
    """Record the process's state, as it is now, for this snapshot."""

    snapshot: SnapshotId


@dataclass(frozen=True, slots=True)
class SendMarkers(Generic[SnapshotId]):
    """Send this snapshot's marker on every output channel, before any other message."""

    snapshot: SnapshotId


SnapshotEffect: TypeAlias = SaveState[SnapshotId] | SendMarkers[SnapshotId]


def initial_recorder(inputs: Map[Channel, bool]) -> Recorder[Channel]:
    """Return a process's recorder before a snapshot has reached it.

    Parameters
    ----------
    inputs : per channel, whether it is an input of this process
    """
    return Recorder(
        recorded=False,
        closed=inputs.map(lambda is_input: not is_input),
        log=inputs.map(lambda _: 0),
    )


def initiate(
    recorders: Recorders[SnapshotId, Channel], snapshot: SnapshotId
) -> Step[Recorders[SnapshotId, Channel], SnapshotEffect[SnapshotId]]:
    """Begin a snapshot here, unless it has already arrived [CL85, section 3.2]."""
    recorder = recorders[snapshot]
    require(not recorder.recorded)
    recorded = replace(recorder, recorded=True)
    return recorders.set(snapshot, recorded), (SaveState(snapshot), SendMarkers(snapshot))


def on_messages(
    recorders: Recorders[SnapshotId, Channel], channel: Channel, count: int
) -> Step[Recorders[SnapshotId, Channel], SnapshotEffect[SnapshotId]]:
    """Log messages that were in flight when an open recording began [CL85, section 3.2].

    Parameters
    ----------
    recorders : this process's, before the messages
    count : messages just received on `channel`, in order and ahead of its next marker
    """

    def logged(recorder: Recorder[Channel]) -> Recorder[Channel]:
        if recorder.recorded and not recorder.closed[channel]:
            return replace(recorder, log=recorder.log.set(channel, recorder.log[channel] + count))
        return recorder

    return recorders.map(logged), ()


def on_marker(
    recorders: Recorders[SnapshotId, Channel], snapshot: SnapshotId, channel: Channel
) -> Step[Recorders[SnapshotId, Channel], SnapshotEffect[SnapshotId]]:
    """Close `channel`; a snapshot's first marker also records the process [CL85, section 3.2]."""
    recorder = recorders[snapshot]
    assert not recorder.closed[channel]  # a second marker would mean that the channel duplicates
    closed = recorder.closed.set(channel, True)
    if recorder.recorded:
        return recorders.set(snapshot, replace(recorder, closed=closed)), ()
    # Saving and sending are one step: a message sent in between would be received inside the cut
    # and sent outside it (mutant `marker-late`).
    recorded = Recorder(recorded=True, closed=closed, log=recorder.log)
    return recorders.set(snapshot, recorded), (SaveState(snapshot), SendMarkers(snapshot))


def is_complete(recorder: Recorder[Channel]) -> bool:
    """Return whether the process has recorded itself and every one of its input channels."""
    return recorder.recorded and forall(recorder.closed, lambda channel: recorder.closed[channel])
