"""What the commits of a query to its Delta table are made of, and why one may be refused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction, RemoveAction

from streamproof.spark_bindings.data_files import Written
from streamproof.spark_bindings.errors import FencedDriver


def commit(
    table: DeltaTable,
    files: Iterable[Written],
    metadata: Mapping[str, str],
    transactions: Sequence[Transaction],
) -> None:
    """Commit files to a table on the handle as it was read last; no files are a commit too.

    Parameters
    ----------
    metadata : what the commit says of itself
    transactions : Delta refuses the commit if another one of these applications came in between

    Raises
    ------
    CommitFailedError : if it was refused; nothing was committed
    """
    properties = CommitProperties(
        custom_metadata=dict(metadata), app_transactions=list(transactions)
    )
    actions: list[AddAction | RemoveAction] = [
        add_action(file.path, file.size, file.rows) for file in files
    ]
    schema = table.schema()
    table.create_write_transaction(actions, "append", schema, commit_properties=properties)
    table.update_incremental()


def add_action(
    path: str, size: int, rows: int, partition: dict[str, str | None] | None = None
) -> AddAction:
    """Give the action that adds a file to a table.

    Parameters
    ----------
    path : of the file in the table's directory
    size : of the file in bytes
    rows : in it
    partition : per column that the table is partitioned by, its value in the file
    """
    statistics = json.dumps({"numRecords": rows})
    return AddAction(path, size, partition or {}, int(time.time() * 1000), True, statistics)


def fenced(query: str, batch: int, table: str, *, newest: int) -> FencedDriver:
    """Say that another driver has written this batch of a query, or a later one."""
    seen = "the same batch" if newest == batch else f"batch {newest}"
    return FencedDriver(
        f"{query} wanted to write batch {batch} to {table}, but {seen} of it was written by "
        "another driver. Two drivers run one query; nothing was written twice. Let the newer one "
        "run and end this process"
    )
