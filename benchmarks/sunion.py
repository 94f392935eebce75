"""What a deterministic merge costs: sunion against the ways to bring streams together without it.

    python -m benchmarks.sunion [--json] [--rows 1000000] [--batches 3] [--rounds 2]
                                [--streams 2 8] [--partitions 1 4]

Every way reads the same generated streams, in batches of the same size, into a sink that does
nothing; rounds alternate the ways in one session, so that all see the same machine. Then an input
stalls: sunion with a bound goes on without it. Then the time of the protocol's own steps is
measured within a serializer, and the time to correct 60 seconds of tentative rows against the time
to merge them once.

Estimate on paper: a row costs some 2 us on its way from the JVM to Python and back, three times,
whoever sorts it; sorting a million rows by a stable sort that finds runs takes 20 ms, gathering
four columns as much. So the order should cost less than a tenth of the way.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from typing import Any

from pyspark.sql import SparkSession

from benchmarks.sunion_stall import machine_share, recovery
from benchmarks.sunion_ways import WAYS, Way, merged_bounded, streams
from streamproof.spark_bindings import spark_session

WARM_UP_BATCHES = 2
SETTINGS = {"spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1)}
"""Of the session, so of all ways: docs/how-to/merging-streams.md says when they fit."""
GOALS = {"pass_packed": 0.8, "pass_rows": 3.0}
"""What sunion's rows a second are to be, as a multiple of another way's."""
SHARE_MAX, RECOVERY_MAX = 0.05, 2.0


def batch_seconds(way: Way, inputs: Any, partitions: int, batches: int) -> list[float]:
    """Run a query; give how long its batches took, without the first ones."""
    with tempfile.TemporaryDirectory() as checkpoint:
        query = way(inputs, partitions).option("checkpointLocation", checkpoint).start()
        while len(query.recentProgress) < batches + WARM_UP_BATCHES:
            if not query.isActive:
                raise SystemExit(f"{way.__name__} has ended: {query.exception()}")
            time.sleep(0.05)
        query.stop()
        counted = query.recentProgress[WARM_UP_BATCHES : batches + WARM_UP_BATCHES]
    return [batch.durationMs["triggerExecution"] / 1000 for batch in counted]


def throughput(spark: SparkSession, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure every way for every number of streams and of partitions, in alternating rounds."""
    found = []
    for count in arguments.streams:
        for partitions in arguments.partitions:
            spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
            ways = {**WAYS, "sunion_stalled": merged_bounded}
            taken: dict[str, list[float]] = {name: [] for name in ways}
            for _ in range(arguments.rounds):
                for name, way in ways.items():
                    stalled = name == "sunion_stalled"
                    inputs = streams(spark, count, arguments.rows, stalled=stalled)
                    taken[name] += batch_seconds(way, inputs, partitions, arguments.batches)
            for name, seconds in taken.items():
                share = (count - 1) / count if name == "sunion_stalled" else 1.0
                rows = arguments.rows * share
                figures = {
                    "way": name,
                    "streams": count,
                    "partitions": partitions,
                    "rows_per_second": rows / statistics.median(seconds),
                    "slowest": rows / max(seconds),
                    "fastest": rows / min(seconds),
                    "latency_seconds": statistics.median(seconds),
                }
                print(figures, file=sys.stderr, flush=True)
                found.append(figures)
    return found


def report(found: dict[str, Any]) -> str:
    """Lay the figures out for reading, and the goals with their ratios."""
    lines = [f"{found['cores']} cores, load {found['load'][0]:.1f}"]
    rates = {}
    for line in found["throughput"]:
        setting = (line["streams"], line["partitions"])
        rates[line["way"], setting] = line["rows_per_second"]
        lines.append(
            f"{line['streams']} streams, {line['partitions']} partitions, {line['way']:14} "
            f"{line['rows_per_second']:10,.0f} rows/s (from {line['slowest']:,.0f} to "
            f"{line['fastest']:,.0f}), {line['latency_seconds']:.2f} s a batch"
        )
    for way, goal in GOALS.items():
        for setting in {setting for _, setting in rates}:
            ratio = rates["sunion", setting] / rates[way, setting]
            lines.append(f"goal: {setting} sunion / {way} = {ratio:.2f}, at least {goal}")
    share, stall = found["machine_share"], found["recovery"]
    lines.append(f"goal: the machine's share = {share:.2%}, at most {SHARE_MAX:.0%}")
    lines.append(
        f"goal: corrections {stall['correct_seconds']:.1f} s / merge {stall['once_seconds']:.1f} s "
        f"= {stall['correct_seconds'] / stall['once_seconds']:.2f}, at most {RECOVERY_MAX}; "
        f"state at most {stall['state_rows']} blobs, {stall['state_bytes'] / 1e6:.1f} MB for "
        f"{stall['rows']:,} rows"
    )
    return "\n".join(lines)


def main() -> None:
    """Read the arguments, measure, and print."""
    parser = argparse.ArgumentParser(description="What a deterministic merge costs.")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows a batch, of all streams")
    parser.add_argument("--batches", type=int, default=3, help="batches that count, each round")
    parser.add_argument("--rounds", type=int, default=2, help="rounds")
    parser.add_argument("--streams", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--partitions", type=int, nargs="+", default=[1, 4])
    arguments = parser.parse_args()
    spark = spark_session("streamproof-benchmark", settings=SETTINGS)
    found = {
        "throughput": throughput(spark, arguments),
        "machine_share": machine_share(arguments.rows),
        "recovery": recovery(spark, arguments.rows),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }
    spark.stop()
    print(json.dumps(found) if arguments.json else report(found))


if __name__ == "__main__":
    main()
