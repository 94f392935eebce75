"""Opening a Delta table whose log may have been damaged."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from streamproof.spark_bindings.errors import DamagedFile, first_line


def open_table(path: Path) -> DeltaTable:
    """Open a table that is there.

    Raises
    ------
    DamagedFile : if its log cannot be read, or lacks what was written there
    """
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


def _damaged(path: Path, what: str) -> DamagedFile:
    return DamagedFile(
        f"the log of the Delta table {path} is not what was written there ({what}), so what the "
        f"table holds is unknown. Nothing was changed. Restore {path / '_delta_log'} from a backup"
    )
