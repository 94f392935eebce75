"""Which commits of a Delta table are on the disk: Delta itself leaves that to the system.

A commit is seen by all once it is linked, and may be lost with the power for some seconds more. So
whoever goes on from a commit, its own or another's, syncs it first.
"""

from __future__ import annotations

from itertools import takewhile

from streamproof.disk import DiskFailed
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import sync_files


def commit_file(table: Place, version: int) -> Place:
    """Name the file of a commit in a Delta log."""
    return table / f"_delta_log/{version:020d}.json"


class SyncedCommits:
    """The commits of a table that this process knows to be on the disk. For any thread.

    Parameters
    ----------
    table : its directory
    """

    def __init__(self, table: Place) -> None:
        self._table, self._until = table, -1

    def sync(self, until: int) -> None:
        """See to it that all commits up to a version are on the disk. May be repeated.

        Raises
        ------
        DiskFailed : if the disk did not take one
        """
        numbers = range(until, self._until, -1)
        files = (commit_file(self._table, number) for number in numbers)
        try:
            sync_files(takewhile(_is_there, files))  # older ones may have been compacted
        except DiskFailed as error:
            raise DiskFailed(
                f"commits {self._until + 1} to {until} of {self._table} are there, but may be lost "
                f"with the power: {error}. What was committed counts, so do not commit it anew "
                "without an identity: rows would be there twice",
                error.errno,
            ) from error
        self._until = max(self._until, until)


def _is_there(file: Place) -> bool:
    return store_at(file).has()
