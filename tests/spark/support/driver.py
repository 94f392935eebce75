"""A driver process of its own, to be killed or frozen: ``python -m`` this module, with a PATH.

It asks for a snapshot between two feeds, starts the chain and runs it to the end. A failpoint in
its environment decides where it dies. Whoever starts it again does the same work again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from streamproof.spark_bindings import spark_session
from streamproof.spark_bindings.session.class_archive import java_options
from streamproof.spark_bindings.storage.failpoints import FREEZE, VARIABLE
from tests.spark.support.pipelines import chain, feed
from tests.spark.support.waiting import SECONDS_MAX, await_that

ROOT = Path(__file__).parents[3]
IDS_BEFORE, IDS = 10, 20
_POLL_SECONDS = 0.05


def test_session() -> SparkSession:
    """Start a session that is soon ready: it lives for seconds."""
    settings = {"spark.driver.extraJavaOptions": java_options()}
    return spark_session("streamproof-tests", memory="1g", settings=settings)


test_session.__test__ = False  # type: ignore[attr-defined]  # pytest would take it for a test


def run(path: Path) -> None:
    """Ask for a snapshot, feed, and run the chain until it is idle."""
    pipeline = chain(path)
    feed(pipeline, 0, IDS_BEFORE)
    if not pipeline.snapshots():
        pipeline.snapshot()
    feed(pipeline, IDS_BEFORE, IDS)
    with pipeline.start(test_session()):
        while FREEZE in os.environ and all(query.running for query in pipeline.status().values()):
            time.sleep(_POLL_SECONDS)  # a driver that is to be replaced runs until it finds out
        for snapshot in pipeline.snapshots():
            pipeline.await_snapshot(snapshot.id, SECONDS_MAX)
        pipeline.await_idle(SECONDS_MAX)


def begin(path: Path, failpoint: str, *, freeze: bool = False) -> subprocess.Popen[bytes]:
    """Start a driver in a process group of its own, that dies or freezes at a failpoint."""
    environment = {**os.environ, VARIABLE: failpoint, **({FREEZE: "1"} if freeze else {})}
    with log_of(path).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.spark.support.driver", str(path)],
            cwd=ROOT,
            env=environment,
            start_new_session=True,  # its group is its own, and its number is the process's
            stdout=log,
            stderr=log,
        )


def log_of(path: Path) -> Path:
    """Name the file of what the driver of a pipeline printed."""
    return path.with_suffix(".log")


def await_frozen(process: subprocess.Popen[bytes]) -> None:
    """Wait until a driver has stopped itself."""

    def is_frozen() -> bool:
        return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    await_that(is_frozen, "the driver's failpoint", process.poll)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a driver that `begin` started, with its JVM, if it is still there."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
