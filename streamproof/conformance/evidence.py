"""What a pipeline's directory says of a run: its processes, their lanes, and what each has logged.

Two witnesses are independent of the event logs: the commits of the channels, and the files of the
snapshots. The logs say what the machines were told and what was carried out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from streamproof.conformance.explain import Violation
from streamproof.spark_bindings.channels.channel_log import ChannelLog, Entry
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.events import EventLog, LoggedStep
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory, ProcessDirectory
from streamproof.spark_bindings.layout.snapshot_files import (
    RecordedState,
    Snapshot,
    SnapshotFiles,
)
from streamproof.spark_bindings.names import (
    ChannelName,
    LaneName,
    PairId,
    PairName,
    Position,
    ProcessName,
    QueryName,
    SnapshotId,
    feed_of,
    lanes_of,
)
from streamproof.spark_bindings.snapshots.cuts import cut_at
from streamproof.spark_bindings.standby.client import Delivery, delivery_of, primary_of
from streamproof.spark_bindings.storage.place import Place


@dataclass(frozen=True, slots=True)
class Output:
    """One commit of a lane, as far as the protocol sees it.

    Attributes
    ----------
    batch, received : the batch that made it, and the positions up to which that had read; None if
        it came from outside, or from the pipeline that this one was restored from
    """

    position: Position
    is_message: bool
    marker: SnapshotId | None
    batch: int | None
    received: Mapping[ChannelName, Position] | None


@dataclass(frozen=True)
class LaneLog:
    """What one process has written of a channel.

    Attributes
    ----------
    floor : the position up to which commits were compacted away; nothing is known of them
    """

    name: LaneName
    channel: ChannelName
    writer: ProcessName
    outputs: tuple[Output, ...]
    floor: Position

    def messages(self, after: int, until: int) -> int:
        """Count the messages at the positions in (after, until]."""
        places = self._messages
        return max(0, bisect_right(places, until) - bisect_right(places, after))

    @cached_property
    def _messages(self) -> list[int]:
        return [out.position for out in self.outputs if out.is_message]

    def markers(self, snapshot: SnapshotId) -> list[Position]:
        """List the positions of a snapshot's markers."""
        return [out.position for out in self.outputs if out.marker == snapshot]


@dataclass(frozen=True, slots=True)
class SnapshotEvidence:
    """What the files of a snapshot say.

    Attributes
    ----------
    states : per process, what it has saved
    logged : per process that has done its part, the messages that it has counted in each lane
    """

    snapshot: Snapshot
    states: Mapping[ProcessName, RecordedState]
    logged: Mapping[ProcessName, Mapping[LaneName, int]]

    @staticmethod
    def of(
        files: SnapshotFiles, name: SnapshotId, processes: Iterable[ProcessName]
    ) -> SnapshotEvidence:
        """Read the files of a snapshot, and of the parts of some processes in it."""
        found = files.read(name)
        logged = {process: files.logged(name, process) for process in processes}
        parts = {process: counts for process, counts in logged.items() if counts is not None}
        return SnapshotEvidence(found, found.states, parts)


@dataclass(frozen=True)
class Process:
    """A process of the protocol.

    Attributes
    ----------
    inputs : the channels that it reads, and for each the lanes
    output : its lane
    logs : the steps of its event logs as they were written: of one, or one for each copy of a pair
    has_lost_some : an event log was long, so that its first steps are gone
    has_run : Spark has planned a batch of it
    is_pair : its outputs are delivered behind its steps
    is_outside : it stands for whoever reads a channel that no query reads. It takes what is there
    """

    name: ProcessName
    inputs: Mapping[ChannelName, tuple[LaneLog, ...]]
    output: LaneLog
    logs: tuple[tuple[LoggedStep, ...], ...]
    has_lost_some: bool
    has_run: bool = False
    is_pair: bool = False
    is_outside: bool = False

    @property
    def is_feed(self) -> bool:
        """Whether it writes a source channel, and reads nothing."""
        return not self.inputs

    @property
    def is_logged(self) -> bool:
        """Whether it is a query or a pair, which write down what they do."""
        return not self.is_feed and not self.is_outside

    @property
    def lanes(self) -> Iterator[LaneLog]:
        """The lanes that it reads."""
        return (lane for lanes in self.inputs.values() for lane in lanes)

    @cached_property
    def logged(self) -> Mapping[int, LoggedStep]:
        """Its logged steps by number, in their order; of a repeated step the last run."""
        found = {step.number: step for log in self.logs for step in log}
        return dict(sorted(found.items()))

    def differing(self) -> Iterator[Violation]:
        """Yield the steps that were repeated, or taken by both copies, and not alike."""
        first: dict[int, tuple[object, ...]] = {}
        for log in self.logs:
            for step in log:
                told = [{**event, "done": None} for event in step.events]
                said = (step.after, step.received, told)
                if first.setdefault(step.number, said) != said:
                    yield Violation(
                        self.name,
                        f"step {step.number}",
                        f"it was taken twice, first as {first[step.number]}, then as {said}: a "
                        "repeated step has to be the same",
                    )


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """What the copies of a pair have written down, and what is in their lane.

    Attributes
    ----------
    steps : per copy, of its merge order and its egress
    deliveries : its commits, in the order of their positions
    """

    process: Process
    steps: Mapping[Copy, tuple[LoggedStep, ...]]
    deliveries: tuple[tuple[Entry, Delivery], ...]


class Evidence:
    """What the directory of a pipeline says of its runs. Reads files alone; needs no Spark.

    The pipeline may be running. So what follows is read first: vacuums and snapshots before the
    event logs, and these before the channels.

    Parameters
    ----------
    directory : of the pipeline
    """

    def __init__(self, directory: PipelineDirectory) -> None:
        self.directory = directory
        self._pairs = {name: directory.pair_places(name) for name in directory.wiring.queries}
        names = [name for query in directory.wiring.queries for name in self._names(query)]
        feeds = [feed_of(channel) for channel in directory.wiring.sources]
        self.vacuumed = {name: directory.log(name).vacuumed() for name in directory.wiring.channels}
        self.vacuums = tuple(EventLog(ProcessDirectory.vacuum(directory).steps).steps())
        files = directory.snapshots
        self.snapshots = {
            name: SnapshotEvidence.of(files, name, (*feeds, *names)) for name in files.ids()
        }
        places = {feed: [directory.feeds / feed] for feed in feeds}
        places |= {name: self._places(name) for name in names}
        logs = {
            name: [EventLog(place / "events.jsonl") for place in found]
            for name, found in places.items()
        }
        self._steps = {
            name: tuple(tuple(log.steps()) for log in found) for name, found in logs.items()
        }
        self._taken = {
            name: {
                copy: tuple(EventLog(ProcessDirectory(place).steps).steps())
                for copy, place in zip(Copy, self._places(name), strict=True)
            }
            for name in names
            if self._is_pair(name)
        }
        self._lost = {name for name, found in logs.items() if any(f.has_lost_some for f in found)}
        self._entries: dict[ChannelName, list[Entry]] = {}
        self.lanes = {name: tuple(self._lanes(name)) for name in directory.wiring.channels}
        self.processes = {process.name: process for process in self._processes()}

    def pairs(self) -> Iterator[PairEvidence]:
        """Yield what the pairs have written down."""
        for process in self.processes.values():
            if process.is_pair:
                yield PairEvidence(
                    process, self._taken[process.name], tuple(self._deliveries(process))
                )

    def _deliveries(self, process: Process) -> Iterator[tuple[Entry, Delivery]]:
        primary = primary_of(self.directory.id, PairName(process.name))
        for entry in self._entries[process.output.channel]:
            if (delivery := delivery_of(entry, primary)) is not None:
                yield entry, delivery

    def readers(self, lane: LaneLog) -> list[Process]:
        """List the processes that read a lane."""
        return [part for part in self.processes.values() if lane.channel in part.inputs]

    def _names(self, query: QueryName) -> list[ProcessName]:
        pairs = [PairId.of(PairName(place.name)) for place in self._pairs[query]]
        pairs.sort(key=lambda pair: pair.partition or 0)
        return [ProcessName(pair.name) for pair in pairs] or [ProcessName(query)]

    def _is_pair(self, name: ProcessName) -> bool:
        return bool(self._pairs[PairId.of(name).query])

    def _places(self, name: ProcessName) -> list[Place]:
        place = self.directory.query_place(QueryName(name))
        pair = PairDirectory(place)
        return [pair.copy(copy).place for copy in Copy] if self._is_pair(name) else [place]

    def _lanes(self, channel: ChannelName) -> Iterator[LaneLog]:
        log = self.directory.log(channel)
        floor = log.floor()
        entries = self._entries[channel] = list(log.entries(floor, log.last()))
        query = self.directory.wiring.writer(channel)
        writers = [feed_of(channel)] if query is None else self._names(query)
        names = lanes_of(channel, len(writers))
        for number, (lane, writer) in enumerate(zip(names, writers, strict=True)):
            own = tuple(_output(log, entry) for entry in entries if entry.lane == number)
            yield LaneLog(lane.name, channel, writer, own, floor)

    def _processes(self) -> Iterator[Process]:
        wiring = self.directory.wiring
        for channel in wiring.sources:
            (lane,) = self.lanes[channel]
            yield self._process(feed_of(channel), {}, lane)
        for query in wiring.queries:
            inputs = {name: self.lanes[name] for name in wiring.inputs[query]}
            for lane in self.lanes[wiring.outputs[query]]:
                yield self._process(lane.writer, inputs, lane)

        for channel in wiring.channels:
            if not wiring.readers(channel):
                yield self._reader(channel)

    def _reader(self, channel: ChannelName) -> Process:
        name = ProcessName(f"reader.{channel}")  # no query has a dot in its name
        nothing = LaneLog(LaneName(""), ChannelName(""), name, (), Position(0))
        inputs = {channel: self.lanes[channel]}
        return Process(name, inputs, nothing, (), has_lost_some=False, is_outside=True)

    def _process(
        self, name: ProcessName, inputs: Mapping[ChannelName, tuple[LaneLog, ...]], output: LaneLog
    ) -> Process:
        is_pair = bool(inputs) and self._is_pair(name)
        has_run = bool(inputs) and self._has_run(name)
        steps, has_lost_some = self._steps[name], name in self._lost
        return Process(name, inputs, output, steps, has_lost_some, has_run, is_pair)

    def _has_run(self, name: ProcessName) -> bool:
        """Return whether Spark has planned a batch, behind the cut if the pipeline was restored."""
        begun = cut_at(self.directory.place, name)
        planned = [Checkpoint(place / "checkpoint").last_planned() for place in self._places(name)]
        return any(last is not None and last > (-1 if begun is None else begun) for last in planned)


def _output(log: ChannelLog, entry: Entry) -> Output:
    made = entry.made if entry.pipeline == log.pipeline else None
    return Output(
        entry.position,
        entry.is_message,
        entry.marker,
        None if made is None else made.batch,
        None if made is None else made.received,
    )
