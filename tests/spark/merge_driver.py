"""A driver that merges files into a table: ``python -m tests.spark.merge_driver PLACE N P [BY]``.

It takes N files of each stream a batch, in P shuffle partitions, and ends when all is merged. With
a column BY, there are three serializers.
Whoever starts it again goes on where it was killed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from streamproof.spark_bindings.sunion import reconcile
from tests.spark.driver import ROOT, SECONDS_MAX, log_of, test_session
from tests.spark.test_sunion import PARTITIONS, merge


def run(place: Path, files_per_batch: int, partitions: int, *by: str) -> None:
    spark = test_session()
    spark.conf.set(PARTITIONS, str(partitions))
    options = {"partition_by": by, "partitions": 3} if by else {}
    merged = merge(spark, place, files_per_batch, **options)
    reconcile(merged, place / "table", place / "checkpoint", availableNow=True).awaitTermination()


def begin(place: Path, files_per_batch: int, partitions: int, *by: str) -> subprocess.Popen[bytes]:
    """Start a driver in a process group of its own."""
    arguments = [str(place), str(files_per_batch), str(partitions), *by]
    with log_of(place).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.merge_driver", *arguments],
            cwd=ROOT,
            start_new_session=True,  # its group is its own, and its number is the process's
            stdout=log,
            stderr=log,
        )


def kill_in_batch(process: subprocess.Popen[bytes], place: Path, batch: int, delay: float) -> None:
    """Kill a driver and its JVM some time after it has begun a batch; give up if it ends before."""
    deadline = time.monotonic() + SECONDS_MAX
    while not (place / "checkpoint" / "offsets" / str(batch)).exists():
        assert process.poll() is None, log_of(place).read_text()[-4000:]
        assert time.monotonic() < deadline
        time.sleep(0.01)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
