"""Who writes a channel, and who tidies it up: never both at once.

A writer holds the channel's lock along with any others from before its files are there until they
are committed, and it commits behind the version that it has read. So whoever has the lock alone
knows that a file which no commit names will never be named, and that no commit is under way in the
place of one that is taken away. The system lets go of the lock of a process that dies. Nothing
here looks at a clock.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from streamproof.file_locks import lock, try_lock
from streamproof.spark_bindings.errors import ChannelDamaged
from streamproof.spark_bindings.storage.forks import require_no_fork
from streamproof.spark_bindings.storage.local_files import close_lock, open_lock
from streamproof.spark_bindings.storage.place import Place

_LOCK_FILE = "_streamproof_writers.lock"
_TRIES_MAX = 100
_PAUSE_SECONDS = 0.02


@contextmanager
def writing(channel: Place) -> Iterator[None]:
    """Hold the lock of a channel along with its other writers. May be nested.

    Raises
    ------
    DiskFailed : if the lock's file cannot be opened
    """
    require_no_fork()
    handle = _open(channel)
    try:
        lock(handle, shared=True)
        yield
    finally:
        close_lock(handle)


@contextmanager
def tidying(channel: Place) -> Iterator[bool]:
    """Hold the lock of a channel alone; tell whether it could be had.

    Writers go first: where there is always one, or one is frozen, it is for the next time.

    Raises
    ------
    DiskFailed : if the lock's file cannot be opened
    """
    handle = _open(channel)
    try:
        yield any(_is_alone(handle) for _ in range(_TRIES_MAX))
    finally:
        close_lock(handle)


def _open(channel: Place) -> int:
    try:
        return open_lock(channel / _LOCK_FILE)
    except FileNotFoundError:
        raise ChannelDamaged(
            f"the channel {channel} is gone: its pipeline was moved or removed while it was in "
            "use. Nothing was written. Open the pipeline where it is now: Pipeline(path, ...)"
        ) from None


def _is_alone(handle: int) -> bool:
    is_alone = try_lock(handle)
    if not is_alone:
        time.sleep(_PAUSE_SECONDS)
    return is_alone
