"""All processes of a pipeline on one machine: watched, and started again when they fail.

A copy that ends, or stays silent, is started again and catches up with its twin. Until then its
pair has one copy. If that one fails too, nobody is left to catch up with: what the pair had given
and not delivered may be lost, so everything is stopped and it is said, at once. Queries without
replicas share a process, which goes on from their checkpoints.
"""

from __future__ import annotations

import itertools
import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from threading import Event
from typing import Self

from streamproof.spark_bindings.directory import PipelineDirectory
from streamproof.spark_bindings.errors import (
    BothCopiesFailed,
    CopiesDiffer,
    CopyRuns,
    QueryFailed,
)
from streamproof.spark_bindings.names import PairName, Turn
from streamproof.spark_bindings.pipeline import Pipeline
from streamproof.spark_bindings.standby.alone_run import alone_directory
from streamproof.spark_bindings.standby.copies import (
    Copy,
    Pair,
    PairDirectory,
    ProcessDirectory,
    check_as_declared,
    pairs_of,
)
from streamproof.spark_bindings.standby.heartbeat import BEATS_PER_BOUND, Watch
from streamproof.spark_bindings.standby.lock import holder, locked

Command = Callable[[Pair, Copy], Sequence[str]]
"""Gives the command line that runs a copy in a process of its own."""

_SILENCE_BOUNDS_MAX = 10
"""A copy that is silent for so many times the bound is ended: it is frozen, and helps nobody."""
_START_SECONDS_MAX = 300.0
"""A copy that has not caught up after so long is ended, however large its state: it hangs."""
_DIFFERS, _WRONG_USE = 1, 2
"""Exit codes that tell of a mistake which a new start does not mend: the plan's, or its user's."""
_PAUSE_SECONDS_MAX = 60.0
"""A copy that ends before it has run is started again after a pause: a longer one each time."""
_log = logging.getLogger("streamproof.standby")


@dataclass(frozen=True, slots=True)
class CopyStatus:
    """What the supervisor knows of a copy.

    Attributes
    ----------
    process : its number
    is_paired : it has caught up and beats
    is_warm : it has taken a turn in this life too, so that a takeover is a matter of the bound
    is_primary : it delivers
    starts : how often it was started
    """

    process: int
    is_paired: bool
    is_warm: bool
    is_primary: bool
    starts: int


class Supervisor:
    """Runs the copies of a pipeline. Use it in a `with` block: it ends them with itself.

    Parameters
    ----------
    command : what to run for each copy
    bound_seconds : how long a copy may be silent before its twin takes over
    alone : what to run for the queries without replicas, if there are any

    Raises
    ------
    WrongWiring : if a query has run as something else than it is declared to be
    """

    def __init__(
        self,
        pipeline: Pipeline,
        command: Command,
        bound_seconds: float,
        alone: Sequence[str] = (),
    ) -> None:
        directory = PipelineDirectory.open(pipeline.path)
        self._path, self._bound = pipeline.path, bound_seconds
        self._own = ProcessDirectory(directory.path / "supervisor")
        self._copies: dict[tuple[PairName, Copy], _Process] = {}
        self._alone: _Process | None = None
        for query in pipeline.queries:
            check_as_declared(directory, query)
            if query.replicas == 1:
                self._alone = _Process(alone_directory(directory), alone, bound_seconds)
                continue
            for pair, copy in itertools.product(pairs_of(query), Copy):
                own = PairDirectory.of(directory, pair).copy(copy)
                self._copies[pair.name, copy] = _Process(own, command(pair, copy), bound_seconds)

    def __enter__(self) -> Self:
        """Start all processes.

        Raises
        ------
        CopyRuns : if another supervisor runs, or a process of one that was killed
        """
        self._locked = ExitStack()
        self._locked.enter_context(locked(self._own, f"pipeline {self._path}"))
        running = [each.running for each in self._processes if each.running is not None]
        if running:
            processes = " ".join(map(str, sorted(running)))
            self._locked.close()
            raise CopyRuns(
                f"copies of pipeline {self._path} are run by processes {processes}: somebody has "
                "started them, or their supervisor was killed. Two would write one checkpoint, so "
                f"nothing was started. They deliver as before. To begin anew: kill {processes}"
            )
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End all processes: first politely."""
        for process in self._processes:
            process.tell_to_end()
        deadline = time.monotonic() + _SILENCE_BOUNDS_MAX * self._bound
        for process in self._processes:
            process.end(deadline)
        self._locked.close()

    def status(self) -> Mapping[tuple[str, Copy], CopyStatus]:
        """Tell how each copy of each pair is."""
        return {(str(name), part): copy.status() for (name, part), copy in self._copies.items()}

    def until(self, stop: Event) -> None:
        """Watch the processes until this is set.

        Raises
        ------
        BothCopiesFailed : if a pair has lost a copy before the other one was replaced
        CopiesDiffer : if a copy has found that its twin gave other rows
        QueryFailed : if a process has ended by a mistake in the pipeline
        """
        while not stop.wait(self._bound / BEATS_PER_BOUND):
            for process in self._processes:
                process.look()
            for (name, part), copy in self._copies.items():
                if copy.has_ended or copy.is_frozen:
                    self._replace(name, part)
                elif copy.is_warm and not copy.is_told_warm:
                    copy.is_told_warm = True
                    _log.info("copy %s of %s is warm: it can take over at once", part.value, name)
            if self._alone is not None and (self._alone.has_ended or self._alone.is_frozen):
                self._start_again(self._alone, "the process of the queries without replicas")

    @property
    def _processes(self) -> list[_Process]:
        return [*self._copies.values(), *([] if self._alone is None else [self._alone])]

    def _replace(self, name: PairName, part: Copy) -> None:
        copy, twin = self._copies[name, part], self._copies[name, part.twin]
        what = f"copy {part.value} of {name}"
        if not copy.is_over:
            twin.look()
            # At the very start neither has caught up, and nothing was given that could be lost.
            is_lost = twin.has_ended or (copy.has_run and not twin.is_paired)
            if is_lost and copy.exit_code not in (_DIFFERS, _WRONG_USE):
                raise BothCopiesFailed(
                    f"{what} in pipeline {self._path} {copy.how_it_is()}, and copy "
                    f"{part.twin.value} {twin.how_it_is()}. Nobody is left to take over: what the "
                    "pair had given and not delivered may be lost. All copies were stopped. If "
                    "the directories of the copies are whole, nothing is lost: start it again, "
                    "and they go on from their checkpoints. If not, restore the last snapshot: "
                    f"streamproof snapshot list {self._path}"
                )
        self._start_again(copy, what)

    def _start_again(self, process: _Process, what: str) -> None:
        if not process.is_over:
            _log.warning("%s %s", what, process.how_it_is())
            if process.exit_code == _DIFFERS:
                raise CopiesDiffer(
                    f"{what} in pipeline {self._path} gave other rows than its twin, or than it "
                    "had given before: which, and where, it has said above. All copies were "
                    "stopped; what was delivered stands. Mend the plan, then begin a pipeline in "
                    "another directory"
                )
            if process.exit_code == _WRONG_USE:
                raise QueryFailed(
                    f"{what} in pipeline {self._path} {process.how_it_is()}, which tells of a "
                    "mistake that a new start would not mend; what it said is above. All copies "
                    "were stopped, and nothing is lost. Mend it, and start again"
                )
            process.end(time.monotonic())
            _log.info("%s is started again", what)
        process.start_again()


class _Process:
    """A process, of a copy or of the queries without replicas, and how often it was started."""

    def __init__(self, own: ProcessDirectory, command: Sequence[str], bound_seconds: float) -> None:
        self._command, self._bound = command, bound_seconds
        self._own, self._beat = own, own.beat
        self._starts = self._starts_in_vain = 0
        self._not_before = self._started = 0.0
        self.has_run = self.is_over = False
        self._process: subprocess.Popen[bytes] | None = None
        self._watch = Watch(self._beat, _SILENCE_BOUNDS_MAX * self._bound)
        self._first_turn: Turn | None = None  # of this life
        self.is_warm = self.is_told_warm = False

    @property
    def running(self) -> int | None:
        """The process that runs it; None if there is none."""
        return holder(self._own)

    def start(self) -> None:
        """Start it, in a process group of its own: its JVM and workers are to end with it."""
        self._starts += 1
        self._starts_in_vain += 1
        self.has_run = self.is_over = False
        self._started = time.monotonic()
        self._first_turn = None
        self.is_warm = self.is_told_warm = False
        self._beat.unlink(missing_ok=True)  # a former life's
        self._watch = Watch(self._beat, _SILENCE_BOUNDS_MAX * self._bound)
        self._process = subprocess.Popen(self._command, start_new_session=True)  # noqa: S603 - ours

    def start_again(self) -> None:
        """Start it, unless it has just ended without having run, and its pause is not over."""
        if time.monotonic() >= self._not_before:
            self.start()

    def look(self) -> None:
        """See whether it beats."""
        self._watch.look()
        if self._watch.beat is not None:
            self.has_run, self._starts_in_vain = True, 0
            if self._first_turn is None:
                self._first_turn = self._watch.beat.turn
            # Before its first turn, Spark compiles and loads.
            self.is_warm = self._watch.beat.turn > self._first_turn

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
        if self.has_run:
            return self._watch.has_failed
        return time.monotonic() - self._started > _START_SECONDS_MAX

    @property
    def is_paired(self) -> bool:
        """Whether it runs, and has caught up."""
        return self.has_run and not self.has_ended and not self.is_frozen

    def how_it_is(self) -> str:
        """Say how it is, for messages."""
        if self.has_ended:
            return f"has ended with exit code {self.exit_code}"
        if self.is_frozen and self.has_run:
            return f"was silent for {_SILENCE_BOUNDS_MAX * self._bound:g} s"
        if self.is_frozen:
            return f"has not caught up within {_START_SECONDS_MAX:g} s"
        return "runs" if self.has_run else "has not caught up yet"

    def status(self) -> CopyStatus:
        """Tell how it is."""
        beat = self._watch.beat
        return CopyStatus(
            process=0 if self._process is None else self._process.pid,
            is_paired=self.is_paired,
            is_warm=self.is_paired and self.is_warm,
            is_primary=beat is not None and beat.active,
            starts=self._starts,
        )

    def tell_to_end(self) -> None:
        """Ask it to end after the batch under way."""
        if not self.has_ended and self._process is not None:
            self._process.terminate()

    def end(self, deadline: float) -> None:
        """Wait for its end until then, by the monotonic clock; then kill it, with its JVM."""
        if self._process is None:
            return
        pause = min(self._bound * 2.0**self._starts_in_vain, _PAUSE_SECONDS_MAX)
        self._not_before = time.monotonic() + (pause if self._starts_in_vain else 0.0)
        self.is_over = True
        try:
            self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
