"""The files of a checkpoint: only appended to, and a prefix of each is known to be on the disk."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

KINDS: Mapping[str, Any] = {
    "states": np.dtype("<u8"),
    "links": np.dtype("<u4"),
    "levels": np.dtype("<u8"),
}
"""What is kept of a partition, a file each, and what it consists of."""
CHUNK = 1 << 22
"""Bytes that are read at once."""
MANIFEST, TEMPORARY = "manifest.json", "manifest.json.new"
_OURS = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(TEMPORARY)}|\d+-\d+\.({'|'.join(KINDS)})")


@dataclass(frozen=True, slots=True)
class AppendedFile:
    """A file whose first bytes count; what lies behind them is of no account.

    Attributes
    ----------
    length : how many bytes count
    digest : of these bytes
    """

    path: Path
    length: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    @classmethod
    def prefix(cls, path: Path, length: int) -> AppendedFile:
        """Read the first bytes of a file; fewer, if there are not so many."""
        found, digest = 0, hashlib.sha256()
        if length > 0 and path.is_file():
            with path.open("rb") as file:
                while chunk := file.read(min(CHUNK, length - found)):
                    digest.update(chunk)
                    found += len(chunk)
        return cls(path, found, digest)

    def extended(self, content: memoryview) -> AppendedFile:
        """Write bytes behind those that count, through to the disk; give the longer file.

        May be repeated: the same bytes go to the same place.
        """
        if not content:
            return self
        digest = self.digest.copy()
        digest.update(content)
        self.path.touch()
        with self.path.open("r+b") as file:
            file.seek(self.length)
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        return AppendedFile(self.path, self.length + len(content), digest)

    def mapped(self, kind: str) -> NDArray[Any]:
        """Return what counts as an array, of which only what is looked at is read."""
        count = self.length // KINDS[kind].itemsize
        empty: NDArray[Any] = np.empty(0, KINDS[kind])
        return np.memmap(self.path, KINDS[kind], "r", shape=(count,)) if count else empty

    def truncate(self) -> None:
        """Cut off what does not count."""
        if self.path.exists():
            os.truncate(self.path, self.length)


Files: TypeAlias = Sequence[Mapping[str, AppendedFile]]
"""Per partition, a file of each kind."""


def new_files(directory: Path, generation: int, partitions: int) -> Files:
    """Name the files of a search that nothing is kept of yet."""
    return [
        {kind: AppendedFile(file_of(directory, generation, number, kind)) for kind in KINDS}
        for number in range(partitions)
    ]


def file_of(directory: Path, generation: int, number: int, kind: str) -> Path:
    """Name a partition's file."""
    return directory / f"{generation}-{number}.{kind}"


def is_ours(path: Path) -> bool:
    """Return whether a file of a directory belongs to a checkpoint."""
    return _OURS.fullmatch(path.name) is not None
