"""The lock of a process that is watched: a file that it holds, and that names it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from streamproof.spark_bindings.errors import CopyRuns
from streamproof.spark_bindings.layout.pairs import ProcessDirectory
from streamproof.spark_bindings.storage.local_files import hold_named, named_holder
from streamproof.spark_bindings.storage.trees import make_directory


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
    make_directory(own.place)
    with hold_named(own.lock) as (file, process):
        if file is None:
            raise CopyRuns(
                f"{what} is run by process {process}, "
                f"which may be frozen. Two would {harm}. End that one first"
            )
        yield file


def holder(own: ProcessDirectory) -> int | None:
    """Return the number of the process that holds a lock; None if there is none."""
    return named_holder(own.lock)
