"""Whether a process told its machine what its batches had read, and carried out what that answered.

The commits of the channels are the witness. This comes ahead of any model: a log that does not say
what was done explains nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from streamproof.conformance.evidence import Evidence, LaneLog, Output, Process
from streamproof.conformance.explain import Violation
from streamproof.conformance.finding import Finding, Outcome
from streamproof.spark_bindings.layout.events import SWITCH, LoggedStep


def check_batches(evidence: Evidence) -> Iterator[Finding]:
    """Yield, for each query and pair, whether its log says what was done."""
    for process in evidence.processes.values():
        if process.is_logged:
            yield _check(process)


def _check(process: Process) -> Finding:
    subject = f"batches of {process.name}"
    violation = next(_violations(process), None)
    if violation is not None:
        return Finding("chandy_lamport", subject, Outcome.VIOLATED, violation=violation)
    if unknown := unknown_of(process):
        return Finding("chandy_lamport", subject, Outcome.UNDETERMINED, unknown)
    return Finding("chandy_lamport", subject, Outcome.EXPLAINED, f"{len(process.logged):,} steps")


def unknown_of(process: Process) -> str:
    """Return what is not known of a process, since its log is not there; empty if all is."""
    name = process.name
    if any(step.received is None for step in process.logged.values()):
        return (
            f"an earlier version wrote the event log of {name}, without positions. Take a snapshot "
            "of the pipeline, restore it into a new directory, and run that one"
        )
    if process.logged:
        return ""
    made = [out for out in process.output.outputs if out.batch is not None]
    if not made and not process.has_run:
        return ""
    return f"{name} has run and written {len(made):,} commits without an event log. Unset {SWITCH}"


def _violations(process: Process) -> Iterator[Violation]:
    yield from process.differing()
    yield from _made_twice(process)
    made = {out.batch: out for out in process.output.outputs if out.batch is not None}
    for step in process.logged.values():
        if step.received is None or step.after is None:
            continue
        for reason in (
            *_told(process, step),
            *_done(step),
            *_made_from(step, made.get(step.number)),
        ):
            yield Violation(process.name, f"batch {step.number}", reason)


def _made_twice(process: Process) -> Iterator[Violation]:
    counts = Counter(
        out.batch for out in process.output.outputs if out.is_message and out.batch is not None
    )
    for batch, count in counts.items():
        if count > 1:
            yield Violation(
                process.name,
                f"batch {batch}",
                f"its rows are in {count} commits of {process.output.name}: readers count them "
                f"{count} times",
            )


def _told(process: Process, step: LoggedStep) -> Iterator[str]:
    """Compare what the machine was told with what the channels hold."""
    told: Counter[str] = Counter()
    markers: dict[str, list[str]] = {}
    for event in step.events:
        if event["event"] == "on_messages":
            told[event["channel"]] += event["count"]
        else:
            markers.setdefault(event["channel"], []).append(event["snapshot"])
    for lane in process.lanes:
        ends = _ends(step, lane)
        if ends is None:
            continue
        begin, end = ends
        messages = lane.messages(begin, end)
        if messages != told[lane.name]:
            yield (
                f"it read {messages} messages of {lane.name} at ({begin}, {end}], and its machine "
                f"was told of {told[lane.name]}"
            )
        sent = [out.marker for out in lane.outputs if out.marker and begin < out.position <= end]
        if sent != markers.get(lane.name, []):
            yield (
                f"it read the markers {sent} of {lane.name} at ({begin}, {end}], and its machine "
                f"was told of {markers.get(lane.name, [])}"
            )


def _ends(step: LoggedStep, lane: LaneLog) -> tuple[int, int] | None:
    """Return the positions between which a step has read a lane; None if some are compacted."""
    assert step.after is not None
    assert step.received is not None
    begin = step.after.get(lane.channel, 0)
    return None if begin < lane.floor else (begin, step.received.get(lane.channel, begin))


def _done(step: LoggedStep) -> Iterator[str]:
    for event in step.events:
        if event["effects"] != event["done"]:
            yield (
                f"the machine answered {event['effects']} to {event['event']}, and "
                f"{event['done']} was done"
            )


def _made_from(step: LoggedStep, out: Output | None) -> Iterator[str]:
    if out is None or out.received is None or step.received is None:
        return
    if any(out.received.get(name, 0) != position for name, position in step.received.items()):
        yield (
            f"commit {out.position} says that the batch had read up to {dict(out.received)}, and "
            f"the event log says {dict(step.received)}"
        )
