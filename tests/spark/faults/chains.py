"""The durable steps of a pipeline of two queries, and what must hold after a crash among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from streamproof.conformance import Outcome, conform
from streamproof.spark_bindings import Pipeline, Replay, SnapshotStatus
from streamproof.spark_bindings.channels import compaction
from streamproof.spark_bindings.channels.source import ChannelReader
from streamproof.spark_bindings.checkpoints.planned_sources import PlannedSource, check_inputs
from streamproof.spark_bindings.errors import LostFiles
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, QueryName
from streamproof.spark_bindings.pipelines.query_process import QueryProcess
from streamproof.spark_bindings.snapshots import vacuum as vacuuming
from streamproof.spark_bindings.snapshots.collector import Collector
from streamproof.spark_bindings.snapshots.commands import remove_snapshot
from streamproof.spark_bindings.storage.place import Place
from tests.spark.faults.crashes import Lost
from tests.spark.faults.engine import Engine, EngineRefused, load, no_executors
from tests.spark.faults.tape import Tape
from tests.spark.support.pipelines import Tokens, chain, tokens

SOURCE, MIDDLE, SINK = map(ChannelName, ("source", "middle", "sink"))
PLACE = "original"
COMMITS = 7
"""That the work appends to the source."""
_ROUNDS_MAX = 8


@dataclass(frozen=True)
class Appended:
    """These rows were acknowledged."""

    number: int


@dataclass(frozen=True)
class Requested:
    """A snapshot's id was given."""

    snapshot: str


@dataclass(frozen=True)
class Completed:
    """A snapshot was said to be complete."""

    snapshot: str


@dataclass(frozen=True)
class Removed:
    """A snapshot was removed, by whoever wanted it."""

    snapshot: str


@dataclass(frozen=True)
class Restored:
    """A pipeline was made from a snapshot."""

    name: str


@dataclass(frozen=True)
class Vacuumed:
    """Rows of the source up to here were removed."""

    until: Position


@contextmanager
def without_spark() -> Iterator[None]:
    """Run without executors, and ask for no certificate: what it says is none of ours."""
    with (
        no_executors(),
        mock.patch.object(vacuuming, "check_certificate"),
        mock.patch.object(compaction, "COMPACTED_MIN", 1),
    ):
        yield


def append(pipeline: Pipeline, number: int, channel: ChannelName = SOURCE) -> None:
    """Append one commit of two rows; may be repeated."""
    rows = pa.table({"id": [2 * number, 2 * number + 1], "turn": [0, 0]})
    pipeline.channel(channel).append(rows, producer="test", sequence=number)


def ids_of(numbers: int) -> Tokens:
    """Return the rows of so many commits."""
    return Counter((number, 0) for number in range(2 * numbers))


def engines(pipeline: Pipeline) -> list[Engine]:
    """Start a pipeline's queries."""
    directory = PipelineDirectory.open(pipeline.path)
    for snapshot in directory.snapshots.unfinished():
        pipeline._feeds.initiate(snapshot)
    made = []
    for query in pipeline.queries:
        inputs = {ChannelName(name): pipeline.channel(name) for name in query.inputs}
        process = QueryProcess(
            QueryName(query.name),
            directory.query_place(QueryName(query.name)),
            inputs=inputs,
            output=pipeline.channel(query.output),
            snapshots=directory.snapshots,
        )
        sources = [
            PlannedSource(each.place, directory.id, name, outside=False)
            for name, each in inputs.items()
        ]
        check_inputs(sources, process.checkpoint)
        process.check_output()
        readers = {
            name: ChannelReader(str(each.place), directory.id, name, each.schema.names, 2, None)
            for name, each in inputs.items()
        }
        made.append(Engine(process.checkpoint.place.local, readers, process.on_batch))
    return made


def collector(pipeline: Pipeline) -> Collector:
    """Return who completes the snapshots."""
    directory = PipelineDirectory.open(pipeline.path)
    channels = {name: pipeline.channel(name) for name in directory.wiring.channels}
    return Collector(directory, pipeline.queries, channels)


def run(pipeline: Pipeline) -> None:
    """Run until nothing is left to do."""
    queries, collects = engines(pipeline), collector(pipeline)
    for _ in range(_ROUNDS_MAX):
        batches = sum(query.run() for query in queries)
        if not collects.collect() and not batches:
            return
    raise Lost(f"{pipeline.path} does not come to rest: {pipeline.snapshots()}")


def work(tape: Tape) -> None:
    """Do all that a pipeline does with a disk."""
    pipeline = chain(tape.root / PLACE)
    tape.note("created")
    for number in range(2):
        append(pipeline, number)
        tape.note(Appended(number))
    queries, collects = engines(pipeline), collector(pipeline)
    queries[0].run()
    _snapshot(tape, pipeline)
    append(pipeline, 2)
    tape.note(Appended(2))
    for query in queries:
        query.run()
        collects.collect()
    _note_completed(tape, pipeline)
    append(pipeline, 3)
    tape.note(Appended(3))
    restore(pipeline, "000001", tape.root / "copy", Replay.ALL)
    tape.note(Restored("copy"))
    run(pipeline)
    _snapshot(tape, pipeline)
    append(pipeline, 4)
    tape.note(Appended(4))
    run(pipeline)
    _note_completed(tape, pipeline)
    for snapshot in ("000001", "000002"):  # else they keep the rows
        tape.note(Removed(snapshot))  # from its begin on
        remove_snapshot(pipeline.path, snapshot)
    append(pipeline, 5)
    tape.note(Appended(5))
    run(pipeline)
    removed = {each.channel: each.until for each in vacuuming.vacuum(pipeline.path, dry_run=True)}
    tape.note(Vacuumed(removed[SOURCE]))
    vacuuming.vacuum(pipeline.path)
    append(pipeline, 6)
    tape.note(Appended(6))
    run(pipeline)


def steps(place: Path) -> Iterator[Callable[[], object]]:
    """Yield the steps of a pipeline, each of which may be tried again if it fails."""
    path = place / PLACE
    yield lambda: chain(path)
    yield lambda: append(chain(path), 0)
    yield lambda: run(chain(path))
    yield lambda: append(chain(path), 1)
    yield lambda: chain(path).snapshot()
    yield lambda: append(chain(path), 2)
    yield lambda: run(chain(path))
    yield lambda: restore(chain(path), "000001", place / "copy", Replay.ALL)
    yield lambda: append(chain(path), 3)
    yield lambda: remove_snapshot(path, "000001")
    yield lambda: vacuuming.vacuum(path)


def _snapshot(tape: Tape, pipeline: Pipeline) -> None:
    tape.note(Requested(pipeline.snapshot()))


def _note_completed(tape: Tape, pipeline: Pipeline) -> None:
    for snapshot in pipeline.snapshots():
        if snapshot.status is SnapshotStatus.COMPLETE:
            tape.note(Completed(snapshot.id))


def restore(pipeline: Pipeline, snapshot: str, into: Path, replay: Replay) -> Pipeline:
    """Restore a snapshot, and check that it is a state in which the pipeline could have been."""
    made = pipeline.restore(snapshot, into=into, replay=replay)
    check_cut(made, is_vacuumed=_is_vacuumed(pipeline))
    return made


# --- what must hold --------------------------------------------------------------------------


def check(place: Path, facts: list[Any], numbers: int = COMMITS) -> None:
    """Go on behind a crash, to the end; everything is there once.

    Raises
    ------
    Lost : if it is not
    StreamproofError, EngineRefused : if something says that it cannot go on
    """
    path = place / PLACE
    check_kept(path, facts)
    pipeline = chain(path)
    _feed(pipeline, facts, numbers)
    try:
        run(pipeline)
    except (EngineRefused, LostFiles):
        check_way_out(place, facts, numbers)
        raise
    check_cut(pipeline, is_vacuumed=_is_vacuumed(pipeline))
    _require_equal("the sink", _held(pipeline, SINK, _state(pipeline, "second")), ids_of(numbers))
    check_conforms(pipeline)
    _check_snapshots(pipeline, place, facts)


def check_conforms(pipeline: Pipeline) -> None:
    """Check that nothing that ran, ahead of the crash and behind it, breaks the model."""
    found = conform(pipeline.path)
    if found.outcome is Outcome.VIOLATED:
        raise Lost(f"{pipeline.path} did what no model does: {found.violations}")


def _feed(pipeline: Pipeline, facts: list[Any], numbers: int) -> None:
    """Append what nobody has acknowledged, as a feed does that was killed."""
    for number in range(numbers):
        if Appended(number) not in facts:
            append(pipeline, number)


def check_kept(path: Path, facts: list[Any], make: Callable[[Path], Pipeline] = chain) -> None:
    """Check that what was acknowledged is there."""
    if "created" not in facts:
        return
    if PipelineDirectory.is_free(Place.of(path)):
        raise Lost("the pipeline is gone")
    pipeline = make(path)
    gone = max((fact.until for fact in facts if isinstance(fact, Vacuumed)), default=Position(0))
    log = pipeline.channel(SOURCE).log
    start = max(gone, log.vacuumed())
    found = tokens(PipelineDirectory.open(path), SOURCE, log.last()) if start == 0 else None
    for fact in facts:
        if isinstance(fact, Appended) and found is not None:
            mine = [(2 * fact.number, 0), (2 * fact.number + 1, 0)]
            if any(found[token] != 1 for token in mine):
                raise Lost(f"{fact} is not there once: {sorted(found)}")
        if isinstance(fact, Requested) and fact.snapshot not in {
            s.id for s in pipeline.snapshots()
        }:
            raise Lost(f"{fact} is gone")


def _check_snapshots(pipeline: Pipeline, place: Path, facts: list[Any]) -> None:
    removed = {fact.snapshot for fact in facts if isinstance(fact, Removed)}
    for snapshot in pipeline.snapshots():
        if snapshot.status is not SnapshotStatus.COMPLETE:
            if snapshot.id not in removed:
                raise Lost(f"{snapshot} is not complete")
            continue
        restore(pipeline, snapshot.id, place / f"again-{snapshot.id}", Replay.NONE)


def check_way_out(place: Path, facts: list[Any], numbers: int) -> bool:
    """Check that the newest complete snapshot loses nothing; tell whether there is one."""
    removed = {fact.snapshot for fact in facts if isinstance(fact, Removed)}
    complete = [fact.snapshot for fact in facts if isinstance(fact, Completed)]
    there = [name for name in complete if name not in removed]
    if not there:
        return False
    pipeline = chain(place / PLACE)
    made = restore(pipeline, max(there), place / "way-out", Replay.ALL)
    _feed(made, facts, numbers)
    run(made)
    check_cut(made, is_vacuumed=_is_vacuumed(pipeline))
    _require_equal("the sink", _held(made, SINK, _state(made, "second")), ids_of(numbers))
    return True


def check_cut(pipeline: Pipeline, *, is_vacuumed: bool = False) -> None:
    """Check that each query's state is what it has received, and its output what it has sent."""
    directory = PipelineDirectory.open(pipeline.path)
    for query, output in (("first", MIDDLE), ("second", SINK)):
        state = _state(pipeline, query)
        checkpoint = directory.checkpoint(QueryName(query))
        batch = checkpoint.last_committed()
        received = checkpoint.received(BatchId(-1 if batch is None else batch))
        inputs = directory.wiring.inputs[QueryName(query)]
        read: Tokens = Counter()
        for name in inputs:
            if not is_vacuumed:
                read += tokens(directory, name, received.get(name, Position(0)))
            else:
                read = state
        _require_equal(f"the state of {query}", state, read)
        held = _held(pipeline, output, state)
        if not (is_vacuumed and held < state):
            _require_equal(output, held, state)


def _is_vacuumed(pipeline: Pipeline) -> bool:
    return any(pipeline.channel(name).log.vacuumed() > 0 for name in (SOURCE, MIDDLE))


def _held(pipeline: Pipeline, channel: ChannelName, state: Tokens) -> Tokens:
    """Return a channel's rows; those that were vacuumed are taken to be as they should."""
    log = pipeline.channel(channel).log
    gone = log.vacuumed()
    rows = pipeline.channel(channel).rows(after=gone)
    found: Tokens = Counter(zip(*rows.to_pydict().values(), strict=True))
    is_part = gone > 0 and found <= state
    return state if is_part else found


def _state(pipeline: Pipeline, query: str) -> Tokens:
    checkpoint = PipelineDirectory.open(pipeline.path).checkpoint(QueryName(query))
    batch = checkpoint.last_committed()
    return load(checkpoint.place.local, -1 if batch is None else batch)


def _require_equal(what: str, found: Tokens, expected: Tokens) -> None:
    if found != expected:
        raise Lost(
            f"{what}: lost {sorted(expected - found)}, doubled or orphan {sorted(found - expected)}"
        )
