"""A channel's log without the commits that nobody needs: positions stay, files go.

Each commit is a file, so a channel would have millions of them after a week. What is taken away
are the commits up to a *floor*, behind which all readers and snapshots are; what they said that
still counts stands in a note: how many rows there were, and which transactions. Delta reads its
own checkpoint of the log in their place. Commit 0, which says what the table is, stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from streamproof.disk import explained
from streamproof.spark_bindings.channels.channel_log import (
    FLOOR_FILE,
    ChannelLog,
    committed_positions,
)
from streamproof.spark_bindings.channels.writers import tidying
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.builds import building
from streamproof.spark_bindings.storage.commit_lines import actions_of
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.json_files import read_json, write_json
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import Store, store_at
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.storage.trees import (
    make_unsynced,
    move,
    sync_content,
    sync_everything,
    sync_names,
    write_unsynced,
)

_CHECKPOINT = re.compile(r"[0-9].*\.checkpoint\.parquet")
_UNFINISHED = re.compile(r"_commit_.*\.json\.tmp")  # of a commit of Delta, which was killed
_HINT = "_last_checkpoint"  # of Delta: which checkpoint is the newest
COMPACTED_MIN = 100
"""Fewer commits are not worth a checkpoint of the log."""


def compact(log: ChannelLog, floor: Position) -> int:
    """Take away the commits up to a position; give how many. May be repeated after a crash.

    Parameters
    ----------
    log : of the channel
    floor : nobody will read a commit up to here, nor look for a marker there
    """
    before = log.floor()
    floor = max(floor, before)
    if floor - before >= COMPACTED_MIN:
        note = _note(log, before, floor)
        sync_everything()  # what the readers have acknowledged, too: Spark syncs nothing
        _checkpoint(log.place)
    else:
        note, floor = None, before
    gone = [number for number in committed_positions(log.place) if 0 < number <= floor]
    if not gone:
        return 0
    with tidying(log.place) as is_alone:
        if not is_alone:
            return 0
        if note is not None:
            reached(RaceFailpoint.LOG_INDEXED, log.place.name)
            # Readers and writers look there when they miss a commit.
            write_json(log.place / FLOOR_FILE, note)
        for number in gone:
            store_at(commit_file(log.place, number)).delete()
        reached(RaceFailpoint.COMMITS_REMOVED, log.place.name)
        _remove_old_checkpoints(log.place)
    return len(gone)


def copy_floor(log: ChannelLog, target: Place) -> None:
    """Carry what this channel's log has compacted over to a copy whose commit 0 is there.

    What its commits had added is left out: vacuum had removed it.

    Parameters
    ----------
    log, target : of the channel, and the directory of its copy
    """
    note = read_json(log.place / FLOOR_FILE, floor=int, rows=int, transactions=dict)
    if note is None:
        return
    with building(target / "log") as build:
        base = commit_file(build.place, Position(0))
        make_unsynced(base.parent)
        counts = (
            json.dumps({"txn": {"appId": application, "version": version}}) + "\n"
            for application, version in note["transactions"].items()
        )
        first = store_at(commit_file(target, Position(0))).get().decode()
        write_unsynced(base, "".join([first, *counts]))
        # Delta makes the file: a checkpoint does not say of which version it is.
        open_table(build.place).create_checkpoint()
        said = json.loads(store_at(base.parent).get(_HINT).decode())
        floor, log_of_copy = note["floor"], target / "_delta_log"
        made = base.parent / f"{0:020d}.checkpoint.parquet"
        move(made, log_of_copy / f"{floor:020d}.checkpoint.parquet")
        write_json(log_of_copy / _HINT, {**said, "version": floor})
    write_json(target / FLOOR_FILE, note)


def _note(log: ChannelLog, before: Position, floor: Position) -> dict[str, Any]:
    """Return what still counts of the commits up to a floor."""
    note = read_json(log.place / FLOOR_FILE, floor=int, rows=int, transactions=dict)
    rows = 0 if note is None else note["rows"]
    transactions: dict[str, int] = {} if note is None else dict(note["transactions"])
    for entry in log.entries(before, floor):
        rows += entry.rows
        for application, version in _transactions(commit_file(log.place, entry.position)):
            transactions[application] = max(version, transactions.get(application, version))
    return {"floor": floor, "rows": rows, "transactions": transactions}


def _transactions(commit: Place) -> Iterable[tuple[str, int]]:
    for action in actions_of(commit):
        if "txn" in action:
            yield action["txn"]["appId"], action["txn"]["version"]


def _checkpoint(channel: Place) -> None:
    """Make a checkpoint of the log, through to the disk, before what it stands for is taken away.

    Delta would write it and the hint to it in one go: a crash could leave the hint alone, and then
    nobody could read the table. So it is made in a copy, and each comes when the other is there.
    """
    log = store_at(channel / "_delta_log")
    with building(channel / "log") as build, explained(channel, "No commit was taken away"):
        copy = build.place / "_delta_log"
        make_unsynced(copy)
        newest = max(committed_positions(channel), default=0)
        for name in log.list():
            # One of the newest commit may be there, from a try that failed before the hint.
            is_made_anew = name == f"{newest:020d}.checkpoint.parquet"
            if name.endswith((".json", ".parquet")) and not is_made_anew:
                log.copy(name, copy / name)
        open_table(build.place).create_checkpoint()
        made = _checkpoints(store_at(copy))[-1]
        for name in (made, _HINT):
            sync_content(copy / name)
            move(copy / name, log.place / name)
            sync_names(log.place)


def _remove_old_checkpoints(channel: Place) -> None:
    log = store_at(channel / "_delta_log")
    for newest in _checkpoints(log)[-1:]:
        # A commit may have made it meanwhile, and Delta syncs nothing.
        sync_content(log.place / newest)
    sync_names(log.place)
    for name in (*_checkpoints(log)[:-1], *filter(_UNFINISHED.fullmatch, log.list())):
        log.delete(name)


def _checkpoints(log: Store) -> list[str]:
    return list(filter(_CHECKPOINT.fullmatch, log.list()))
