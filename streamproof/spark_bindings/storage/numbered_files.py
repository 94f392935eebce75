"""Directories of numbered files: one for each step, turn, batch or commit."""

from __future__ import annotations

import os
from pathlib import Path


class NumberedFiles:
    """The files of a directory whose names are a number and an ending.

    Parameters
    ----------
    path : the directory; it need not exist
    ending : of the names
    """

    def __init__(self, path: Path, ending: str = ".json") -> None:
        self.path, self._ending = path, ending

    def numbers(self) -> list[int]:
        """Return the numbers of the files, in order; none if there is no directory."""
        try:
            names = os.listdir(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return []
        stems = (name.removesuffix(self._ending) for name in names if name.endswith(self._ending))
        return sorted(int(stem) for stem in stems if stem.isdigit())

    def newest(self) -> int | None:
        """Return the largest number; None if there is no file."""
        return max(self.numbers(), default=None)

    def file(self, number: int) -> Path:
        """Name the file of a number."""
        return self.path / f"{number}{self._ending}"

    def remove(self, number: int) -> None:
        """Remove a file. May be repeated."""
        self.file(number).unlink(missing_ok=True)
