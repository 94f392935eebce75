"""Mistakes in Chandy-Lamport, each of which a property of the model must catch.

Each is one changed function of the protocol, or one changed assumption about channels and steps.
The short ids and the longest acceptable traces are those of our protocol notes.
"""

from __future__ import annotations

from dataclasses import replace

from streamproof.lang import Fairness, Map, action, final, require
from streamproof.lang.machine import replaced
from streamproof.models.kit.mutant import Mutant
from streamproof.models.snapshots.chandy_lamport import (
    ChandyLamport,
    Process,
    Snapshot,
    System,
    Travel,
)
from streamproof.models.snapshots.state import Machine, MachineStep
from streamproof.protocols import chandy_lamport as protocol
from streamproof.protocols.chandy_lamport import (
    Recorder,
    SaveState,
    SendMarkers,
    SnapshotEffect,
)


class NonFifo(ChandyLamport):
    """A marker may overtake messages (CL-nonfifo)."""

    machine = protocol

    def marker_is_next(self, s: System, k: Snapshot, p: Process, q: Process) -> bool:
        """Let the marker arrive at any time."""
        return s.markers[k, p, q].travel == Travel.TRAVELLING

    @action(fairness=Fairness.WEAK)
    def receive(self, s: System, p: Process, q: Process) -> System:
        """Receive a message, wherever the markers are."""
        require(self.can_receive(s.app, p, q))
        recorders, _ = self.machine.on_messages(s.recorders[q], p, 1)
        app = self.received(s.app, p, q)
        return replace(s, app=app, recorders=s.recorders.set(q, recorders))


def log_nothing(recorders: Machine, channel: Process, count: int) -> MachineStep:
    """Log nothing."""
    del channel, count
    return recorders, ()


class ChannelEmpty(ChandyLamport):
    """The recorded state of a channel is always empty (CL-chanempty)."""

    machine = replaced(protocol, on_messages=log_nothing)


def log_after_the_marker(recorders: Machine, channel: Process, count: int) -> MachineStep:
    """Log without asking whether the channel is closed."""

    def logged(recorder: Recorder[Process]) -> Recorder[Process]:
        if not recorder.recorded:
            return recorder
        return replace(recorder, log=recorder.log.set(channel, recorder.log[channel] + count))

    return recorders.map(logged), ()


class RecordAfter(ChandyLamport):
    """A channel's log goes on after its marker (CL-recafter)."""

    machine = replaced(protocol, on_messages=log_after_the_marker)


def log_before_recording(recorders: Machine, channel: Process, count: int) -> MachineStep:
    """Log without asking whether the process has recorded."""

    def logged(recorder: Recorder[Process]) -> Recorder[Process]:
        if recorder.closed[channel]:
            return recorder
        return replace(recorder, log=recorder.log.set(channel, recorder.log[channel] + count))

    return recorders.map(logged), ()


class LogEarly(ChandyLamport):
    """A channel's log begins before its receiver has recorded (CL-logearly)."""

    machine = replaced(protocol, on_messages=log_before_recording)


class MarkerLate(ChandyLamport):
    """A process records, and sends its markers in a later step (CL-markerlate)."""

    def carry_out(
        self, s: System, p: Process, effects: tuple[SnapshotEffect[Snapshot], ...]
    ) -> System:
        """Save the state alone."""
        for effect in effects:
            if isinstance(effect, SaveState):
                s = self.save_state(s, effect.snapshot, p)
        return s

    @action(fairness=Fairness.WEAK)
    def catch_up(self, s: System, k: Snapshot, p: Process, q: Process) -> System:
        """Send a marker that is due."""
        require(self.channel[p, q] and self.recorded(s, k, p))
        require(s.markers[k, p, q].travel == Travel.UNSENT)
        marker = replace(s.markers[k, p, q], travel=Travel.TRAVELLING, ahead=s.app.sent[p, q])
        return replace(s, markers=s.markers.set((k, p, q), marker))


def save_again(recorders: Machine, snapshot: Snapshot, channel: Process) -> MachineStep:
    """Save the state whether or not it was saved."""
    after, effects = protocol.on_marker(recorders, snapshot, channel)
    return after, effects or (SaveState(snapshot),)


class RecordAgain(ChandyLamport):
    """Every marker records the process again (CL-rerecord)."""

    machine = replaced(protocol, on_marker=save_again)


def keep_the_marker(recorders: Machine, snapshot: Snapshot, channel: Process) -> MachineStep:
    """Save the state and send no marker."""
    after, effects = protocol.on_marker(recorders, snapshot, channel)
    return after, effects[:1]


class NoRelay(ChandyLamport):
    """A first marker is not passed on (CL-norelay)."""

    machine = replaced(protocol, on_marker=keep_the_marker)

    @final
    def quiet(self, s: System) -> bool:
        """Let a run end anywhere: that it gets stuck is not what the mutant is to be killed by."""
        del s
        return True


def close_in_all_snapshots(recorders: Machine, snapshot: Snapshot, channel: Process) -> MachineStep:
    """Close the channel without looking at the id."""
    after, effects = protocol.on_marker(recorders, snapshot, channel)

    def closed(recorder: Recorder[Process]) -> Recorder[Process]:
        if not recorder.recorded:
            return recorder
        return replace(recorder, closed=recorder.closed.set(channel, True))

    return after.map(closed), effects


class IdBlind(ChandyLamport):
    """A marker closes its channel in all snapshots that are under way (CL-idblind)."""

    machine = replaced(protocol, on_marker=close_in_all_snapshots)


def close_every_channel(recorders: Machine, snapshot: Snapshot, channel: Process) -> MachineStep:
    """Wait for no other marker."""
    after, effects = protocol.on_marker(recorders, snapshot, channel)
    mine = after[snapshot]
    closed: Map[Process, bool] = mine.closed.map(lambda _: True)
    return after.set(snapshot, replace(mine, closed=closed)), effects


class CloseAll(ChandyLamport):
    """The first marker closes every channel (CL-closeall)."""

    machine = replaced(protocol, on_marker=close_every_channel)


def record_whether_or_not_recorded(recorders: Machine, snapshot: Snapshot) -> MachineStep:
    """Record without asking whether it was done."""
    recorded = replace(recorders[snapshot], recorded=True)
    return recorders.set(snapshot, recorded), (SaveState(snapshot), SendMarkers(snapshot))


class InitiateAgain(ChandyLamport):
    """A process may initiate a snapshot that has already reached it (CL-initagain)."""

    machine = replaced(protocol, initiate=record_whether_or_not_recorded)


class HaltAfterRecording(ChandyLamport):
    """A process that has recorded does not send any more (CL-halt)."""

    def save_state(self, s: System, k: Snapshot, p: Process) -> System:
        """Save the state, and stop."""
        saved = super().save_state(s, k, p)
        return replace(saved, app=replace(saved.app, left=saved.app.left.set(p, 0)))


_ONE_EACH = {"messages": (1, 1)}

MUTANTS = (
    Mutant(
        "chandy_lamport/non-fifo",
        NonFifo,
        _ONE_EACH,
        "shadow_simulation",
        4,
        "a marker overtakes a message, which then belongs to no recorded state",
    ),
    Mutant(
        "chandy_lamport/channel-empty",
        ChannelEmpty,
        _ONE_EACH,
        "channel_exact",
        5,
        "a message in flight is lost",
    ),
    Mutant(
        "chandy_lamport/record-after",
        RecordAfter,
        _ONE_EACH,
        "channel_exact",
        5,
        "a message that was sent after the cut is counted as in flight too",
    ),
    Mutant(
        "chandy_lamport/log-early",
        LogEarly,
        _ONE_EACH,
        "channel_exact",
        4,
        "a message that the saved state has received is counted as in flight too",
    ),
    Mutant(
        "chandy_lamport/marker-late",
        MarkerLate,
        _ONE_EACH,
        "shadow_simulation",
        7,
        "a message slips between recording and marker: received inside the cut, sent outside it",
    ),
    Mutant(
        "chandy_lamport/record-again",
        RecordAgain,
        _ONE_EACH,
        "channel_exact",
        4,
        "the state is saved again after a message has left it, which no log has",
    ),
    Mutant(
        "chandy_lamport/no-relay",
        NoRelay,
        {"messages": (0, 0), "initiators": 1},
        "every_snapshot_completes",
        2,
        "the marker never comes back, so the snapshot never completes",
    ),
    Mutant(
        "chandy_lamport/id-blind",
        IdBlind,
        {"messages": (1, 0), "snapshots": 2},
        "channel_exact",
        5,
        "a snapshot's channel is closed by another's marker, before its own messages are in",
    ),
    Mutant(
        "chandy_lamport/close-all",
        CloseAll,
        {"messages": (0, 0, 0), "initiators": 1},
        "channel_exact",
        2,
        "channels are taken to be empty whose senders have not recorded",
    ),
    Mutant(
        "chandy_lamport/initiate-again",
        InitiateAgain,
        {"messages": (0, 0), "initiators": 1},
        "claims.on_marker",
        4,
        "a second marker arrives on a channel that is closed",
    ),
    Mutant(
        "chandy_lamport/halt-after-recording",
        HaltAfterRecording,
        _ONE_EACH,
        "non_interference",
        1,
        "the snapshot changes what the application does",
    ),
)
