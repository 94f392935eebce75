"""Locks of files, which the system lets go of when their process dies. Nothing here has a clock."""

from __future__ import annotations

import fcntl
from typing import TextIO


def lock(file: int | TextIO, *, shared: bool = False) -> None:
    """Wait for the lock of an open file, and hold it until the file is closed.

    Parameters
    ----------
    shared : whether others may hold it at the same time, if they share it, too
    """
    fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)


def try_lock(file: int | TextIO, *, shared: bool = False) -> bool:
    """Take the lock of an open file if it is free; return whether it is held now."""
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
