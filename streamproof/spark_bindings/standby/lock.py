"""The lock of a copy: a file that the process which runs it holds, and that names the process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from streamproof.spark_bindings.errors import CopyRuns
from streamproof.spark_bindings.standby.copies import Copy, CopyDirectory, Pair


@contextmanager
def locked(own: CopyDirectory, copy: Copy, pair: Pair) -> Iterator[TextIO]:
    """Hold a copy's lock, which its process loses however it ends.

    Raises
    ------
    CopyRuns : if another process holds it
    """
    own.path.mkdir(parents=True, exist_ok=True)
    with own.lock.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CopyRuns(
                f"copy {copy.value} of {pair.name} is run by process {own.lock.read_text()}, "
                "which may be frozen. Two would write one checkpoint. End that one first"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield file


def holder(own: CopyDirectory) -> int | None:
    """Give the number of the process that holds a copy's lock; None if there is none."""
    if not own.lock.is_file():
        return None
    with own.lock.open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return int(file.read() or 0)
    return None
