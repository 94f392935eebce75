"""How soon a leader chooses the next turn: at once, unless the other copy is behind.

A copy that was replaced has the other copy's state, and takes all turns since then, one by one,
while the leader goes on; both may share processors. A turn costs about the same however many rows
it has. So a leader that pauses chooses fewer and larger ones, and the other copy gains on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from streamproof.spark_bindings.processes.process_status import has_caught_up

PAUSE = 1.0
"""Of the time that the turn before took: so a leader keeps half of its pace at least."""


class Throttle:
    """Times the turns of a leader.

    Parameters
    ----------
    clock : gives seconds
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._begun = clock()
        self._done: float | None = self._begun

    def begin(self) -> None:
        """Note that a turn was chosen."""
        self._begun, self._done = self._clock(), None

    def may_choose(self, ahead: int) -> bool:
        """Return whether to choose again, now that the turn before has been taken.

        Parameters
        ----------
        ahead : turns that the other copy has to take until it is where the leader is
        """
        if self._done is None:
            self._done = self._clock()
        pause = PAUSE * (self._done - self._begun)
        return has_caught_up(ahead) or self._clock() >= self._done + pause
