"""Something of many files that gets its name in one step: readers see all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from shutil import rmtree

from streamproof.disk import DiskFailed, move, sync_directory, temporary_sibling
from streamproof.spark_bindings.storage.place import Place


def hidden_beside(target: Place) -> Place:
    """Return a hidden place beside another one, on the same file system, to build something in."""
    return Place(str(temporary_sibling(target.local)))


class Build:
    """A hidden place beside the target, while something is built there.

    Attributes
    ----------
    place : where to build
    is_named : it has its name; what failed since is that this outlives the power
    """

    def __init__(self, target: Place) -> None:
        self._target = target
        self.place = hidden_beside(target)
        self.is_named = False

    def name(self, target: Place | None = None, *, is_unseen: bool = False) -> bool:
        """Name it, durably; return whether it got the name: somebody may have been faster.

        What is in it has been synced before, by whoever wrote it.

        Parameters
        ----------
        target : its name, if that has changed since
        is_unseen : nobody looks for it before this call returns. It loses its name again if the
            disk does not take it, so that the call may be repeated

        Raises
        ------
        DiskFailed : if the disk did not take it
        OSError : if it cannot have the name, for another reason than that it is taken
        """
        named = (target or self._target).local
        try:
            move(self.place.local, named)
            self.is_named = True
            sync_directory(named.parent)
        except DiskFailed:
            if is_unseen and not self.place.local.exists():  # it has its name already
                move(named, self.place.local)
                self.is_named = False
            raise
        except OSError:
            if self.is_named or not named.exists():
                raise
            return False
        return True

    def discard(self) -> None:
        """Remove what was built, unless it has its name."""
        if not self.is_named:
            rmtree(self.place.local, ignore_errors=True)


@contextmanager
def building(target: Place) -> Iterator[Build]:
    """Return a hidden place to build something in; nothing is left of it unless it was named.

    Parameters
    ----------
    target : the name that it is to have
    """
    build = Build(target)
    try:
        yield build
    finally:
        build.discard()
