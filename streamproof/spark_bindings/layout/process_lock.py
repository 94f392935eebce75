"""The lock of a process that is watched: a file that it holds, and that names it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from streamproof.disk import make_directory
from streamproof.spark_bindings.errors import CopyRuns
from streamproof.spark_bindings.layout.pairs import ProcessDirectory
from streamproof.spark_bindings.storage.file_locks import try_lock
from streamproof.spark_bindings.storage.json_files import opening


@contextmanager
def locked(
    own: ProcessDirectory, what: str, harm: str = "write one checkpoint"
) -> Iterator[TextIO]:
    """Hold the lock of what a process runs, which it loses however it ends.

    Parameters
    ----------
    own, what : where the lock is, and what is run
    harm : what two such processes would do

    Raises
    ------
    CopyRuns : if another process holds it
    DiskFailed : if the lock's file cannot be opened or written
    """
    make_directory(own.path)
    with opening(own.lock):
        opened = own.lock.open("a", encoding="utf-8")
    with opened as file:
        if not try_lock(file):
            raise CopyRuns(
                f"{what} is run by process {own.lock.read_text()}, "
                f"which may be frozen. Two would {harm}. End that one first"
            )
        with opening(own.lock):
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        yield file


def holder(own: ProcessDirectory) -> int | None:
    """Give the number of the process that holds a lock; None if there is none."""
    if not own.lock.is_file():
        return None
    with opening(own.lock):
        opened = own.lock.open(encoding="utf-8")
    with opened as file:
        return None if try_lock(file, shared=True) else int(file.read() or 0)
