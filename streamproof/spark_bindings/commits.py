"""What the commits of a query to its Delta table are made of, and why one may be refused."""

from __future__ import annotations

import json
import time

from deltalake.transaction import AddAction

from streamproof.spark_bindings.errors import FencedDriver


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
