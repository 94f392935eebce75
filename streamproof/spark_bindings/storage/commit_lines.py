"""The lines of a Delta commit's file: what it says of itself, and whether all of it is there."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamproof.spark_bindings.storage.json_files import as_written
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.storage.trees import write_unsynced

FILES_KEY = "streamproof.files"
ROWS_KEY = "streamproof.rows"
TRANSACTIONS_KEY = "streamproof.transactions"
EMPTIED_KEY = "streamproof.emptied"
"""In a restored channel, a commit whose rows were left out says so;"""
VACUUMED_KEY = "streamproof.vacuumed"
"""and how many, if vacuum had removed them."""


def commit_actions(table: Place, version: int) -> Iterator[dict[str, Any]]:
    """Read the lines of a commit of any Delta table; none, if its log was cleaned up.

    Raises
    ------
    DamagedFile : if its file is no commit
    """
    file = commit_file(table, version)
    if store_at(file).has():
        with as_written(file):
            yield from actions_of(file)


def told_of(files: Sequence[int], transactions: int) -> dict[str, str]:
    """Return the seal of a commit's parts, by which one that was cut short is recognised.

    Parameters
    ----------
    files, transactions : the rows in each file that it adds, and how many applications it counts
    """
    numbers = {FILES_KEY: len(files), ROWS_KEY: sum(files), TRANSACTIONS_KEY: transactions}
    return {key: str(number) for key, number in numbers.items()}


def require_whole(information: Mapping[str, Any], actions: Sequence[Mapping[str, Any]]) -> None:
    """Check that a commit has what it says it has: the last of its lines may be lost.

    Raises
    ------
    LookupError : if it has not; 0.1.0 does not say what a commit has
    """
    added = [action["add"] for action in actions if "add" in action]
    files = [int(json.loads(add["stats"])["numRecords"]) for add in added if add["dataChange"]]
    found = told_of(files, sum("txn" in action for action in actions))
    for key, number in found.items():
        if information.get(key, number) != number:
            raise LookupError(f"it says {key}={information[key]}, and has {number}")


def copy_without_rows(commit: Place, target: Place, vacuumed: int = 0) -> None:
    """Write a commit's file anew, without the rows that it adds.

    Parameters
    ----------
    commit, target : the file, and the new one
    vacuumed : how many rows of it vacuum has removed, which who reads them is to be told
    """
    actions = list(actions_of(commit))
    kept = [action for action in actions if "add" not in action]
    emptied = {FILES_KEY: "0", ROWS_KEY: "0", EMPTIED_KEY: "true"}
    if vacuumed:
        emptied |= {VACUUMED_KEY: str(vacuumed)}
    for action in kept:
        if "commitInfo" in action and len(kept) < len(actions):
            action["commitInfo"] |= emptied
    write_unsynced(target, "".join(f"{json.dumps(action)}\n" for action in kept))


def actions_of(commit: Place) -> Iterator[dict[str, Any]]:
    """Read the lines of a commit's file."""
    for line in io.BytesIO(store_at(commit).get()):
        yield json.loads(line.decode())
