"""A team of threads that do the same work side by side, many times a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event, Thread
from typing import Any, Generic, TypeVar

M = TypeVar("M")
R = TypeVar("R")

SPIN_SECONDS = 0.002
"""How long a member looks for work without sleeping: waking a thread takes a tenth of that."""


class Team(Generic[M]):
    """Runs a function for each of several members at once; the first in the calling thread.

    Parameters
    ----------
    members : what the function is called with, a thread each
    """

    def __init__(self, members: Sequence[M]) -> None:
        self.members = members
        self._work: Callable[[M], Any] | None = None
        self._round = 0
        self._done = [0] * len(members)
        self._results: list[Any] = [None] * len(members)
        self._failures: list[BaseException | None] = [None] * len(members)
        self._wake = [Event() for _ in members]
        self._threads = [
            Thread(target=self._serve, args=(number,), daemon=True)
            for number in range(1, len(members))
        ]
        for thread in self._threads:
            thread.start()

    def do(self, work: Callable[[M], R]) -> list[R]:
        """Call a function with every member, and give the results in their order."""
        self._work = work
        self._round += 1
        for event in self._wake[1:]:
            event.set()
        self._run(0, work, self._round)
        while min(self._done) < self._round:
            time.sleep(0)
        for failure in self._failures:
            if failure is not None:
                raise failure
        return self._results.copy()

    def do_in_turn(self, work: Callable[[M], R]) -> list[R]:
        """Call a function with one member after the other, all in the calling thread."""
        return [work(member) for member in self.members]

    def leave(self) -> None:
        """End the threads; the team is of no use afterwards."""
        self._work = None
        self._round += 1
        for event in self._wake:
            event.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number: int, work: Callable[[M], Any], this: int) -> None:
        try:
            self._results[number] = work(self.members[number])
        except BaseException as failure:  # noqa: BLE001 - `do` raises it
            self._failures[number] = failure
        self._done[number] = this  # not the newest round: `leave` may have begun one meanwhile

    def _serve(self, number: int) -> None:
        while True:
            spun = time.monotonic() + SPIN_SECONDS
            while self._done[number] == self._round:
                if time.monotonic() < spun:
                    time.sleep(0)
                else:
                    self._wake[number].clear()
                    if self._done[number] == self._round:
                        self._wake[number].wait()
            this, work = self._round, self._work
            if work is None:
                return
            self._run(number, work, this)
