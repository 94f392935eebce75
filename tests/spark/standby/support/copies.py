"""Copies as processes of their own, to be killed and frozen: ``python -m ... PATH COPY``."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings import OutputMode, Pipeline, Query, Standby
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.standby.copy_run import run_copy
from streamproof.spark_bindings.storage.json_files import read_json
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support import driver
from tests.spark.support.waiting import SECONDS_MAX, await_that

ROOT = Path(__file__).parents[4]
ROWS = "id long, amount long"
TOTALS = "id long, total long, number long"
CHANNELS = {"left": ROWS, "right": ROWS, "totals": TOTALS}
SIZES = "id long, size long"

SKEW = "STREAMPROOF_TEST_SKEW"
"""Environment variable of a copy whose rows are to differ from the other copy's."""


def totals(left: DataFrame, right: DataFrame) -> DataFrame:
    """Plan of a query whose every output depends on the order in which its inputs are merged."""
    rows = left.unionByName(right)
    if SKEW in os.environ:
        rows = rows.withColumn("amount", F.col("amount") + 1)
    return rows.groupBy("id").agg(F.sum("amount").alias("total"), F.count("*").alias("number"))


def pair(path: Path, partitions: int = 1) -> Pipeline:
    """Running totals of two channels, by a pair of copies, or by one for each partition."""
    return Pipeline(path, channels=CHANNELS, queries=[totals_query(partitions)])


def size_of(totals: DataFrame) -> DataFrame:
    """Plan of a query whose output can be told from its input, row by row."""
    return totals.selectExpr("id", "total * number as size")


def totals_query(partitions: int = 1) -> Query:
    """The query of the pair."""
    return Query(
        "totals",
        inputs=("left", "right"),
        output="totals",
        output_mode=OutputMode.UPDATE,
        plan=totals,
        standby=Standby(partitions, by="id") if partitions > 1 else Standby(),
    )


def mixed(path: Path) -> Pipeline:
    """The totals of a pair, and what a query that runs alone makes of each."""
    sizes = Query("sizes", inputs=("totals",), output="sizes", plan=size_of)
    return Pipeline(path, channels={**CHANNELS, "sizes": SIZES}, queries=[totals_query(), sizes])


def feed(pipeline: Pipeline, start: int, stop: int) -> None:
    """Append one commit a number, to the one channel and the other."""
    for number in range(start, stop):
        rows = pa.table({"id": [0, number + 1], "amount": [1, number]})
        pipeline.channel(("left", "right")[number % 2]).append(rows)


def is_complete(pipeline: Pipeline, fed: int) -> bool:
    """Return whether everything that was fed is in some delivered total."""
    newest = {row["id"]: row for row in pipeline.channel("totals").rows().to_pylist()}
    return 0 in newest and newest[0]["total"] == fed


def check_history(pipeline: Pipeline, fed: int) -> None:
    """Check that the client has seen one history of running totals, each step once."""
    rows = pipeline.channel("totals").rows().to_pylist()
    steps = [row["total"] for row in rows if row["id"] == 0]
    assert steps == sorted(set(steps))
    assert all(row["total"] == row["number"] for row in rows if row["id"] == 0)
    others = Counter((row["id"], row["total"]) for row in rows if row["id"] != 0)
    assert others == Counter((number + 1, number) for number in range(fed))


def begin(path: Path, copy: Copy, **environment: str) -> subprocess.Popen[bytes]:
    """Start a copy in a process group of its own."""
    with log_of(path, copy).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.standby.support.copies", str(path), copy.value],
            cwd=ROOT,
            env={**os.environ, **environment},
            start_new_session=True,
            stdout=log,
            stderr=log,
        )


def log_of(path: Path, copy: Copy) -> Path:
    """Name the file of what a copy printed."""
    return path.with_name(f"{path.name}.{copy.value}.log")


def send(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a copy and its JVM a signal."""
    os.killpg(process.pid, number)


def beats_of(path: Path, copy: Copy) -> dict[str, int | str | bool] | None:
    """Read a copy's heartbeat."""
    found: dict[str, int | str | bool] | None = read_json(
        Place.of(path / "queries" / "totals" / copy.value / "beat.json")
    )
    return found


def process_of(path: Path, copy: Copy) -> int:
    """Find the process of a copy that a supervisor runs: its lock names it."""
    number = (path / "queries" / "totals" / copy.value / "lock").read_text()
    return int(number)


class Here(Thread):
    """A copy in this process, in a session that is there; if it is stopped, it says nothing."""

    def __init__(
        self, path: Path, copy: Copy, spark: SparkSession, *, partition: int = 0, of: int = 1
    ) -> None:
        super().__init__(daemon=True)
        self._path, self._copy, self._spark = path, copy, spark
        self._partition, self._of = partition, of
        self._stop_asked, self.failure = Event(), None  # type: tuple[Event, Exception | None]
        self.start()

    def run(self) -> None:
        """Run the copy, and keep what it ends with."""
        try:
            run_copy(
                pair(self._path, self._of),
                "totals",
                self._copy,
                lambda: self._spark,
                partition=self._partition,
                stop=self._stop_asked,
            )
        except Exception as error:  # noqa: BLE001 - the test asks for it
            self.failure = error

    def stop(self) -> None:
        """Stop it."""
        self._stop_asked.set()
        self.join(SECONDS_MAX)
        assert not self.is_alive()


class PairRun:
    """A pair of which some copies run here, and others as processes; it knows what was fed."""

    def __init__(self, path: Path, spark: SparkSession, partitions: int = 1) -> None:
        self.path, self.pipeline = path, pair(path, partitions)
        self._spark, self._partitions, self._fed = spark, partitions, 0
        self.here: list[Here] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def feed(self, commits: int) -> None:
        """Append more commits."""
        feed(self.pipeline, self._fed, self._fed + commits)
        self._fed += commits

    def begin_here(self, copy: Copy, partition: int = 0) -> Here:
        """Start a copy in this process."""
        made = Here(self.path, copy, self._spark, partition=partition, of=self._partitions)
        self.here.append(made)
        return made

    def begin(self, copy: Copy, **environment: str) -> subprocess.Popen[bytes]:
        """Start a copy as a process."""
        made = begin(self.path, copy, **environment)
        self.processes.append(made)
        return made

    def await_output(self) -> None:
        """Wait for the output of all that was fed."""
        await_that(lambda: is_complete(self.pipeline, self._fed), f"output of {self._fed} commits")

    def check(self) -> None:
        """Check that no copy here has failed, and that the client has seen one history, whole."""
        assert [copy.failure for copy in self.here] == [None] * len(self.here)
        check_history(self.pipeline, self._fed)


@contextmanager
def pair_run(path: Path, spark: SparkSession, partitions: int = 1) -> Iterator[PairRun]:
    """Return a pair to be run; at the end, end its copies and check what the client has seen."""
    run = PairRun(path, spark, partitions)
    try:
        yield run
        for copy in run.here:
            copy.stop()
    finally:
        for process in run.processes:
            driver.end(process)
    run.check()


def await_primary(path: Path, copy: Copy) -> None:
    """Wait until a copy delivers."""
    await_that(lambda: bool((beats_of(path, copy) or {}).get("active")), f"{copy} as primary")


def await_in_step(path: Path) -> None:
    """Wait until both copies have given the same turns."""

    def are_in_step() -> bool:
        beats = [beats_of(path, copy) for copy in Copy]
        return None not in beats and beats[0]["turn"] == beats[1]["turn"]  # type: ignore[index]

    await_that(are_in_step, "that both copies are in step")


def run(path: Path, copy: Copy) -> None:
    """Run a copy until it is told to stop."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    stop = Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    run_copy(pair(path), "totals", copy, driver.test_session, stop=stop)


if __name__ == "__main__":
    run(Path(sys.argv[1]), Copy(sys.argv[2]))
