"""The two copies of the query, in processes of their own, under a supervisor in another."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from streamproof.spark_bindings import Pipeline, ProcessStatus

READY_SECONDS_MAX = 1200


class Unfinished(Exception):
    """Time is over, and nothing is known to be wrong."""


class Pair:
    """The two copies, in processes of their own, under a supervisor in another."""

    def __init__(self, place: Path, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        file = Path(__file__).with_name("standby.py").resolve()
        program = [sys.executable, "-c", "from streamproof.cli import main; main()"]
        with (place / "log").open("wb") as log:
            self._supervisor = subprocess.Popen(  # noqa: S603 - ours
                [*program, "run", str(file), "--fast-start"], cwd=place, stdout=log, stderr=log
            )

    def await_ready(self) -> None:
        """Wait until both copies run, and one delivers."""
        deadline = time.monotonic() + READY_SECONDS_MAX
        while not (self.primary() and all(copy.is_beating for copy in self._pipeline.processes())):
            assert self._supervisor.poll() is None, "the supervisor has ended"
            if time.monotonic() > deadline:
                raise Unfinished("the two copies have not started yet")
            time.sleep(0.1)

    def primary(self, *, replaceable: bool = False) -> ProcessStatus | None:
        """Find the copy that delivers; None if none does, or if no other could take over."""
        copies = self._pipeline.processes()
        if replaceable and not all(copy.is_in_sync for copy in copies):
            return None
        return next((copy for copy in copies if copy.is_primary), None)

    def kill(self, copy: ProcessStatus) -> None:
        """Kill a copy with its JVM and its workers."""
        assert copy.process is not None
        os.killpg(copy.process, signal.SIGKILL)

    def end(self) -> None:
        """End the supervisor, which ends its copies."""
        self._supervisor.terminate()
        self._supervisor.wait()
