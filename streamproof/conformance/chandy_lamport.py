"""Whether a run of the model of Chandy-Lamport snapshots explains a snapshot of a pipeline.

The model is the one that is checked and proven, with the pipeline's processes and channels. Feeds,
queries and pairs are its processes; each lane is a channel to each of its readers; a commit with
rows is a message.

A run begins where no process has taken a part in the snapshot yet: with the messages that had been
sent and received by then. From there on, each process's steps follow its event log, and the commits
of its lane. After each step the model is compared with the files of the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from streamproof.conformance.draw import drawing_of
from streamproof.conformance.evidence import Evidence, LaneLog, Process, SnapshotEvidence
from streamproof.conformance.explain import Explanation, Violation
from streamproof.conformance.finding import Finding, Outcome
from streamproof.conformance.snapshot_start import SnapshotStart, Unknown
from streamproof.conformance.snapshot_steps import SnapshotSteps, recorder_of
from streamproof.lang import Domain, Map
from streamproof.lang.model import Call
from streamproof.models.snapshots.chandy_lamport import ChandyLamport
from streamproof.models.snapshots.state import Application, System
from streamproof.spark_bindings.layout.snapshot_files import SnapshotStatus
from streamproof.spark_bindings.names import ProcessName, SnapshotId

NAME = "chandy_lamport"


def check_snapshots(evidence: Evidence) -> Iterator[Finding]:
    """Yield, for each snapshot, whether the model explains it."""
    for snapshot in all_snapshots(evidence):
        yield check_snapshot(evidence, snapshot)


def all_snapshots(evidence: Evidence) -> list[SnapshotId]:
    """List the snapshots that were asked for, or whose markers are in a channel."""
    found = set(evidence.snapshots)
    for lanes in evidence.lanes.values():
        found |= {out.marker for lane in lanes for out in lane.outputs if out.marker}
    return sorted(found)


def check_snapshot(evidence: Evidence, snapshot: SnapshotId) -> Finding:
    """Find out whether the model explains one snapshot."""
    subject = f"snapshot {snapshot}"
    try:
        start = SnapshotStart.of(evidence, snapshot)
        explanation = _explained(evidence, start)
    except Unknown as unknown:
        return Finding(NAME, subject, Outcome.UNDETERMINED, str(unknown))
    draws = partial(drawing_of, NAME, explanation)
    if explanation.violation is not None:
        return Finding(
            NAME,
            subject,
            Outcome.VIOLATED,
            violation=explanation.violation,
            explanation=explanation,
            draws=draws,
        )
    own = [process for process in evidence.processes.values() if not process.is_outside]
    recorded = sum(
        bool(recorder_of(explanation.state, process, snapshot).recorded) for process in own
    )
    note = f"{recorded} of {len(own)} processes have recorded"
    if files := evidence.snapshots.get(snapshot):
        note = f"{files.snapshot.status.value}; {note}"
    return Finding(NAME, subject, Outcome.EXPLAINED, note, explanation=explanation, draws=draws)


def model_of(evidence: Evidence, start: SnapshotStart, sends: dict[ProcessName, int]) -> Any:
    """Return the model with a pipeline's processes and channels, and one snapshot.

    Parameters
    ----------
    evidence, start : the pipeline, and where the run begins
    sends : messages that each process sends in the run
    """
    processes: Domain[Any] = Domain.of("process", tuple(evidence.processes))
    snapshots: Domain[Any] = Domain.of("snapshot", (start.snapshot,))
    ends = {
        (process.name, reader.name)
        for process in evidence.processes.values()
        for reader in evidence.readers(process.output)
    }
    return ChandyLamport(
        processes=processes,
        snapshots=snapshots,
        channel=Map.build(processes, processes, lambda p, q: (p, q) in ends),
        may_initiate=Map.build(snapshots, processes, lambda _, p: evidence.processes[p].is_feed),
        messages=Map.build(processes, lambda p: sends[p]),
    )


def _explained(evidence: Evidence, start: SnapshotStart) -> Explanation[System]:
    observed = SnapshotSteps(evidence, start)
    steps = {process.name: observed.of(process) for process in evidence.processes.values()}
    sends = {name: sum(step.call.name == "send" for step in own) for name, own in steps.items()}
    model = model_of(evidence, start, sends)
    explanation = Explanation(model, [_begin(model, start)], _actor)
    explanation.follow(list(steps.values()))
    if explanation.violation is None:
        explanation.violation = next(_ends_otherwise(evidence, start, explanation), None)
    return explanation


def _begin(model: ChandyLamport, start: SnapshotStart) -> System:
    """Return the state with the messages that were in flight at the start; nothing else was."""
    begin = model.start()
    app: Application = begin.app
    sent: Any = app.sent.map_items(lambda p, q, _: start.in_flight.get((p, q), 0))
    return model.with_application(Application(app.left, sent, app.received))


def _actor(call: Call) -> str:
    return str(call.arguments[0] if call.name == "send" else call.arguments[-1])


def _ends_otherwise(
    evidence: Evidence, start: SnapshotStart, explanation: Explanation[System]
) -> Iterator[Violation]:
    """Yield how the files of a snapshot differ from the model's last state."""
    files = evidence.snapshots.get(start.snapshot)
    if files is None:
        return
    model: Any = explanation.model
    state = explanation.state
    for process in evidence.processes.values():
        yield from _part_otherwise(files, process, start, state)
    if files.snapshot.status is SnapshotStatus.COMPLETE and not model.complete(
        state, start.snapshot
    ):
        waiting: Any = [
            str(p) for p in evidence.processes if not _is_done(evidence.processes[p], start, state)
        ]
        yield Violation(
            waiting[0],
            "manifest.json",
            f"the snapshot is said to be complete, and in the model {', '.join(waiting)} has not "
            "done its part",
        )
    for lane in (lane for lanes in evidence.lanes.values() for lane in lanes):
        yield from _marker_otherwise(lane, start, files.snapshot.markers.get(lane.name))


def _part_otherwise(
    files: SnapshotEvidence, process: Process, start: SnapshotStart, state: System
) -> Iterator[Violation]:
    logged: Any = files.logged.get(process.name)
    if logged is None:
        return
    where = f"channels/{process.name}.json"
    if process.is_logged and process.name not in files.states:
        yield Violation(process.name, where, "its part is said to be complete without its state")
    if not _is_done(process, start, state):
        yield Violation(
            process.name, where, "its part is said to be complete, and in the model it is not"
        )
        return
    recorder = recorder_of(state, process, start.snapshot)
    for lane in process.lanes:
        if logged.get(lane.name, 0) != recorder.log[lane.writer]:
            yield Violation(
                process.name,
                where,
                f"it says that {logged.get(lane.name, 0)} messages were in {lane.name}, and in the "
                f"model {recorder.log[lane.writer]} were",
            )


def _is_done(process: Process, start: SnapshotStart, state: System) -> bool:
    recorder = recorder_of(state, process, start.snapshot)
    return bool(recorder.recorded) and all(recorder.closed[lane.writer] for lane in process.lanes)


def _marker_otherwise(lane: LaneLog, start: SnapshotStart, said: Any) -> Iterator[Violation]:
    found = lane.markers(start.snapshot)
    if len(found) > 1:
        yield Violation(
            lane.writer, f"channel {lane.name}", f"the marker was sent {len(found)} times: {found}"
        )
    if said is not None and found and found != [said]:
        yield Violation(
            lane.writer,
            "manifest.json",
            f"it says that the marker of {lane.name} is at {said}; it is at {found[0]}",
        )
