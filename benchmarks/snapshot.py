"""What a snapshot costs: throughput with and without one a second, and time to completion by state.

    python benchmarks/snapshot.py [--json] [--seconds 20] [--rounds 3] [--state-mb 10 500]

A chain of two queries is fed as fast as it takes. Rounds without and with a snapshot every second
alternate in one run, so that both see the same machine. Then the state of the second query is grown
to each size, and snapshots of the idle pipeline are timed from request to completion.

Estimate on paper: recording writes three small files and one commit a query, 10-20 ms; the copy
links some hundred files at 20 us each. Neither depends on the state's size, so the time to
completion is that of two micro-batches. But a marker ends a micro-batch, so each snapshot costs
every query one micro-batch more, and its fixed cost is what throughput loses: nothing pauses,
batches only become smaller. What was measured is in docs/decisions/0006.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Query, spark_session

ROWS_PER_COMMIT = 20_000
PAYLOAD_BYTES = 500  # of a row in the state that is grown


def measured_chain(path: Path) -> Pipeline:
    """A stateless query, and one that keeps each row it has seen."""
    row = "id long, payload string"
    return Pipeline(
        path,
        channels={"source": row, "middle": row, "sink": "id long"},
        queries=[
            Query("clean", inputs=("source",), output="middle", plan=lambda r: r.where("id >= 0")),
            Query(
                "keep",
                inputs=("middle",),
                output="sink",
                plan=lambda r: r.dropDuplicates(["id", "payload"]).select("id").where("id < 0"),
                commits_per_batch_max=10,
            ),
        ],
    )


class Feeder:
    """Appends commits of fresh ids to a pipeline's source."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._source = pipeline.channel("source")
        self._next, self._random = 0, np.random.default_rng(7)

    def append(self, payload_bytes: int = 0) -> int:
        """Append one commit; give its rows."""
        ids = pa.array(np.arange(self._next, self._next + ROWS_PER_COMMIT))
        self._next += ROWS_PER_COMMIT
        if payload_bytes:  # random, so that RocksDB cannot compress it away
            noise = self._random.bytes(ROWS_PER_COMMIT * payload_bytes // 2).hex()
            texts = [noise[i : i + payload_bytes] for i in range(0, len(noise), payload_bytes)]
            payload = pa.array(texts)
        else:
            payload = pa.array([""] * ROWS_PER_COMMIT)
        self._source.append(pa.table({"id": ids, "payload": payload}))
        return ROWS_PER_COMMIT


def throughput(pipeline: Pipeline, feeder: Feeder, seconds: float, every: float | None) -> Any:
    """Feed for some seconds, wait until all is through, and give rows a second."""
    rows, snapshots, start = 0, [], time.monotonic()
    due = start
    while time.monotonic() - start < seconds:
        rows += feeder.append()
        if every is not None and time.monotonic() >= due:
            snapshots.append(pipeline.snapshot())
            due += every
        while max(state.behind for state in pipeline.status().values()) > 10:
            time.sleep(0.01)  # the feed must not run away from the queries
    pipeline.await_idle(600)
    elapsed = time.monotonic() - start
    for snapshot in snapshots:
        pipeline.await_snapshot(snapshot)
    return {"rows_per_second": rows / elapsed, "snapshots": len(snapshots)}


def state_bytes(pipeline: Pipeline) -> int:
    """Measure the files of a query's state, each once."""
    root = pipeline.path / "queries" / "keep" / "checkpoint" / "state"
    return sum(file.stat().st_size for file in root.rglob("*") if file.is_file())


def grow(pipeline: Pipeline, feeder: Feeder, target_bytes: int) -> int:
    """Feed payload until the keys in the state are as large as asked for; give their bytes."""
    held = 0
    while held < target_bytes:
        held += feeder.append(PAYLOAD_BYTES) * PAYLOAD_BYTES
        if held % (ROWS_PER_COMMIT * PAYLOAD_BYTES * 5) == 0:
            pipeline.await_idle(600)
    pipeline.await_idle(600)
    return held


def completion(pipeline: Pipeline, times: int) -> list[float]:
    """Time snapshots of an idle pipeline, in seconds from request to completion."""
    taken = []
    for _ in range(times):
        start = time.monotonic()
        pipeline.await_snapshot(pipeline.snapshot())
        taken.append(time.monotonic() - start)
        pipeline.await_idle(600)
    return taken


def measure(spark: SparkSession, place: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Run everything."""
    pipeline = measured_chain(place / "throughput")
    feeder, rounds = Feeder(pipeline), []
    with pipeline.start(spark):
        throughput(pipeline, feeder, arguments.seconds, None)  # warm-up, not counted
        for _ in range(arguments.rounds):
            without = throughput(pipeline, feeder, arguments.seconds, None)
            with_one = throughput(pipeline, feeder, arguments.seconds, 1.0)
            rounds.append({"without": without, "with": with_one})
    sizes = []
    pipeline = measured_chain(place / "state")
    feeder = Feeder(pipeline)
    with pipeline.start(spark):
        held = 0
        for megabytes in arguments.state_mb:
            held += grow(pipeline, feeder, megabytes * 1_000_000 - held)
            seconds = completion(pipeline, 5)
            files = state_bytes(pipeline)
            sizes.append({"state_bytes": held, "file_bytes": files, "seconds": seconds})
    return {
        "throughput": rounds,
        "completion": sizes,
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }


def report(found: dict[str, Any]) -> str:
    """Lay the figures out for reading."""
    lines = [f"{found['cores']} cores, load {found['load'][0]:.1f}"]
    for kind in ("without", "with"):
        rates = [pair[kind]["rows_per_second"] for pair in found["throughput"]]
        taken = sum(pair[kind]["snapshots"] for pair in found["throughput"])
        lines.append(
            f"{kind:8} snapshots: {statistics.median(rates):10,.0f} rows/s "
            f"(from {min(rates):,.0f} to {max(rates):,.0f}; {taken} snapshots)"
        )
    for size in found["completion"]:
        seconds = size["seconds"]
        lines.append(
            f"state {size['state_bytes'] / 1e6:6.0f} MB ({size['file_bytes'] / 1e6:.0f} MB of "
            f"files): complete after {statistics.median(seconds):.2f} s "
            f"(from {min(seconds):.2f} to {max(seconds):.2f})"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, measure in a directory of its own, and print."""
    parser = argparse.ArgumentParser(description="What a snapshot costs.")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of a round")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of rounds")
    parser.add_argument("--state-mb", type=int, nargs="+", default=[10, 500], help="state sizes")
    arguments = parser.parse_args()
    spark = spark_session("streamproof-benchmark")
    with tempfile.TemporaryDirectory() as place:
        found = measure(spark, Path(place), arguments)
    spark.stop()
    print(json.dumps(found) if arguments.json else report(found))


if __name__ == "__main__":
    main()
