"""Progress: what a running search reports, and the rate at which it goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search is.

    Attributes
    ----------
    expanded : states whose steps have been taken
    distinct : distinct states found
    depth : states on a path to the ones that are being expanded
    level_ends : per depth up to this one, how many distinct states there are up to it
    resumed : distinct states that an earlier process found
    """

    expanded: int
    distinct: int
    depth: int
    level_ends: Sequence[int] = ()
    resumed: int = 0

    @property
    def queue(self) -> int:
        """How many found states wait to be expanded."""
        return self.distinct - self.expanded


OnProgress: TypeAlias = Callable[[Progress], None]
"""Called by an engine every few hundred states, in its own thread; it should return quickly."""

REPORT_EVERY = 256
"""States that are expanded between two reports."""

KEPT_EVERY_SECONDS = 60.0
"""How often a search is kept in a checkpoint unless told otherwise."""


def ignore(progress: Progress) -> None:
    """Report to nobody."""


@dataclass
class Meter:
    """A rate of distinct states per second since it was made.

    Parameters
    ----------
    clock : gives seconds; replaced in tests
    """

    clock: Callable[[], float] = time.monotonic
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def seconds(self) -> float:
        """How long ago the meter was made."""
        return self.clock() - self.started

    def rate(self, distinct: int) -> int:
        """Give the states per second; 0 in the very first moment."""
        seconds = self.seconds
        return int(distinct / seconds) if seconds > 0 else 0
