"""The driver of the flights example as seen from outside: it is started, watched, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, Self

_DRIVER = Path(__file__).with_name("driver.py")
_LINES_SHOWN = 15


class DriverFailed(RuntimeError):
    """The driver process, or a query in it, has ended by itself."""


@dataclass(frozen=True)
class Sample:
    """Where the queries of one pipeline were, at a moment.

    Attributes
    ----------
    seconds : on the clock of `time.monotonic`
    directory : name of the pipeline's directory
    queries : per query, what `Pipeline.status` said: batch, received, behind, failure
    """

    seconds: float
    directory: str
    queries: Mapping[str, Mapping[str, Any]]


class Driver:
    """A driver process that runs pipelines; it ends with the block, whatever happens in it.

    Attributes
    ----------
    samples : what it has told so far, oldest first
    """

    def __init__(self, *pipelines: Path) -> None:
        self.samples: list[Sample] = []
        # Not below the pipelines: Spark's sockets are files here, and their paths must be short.
        self._scratch = tempfile.TemporaryDirectory(prefix="flights-", ignore_cleanup_errors=True)
        self._log = Path(self._scratch.name, "driver.log")
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own file, and no shell
                [sys.executable, str(_DRIVER), *map(str, pipelines)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, "TMPDIR": self._scratch.name},
                # A group of its own, of the process's number: its JVM can be killed with it, and
                # Ctrl-C reaches us alone, who then end it.
                start_new_session=True,
            )
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def latest(self, directory: str) -> Sample | None:
        """Return the newest sample of a pipeline.

        Raises
        ------
        DriverFailed : if the process has ended, or one of its queries
        """
        found = next((s for s in reversed(self.samples) if s.directory == directory), None)
        for name, query in found.queries.items() if found else ():
            if query["failure"]:
                raise DriverFailed(f"query {name} has failed: {query['failure']}")
        if self._process.poll() is not None:
            self._raise_ended()
        return found

    def kill(self) -> None:
        """Kill it as a power cut would, with its JVM, and wait until it is gone."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join()

    def finish(self) -> None:
        """Close its input, as no more is fed; it will end when everything has gone through."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def is_running(self) -> bool:
        """Report whether it still runs.

        Raises
        ------
        DriverFailed : if it has ended, but not well
        """
        if self._process.poll() is None:
            return True
        if self._process.returncode != 0:
            self._raise_ended()
        self._reader.join()
        return False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._scratch.cleanup()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.endswith(b"}\n"):  # the process was killed while it wrote
                return
            told = json.loads(line)
            self.samples.append(Sample(time.monotonic(), told["directory"], told["queries"]))

    def _raise_ended(self) -> None:
        lines = self._log.read_text(errors="replace").splitlines()[-_LINES_SHOWN:]
        raise DriverFailed(
            f"the driver process ended with {self._process.returncode}. Its last words:\n"
            + "\n".join(lines)
        )
