"""Limits of a search: states, depth and memory. Reaching one is UNDETERMINED, never success."""

from __future__ import annotations

import os
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

MEMORY_SHARE = 0.75
"""The share of the machine's memory that a search may use unless told otherwise."""
_MIB = 1 << 20


class LimitReached(Exception):
    """Ends a search inside an engine; the message says which limit and which flag raises it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a search may go; None means without a limit.

    Attributes
    ----------
    states_max : distinct states that are kept
    depth_max : states on a path; those at this depth are checked but not expanded
    memory_mb_max : resident memory of this process in MiB; None for three quarters of the machine's
    """

    states_max: int | None = None
    depth_max: int | None = None
    memory_mb_max: int | None = None

    def __post_init__(self) -> None:
        for name in ("states_max", "depth_max", "memory_mb_max"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(
                    f"{name} is {value}, so nothing could be explored and every property would be "
                    "undetermined. Give 1 or more"
                )

    def check_states(self, states: int) -> None:
        """Refuse another state once as many as allowed are kept.

        Raises
        ------
        LimitReached : if there is no room for another
        """
        if self.states_max is not None and states >= self.states_max:
            raise LimitReached(
                f"there are more than {states:,} states, which is the limit: raise --states-max"
            )

    def check_depth(self, depth: int, waiting: int) -> None:
        """Refuse to expand a level that lies at the limit.

        Parameters
        ----------
        depth : states on a path to the level's states
        waiting : number of states of the level

        Raises
        ------
        LimitReached : if the level must not be expanded
        """
        if self.depth_max is not None and depth >= self.depth_max:
            raise LimitReached(
                f"the {waiting:,} states at depth {depth} were not expanded: raise --depth-max"
            )

    def check_memory(self, more_mb: int = 0, purpose: str = "") -> None:
        """Stop before the machine runs out of memory.

        Parameters
        ----------
        more_mb : what is about to be taken, in MiB
        purpose : what for

        Raises
        ------
        LimitReached : if the process holds more than allowed, or would then
        """
        allowed = self.memory_mb_max or default_memory_mb()
        used = memory_mb()
        if purpose and used + more_mb > allowed:
            raise LimitReached(
                f"{purpose} takes about {more_mb:,} MiB of memory; the search holds {used:,} and "
                f"may hold {allowed:,}: raise --memory"
            )
        if used > allowed:
            raise LimitReached(
                f"the search holds {used:,} MiB of memory and may hold {allowed:,}: raise --memory"
            )


def memory_mb() -> int:
    """Return this process's resident memory in MiB; where the system does not say it, its peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return peak_memory_mb()
    return pages * os.sysconf("SC_PAGE_SIZE") // _MIB


def peak_memory_mb() -> int:
    """Return the most memory in MiB that this process has held so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // _MIB if sys.platform == "darwin" else peak // 1024


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_useful() -> int:
    """Return the most threads, a power of two, of which none must wait for a core."""
    return 1 << (cores().bit_length() - 1)


def default_memory_mb() -> int:
    """Return the default limit in MiB: a share of the memory of this machine or container."""
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        allowed = Path("/sys/fs/cgroup/memory.max").read_text().strip()
    except OSError:
        allowed = "max"
    if allowed.isdigit():
        size = min(size, int(allowed))
    return int(size * MEMORY_SHARE) // _MIB
