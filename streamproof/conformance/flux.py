"""Whether rows were removed that `flux` lets go of: no more than every copy has acknowledged.

A vacuum notes, for each channel and reader, the steps of its machine, and up to where it removed
rows. The event logs of the copies say what they had read, and the snapshots what they need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from streamproof.conformance.evidence import Evidence, Process
from streamproof.conformance.explain import Violation
from streamproof.conformance.finding import Finding, Outcome
from streamproof.conformance.replay import Life, Machine, NotTaken, replay
from streamproof.lang import Domain, Map
from streamproof.protocols import flux
from streamproof.spark_bindings.layout.events import Event, LoggedStep
from streamproof.spark_bindings.layout.snapshot_files import SnapshotStatus
from streamproof.spark_bindings.names import ChannelName

NAME = "flux"


def _producer(outlets: dict[str, Any], **said: Any) -> flux.Producer[str]:
    copies: Domain[str] = Domain.of("copy", tuple(outlets))
    parts = {name: flux.Outlet(**part) for name, part in outlets.items()}
    return flux.Producer(outlets=Map.build(copies, lambda name: parts[name]), **said)


MACHINES = {NAME: Machine(flux, _producer, {})}


def check_retention(evidence: Evidence) -> Iterator[Finding]:
    """Yield, for each channel of which rows were removed, whether nobody needs them."""
    for channel in evidence.directory.wiring.channels:
        until = evidence.vacuumed[channel]
        steps = [step for step in evidence.vacuums if _channel(step) == channel]
        if not until and not any(len(step.events) > 1 for step in steps):
            continue  # nobody reads it, and nothing was removed
        subject = f"retention of {channel}"
        violation = next(_violations(evidence, channel, steps), None)
        if violation is not None:
            yield Finding(NAME, subject, Outcome.VIOLATED, violation=violation)
        elif until > max((_until(step) for step in steps), default=0):
            note = f"rows up to position {until} were removed, and no log says by whom"
            yield Finding(NAME, subject, Outcome.UNDETERMINED, note)
        else:
            note = f"rows up to position {until} were removed, by {len(steps)} vacuums"
            yield Finding(NAME, subject, Outcome.EXPLAINED, note)


def _channel(step: LoggedStep) -> str:
    return str(step.events[0]["channel"])


def _until(step: LoggedStep) -> int:
    return max(int(event.get("until", 0)) for event in step.events)


def _violations(
    evidence: Evidence, channel: ChannelName, steps: Sequence[LoggedStep]
) -> Iterator[Violation]:
    for step in steps:
        kept: dict[str, int] = {}
        for reader, life in _readers(step):
            for taken in replay(life, MACHINES, f"vacuum for {reader}"):
                if isinstance(taken, NotTaken):
                    yield taken.violation
                    return
                if taken.event["event"] == "on_ack":
                    yield from _too_far(evidence.processes[reader], channel, taken.event)
                outlets = taken.after[NAME].outlets
                kept[reader] = min(outlet.begin for _, outlet in outlets.items())
        if kept and _until(step) > min(kept.values()):
            yield Violation(
                "vacuum",
                f"channel {channel}",
                f"rows up to {_until(step)} were removed, and the machine keeps those behind "
                f"{min(kept.values())}",
            )
    yield from _needed(evidence, channel)


def _readers(step: LoggedStep) -> Iterator[tuple[Any, Life]]:
    """Yield the machine of each reader of a channel, with its steps."""
    life: Life | None = None
    reader = ""
    for event in step.events:
        if event["event"] in ("begin", "end"):
            if life is not None and reader:
                yield reader, life
            life, reader = Life(1), str(event.get("reader", ""))
        assert life is not None
        life.events.append((step.number, event))
    if life is not None and reader:
        yield reader, life  # whoever removed rows was killed


def _too_far(process: Process, channel: ChannelName, event: Event) -> Iterator[Violation]:
    """Yield acknowledgements of more than any copy says that it has read.

    A copy that was replaced has the state of the other one.
    """
    copy, _, _, end = event["arguments"]
    steps = process.logged.values()
    read = [step.received.get(channel, 0) for step in steps if step.received is not None]
    if read and end > max(read):
        yield Violation(
            f"{process.name}/{copy}" if process.is_pair else process.name,
            f"ack of channel {channel}",
            f"it acknowledged {end}, and has read up to {max(read)}",
        )


def _needed(evidence: Evidence, channel: ChannelName) -> Iterator[Violation]:
    """Yield snapshots whose rows were removed."""
    until = evidence.vacuumed[channel]
    for name, files in evidence.snapshots.items():
        if files.snapshot.status is not SnapshotStatus.COMPLETE:
            continue
        for part in files.snapshot.channels:
            if part.channel == channel and part.received < until:
                yield Violation(
                    "vacuum",
                    f"channel {channel}",
                    f"rows up to {until} were removed, and snapshot {name} has those behind "
                    f"{part.received} in the channel, for {part.reader}",
                )
