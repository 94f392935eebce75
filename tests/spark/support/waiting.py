"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

SECONDS_MAX = 400.0
"""For anything that is waited for: a limit for broken code, far above a busy machine's time."""
_POLL_SECONDS = 0.01


def await_that(
    holds: Callable[[], bool], what: str, failure: Callable[[], object] = lambda: None
) -> None:
    """Wait for something.

    Parameters
    ----------
    holds : tells whether it has happened
    what : it is, for messages
    failure : gives why it will not happen any more; None as long as it may
    """
    deadline = time.monotonic() + SECONDS_MAX
    while not holds():
        failed = failure()
        assert failed is None, f"{what}: {failed}"
        assert time.monotonic() < deadline, f"{what} has not happened in {SECONDS_MAX} s"
        time.sleep(_POLL_SECONDS)
