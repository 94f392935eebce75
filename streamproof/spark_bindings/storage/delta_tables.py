"""Delta tables whose log may have been damaged: opened, and created so that it is not."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import DeltaError

from streamproof.disk import (
    explained,
    make_directory,
    move,
    sync_directory,
    sync_tree,
    temporary_sibling,
)
from streamproof.spark_bindings.errors import ChannelDamaged, DamagedFile, first_line
from streamproof.spark_bindings.storage.forks import note_opened, require_no_fork
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.synced_commits import commit_file


def open_table(path: Path) -> DeltaTable:
    """Open a table that is there.

    Raises
    ------
    DamagedFile : if its log cannot be read, or lacks what was written there
    ForkedProcess : if this process was forked from one that has opened a table
    """
    require_no_fork()
    note_opened()
    log = path / "_delta_log"
    # A machine that lost its power may leave a file without what was in it. Delta would read that
    # as a commit which says nothing.
    empty = sorted(file.name for file in log.glob("*.json") if file.stat().st_size == 0)
    if empty:
        raise _damaged(path, f"{empty[0]} is empty")
    try:
        return DeltaTable(path)
    except DeltaError as error:
        raise _damaged(path, first_line(error)) from error


def new_table(path: Path, schema: pa.Schema, **more: Any) -> None:
    """Let Delta make a table, of which the first commit says its format, as the others do.

    Parameters
    ----------
    path, schema, more : what Delta receives
    """
    said = CommitProperties(custom_metadata={FORMAT_KEY: str(FORMAT)})
    DeltaTable.create(path, schema=schema, commit_properties=said, **more)


def create_table(path: Path, schema: pa.Schema, partition_by: Sequence[str]) -> None:
    """Create a table, if it is not there; after a crash it is there whole, or not at all.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    require_no_fork()
    note_opened()
    path = path.resolve()  # a directory takes the place of no link
    make_directory(path.parent)
    if path.exists() and any(path.iterdir()):  # it is created among the files that are there
        new_table(path, schema, partition_by=list(partition_by), mode="ignore")
        sync_tree(path)
        return
    place = temporary_sibling(path)
    try:
        with explained(path, "No table was created"):
            new_table(place, schema, partition_by=list(partition_by))
            sync_tree(place)
            move(place, path)  # onto nothing, or onto an empty directory
    except OSError:
        if not DeltaTable.is_deltatable(str(path)):  # else somebody was faster
            raise
    finally:
        shutil.rmtree(place, ignore_errors=True)
    sync_directory(path.parent)


def refresh(table: DeltaTable, path: Path) -> None:
    """Read what was committed to a table since it was read last.

    Raises
    ------
    ChannelDamaged : if the table was replaced by another one, or has lost commits
    """
    try:
        table.update_incremental()
    except DeltaError as error:
        if _IS_OLDER not in str(error):
            raise
        raise ChannelDamaged(
            f"{path} is no longer the table that was opened there: its log ends ahead of version "
            f"{table.version()}, which was read. Another pipeline was put in its place, or commits "
            "were lost. Nothing was written. Open the pipeline anew: Pipeline(path, ...)"
        ) from error


_IS_OLDER = "is older than the existing snapshot version"


def _damaged(path: Path, what: str) -> DamagedFile:
    log = path / "_delta_log"
    newest = commit_file(path, NumberedFiles(log).newest() or 0)
    way_out = f"Restore {log} from a backup"
    if newest.name > commit_file(path, 0).name and _is_cut(newest):
        # Whoever goes on from a commit, or says that it is there, has synced it.
        way_out = (
            f"If the machine lost its power as its newest commit was written, nobody was told of "
            f"that commit: then delete {newest} and go on. Else restore {log} from a backup"
        )
    return DamagedFile(
        f"the log of the Delta table {path} is not what was written there ({what}), so what the "
        f"table holds is unknown. Nothing was changed. {way_out}"
    )


def _is_cut(commit: Path) -> bool:
    try:
        lines = commit.read_text(encoding="utf-8").splitlines()
        said = [json.loads(line) for line in lines]
    except ValueError:
        return True
    return not any("commitInfo" in action for action in said)
