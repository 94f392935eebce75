"""The durable steps of a pair of copies, and what must hold after a crash among them.

The copies are the real ones but for Spark: `engine` runs their batches. Time passes as they look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from streamproof.spark_bindings import Pipeline, Query, Replay, SnapshotStatus, Standby
from streamproof.spark_bindings.checkpoints.planned_sources import PlannedSource
from streamproof.spark_bindings.checkpoints.stateful import FixedPlan, Stateful
from streamproof.spark_bindings.errors import LostFiles
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory
from streamproof.spark_bindings.layout.process_lock import locked
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.pipelines import continuation
from streamproof.spark_bindings.processes.heartbeat import Watch
from streamproof.spark_bindings.standby import catch_up, copy_run
from streamproof.spark_bindings.standby.digest import HASH_COLUMN
from streamproof.spark_bindings.standby.turn_source import TurnReader
from streamproof.spark_bindings.storage.place import Place
from tests.spark.faults.chains import (
    SINK,
    SOURCE,
    Appended,
    Completed,
    Requested,
    append,
    check_conforms,
    check_kept,
    collector,
    ids_of,
)
from tests.spark.faults.crashes import Lost
from tests.spark.faults.engine import Engine, EngineRefused, Rows, load, no_executors
from tests.spark.faults.tape import Tape
from tests.spark.support.pipelines import TOKEN, Tokens, seen

PLACE = "original"
COMMITS = 4
_BOUND_SECONDS = 0.01
_TICKS_MAX = 200


def pair(path: Path) -> Pipeline:
    """One query, by two copies."""
    query = Query("q", ("source",), "sink", plan=seen, standby=Standby())
    return Pipeline(path, channels={"source": TOKEN, "sink": TOKEN}, queries=[query])


class CopyWithoutSpark(copy_run.CopyRun):
    """A copy of which `Engine` runs the batches."""

    def _plan(self, spark: object) -> Any:
        directory = self._place.pipeline
        return [
            PlannedSource(channel.place, directory.id, channel.name, outside=False)
            for channel in self._inputs
        ]

    def _start(self, frame: object) -> Any:
        channel = self._inputs[0]
        reader = TurnReader(
            order=str(self._place.pair.order),
            checkpoint=str(self._checkpoint.place),
            path=str(channel.place),
            pipeline=self._place.pipeline.id,
            channel=channel.name,
            columns=channel.schema.names,
            commits_max=2,
            rows_max=None,
        )
        return Engine(self._checkpoint.place.local, {channel.name: reader}, self.on_batch)

    def tick(self) -> bool:
        """Do what a copy's loop and Spark do once; tell whether there was something."""
        self._egress.note()
        self._choose()
        ran: bool = self._running.step()
        self._look()
        return ran


def _with_hash(rows: Rows) -> Rows:
    hashes = pa.array([7 * number for number in rows.table["id"].to_pylist()], pa.int64())
    return Rows(rows.table.append_column(HASH_COLUMN, hashes), rows.finish)


@contextmanager
def without_spark() -> Iterator[None]:
    """Run copies without executors, by a clock that passes as it is looked at."""
    ticks = count()
    watch = partial(Watch, clock=lambda: next(ticks) * _BOUND_SECONDS / 10)
    with ExitStack() as stack:
        stack.enter_context(no_executors())
        for owner, name, other in (
            (copy_run, "with_hash", _with_hash),
            (copy_run, "Watch", watch),
            (continuation, "planned_sources", list),
            (continuation, "fixed_plan_of", lambda *_: FixedPlan([Stateful("Deduplicate(x)", "")])),
        ):
            stack.enter_context(mock.patch.object(owner, name, other))
        yield


class Copies:
    """The two copies of the pair, as far as they run."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline
        self._locks: dict[Copy, ExitStack] = {}
        self._late: set[Copy] = set()
        self._runs: dict[Copy, CopyWithoutSpark] = {}

    def start(self, copy: Copy) -> None:
        """Start a copy."""
        found = copy_run.find_pair(self.pipeline, "q")
        directory = PipelineDirectory.open(self.pipeline.path)
        channels = {name: self.pipeline.channel(name) for name in directory.wiring.channels}
        own = PairDirectory.of(directory, found)
        place = copy_run.Surroundings(directory, channels, own, own.copy(copy))
        self._locks[copy] = ExitStack()
        self._locks[copy].enter_context(locked(place.own, "a copy"))
        # Nobody beats meanwhile: here, one is done after the other.
        runs = copy.other in self._runs
        with mock.patch.object(catch_up, "_is_running", return_value=runs):
            self._runs[copy] = CopyWithoutSpark(found, copy, place, None, _BOUND_SECONDS)

    def start_soon(self, copy: Copy) -> None:
        """Start a copy, or, if Spark cannot go on in its checkpoint, once the other copy runs."""
        self._late.add(copy)
        self._start_late(is_last=False)

    def _start_late(self, *, is_last: bool) -> None:
        for copy in sorted(self._late, key=lambda each: each.value):
            self._late.remove(copy)
            try:
                self.start(copy)
                self._runs[copy].tick()
            except (EngineRefused, LostFiles):
                self._runs.pop(copy, None)
                self._locks.pop(copy).close()
                self._late.add(copy)
                if is_last:
                    raise

    def lose(self, copy: Copy) -> None:
        """Let a copy go, as if it had died."""
        del self._runs[copy]
        self._locks.pop(copy).close()

    def run(self) -> None:
        """Run until nothing is left to do for a while, and one has delivered all."""
        collects, quiet = collector(self.pipeline), 0
        for tick in range(_TICKS_MAX):
            ran = [copy.tick() for copy in self._runs.values()]
            if self._late:
                self._start_late(is_last=tick > _TICKS_MAX // 4 or not self._runs)
            quiet = 0 if any(ran) or collects.collect() else quiet + 1
            if quiet > 25 and any(copy._egress.active for copy in self._runs.values()):
                if not self._late:
                    return
                self._start_late(is_last=True)
                quiet = 0
        raise Lost("the pair does not come to rest")

    def stop(self) -> None:
        """Let all go."""
        for lock in self._locks.values():
            lock.close()


def work(tape: Tape) -> None:
    """Do all that a pair does with a disk."""
    pipeline = pair(tape.root / PLACE)
    tape.note("created")
    copies = Copies(pipeline)
    for copy in Copy:
        copies.start(copy)
    _append(tape, pipeline, 0)
    copies.run()
    tape.note(Requested(pipeline.snapshot()))
    _append(tape, pipeline, 1)
    copies.run()
    for snapshot in pipeline.snapshots():
        assert snapshot.status is SnapshotStatus.COMPLETE
        tape.note(Completed(snapshot.id))
    active = next(each for each, run in copies._runs.items() if run._egress.active)
    copies.lose(active)
    _append(tape, pipeline, 2)
    copies.run()
    copies.stop()
    copies = Copies(pipeline)
    copies.start(active.other)
    copies._runs[active.other]._look()
    copies.start(active)
    _append(tape, pipeline, 3)
    copies.run()
    copies.stop()


def steps(place: Path) -> Iterator[Callable[[], object]]:
    """Yield the steps of a pair, each of which may be tried again if it fails."""
    path = place / PLACE
    yield lambda: pair(path)
    yield lambda: append(pair(path), 0)
    yield lambda: _run(pair(path))
    yield lambda: pair(path).snapshot()
    yield lambda: append(pair(path), 1)
    yield lambda: _run(pair(path))


def _append(tape: Tape, pipeline: Pipeline, number: int) -> None:
    append(pipeline, number)
    tape.note(Appended(number))


def check(place: Path, facts: list[Any]) -> None:
    """Go on behind a crash, to the end; everything is there once.

    Raises
    ------
    Lost : if it is not
    StreamproofError, EngineRefused : if something says that it cannot go on
    """
    path = place / PLACE
    check_kept(path, facts, pair)
    pipeline = pair(path)
    for number in range(COMMITS):
        append(pipeline, number)
    _run(pipeline)
    _check_rest(pipeline)
    check_conforms(pipeline)
    for snapshot in pipeline.snapshots():
        if snapshot.status is not SnapshotStatus.COMPLETE:
            raise Lost(f"{snapshot} is not complete")
        made = pipeline.restore(snapshot.id, into=place / f"again-{snapshot.id}", replay=Replay.ALL)
        _run(made)
        _check_rest(made)


def _run(pipeline: Pipeline) -> None:
    directory = PipelineDirectory.open(pipeline.path)
    for snapshot in directory.snapshots.unfinished():
        pipeline._feeds.initiate(snapshot)
    copies = Copies(pipeline)
    try:
        for copy in Copy:
            copies.start_soon(copy)
        copies.run()
    finally:
        copies.stop()


def _check_rest(pipeline: Pipeline) -> None:
    expected = ids_of(pipeline.channel(SOURCE).rows().num_rows // 2)
    found: Tokens = Counter(zip(*pipeline.channel(SINK).rows().to_pydict().values(), strict=True))
    if found != expected:
        raise Lost(f"lost {sorted(expected - found)}, doubled {sorted(found - expected)}")
    own = PairDirectory(Place.of(pipeline.path / "queries" / "q"))
    for checkpoint in own.checkpoints:
        batch = checkpoint.last_committed()
        state = load(checkpoint.place.local, BatchId(-1 if batch is None else batch))
        if state != expected:
            raise Lost(f"the state in {checkpoint.place}: {sorted(state)}")
