"""What the commits of a query to its Delta table are made of, and why one may be refused."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction

from streamproof.disk import explained
from streamproof.spark_bindings.channels.channel_log import COMMIT_KEY, ChannelLog
from streamproof.spark_bindings.channels.writers import writing
from streamproof.spark_bindings.errors import FencedDriver, NotAppended
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.commit_lines import told_of
from streamproof.spark_bindings.storage.delta_tables import refresh
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.storage.parquet_files import Written
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.storage.trees import sync_names

ATTEMPTS_MAX = 20
_PAUSE_SECONDS = 0.01


def commit(
    table: DeltaTable,
    place: Place,
    files: Sequence[Written],
    metadata: Mapping[str, str],
    transactions: Sequence[Transaction],
) -> Position:
    """Commit files to a channel on the handle as it was read last; give the commit's position.

    No files are a commit too. Where others commit at the same time, it is tried again. By its name,
    a commit that took the place of a lost one can be told from that one; by the numbers of what it
    holds, one that was cut short.

    The files' names are on the disk before it; that the commit itself is, its caller sees to.

    Parameters
    ----------
    table, place : the handle, and the channel's directory
    files : that are there already
    metadata : what the commit says of itself
    transactions : it is refused if another one of these applications came in between

    Raises
    ------
    CommitFailedError : if it was refused; nothing was committed
    NotAppended : if others were faster each time; nothing was committed
    DiskFailed : if the disk did not take it; nothing was committed
    """
    name = uuid.uuid4().hex
    told = {
        FORMAT_KEY: str(FORMAT),
        COMMIT_KEY: name,
        **told_of([file.rows for file in files], len(transactions)),
        **metadata,
    }
    properties = CommitProperties(custom_metadata=told, app_transactions=list(transactions))
    actions: list[AddAction | RemoveAction] = [
        add_action(file.path, file.size, file.rows) for file in files
    ]
    if actions:
        sync_names(place)
    seen = _versions(table, transactions)
    for pause_seconds in pauses():
        with writing(place):
            if table.version() < ChannelLog(place, "").floor():
                # Its next commits were compacted away. Delta would take the place of the first.
                refresh(table, place)
                _require_unchanged(table, transactions, seen)
            before = table.version()
            try:
                with explained(place, "Nothing was committed"):
                    reached(RaceFailpoint.COMMIT_TRIED, place.name)
                    table.create_write_transaction(
                        actions, "append", table.schema(), commit_properties=properties
                    )
            except Exception as error:
                # What Delta does behind a commit can fail, too. Who repeated it would double rows.
                position = _position(place, before, name)
                if position is None and not isinstance(error, CommitFailedError):
                    raise
            else:
                position = _position(place, before, name)
                assert position is not None  # it was committed
        if position is not None:
            with suppress(DeltaError, OSError):  # whatever reads the handle updates it first
                table.update_incremental()
            return position
        refresh(table, place)
        _require_unchanged(table, transactions, seen)
        time.sleep(pause_seconds)
    raise not_appended(f"channel {place.name!r}")


def _require_unchanged(
    table: DeltaTable, transactions: Sequence[Transaction], seen: list[int | None]
) -> None:
    """Refuse a commit if another one of its applications came in between."""
    if _versions(table, transactions) != seen:
        raise CommitFailedError(f"one of {[each.app_id for each in transactions]} has committed")


def pauses() -> Iterator[float]:
    """Yield how long to wait before each further try, in seconds; there are so many tries.

    Delta itself has tried some times in each of them. Writers that wait for different times do not
    meet again.
    """
    for number in range(ATTEMPTS_MAX):
        yield random.uniform(0.0, _PAUSE_SECONDS * 2 ** min(number, 5))  # noqa: S311 - no secret


def not_appended(table: str) -> NotAppended:
    """Return the error of a commit that lost against others at each try."""
    return NotAppended(
        f"others committed to {table} each of the {ATTEMPTS_MAX} times that a commit was tried. "
        "Nothing was appended, so it may be repeated. Append more rows at once, from fewer "
        "processes"
    )


def _versions(table: DeltaTable, transactions: Sequence[Transaction]) -> list[int | None]:
    return [table.transaction_version(each.app_id) for each in transactions]


def _position(place: Place, after: int, name: str) -> Position | None:
    """Find the commit of a name: others may have committed since."""
    for number in count(after + 1):
        file = store_at(commit_file(place, Position(number)))
        if not file.has():
            return None
        if name.encode() in file.get():
            return Position(number)
    raise AssertionError("a count has no end")


def add_action(
    path: str, size: int, rows: int, partition: dict[str, str | None] | None = None
) -> AddAction:
    """Return the action that adds a file to a table.

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
    """Return the error of a batch that another driver has written, or a later one."""
    seen = "the same batch" if newest == batch else f"batch {newest}"
    return FencedDriver(
        f"{query} wanted to write batch {batch} to {table}, but {seen} of it was written by "
        "another driver. Two drivers run one query; nothing was written twice. Let the newer one "
        "run and end this process"
    )
