"""What is local by nature: files that processes of one machine share, and that no store has.

A lock ends with its process, a heartbeat is of no use after a crash, and a log is appended to in
one system call. `docs/decisions/0022` names what would take their places elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from streamproof import disk
from streamproof.file_locks import try_lock
from streamproof.spark_bindings.storage.json_files import opening
from streamproof.spark_bindings.storage.place import Place


def replace_unsynced(file: Place, content: bytes) -> None:
    """Replace a file in one step; it is of no use after a crash of the machine, and may tear then.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    disk.replace_file(file.local, content, durable=False)


def is_switched_off(variable: str) -> bool:
    """Return whether the environment of this process switches something off."""
    return os.environ.get(variable) == "off"


def append_line(file: Place, line: str, earlier: Place, bytes_max: int) -> None:
    """Append to a file in one system call, so that lines of two processes do not mix. Not synced.

    Parameters
    ----------
    file, line : where, and all of it
    earlier, bytes_max : where a file goes that is longer, in the place of what was put there before
    """
    path = file.local
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > bytes_max:
        disk.move(path, earlier.local)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def open_lock(file: Place) -> int:
    """Open the file of a lock, which is made if it is absent; return what `close_lock` takes.

    Raises
    ------
    FileNotFoundError : if its directory is gone
    DiskFailed : if it cannot be opened
    """
    with opening(file):
        return os.open(file.local, os.O_RDWR | os.O_CREAT, 0o666)


def close_lock(handle: int) -> None:
    """Let go of a lock, if it is held, and close its file."""
    os.close(handle)


@contextmanager
def hold_named(file: Place) -> Iterator[tuple[TextIO | None, str]]:
    """Hold the lock of a file that names its holder's process.

    Gives the open file, or None if another process holds it, and what the file said.

    Raises
    ------
    DiskFailed : if the file cannot be opened or written
    """
    with opening(file):
        opened = file.local.open("a", encoding="utf-8")
    with opened as text:
        if not try_lock(text):
            yield None, file.local.read_text()
            return
        with opening(file):
            text.truncate(0)
            text.write(str(os.getpid()))
            text.flush()
        yield text, ""


def named_holder(file: Place) -> int | None:
    """Return the number of the process that holds a lock of `hold_named`; None if none does."""
    if not file.local.is_file():
        return None
    with opening(file):
        opened = file.local.open(encoding="utf-8")
    with opened as text:
        return None if try_lock(text, shared=True) else int(text.read() or 0)
