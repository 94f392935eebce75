"""What others have committed to a query's table: what leaves its rows alone, and what does not.

Delta counts the batches of a query, and goes on counting them where RESTORE has taken their rows
away, or DELETE and UPDATE have changed them. So the commits behind the query's newest one are
looked at. OPTIMIZE and VACUUM say of themselves that they change no data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from streamproof.spark_bindings.storage.commit_lines import commit_actions
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import commit_file

_Files: TypeAlias = Counter[tuple[str, str]]
"""Of a file and its deletion vector: 1, if it has come since a version, and -1, if it has gone."""


@dataclass(frozen=True, slots=True)
class ForeignChange:
    """A commit by somebody else that has changed rows.

    Attributes
    ----------
    version, operation : which one, and what it says that it is
    right : the newest version that has the query's rows as it wrote them; None if the log does not
        tell it any more
    """

    version: int
    operation: str
    right: int | None


class ForeignCommits:
    """Looks at the commits that a table got behind the newest one of its query.

    Parameters
    ----------
    table : its directory
    """

    def __init__(self, table: Place) -> None:
        self._table = table
        self._seen, self._said = -1, b""

    def is_replaced(self) -> bool:
        """Return whether the newest accepted commit is gone, or another is in its place."""
        return self._seen >= 0 and self._text(self._seen) != self._said

    def accept(self, version: int) -> None:
        """Take the table as it is at a version; what comes behind it is looked at."""
        self._seen, self._said = version, self._text(version)

    def find_change(self, version: int, owner: str) -> ForeignChange | None:
        """Look for a change up to a version; accept the version if there is none.

        A change that was taken back is none: the table has the files of an earlier version.

        Parameters
        ----------
        version, owner : of the table as it was read, and the query's life

        Raises
        ------
        DamagedFile : if a commit cannot be read
        """
        if version == self._seen:
            return None
        own, behind = self._behind(version, owner)
        files: _Files = Counter()
        right = {_changed(files)}
        last, change = own, None
        for number, actions in behind:
            files.update(_added(actions))
            files.subtract(_removed(actions))
            if change is None and not _changes_rows(actions):
                right.add(_changed(files))
            if _changed(files) in right:
                last, change = number, None
            elif change is None:
                change = ForeignChange(number, _operation(actions), last)
        if change is None:
            self.accept(version)
        return change

    def _behind(
        self, version: int, owner: str
    ) -> tuple[int | None, list[tuple[int, list[dict[str, Any]]]]]:
        """Find the newest version that is right, and the commits behind it.

        It is the query's newest commit, or what was accepted; None if the log was cleaned up.
        """
        behind: list[tuple[int, list[dict[str, Any]]]] = []
        for number in range(version, -1, -1):
            actions = list(commit_actions(self._table, number))
            is_own = any(action.get("txn", {}).get("appId") == owner for action in actions)
            if is_own or number == self._seen:
                return number, behind[::-1]
            if not actions:
                break
            behind.append((number, actions))
        return None, behind[::-1]

    def _text(self, version: int) -> bytes:
        file = store_at(commit_file(self._table, version))
        return file.get() if file.has() else b""


def _changed(files: _Files) -> frozenset[tuple[tuple[str, str], int]]:
    return frozenset((file, number) for file, number in files.items() if number)


def _added(actions: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [_file(action["add"]) for action in actions if "add" in action]


def _removed(actions: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [_file(action["remove"]) for action in actions if "remove" in action]


def _file(said: Mapping[str, Any]) -> tuple[str, str]:
    return said["path"], str(said.get("deletionVector") or "")


def _changes_rows(actions: Sequence[Mapping[str, Any]]) -> bool:
    files = (action.get("add") or action.get("remove") or {} for action in actions)
    return any(said.get("dataChange", bool(said)) for said in files)


def _operation(actions: Sequence[Mapping[str, Any]]) -> str:
    said = [action["commitInfo"] for action in actions if "commitInfo" in action]
    return str(said[0].get("operation", "commit")) if said else "commit"
