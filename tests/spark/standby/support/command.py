"""`streamproof run` as a process of its own, with the copies that it starts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamproof.spark_bindings.layout.pairs import Copy
from tests.spark.standby.support import copies
from tests.spark.support import driver

_PROGRAM = "from streamproof.cli import main; main()"
_OPTIONS = ["--cores=1", "--fast-start"]


def file_of(pipeline: Path, kind: str = "pair") -> Path:
    """Write the file of a pipeline beside its directory; the kind is a function of `copies`."""
    file = pipeline.with_name(f"{pipeline.name}_file.py")
    file.write_text(
        "from pathlib import Path\nfrom tests.spark.standby.support import copies\n\n"
        f"PIPELINE = copies.{kind}(Path({str(pipeline)!r}))\n",
        encoding="utf-8",
    )
    return file


@contextmanager
def running(pipeline: Path, kind: str = "pair") -> Iterator[subprocess.Popen[bytes]]:
    """Run a pipeline; at the end nothing of it is left."""
    with log_of(pipeline).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, "run", str(file_of(pipeline, kind)), *_OPTIONS],
            cwd=copies.ROOT,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        driver.end(process)
        for copy in Copy:  # a supervisor that was killed leaves them running
            kill(pipeline, copy)
        kill_alone(pipeline)


def kill(pipeline: Path, copy: Copy) -> None:
    """Kill a copy, with its JVM, if it is there."""
    _kill(pipeline / "queries" / "totals" / copy.value / "lock")


def kill_alone(pipeline: Path) -> None:
    """Kill the process of the queries without replicas, if it is there."""
    _kill(pipeline / "alone" / "lock")


def _kill(lock: Path) -> None:
    with suppress(ProcessLookupError, FileNotFoundError):
        os.killpg(int(lock.read_text()), signal.SIGKILL)


def log_of(pipeline: Path) -> Path:
    """Name the file of what was printed."""
    return pipeline.with_name(f"{pipeline.name}.log")
