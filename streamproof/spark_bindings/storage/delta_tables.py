"""Delta tables whose log may have been damaged: opened, and created so that it is not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable
from deltalake.exceptions import DeltaError

from streamproof.disk import explained
from streamproof.spark_bindings.errors import ChannelDamaged, DamagedFile, WrongArgument, first_line
from streamproof.spark_bindings.storage.builds import building
from streamproof.spark_bindings.storage.forks import note_opened, require_no_fork
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.storage.trees import (
    is_directory,
    make_directory,
    sync_below,
    sync_names,
)


def open_table(place: Place) -> DeltaTable:
    """Open a table that is there.

    Raises
    ------
    DamagedFile : if its log cannot be read, or lacks what was written there
    ForkedProcess : if this process was forked from one that has opened a table
    """
    require_no_fork()
    note_opened()
    log = store_at(place / "_delta_log")
    # A machine that lost its power may leave a file without what was in it. Delta would read that
    # as a commit which says nothing.
    empty = [name for name in log.list() if name.endswith(".json") and log.size(name) == 0]
    if empty:
        raise _damaged(place, f"{empty[0]} is empty")
    uri, options = place.for_delta()
    try:
        return DeltaTable(uri, storage_options=options)
    except DeltaError as error:
        raise _damaged(place, first_line(error)) from error


def is_table(place: Place) -> bool:
    """Report whether there is a table."""
    uri, options = place.for_delta()
    return is_directory(place) and DeltaTable.is_deltatable(uri, storage_options=options)


def new_table(place: Place, schema: pa.Schema, **more: Any) -> None:
    """Let Delta make a table, of which the first commit says its format, as the others do.

    Parameters
    ----------
    place, schema, more : where, and what Delta receives
    """
    said = CommitProperties(custom_metadata={FORMAT_KEY: str(FORMAT)})
    uri, options = place.for_delta()
    DeltaTable.create(uri, schema=schema, commit_properties=said, storage_options=options, **more)


def create_table(place: Place, schema: pa.Schema, partition_by: Sequence[str]) -> None:
    """Create a table, if it is not there; after a crash it is there whole, or not at all.

    Raises
    ------
    DiskFailed : if the disk did not take it
    WrongArgument : if a file is there
    """
    require_no_fork()
    note_opened()
    place = Place(str(place.local.resolve()))  # a directory takes the place of no link
    if store_at(place).has() and not is_directory(place):
        raise WrongArgument(
            f"{place} is a file, and no directory, so no table can be there. Nothing was written. "
            "Name a directory that does not exist yet"
        )
    make_directory(place.parent)
    if store_at(place).list():  # it is created among the files that are there
        _create_inside(place, schema, partition_by)
        return
    with building(place) as build:
        try:
            with explained(place, "No table was created"):
                new_table(build.place, schema, partition_by=list(partition_by))
                sync_below(build.place)
                is_made = build.name()  # onto nothing, or onto an empty directory
            if not is_made and not is_table(place):
                _create_inside(place, schema, partition_by)
        except OSError:
            if build.is_named or not is_table(place):  # else somebody was faster
                raise
            is_made = False
    if not is_made:
        sync_names(place.parent)


def _create_inside(place: Place, schema: pa.Schema, partition_by: Sequence[str]) -> None:
    """Create a table in a directory that stays, such as one where a volume is mounted."""
    new_table(place, schema, partition_by=list(partition_by), mode="ignore")
    sync_below(place)


def refresh(table: DeltaTable, place: Place) -> None:
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
            f"{place} is no longer the table that was opened there: its log ends ahead of version "
            f"{table.version()}, which was read. Another pipeline was put in its place, or commits "
            "were lost. Nothing was written. Open the pipeline anew: Pipeline(path, ...)"
        ) from error


_IS_OLDER = "is older than the existing snapshot version"


def _damaged(place: Place, what: str) -> DamagedFile:
    log = place / "_delta_log"
    newest = commit_file(place, NumberedFiles(log).newest() or 0)
    way_out = f"Restore {log} from a backup"
    if newest.name > commit_file(place, 0).name and _is_cut(newest):
        # Whoever goes on from a commit, or says that it is there, has synced it.
        way_out = (
            f"If the machine lost its power as its newest commit was written, nobody was told of "
            f"that commit: then delete {newest} and go on. Else restore {log} from a backup"
        )
    return DamagedFile(
        f"the log of the Delta table {place} is not what was written there ({what}), so what the "
        f"table holds is unknown. Nothing was changed. {way_out}"
    )


def _is_cut(commit: Place) -> bool:
    try:
        lines = store_at(commit).get().decode().splitlines()
        said = [json.loads(line) for line in lines]
    except ValueError:
        return True
    return not any("commitInfo" in action for action in said)
