"""A child of the supervisor: a copy of a pair, or the driver of the queries without a standby."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from streamproof.spark_bindings.layout.pairs import ProcessDirectory
from streamproof.spark_bindings.processes.heartbeat import Beat, Watch
from streamproof.spark_bindings.storage.store import store_at

SILENCE_TIMEOUTS_MAX = 10
"""After so many suspicion timeouts of silence a process is ended: it is frozen."""
START_SECONDS_MAX = 300.0
"""One that has not caught up after so long is ended, however large its state: it hangs."""
DIFFERS, WRONG_USE, FAILED = 1, 2, 3
"""Exit codes. The first two tell of a mistake that a new start does not fix."""
_MEANINGS = {
    DIFFERS: "it gave other rows than the other copy",
    WRONG_USE: "wrong use",
    FAILED: "the other copy has taken over, or its query failed",
}
_PAUSE_SECONDS_MAX = 60.0
"""One that ends before it has run is started again after a pause: a longer one each time."""
_LOOK_SECONDS = 0.02


class ChildProcess:
    """How a process is, and how often it was started.

    Parameters
    ----------
    own, command : its directory, and what to run
    suspect_after_seconds : the suspicion timeout, after which the other copy takes over
    clock : gives the seconds by which its silence and its start are measured

    Attributes
    ----------
    number : of the process; 0 before it was started
    starts, started : how often, and when last, by the clock in seconds
    has_run, is_over : it has beaten in this life; its end was seen to
    """

    def __init__(
        self,
        own: ProcessDirectory,
        command: Sequence[str],
        suspect_after_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.own, self._command, self._timeout = own, command, suspect_after_seconds
        self._clock = clock
        self.number = self.starts = self._starts_in_vain = 0
        self.started = self._not_before = 0.0
        self.has_run = self.is_over = False
        self.is_told_running = self.is_told_in_sync = False
        self._process: subprocess.Popen[bytes] | None = None
        self._watch = self._new_watch()

    def start(self) -> None:
        """Start it, in a process group of its own: its JVM and workers are to end with it."""
        self.starts += 1
        self._starts_in_vain += 1
        self.has_run = self.is_over = False
        self.is_told_running = self.is_told_in_sync = False
        self.started = self._clock()
        store_at(self.own.beat).delete()  # a former life's
        self._watch = self._new_watch()
        self._process = subprocess.Popen(self._command, start_new_session=True)  # noqa: S603 - ours
        self.number = self._process.pid

    def _new_watch(self) -> Watch:
        return Watch(self.own.beat, SILENCE_TIMEOUTS_MAX * self._timeout, clock=self._clock)

    def start_again(self) -> None:
        """Start it, unless it has just ended without having run, and its pause is not over."""
        if time.monotonic() >= self._not_before:
            self.start()

    def look(self) -> None:
        """See whether it beats."""
        self._watch.look()
        if self._watch.beat is not None:
            self.has_run, self._starts_in_vain = True, 0

    @property
    def beat(self) -> Beat | None:
        """What it has said of itself last in this life."""
        return self._watch.beat

    @property
    def exit_code(self) -> int | None:
        """How its process has ended; None if it has not."""
        return None if self._process is None else self._process.poll()

    @property
    def has_ended(self) -> bool:
        """Whether its process is gone."""
        return self._process is None or self.exit_code is not None

    @property
    def is_frozen(self) -> bool:
        """Whether it was silent for long, or hangs in its start."""
        return (
            self._watch.has_failed
            if self.has_run
            else self._clock() - self.started > START_SECONDS_MAX
        )

    @property
    def is_paired(self) -> bool:
        """Whether it runs, and has caught up."""
        return self.has_run and not self.has_ended and not self.is_frozen

    def how_it_is(self) -> str:
        """Describe how it is, for messages."""
        code = self.exit_code
        if code is not None and code < 0:
            return f"was killed by {signal.Signals(-code).name}"
        if code is not None:
            return f"has ended with exit code {code} ({_MEANINGS.get(code, 'see its log')})"
        if self._process is None:
            return "has not been started"
        if self.is_frozen and self.has_run:
            return f"was silent for {SILENCE_TIMEOUTS_MAX * self._timeout:g} s"
        if self.is_frozen:
            return f"has not caught up within {START_SECONDS_MAX:g} s"
        return "runs" if self.has_run else "has not caught up yet"

    def tell_to_end(self) -> None:
        """Ask it to end after the batch under way."""
        if not self.has_ended and self._process is not None:
            self._process.terminate()

    def end(self, deadline: float) -> None:
        """Wait for its end until then, by the monotonic clock; then kill what is left of it.

        Its JVM is in its group, and takes a moment longer.
        """
        if self._process is None:
            return
        pause = min(self._timeout * 2.0**self._starts_in_vain, _PAUSE_SECONDS_MAX)
        self._not_before = time.monotonic() + (pause if self._starts_in_vain else 0.0)
        self.is_over = True
        with suppress(ProcessLookupError):
            while time.monotonic() < deadline:
                self._process.poll()  # one that has ended stays in its group until it is asked
                os.killpg(self._process.pid, 0)
                time.sleep(_LOOK_SECONDS)
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
