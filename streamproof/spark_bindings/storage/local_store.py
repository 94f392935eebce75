"""The store of a directory of this machine: links, renames and syncs of `streamproof.disk`."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from streamproof import disk
from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.storage.place import AnyPlace, Place

_CANNOT_LINK = (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP)


class LocalStore:
    """Files below a directory, as `storage.store.Store` says it.

    A put is a rename over the old file, a creation is a link, a copy is a second link to the same
    file. The directories on the way are made.

    Parameters
    ----------
    place : the directory; it need not exist
    """

    __slots__ = ("_root", "place")

    def __init__(self, place: AnyPlace) -> None:
        self.place = Place.of(place)
        self._root = self.place.local

    def get(self, key: str = "") -> bytes:
        """Read a file, all of it at once: a buffer would cost two more calls of the system."""
        with (self._root / key).open("rb", buffering=0) as file:
            return file.readall()

    def put(self, key: str, content: bytes) -> None:
        """Replace a file, made in a hidden place beside it."""
        path = self._root / key
        disk.make_directory(path.parent)
        disk.replace_file(path, content)

    def create(self, key: str, content: bytes) -> bool:
        """Link a file that is whole under its name, which fails if the name is taken."""
        path = self._root / key
        disk.make_directory(path.parent)
        return disk.create_file(path, content)

    def list(self, prefix: str = "") -> list[str]:
        """List a directory."""
        try:
            return sorted(os.listdir(self._root / prefix))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def copy(self, key: str, target: Place) -> None:
        """Link a file under a second name, or copy it where the file system cannot."""
        source, path = _file_of(self._root / key), target.local
        with disk.explained(path, "The copy is not complete"):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(source, path)
            except OSError as error:
                if error.errno not in _CANNOT_LINK:
                    raise
                _copy_bytes(source, path)

    def delete(self, key: str = "") -> None:
        """Unlink a file."""
        (self._root / key).unlink(missing_ok=True)

    def has(self, key: str = "") -> bool:
        """Look for a file or directory."""
        return (self._root / key).exists()

    def walk(self, prefix: str = "") -> Iterator[str]:
        """Walk through a directory."""
        for directory, folders, names in os.walk(self._root / prefix):
            folders.sort()
            below = Path(directory).relative_to(self._root)
            yield from (str(below / name) for name in sorted(names))

    def size(self, key: str = "") -> int | None:
        """Ask for a file's size."""
        try:
            return (self._root / key).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None


def _file_of(path: Path) -> Path:
    """Return the file that a path leads to: a second name of a link would lead elsewhere."""
    if not path.is_symlink():
        return path
    file = Path(os.path.realpath(path))
    if not file.is_file():
        raise DamagedFile(
            f"{path} is a link to {os.readlink(path)}, where no file is, so a copy would have "
            "nothing. It was not copied. Put the file back, or restore a snapshot"
        )
    return file


def _copy_bytes(source: Path, path: Path) -> None:
    if path.exists():
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    hidden = disk.temporary_sibling(path)
    try:
        shutil.copyfile(source, hidden)
        hidden.rename(path)
    finally:
        hidden.unlink(missing_ok=True)
