"""All processes of a pipeline on one machine: watched, and started again when they fail.

A copy that ends, or stays silent, is started again and catches up with the other copy. Until then
its pair has one copy. If that one fails too, nobody is left to catch up with: what the pair had
given and not delivered may be lost, so everything is stopped and it is said, at once. Queries
without a standby share a process, which goes on from their checkpoints.
"""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from threading import Event
from typing import Self

from streamproof.spark_bindings.arguments import SECONDS_MIN, require_seconds
from streamproof.spark_bindings.errors import (
    BothCopiesFailed,
    CopiesDiffer,
    CopyRuns,
    QueryFailed,
)
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import (
    Copy,
    Pair,
    PairDirectory,
    ProcessDirectory,
    check_as_declared,
    pairs_of,
)
from streamproof.spark_bindings.layout.process_lock import holder, locked
from streamproof.spark_bindings.names import PairName
from streamproof.spark_bindings.pipelines.pipeline import Pipeline
from streamproof.spark_bindings.processes.heartbeat import BEATS_PER_TIMEOUT
from streamproof.spark_bindings.processes.process_status import ProcessStatus, state_of
from streamproof.spark_bindings.standby.child_process import (
    DIFFERS,
    SILENCE_TIMEOUTS_MAX,
    WRONG_USE,
    ChildProcess,
)
from streamproof.spark_bindings.storage.place import Place

Command = Callable[[Pair, Copy, Place], Sequence[str]]
"""Returns the command line that runs a copy in a process of its own, with the file of its log."""

_log = logging.getLogger("streamproof.standby")


class Supervisor:
    """Runs the copies of a pipeline. Use it in a `with` block: it ends them with itself.

    Parameters
    ----------
    command : what to run for each copy
    suspect_after_seconds : the suspicion timeout, of silence, after which the other copy takes over
    alone : what to run for the queries without a standby, if there are any; given its log's file
    clock : gives the seconds by which silences and starts are measured

    Raises
    ------
    WrongWiring : if a query has run as something else than it is declared to be
    WrongArgument : if the suspicion timeout is no number of seconds
    """

    def __init__(
        self,
        pipeline: Pipeline,
        command: Command,
        suspect_after_seconds: float,
        alone: Callable[[Place], Sequence[str]] = lambda _: (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        require_seconds("Supervisor", "suspect_after_seconds", suspect_after_seconds, SECONDS_MIN)
        directory = PipelineDirectory.open(pipeline.path)
        self._path, self._timeout, self._clock = pipeline.path, suspect_after_seconds, clock
        self._own = ProcessDirectory(directory.place / "supervisor")
        self._copies: dict[tuple[PairName, Copy], ChildProcess] = {}
        self._alone: ChildProcess | None = None
        for query in pipeline.queries:
            check_as_declared(directory, query)
            if not query.is_paired:
                together = ProcessDirectory.alone(directory)
                ran = alone(together.log)
                self._alone = ChildProcess(together, ran, suspect_after_seconds, clock)
                continue
            for pair, copy in itertools.product(pairs_of(query), Copy):
                own = PairDirectory.of(directory, pair).copy(copy)
                ran = command(pair, copy, own.log)
                self._copies[pair.name, copy] = ChildProcess(own, ran, suspect_after_seconds, clock)

    def __enter__(self) -> Self:
        """Start all processes.

        Raises
        ------
        CopyRuns : if another supervisor runs, or a process of one that was killed
        """
        self._locked = ExitStack()
        self._locked.enter_context(locked(self._own, f"pipeline {self._path}"))
        holders = [holder(each.own) for each in self._processes]
        running = [number for number in holders if number is not None]
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
        deadline = time.monotonic() + SILENCE_TIMEOUTS_MAX * self._timeout
        for process in self._processes:
            process.end(deadline)
        self._locked.close()

    def status(self) -> Mapping[tuple[str, Copy], ProcessStatus]:
        """Return the status of each copy of each pair."""
        return {(str(name), part): self._status(name, part) for name, part in self._copies}

    def until(self, stop: Event) -> None:
        """Watch the processes until this is set.

        Raises
        ------
        BothCopiesFailed : if a pair has lost a copy before the other one was replaced
        CopiesDiffer : if a copy has found that the other copy gave other rows
        QueryFailed : if a process has ended by a mistake in the pipeline
        """
        while not stop.wait(self._timeout / BEATS_PER_TIMEOUT):
            for process in self._processes:
                process.look()
            for (name, part), copy in self._copies.items():
                if copy.has_ended or copy.is_frozen:
                    self._replace(name, part)
                else:
                    self._tell_how_it_comes_up(name, part)
            if self._alone is not None and (self._alone.has_ended or self._alone.is_frozen):
                self._start_again(self._alone, "the process of the queries without a standby")

    @property
    def _processes(self) -> list[ChildProcess]:
        return [*self._copies.values(), *([] if self._alone is None else [self._alone])]

    def _status(self, name: PairName, part: Copy) -> ProcessStatus:
        copy, other = self._copies[name, part], self._copies[name, part.other]
        ours, theirs = copy.beat, other.beat
        turns = 0 if ours is None or theirs is None else max(0, theirs.turn - ours.turn)
        is_up = not copy.has_ended
        return ProcessStatus(
            str(name),
            part,
            copy.number,
            state_of(ours, turns, runs=is_up, is_silent=copy.is_frozen),
            turns,
            is_warm=ours is not None and ours.warm,
            starts=copy.starts,
        )

    def _tell_how_it_comes_up(self, name: PairName, part: Copy) -> None:
        copy = self._copies[name, part]
        if copy.has_run and not copy.is_told_running:
            copy.is_told_running = True
            seconds = self._clock() - copy.started
            _log.info("copy %s of %s runs, after %.0f s", part.value, name, seconds)
        status = self._status(name, part)
        if status.is_in_sync and not copy.is_told_in_sync:
            copy.is_told_in_sync = True
            if not status.is_primary:
                _log.info(
                    "copy %s of %s is in sync: it can take over at once",
                    *(part.value, name),
                )

    def _replace(self, name: PairName, part: Copy) -> None:
        copy, other = self._copies[name, part], self._copies[name, part.other]
        what = f"copy {part.value} of {name}"
        if not copy.is_over:
            other.look()
            # At the very start neither has caught up, and nothing was given that could be lost.
            is_lost = other.has_ended or (copy.has_run and not other.is_paired)
            if is_lost and copy.exit_code not in (DIFFERS, WRONG_USE):
                raise BothCopiesFailed(
                    f"{what} in pipeline {self._path} {copy.how_it_is()}, and copy "
                    f"{part.other.value} {other.how_it_is()}. All processes were stopped: no copy "
                    "is left to take over, and output that was not delivered may be lost. If the "
                    "directories of the copies are whole, nothing is lost: start it again, and the "
                    "copies go on from their checkpoints. If not, restore the last snapshot: "
                    f"streamproof snapshot list {self._path}"
                )
        self._start_again(copy, what)

    def _start_again(self, process: ChildProcess, what: str) -> None:
        if not process.is_over:
            _log.warning("%s %s; its log is %s", what, process.how_it_is(), process.own.log)
            if process.exit_code == DIFFERS:
                raise CopiesDiffer(
                    f"{what} in pipeline {self._path} gave other rows than the other copy, or than "
                    "it had given before: which, and where, it has said above. All processes were "
                    "stopped; what was delivered stands. Fix the plan, then begin a pipeline in "
                    "another directory"
                )
            if process.exit_code == WRONG_USE:
                raise QueryFailed(
                    f"{what} in pipeline {self._path} {process.how_it_is()}, which tells of a "
                    "mistake that a new start would not fix; what it said is above. All "
                    "processes were stopped, and nothing is lost. Fix it, and start again"
                )
            process.end(time.monotonic())
            _log.info("%s is started again", what)
        process.start_again()
