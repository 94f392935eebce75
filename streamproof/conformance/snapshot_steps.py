"""The steps of each process in the run of a snapshot, as its log and its lane have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from streamproof.conformance.evidence import Evidence, Output, Process
from streamproof.conformance.explain import Observed
from streamproof.conformance.snapshot_start import SnapshotStart, gap
from streamproof.lang.model import Call
from streamproof.models.snapshots.state import System, Travel
from streamproof.spark_bindings.layout.events import Event, LoggedStep
from streamproof.spark_bindings.names import ProcessName, SnapshotId

Step: TypeAlias = Observed[System]
MARKER_NAMES = ("k", "p", "q")
Differs: TypeAlias = Callable[[System, System], str]


class SnapshotSteps:
    """What the processes were observed to do, in the words of the model.

    Parameters
    ----------
    start : where the run begins
    """

    def __init__(self, evidence: Evidence, start: SnapshotStart) -> None:
        self._evidence, self._start = evidence, start
        self._files = evidence.snapshots.get(start.snapshot)

    def of(self, process: Process) -> list[Step]:
        """List the steps of a process, in its order."""
        if process.is_feed:
            return list(self._of_feed(process))
        return list(self._of_reader(process) if process.is_outside else self._of_query(process))

    def _of_reader(self, reader: Process) -> Iterator[Step]:
        """Yield what an outside reader takes: what is in the channel, in its order."""
        outputs = [(out, lane) for lane in reader.lanes for out in lane.outputs]
        for out, lane in sorted(outputs, key=lambda pair: pair[0].position):
            where = f"position {out.position} of channel {lane.channel}"
            if out.position <= self._start.received[reader.name, lane.name]:
                continue
            if out.is_message:
                yield from self._receives(reader, lane.name, 1, where)
            if out.marker == self._start.snapshot:
                call = Call("receive_marker", (out.marker, lane.writer, reader.name), MARKER_NAMES)
                yield Observed(reader.name, where, call, awaits=lane.writer)

    def _of_feed(self, feed: Process) -> Iterator[Step]:
        for out in self._outputs(feed):
            where = f"position {out.position} of channel {feed.output.channel}"
            if out.is_message:
                yield from self._sends(feed, where)
            if out.marker == self._start.snapshot:
                call = Call("initiate", (self._start.snapshot, feed.name), ("k", "p"))
                yield Observed(feed.name, where, call, self._recorded(feed, None))

    def _of_query(self, process: Process) -> Iterator[Step]:
        waiting = [out for out in self._outputs(process) if out.is_message]
        before: LoggedStep | None = None
        for step in self._start.steps[process.name]:
            where = f"batch {step.number}"
            while waiting and _batch(waiting[0]) < step.number:
                yield from self._sends(process, f"batch {_batch(waiting.pop(0))}")
            if before is not None:
                yield from self._between(process, before, step)
            told = [event for event in step.events if event["event"] == "on_messages"]
            for event in told:
                yield from self._receives(process, event["channel"], event["count"], where)
            while waiting and _batch(waiting[0]) == step.number:
                waiting.pop(0)
                yield from self._sends(process, where)
            yield from self._markers(process, step)
            before = step
        for out in waiting:
            yield from self._sends(process, f"batch {_batch(out)}")

    def _outputs(self, process: Process) -> list[Output]:
        begin = self._start.position[process.name]
        return [out for out in process.output.outputs if out.position > begin]

    def _sends(self, process: Process, where: str) -> Iterator[Step]:
        for reader in self._evidence.readers(process.output):
            call = Call("send", (process.name, reader.name), ("p", "q"))
            yield Observed(process.name, where, call, is_asked=False)

    def _receives(self, process: Process, lane: str, count: int, where: str) -> Iterator[Step]:
        writer = _writer(process, lane)
        call = Call("receive", (writer, process.name), ("p", "q"))
        for _ in range(count):
            yield Observed(process.name, where, call, awaits=writer, is_asked=False)

    def _markers(self, process: Process, step: LoggedStep) -> Iterator[Step]:
        snapshot = self._start.snapshot
        for event in step.events:
            if event.get("snapshot") != snapshot:
                continue
            writer = _writer(process, event["channel"])
            call = Call("receive_marker", (snapshot, writer, process.name), MARKER_NAMES)
            differs = self._answered(process, step, event)
            where = f"batch {step.number}"
            yield Observed(process.name, where, call, differs, awaits=writer)

    def _between(self, process: Process, before: LoggedStep, step: LoggedStep) -> Iterator[Step]:
        """Fill in what a process received between two logged steps, if lines are gone."""
        for lane in process.lanes:
            begin, end = gap(before, step, lane)
            where = f"between batches {before.number} and {step.number}, without a line in its log"
            yield from self._receives(process, lane.name, lane.messages(begin, end), where)

    # ----------------------------------------------------------------------- what was written down

    def _answered(self, process: Process, step: LoggedStep, event: Event) -> Differs:
        """Compare what the machine answered to a marker with the model, and with the files."""
        recorded = self._recorded(process, step)

        def differs(before: System, after: System) -> str:
            is_first = not recorder_of(before, process, self._start.snapshot).recorded
            expected = ["SaveState", "SendMarkers"] if is_first else []
            if event["effects"] != expected:
                return f"its machine answered {event['effects']}; in the model it is {expected}"
            return recorded(before, after) if is_first else ""

        return differs

    def _recorded(self, process: Process, step: LoggedStep | None) -> Differs:
        """Compare what a process recorded, and where its markers lie, with the model."""

        def differs(_: System, after: System) -> str:
            return self._state_otherwise(process, step, after) or self._marker_otherwise(
                process, after
            )

        return differs

    def _state_otherwise(self, process: Process, step: LoggedStep | None, after: System) -> str:
        if step is None or self._files is None:
            return ""  # a feed's state is where its marker lies
        state = self._files.states.get(process.name)
        if state is None:
            return ""  # as the files were read, it had not recorded yet
        if state.batch != step.number:
            return f"its state was saved as of batch {state.batch}"
        saved: Any = after.saved[self._start.snapshot]  # type: ignore[index]
        for lane in process.lanes:
            begin = self._start.received[process.name, lane.name]
            had = lane.messages(begin, state.received.get(lane.channel, 0))
            if had != saved.received[lane.writer, process.name]:
                return (
                    f"its saved state has read {lane.channel} up to "
                    f"{state.received.get(lane.channel, 0)}: {had} messages of {lane.name} since "
                    f"the run of the snapshot begins, and in the model it is "
                    f"{saved.received[lane.writer, process.name]}"
                )
        return ""

    def _marker_otherwise(self, process: Process, after: System) -> str:
        lane = process.output
        found = lane.markers(self._start.snapshot)
        for reader in self._evidence.readers(lane):
            marker: Any = after.markers[self._start.snapshot, process.name, reader.name]  # type: ignore[index]
            assert marker.travel is not Travel.UNSENT
            if not found:
                continue
            begin = self._start.position[process.name]
            flying = self._start.in_flight[process.name, reader.name]
            ahead = lane.messages(begin, found[0]) + flying  # also its own commit's: it is behind
            if ahead != marker.ahead:
                return (
                    f"its marker is at position {found[0]} of {lane.name}. From the start of the "
                    f"run, {reader.name} has {ahead} messages to receive ahead of it, and in the "
                    f"model {marker.ahead}"
                )
        if not found and not process.is_pair and not lane.floor:
            return f"it has recorded, and its marker is not in {lane.name}"
        return ""


def recorder_of(state: System, process: Process, snapshot: SnapshotId) -> Any:
    """Return a process's part in a snapshot, in a state of the model."""
    recorders: Any = state.recorders[process.name]  # type: ignore[index]
    return recorders[snapshot]


def _writer(process: Process, lane: str) -> ProcessName:
    (writer,) = (each.writer for each in process.lanes if each.name == lane)
    return writer


def _batch(out: Output) -> int:
    return -1 if out.batch is None else out.batch
