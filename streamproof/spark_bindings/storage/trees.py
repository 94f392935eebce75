"""What a file system wants beyond a store's calls: directories, their syncs, and whole trees.

Below a place of a file system a directory has to be made, and what others have written there has to
be synced. An object store would have nothing to do for these, and call by call for the others.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable

from streamproof import disk
from streamproof.spark_bindings.storage.place import Place


def make_directory(place: Place) -> None:
    """Make a directory and those that it is in, with their names on the disk. May be repeated.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    disk.make_directory(place.local)


def make_unsynced(place: Place) -> None:
    """Make a directory inside of something that is synced before it gets its name."""
    place.local.mkdir(parents=True, exist_ok=True)


def write_unsynced(place: Place, content: str) -> None:
    """Write a file inside of something that is synced before it gets its name."""
    place.local.write_text(content, encoding="utf-8")


def is_directory(place: Place) -> bool:
    """Report whether there is a directory: something is below a place, or may be."""
    return place.local.is_dir()


def mark_of(place: Place) -> object:
    """Return a mark of what is at a place; it is another one once that was replaced.

    Raises
    ------
    FileNotFoundError : if nothing is there
    """
    return place.local.stat().st_ino


def move(source: Place, target: Place) -> None:
    """Rename a file or directory in one step; syncing it is left to the caller.

    Raises
    ------
    DiskFailed : if the disk did not take it; it has its old name, or already the new one
    OSError : if there is something at the target that is not replaced
    """
    disk.move(source.local, target.local)


def remove(place: Place) -> None:
    """Delete all below a place, as far as that is possible. May be repeated."""
    shutil.rmtree(place.local, ignore_errors=True)


def remove_at_once(place: Place, hidden: Place | None = None) -> None:
    """Delete all below a place, so that no reader and no crash sees a part of it.

    Parameters
    ----------
    place, hidden : what goes, and the name under which a crash may leave a part of it; by default
        one of this call alone

    Raises
    ------
    OSError : if it cannot be renamed, or, without `hidden`, not be deleted
    """
    if hidden is not None:
        remove(hidden)
        move(place, hidden)
        remove(hidden)
    elif place.local.exists():
        gone = disk.temporary_sibling(place.local)
        disk.move(place.local, gone)
        shutil.rmtree(gone)


def sync_files(places: Iterable[Place]) -> None:
    """Write some files, and their names, through to the disk, whoever wrote them.

    Raises
    ------
    FileNotFoundError : if one is gone
    DiskFailed : if the disk did not take one
    """
    disk.sync_files(place.local for place in places)


def sync_content(place: Place) -> None:
    """Write what a file holds through to the disk; its name is left to the caller."""
    disk.sync_file(place.local)


def sync_names(place: Place) -> None:
    """Write the names in a directory through to the disk."""
    disk.sync_directory(place.local)


def sync_below(place: Place) -> None:
    """Write all that a directory holds through to the disk; its own name is left to the caller."""
    disk.sync_tree(place.local)


def sync_everything() -> None:
    """Write all files of the machine through to the disk: Spark and Delta tell no names."""
    disk.sync_everything()
