"""Leaving steps out of a run that a model does not explain, as long as it still does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from streamproof.testing.follow import Unexplained

ATTEMPTS_MAX = 400
"""Runs that are tried: each asks the real system again."""
_SLIDING_MAX = 3
"""Steps up to which every neighbourhood is left out, not only every other one."""

Fails: TypeAlias = Callable[[Sequence[str]], Unexplained | None]
"""Has a new system take a run; returns the failure, or None if there is none."""


def shortened(failure: Unexplained, fails: Fails) -> Unexplained:
    """Shorten a run by leaving out neighbouring steps (Zeller and Hildebrandt 2002).

    At the end no step and no pair of neighbours can be left out, unless the attempts are used up.

    Parameters
    ----------
    failure : of the run as it was found
    fails : tries another one
    """
    attempts = 0
    size = max(1, len(failure.run) // 2)
    while size:
        place, was_shortened = 0, False
        while place + size <= len(failure.run) and attempts < ATTEMPTS_MAX:
            attempts += 1
            again = fails([*failure.run[:place], *failure.run[place + size :]])
            if again is not None and len(again.run) < len(failure.run):
                failure, was_shortened = again, True
            else:
                place += 1 if size <= _SLIDING_MAX else size
        if not was_shortened:
            size = size // 2 if size > _SLIDING_MAX else size - 1
    return failure
