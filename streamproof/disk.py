"""Files that outlive a crash: written through to the disk, and replaced in one step.

A write is on the disk once its file is synced, and a name once its directory is. Until then either
may be lost with the power, in any order. `docs/how-to/crashes.md` tells what else is assumed of a
disk.
"""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamproof.lang.errors import StreamproofError

_FILES_MAX = 64  # more are not synced one by one: the whole disk is

_named: set[tuple[str, int]] = set()
"""Directories, by path and inode, whose names this process knows to be on the disk."""

_REFUSALS = {
    errno.ENOSPC: "Make room, then call again",
    errno.EDQUOT: "Raise the quota, then call again",
    errno.EIO: "See whether the disk is failing, and move the directory if it is",
    errno.EROFS: "Mount the file system for writing, then call again",
    errno.EFBIG: "Raise the limit of file sizes (ulimit -f), then call again",
}


class DiskFailed(StreamproofError, OSError):
    """The disk did not take what was written.

    Attributes
    ----------
    errno : as the system said it
    """

    def __init__(self, message: str, number: int | None) -> None:
        super().__init__(message)
        self.errno = number


@contextmanager
def explained(path: object, consequence: str = "What was there before counts") -> Iterator[None]:
    """Turn the errors of a full or failing disk into one that names the path.

    Parameters
    ----------
    path, consequence : what is written, and what a failure leaves

    Raises
    ------
    DiskFailed : if the disk is full, fails, or is not to be written to; other errors pass
    """
    try:
        yield
    except DiskFailed:
        raise
    except OSError as error:
        number = _number_of(error)
        if number is None:
            raise
        raise DiskFailed(
            f"{path} could not be written to the disk ({os.strerror(number)}). {consequence}. "
            f"{_REFUSALS[number]}",
            number,
        ) from error


def _number_of(error: OSError) -> int | None:
    """Return the number of an error that a disk makes; a library may tell it in words alone."""
    if error.errno is not None:
        return error.errno if error.errno in _REFUSALS else None
    return next((n for n in _REFUSALS if f"(os error {n})" in str(error)), None)


def write_file(path: Path, content: bytes, *, durable: bool = True, mode: int = 0o666) -> None:
    """Write a file, by default through to the disk.

    Parameters
    ----------
    path, content : what is written where
    durable : whether it is to outlive the power
    mode : its permissions if it is new, less what the process masks

    Raises
    ------
    DiskFailed : if the disk did not take it; a part of it may be there
    """
    with explained(path):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        try:
            left = memoryview(content)
            while left:
                left = left[os.write(handle, left) :]
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)


def replace_file(
    path: Path,
    content: bytes,
    *,
    temporary: Path | None = None,
    durable: bool = True,
    mode: int = 0o666,
) -> None:
    """Write a file anew, in a temporary place beside its path at first.

    After a crash it holds the old or the new content. May be repeated.

    Parameters
    ----------
    path, content : what is written where
    temporary : a place in the same directory; by default a hidden one, of this call alone
    durable : false where a file is of no use after a crash of the machine; it may be damaged then
    mode : its permissions, less what the process masks

    Raises
    ------
    DiskFailed : if the disk did not take it; the old content is there, or already the new one
    """
    place = temporary or temporary_sibling(path)
    with _gone_on_failure(place):
        write_file(place, content, durable=durable, mode=mode)
        with explained(path):
            place.replace(path)
    if durable:
        sync_directory(path.parent)


def create_file(path: Path, content: bytes) -> bool:
    """Create a file in one step unless it is there; tell whether this call created it.

    Either way it is on the disk afterwards, whoever created it.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    place = temporary_sibling(path)
    created = True
    with _gone_on_failure(place):
        write_file(place, content)
        try:
            with explained(path):
                os.link(place, path)  # unlike a rename, a link fails if the name is taken
        except FileExistsError:
            created = False
        place.unlink()
    # Who created it may have been killed before this; what follows from it must not come first.
    if not created:
        sync_file(path)
    sync_directory(path.parent)
    return created


def move(source: Path, target: Path) -> None:
    """Rename a file or directory in one step; syncing it is left to the caller.

    Raises
    ------
    DiskFailed : if the disk did not take it; it has its old name, or already the new one
    OSError : if there is something at `target` that is not replaced
    """
    with explained(target):
        source.rename(target)


@contextmanager
def _gone_on_failure(temporary: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def make_directory(path: Path) -> None:
    """Make a directory and those that it is in, as far as they are missing, and sync their names.

    May be repeated. A directory whose name is lost takes along all that was synced in it.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    with explained(path):
        path.mkdir(parents=True, exist_ok=True)
        place = path.resolve()
        # Also of those that were there: who made one may have died, or be no friend of syncs.
        while place != place.parent and (key := _key(place)) not in _named:
            with suppress(PermissionError):  # not ours, so it was there long before
                sync_directory(place.parent)
            _named.add(key)
            place = place.parent


def _key(directory: Path) -> tuple[str, int]:
    return str(directory), directory.stat().st_ino


def sync_file(path: Path) -> None:
    """Write what a file holds through to the disk, whoever wrote it.

    Raises
    ------
    FileNotFoundError : if it is gone
    DiskFailed : if the disk did not take it
    """
    with explained(path, "It may be lost with the power"):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, else they could be lost with the power.

    Raises
    ------
    DiskFailed : if the disk did not take them
    """
    sync_file(path)


def sync_files(paths: Iterable[Path]) -> None:
    """Write some files, and their names, through to the disk; a directory is a file here.

    Raises
    ------
    FileNotFoundError : if one is gone
    DiskFailed : if the disk did not take one
    """
    found = list(dict.fromkeys(paths))
    _sync_each([*found, *dict.fromkeys(path.parent for path in found)])


def sync_tree(path: Path) -> None:
    """Write all that a directory holds through to the disk; its own name is left to the caller."""
    inside = [path]
    for directory, folders, names in os.walk(path):
        inside += [Path(directory, name) for name in (*folders, *names)]
    _sync_each(inside)


def _sync_each(paths: list[Path]) -> None:
    if len(paths) > _FILES_MAX:
        sync_everything()
        return
    for path in paths:
        sync_file(path)


def sync_everything() -> None:
    """Write all files of the machine through to the disk, whoever wrote them: it may take seconds.

    Spark and Delta leave that to the operating system, and tell no names of what they have written.
    """
    os.sync()


def temporary_sibling(path: Path) -> Path:
    """Name a hidden place beside `path`, on the same file system, to build it up in."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")


def is_temporary(path: Path) -> bool:
    """Return whether a path is a leftover of a build-up that a crash cut short."""
    return path.name.startswith(".") and path.name.endswith(".tmp")
