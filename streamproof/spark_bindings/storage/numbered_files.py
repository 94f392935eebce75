"""Directories of numbered files: one for each step, turn, batch or commit."""

from __future__ import annotations

from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at


class NumberedFiles:
    """The files of a directory whose names are a number and an ending.

    Parameters
    ----------
    place : the directory; it need not exist
    ending : of the names
    """

    def __init__(self, place: AnyPlace, ending: str = ".json") -> None:
        self.place, self._ending = Place.of(place), ending
        self._store = store_at(self.place)

    def numbers(self) -> list[int]:
        """Return the numbers of the files, in order; none if there is no directory."""
        names = self._store.list()
        stems = (name.removesuffix(self._ending) for name in names if name.endswith(self._ending))
        return sorted(int(stem) for stem in stems if stem.isdigit())

    def newest(self) -> int | None:
        """Return the largest number; None if there is no file."""
        return max(self.numbers(), default=None)

    def file(self, number: int) -> Place:
        """Name the file of a number."""
        return self.place / self._name(number)

    def remove(self, number: int) -> None:
        """Remove a file. May be repeated."""
        self._store.delete(self._name(number))

    def _name(self, number: int) -> str:
        return f"{number}{self._ending}"
