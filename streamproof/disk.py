"""Files that outlive a crash: written through to the disk, and replaced in one step."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: Path, content: bytes) -> None:
    """Write a file through to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace_file(path: Path, temporary: Path, content: bytes) -> None:
    """Write a file anew, in a temporary place beside its path at first.

    After a crash it holds the old or the new content.
    """
    write_file(temporary, content)
    temporary.replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, else they could be lost with the power."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_everything() -> None:
    """Write all files of the machine through to the disk, whoever wrote them: it may take seconds.

    Spark and Delta leave that to the operating system, and tell no names of what they have written.
    """
    os.sync()
