"""What 0.1.0 left on a disk: how the archives beside this file were made.

Run with the code of 0.1.0 (commit 0bb8330), from its root: ``python make_0_1_0.py TARGET``. The
definitions are what the tests start the unpacked pipelines with, so they never change.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, functions

from streamproof.spark_bindings import OutputMode, Pipeline, Query, Standby, spark_session
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.standby.copy_run import run_copy
from streamproof.spark_bindings.sunion import reconcile, sunion

TOKEN = "id long, turn long"
ROWS = "id long, amount long"
TOTALS = "id long, total long, number long"
INPUT = "ts timestamp, seq long, text string"
OUTPUT = f"{INPUT}, tuple_type string, bucket timestamp, stable_id long, stream string"
SNAPSHOT = "000001"


def seen(*inputs: DataFrame) -> DataFrame:
    """Pass every token on once."""
    rows = inputs[0]
    for other in inputs[1:]:
        rows = rows.unionByName(other)
    return rows.dropDuplicates(["id", "turn"])


def pipeline(path: Path) -> Pipeline:
    """Two stateful queries; the second one reads two channels, a commit of each a batch."""
    return Pipeline(
        path,
        channels={"source": TOKEN, "other": TOKEN, "middle": TOKEN, "sink": TOKEN},
        queries=[
            Query("first", ("source",), "middle", plan=seen, commits_per_batch_max=1),
            Query("join", ("middle", "other"), "sink", plan=seen, commits_per_batch_max=1),
        ],
    )


def totals(left: DataFrame, right: DataFrame) -> DataFrame:
    """Count and add up amounts by id."""
    rows = left.unionByName(right)
    return rows.groupBy("id").agg(
        functions.sum("amount").alias("total"), functions.count("*").alias("number")
    )


def pair(path: Path) -> Pipeline:
    """Running totals of two channels, by a pair of copies."""
    return Pipeline(
        path,
        channels={"left": ROWS, "right": ROWS, "totals": TOTALS},
        queries=[
            Query(
                "totals",
                ("left", "right"),
                "totals",
                plan=totals,
                output_mode=OutputMode.UPDATE,
                standby=Standby(),  # in 0.1.0: replicas=2
            )
        ],
    )


def merge(ewr: DataFrame, jfk: DataFrame) -> DataFrame:
    """Merge two streams by time."""
    arguments = {"time": "ts", "position": "seq", "bucket": "10 seconds", "lateness": "5 seconds"}
    return sunion({"ewr": ewr, "jfk": jfk}, **arguments)


def merged(path: Path) -> Pipeline:
    """A merge of two channels; `reconcile` keeps a table at what it says."""
    return Pipeline(
        path / "pipeline",
        channels={"ewr": INPUT, "jfk": INPUT, "merged": OUTPUT},
        queries=[Query("merge", ("ewr", "jfk"), "merged", plan=merge)],
    )


def feed_tokens(made: Pipeline, channel: str, *ids: int) -> None:
    """Append a commit of one token for each id."""
    for number in ids:
        rows = pa.table({"id": [number], "turn": [0]})
        made.channel(channel).append(rows, producer="bridge", sequence=number)


def feed_amounts(made: Pipeline, start: int, stop: int) -> None:
    """Append a commit a number, to the one channel and the other."""
    for number in range(start, stop):
        rows = pa.table({"id": [0, number + 1], "amount": [1, number]})
        made.channel(("left", "right")[number % 2]).append(rows)


def feed_times(made: Pipeline, channel: str, first: int, *seconds: int) -> None:
    """Append one commit with rows of these times."""
    positions = range(first, first + len(seconds))
    rows = {
        "ts": [datetime.fromtimestamp(second, UTC) for second in seconds],
        "seq": list(positions),
        "text": [f"{channel} {position}" for position in positions],
    }
    made.channel(channel).append(pa.table(rows))


def update_table(spark: SparkSession, made: Pipeline, path: Path) -> None:
    """Bring the table to what the merge has said."""
    stream = made.channel("merged").stream(spark)
    reconcile(stream, path / "table", path / "checkpoint", availableNow=True).awaitTermination()


def make_pipeline(spark: SparkSession, path: Path) -> None:
    """Take a snapshot with rows in a channel, and stop with rows in all channels but the last."""
    made = pipeline(path)
    feed_tokens(made, "source", 1, 2, 3)
    feed_tokens(made, "other", *range(100, 110))
    assert made.snapshot() == SNAPSHOT
    with made.start(spark):
        found = made.await_snapshot(SNAPSHOT)
        made.await_idle()
    assert any(part.rows > 0 for part in found.channels), found.channels
    feed_tokens(made, "source", 4, 5)
    feed_tokens(made, "other", 110)


def await_that(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + 300
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def make_pair(spark: SparkSession, path: Path) -> None:
    """Run both copies of a pair, take a snapshot, and stop with rows that no copy has read."""
    made, stop = pair(path), Event()
    runs = [
        Thread(
            target=run_copy, args=(pair(path), "totals", copy, lambda: spark), kwargs={"stop": stop}
        )
        for copy in Copy
    ]
    for run in runs:
        run.start()
    feed_amounts(made, 0, 6)
    await_that(lambda: _total(made) == 6)
    assert made.snapshot() == SNAPSHOT
    made.await_snapshot(SNAPSHOT)
    feed_amounts(made, 6, 8)
    await_that(lambda: _total(made) == 8)
    time.sleep(3)
    stop.set()
    for run in runs:
        run.join()
    feed_amounts(made, 8, 10)


def _total(made: Pipeline) -> int:
    rows = made.channel("totals").rows().to_pylist()
    return max((row["total"] for row in rows if row["id"] == 0), default=0)


def make_merged(spark: SparkSession, path: Path) -> None:
    """Merge, keep a table, take a snapshot, and stop with rows that are not merged yet."""
    path.mkdir()
    made = merged(path)
    feed_times(made, "ewr", 0, 1, 12, 25, 3)  # the last one is late
    feed_times(made, "jfk", 0, 2, 13, 27)
    with made.start(spark):
        made.await_idle()
        update_table(spark, made, path)
        assert made.snapshot() == SNAPSHOT
        made.await_snapshot(SNAPSHOT)
        made.await_idle()
    feed_times(made, "ewr", 4, 60, 70)
    feed_times(made, "jfk", 3, 61)


def main(target: Path) -> None:
    """Make the archives."""
    spark = spark_session("0.1.0", memory="1g")
    makers = {"pipeline": make_pipeline, "pair": make_pair, "merged": make_merged}
    for name, make in makers.items():
        place = Path(tempfile.mkdtemp()) / name
        make(spark, place)
        archive = target / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as packed:
            packed.add(place, name)
        sys.stdout.write(f"{name} {place} {archive.stat().st_size}\n")
        shutil.copytree(place, target / name)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
