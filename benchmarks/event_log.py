"""What the event log costs a batch, and what comparing a run with its model costs.

    python benchmarks/event_log.py [--json] [--commits 300]

A chain of two queries takes single commits, with a snapshot now and then, as fast as it can. The
seconds of the event log are those of its writes; they are set beside the seconds that Spark gives
for the same batches, from trigger to commit. Both are of one run, so they see the same machine. The
goal is under 1 %. Then `conform` is timed on what was written.

Estimate on paper: a line is 200 bytes, encoded and appended by one system call that nobody waits
for: 50 us. A batch of Spark takes 100 ms at least, so the share is 0.05 %.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from streamproof.conformance import conform
from streamproof.spark_bindings import Pipeline, Query, spark_session
from streamproof.spark_bindings.layout.events import EventLog

SHARE_MAX = 0.01
COMMITS_PER_SNAPSHOT = 50


def chain(path: Path) -> Pipeline:
    """Two queries, one behind the other, that take one commit a batch."""
    names = ("source", "middle", "sink")
    queries = [
        Query(name, [read], written, plan=lambda rows: rows, commits_per_batch_max=1)
        for name, read, written in zip(("first", "second"), names[:2], names[1:], strict=True)
    ]
    return Pipeline(path, channels=dict.fromkeys(names, "x long"), queries=queries)


def measure(place: Path, commits: int) -> dict[str, Any]:
    """Run the chain; give the seconds of the log's writes beside those of the batches."""
    written: list[float] = []
    write = EventLog.write

    def timed(*arguments: Any, **named: Any) -> None:
        begun = time.perf_counter()
        write(*arguments, **named)
        written.append(time.perf_counter() - begun)

    spark, pipeline = spark_session(), chain(place / "p")
    batches: list[float] = []
    with mock.patch.object(EventLog, "write", timed), pipeline.start(spark):
        for number in range(commits):
            pipeline.channel("source").append(pa.table({"x": [number]}))
            if number % COMMITS_PER_SNAPSHOT == COMMITS_PER_SNAPSHOT - 1:
                pipeline.await_snapshot(pipeline.snapshot())
        pipeline.await_idle()
        for query in spark.streams.active:
            steps = [step for step in query.recentProgress if step["numInputRows"]]
            batches += [step["durationMs"]["triggerExecution"] / 1_000 for step in steps]
    begun = time.perf_counter()
    outcome = conform(pipeline.path).outcome
    conform_seconds = time.perf_counter() - begun
    mean_write, mean_batch = sum(written) / len(written), sum(batches) / len(batches)
    return {
        "lines": len(written),
        "microseconds_per_line": round(1e6 * mean_write, 1),
        "milliseconds_per_batch": round(1e3 * mean_batch, 1),
        "share": mean_write / mean_batch,
        "outcome": outcome.value,
        "conform_seconds": round(conform_seconds, 2),
    }


def main() -> None:
    """Measure, print, and fail above the goal."""
    parser = argparse.ArgumentParser(description="What the event log costs a batch.")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--commits", type=int, default=300, help="commits that are fed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        found = measure(Path(place), arguments.commits)
    if arguments.json:
        print(json.dumps(found))
    else:
        print(
            f"{found['lines']} lines of {found['microseconds_per_line']} us, batches of "
            f"{found['milliseconds_per_batch']} ms: {found['share']:.3%} of a batch (goal: under "
            f"{SHARE_MAX:.0%}). conform: {found['outcome']} in {found['conform_seconds']} s"
        )
    raise SystemExit(found["share"] > SHARE_MAX or found["outcome"] != "EXPLAINED")


if __name__ == "__main__":
    main()
