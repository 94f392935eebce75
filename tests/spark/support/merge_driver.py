"""A driver that merges files into a table: ``python -m`` this module, with PLACE and OPTIONS.

It ends when all is merged; with a bound it never does, since its clock goes on.
Whoever starts it again goes on where it was killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from streamproof.spark_bindings.sunion import reconcile
from tests.spark.support.driver import ROOT, log_of, test_session
from tests.spark.support.merges import PARTITIONS, merge
from tests.spark.support.waiting import await_that


@dataclass(frozen=True)
class Options:
    """How to merge.

    Attributes
    ----------
    files_per_batch, partitions : files of each stream in a batch, and Spark's shuffle partitions
    by : column that chooses one of three serializers; empty is one serializer
    max_delay : the bound, if there is one
    """

    files_per_batch: int = 1
    partitions: int = 1
    by: str = ""
    max_delay: str | None = None


def run(place: Path, options: Options) -> None:
    spark = test_session()
    spark.conf.set(PARTITIONS, str(options.partitions))
    by = {"partition_by": [options.by], "partitions": 3} if options.by else {}
    merged = merge(spark, place, options.files_per_batch, max_delay=options.max_delay, **by)
    bounded, unbounded = {"processingTime": "200 milliseconds"}, {"availableNow": True}
    trigger = bounded if options.max_delay else unbounded
    reconcile(merged, place / "table", place / "checkpoint", **trigger).awaitTermination()


def begin(place: Path, options: Options) -> subprocess.Popen[bytes]:
    """Start a driver in a process group of its own."""
    arguments = [str(place), json.dumps(asdict(options))]
    with log_of(place).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.support.merge_driver", *arguments],
            cwd=ROOT,
            start_new_session=True,  # its group is its own, and its number is the process's
            stdout=log,
            stderr=log,
        )


def kill_in_batch(process: subprocess.Popen[bytes], place: Path, batch: int, delay: float) -> None:
    """Kill a driver and its JVM some time after it has begun a batch; give up if it ends before."""
    await_driver((place / "checkpoint" / "offsets" / str(batch)).exists, process, place)
    time.sleep(delay)
    kill(process)


def await_driver(holds: Callable[[], bool], process: subprocess.Popen[bytes], place: Path) -> None:
    """Wait for a driver to have done something; give up if it ends before."""

    def failure() -> str | None:
        return None if process.poll() is None else log_of(place).read_text()[-4000:]

    await_that(holds, "what the driver is to do", failure)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a driver and its JVM, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    run(Path(sys.argv[1]), Options(**json.loads(sys.argv[2])))
