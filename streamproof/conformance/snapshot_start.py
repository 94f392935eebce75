"""Where the run of a snapshot begins: each process ahead of its first part in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from streamproof.conformance.batches import unknown_of
from streamproof.conformance.evidence import Evidence, LaneLog, Process
from streamproof.lang import StreamproofError
from streamproof.spark_bindings.layout.events import LoggedStep
from streamproof.spark_bindings.names import LaneName, ProcessName, SnapshotId


class Unknown(StreamproofError, LookupError):
    """Something that is needed was not written down, or is there no more."""


@dataclass(frozen=True, slots=True)
class SnapshotStart:
    """Where the run of a snapshot begins.

    Attributes
    ----------
    steps : per process, the logged steps that belong to the run
    position : per process, the position in its lane behind which its sends belong to the run
    received : per process and lane, the position up to which it had read
    in_flight : per sender and receiver, the messages that had been sent and not received
    """

    snapshot: SnapshotId
    steps: Mapping[ProcessName, tuple[LoggedStep, ...]]
    position: Mapping[ProcessName, int]
    received: Mapping[tuple[ProcessName, LaneName], int]
    in_flight: Mapping[tuple[ProcessName, ProcessName], int]

    @staticmethod
    def of(evidence: Evidence, snapshot: SnapshotId) -> SnapshotStart:
        """Find the last start at which nobody has received what was sent behind it.

        Raises
        ------
        Unknown : if logs or commits of that time are gone
        """
        return _Search(evidence, snapshot).start()


class _Search:
    def __init__(self, evidence: Evidence, snapshot: SnapshotId) -> None:
        self._evidence, self._snapshot = evidence, snapshot
        self._logged = {
            process.name: tuple(process.logged.values()) for process in evidence.processes.values()
        }
        for process in evidence.processes.values():
            if process.is_logged and (unknown := unknown_of(process)):
                raise Unknown(unknown)
        self._first = {
            process.name: self._first_part(process) for process in evidence.processes.values()
        }

    def start(self) -> SnapshotStart:
        while self._go_back():
            pass
        processes = self._evidence.processes.values()
        received = {}
        for process, lane in self._channels():
            at = received[process.name, lane.name] = self._received(process, lane)
            if at < lane.floor:
                raise Unknown(
                    f"channel {lane.channel} was compacted up to position {lane.floor}, and "
                    f"{process.name} had read up to {at} when the snapshot began. Compare a newer "
                    "snapshot"
                )
        return SnapshotStart(
            self._snapshot,
            {p.name: self._logged[p.name][self._first[p.name] :] for p in processes},
            {p.name: self._sent_until(p) for p in processes},
            received,
            {(lane.writer, p.name): self._in_flight(p, lane) for p, lane in self._channels()},
        )

    def _channels(self) -> Iterator[tuple[Process, LaneLog]]:
        for process in self._evidence.processes.values():
            for lane in process.lanes:
                yield process, lane

    def _first_part(self, process: Process) -> int:
        """Return the index of the first step in which a process takes part in the snapshot."""
        steps = self._logged[process.name]
        self._require_logged(process, steps)
        for index, step in enumerate(steps):
            if any(event.get("snapshot") == self._snapshot for event in step.events):
                if index == 0 and process.has_lost_some:
                    raise Unknown(f"the event log of {process.name} begins in the snapshot")
                return index
        recorded = self._evidence.snapshots.get(self._snapshot)
        if recorded is not None and process.name in recorded.states:
            raise Unknown(
                f"{process.name} has recorded its state, and its event log does not say when: the "
                "log was long, or was removed. Compare a newer snapshot"
            )
        return len(steps)

    def _require_logged(self, process: Process, steps: tuple[LoggedStep, ...]) -> None:
        """Refuse a log that has no line for the step that received the snapshot's marker."""
        for before, step in pairwise(steps):
            for lane in process.lanes:
                begin, end = gap(before, step, lane)
                if any(begin < at <= end for at in lane.markers(self._snapshot)):
                    raise Unknown(
                        f"{process.name} received the marker of {lane.name} between batches "
                        f"{before.number} and {step.number}, and its event log has no line of it, "
                        "as after a loss of power. Compare a newer snapshot"
                    )

    def _received(self, process: Process, lane: LaneLog) -> int:
        """Return the position up to which a process had read at the start."""
        if process.is_outside:
            return self._sent_until(self._evidence.processes[lane.writer])
        steps, first = self._logged[process.name], self._first[process.name]
        if first < len(steps):
            after = steps[first].after
            assert after is not None
            return after.get(lane.channel, 0)
        if steps and (received := steps[-1].received) is not None:
            return received.get(lane.channel, 0)
        return int(lane.floor)

    def _sent_until(self, process: Process) -> int:
        """Return the position in its lane behind which a process's sends belong to the run."""
        lane = process.output
        begins: list[int] = list(lane.markers(self._snapshot))
        steps, first = self._logged[process.name], self._first[process.name]
        if first < len(steps):
            number = steps[first].number
            begins += [
                o.position for o in lane.outputs if o.batch is not None and o.batch >= number
            ]
        return min(begins) - 1 if begins else _last(lane)

    def _in_flight(self, process: Process, lane: LaneLog) -> int:
        writer = self._evidence.processes[lane.writer]
        return lane.messages(0, self._sent_until(writer)) - lane.messages(
            0, self._received(process, lane)
        )

    def _go_back(self) -> bool:
        """Let a process begin earlier that has received what was sent behind the start."""
        for process, lane in self._channels():
            first = self._first[process.name]
            if self._in_flight(process, lane) < 0 and first > 0:
                self._first[process.name] = first - 1
                return True
        return False


def gap(before: LoggedStep, step: LoggedStep, lane: LaneLog) -> tuple[int, int]:
    """Return the positions of a channel between two logged steps."""
    assert before.received is not None
    assert step.after is not None
    return before.received.get(lane.channel, 0), step.after.get(lane.channel, 0)


def _last(lane: LaneLog) -> int:
    return lane.outputs[-1].position if lane.outputs else int(lane.floor)
