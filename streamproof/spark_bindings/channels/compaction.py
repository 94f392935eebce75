"""A channel's log without the commits that nobody needs: positions stay, files go.

Each commit is a file, so a channel would have millions of them after a week. What is taken away
are the commits up to a *floor*, behind which all readers and snapshots are; what they said that
still counts stands in a note: how many rows there were, and which transactions. Delta reads its
own checkpoint of the log in their place. Commit 0, which says what the table is, stays.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deltalake import DeltaTable

from streamproof.disk import (
    explained,
    move,
    sync_directory,
    sync_everything,
    sync_file,
    temporary_sibling,
)
from streamproof.spark_bindings.channels.channel_log import (
    FLOOR_FILE,
    ChannelLog,
    committed_positions,
)
from streamproof.spark_bindings.channels.writers import tidying
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.json_files import link_or_copy, read_json, write_json
from streamproof.spark_bindings.storage.synced_commits import commit_file

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
        _checkpoint(log.path)
    else:
        note, floor = None, before
    gone = [number for number in committed_positions(log.path) if 0 < number <= floor]
    if not gone:
        return 0
    with tidying(log.path) as is_alone:
        if not is_alone:
            return 0
        if note is not None:
            # Readers and writers look there when they miss a commit.
            write_json(log.path / FLOOR_FILE, note)
        for number in gone:
            commit_file(log.path, number).unlink(missing_ok=True)
        _remove_old_checkpoints(log.path)
    return len(gone)


def copy_floor(log: ChannelLog, target: Path) -> None:
    """Give a copy of a channel, whose commit 0 is there, what this one's log has compacted.

    What its commits had added is left out: vacuum had removed it.

    Parameters
    ----------
    log, target : of the channel, and the directory of its copy
    """
    note = read_json(log.path / FLOOR_FILE, floor=int, rows=int, transactions=dict)
    if note is None:
        return
    # Delta makes the file: a checkpoint does not say of which version it is.
    place = temporary_sibling(target / "log")
    base = commit_file(place, Position(0))
    base.parent.mkdir(parents=True)
    try:
        shutil.copyfile(commit_file(target, Position(0)), base)
        with base.open("a", encoding="utf-8") as file:
            for application, version in note["transactions"].items():
                file.write(json.dumps({"txn": {"appId": application, "version": version}}) + "\n")
        DeltaTable(place).create_checkpoint()
        said = json.loads((base.parent / _HINT).read_text(encoding="utf-8"))
        made = base.parent / f"{0:020d}.checkpoint.parquet"
        floor = note["floor"]
        move(made, target / "_delta_log" / f"{floor:020d}.checkpoint.parquet")
        write_json(target / "_delta_log" / _HINT, {**said, "version": floor})
    finally:
        shutil.rmtree(place, ignore_errors=True)
    write_json(target / FLOOR_FILE, note)


def _note(log: ChannelLog, before: Position, floor: Position) -> dict[str, Any]:
    """Say what still counts of the commits up to a floor."""
    note = read_json(log.path / FLOOR_FILE, floor=int, rows=int, transactions=dict)
    rows = 0 if note is None else note["rows"]
    transactions: dict[str, int] = {} if note is None else dict(note["transactions"])
    for entry in log.entries(before, floor):
        rows += entry.rows
        for application, version in _transactions(commit_file(log.path, entry.position)):
            transactions[application] = max(version, transactions.get(application, version))
    return {"floor": floor, "rows": rows, "transactions": transactions}


def _transactions(commit: Path) -> Iterable[tuple[str, int]]:
    for line in commit.read_text(encoding="utf-8").splitlines():
        action = json.loads(line)
        if "txn" in action:
            yield action["txn"]["appId"], action["txn"]["version"]


def _checkpoint(channel: Path) -> None:
    """Make a checkpoint of the log, through to the disk, before what it stands for is taken away.

    Delta would write it and the hint to it in one go: a crash could leave the hint alone, and then
    nobody could read the table. So it is made in a copy, and each comes when the other is there.
    """
    log, place = channel / "_delta_log", temporary_sibling(channel / "log")
    copy = place / "_delta_log"
    try:
        with explained(channel, "No commit was taken away"):
            copy.mkdir(parents=True)
            newest = max(committed_positions(channel), default=0)
            for file in log.iterdir():
                # One of the newest commit may be there, from a try that failed before the hint.
                is_made_anew = file.name == f"{newest:020d}.checkpoint.parquet"
                if file.suffix in (".json", ".parquet") and not is_made_anew:
                    link_or_copy(file, copy / file.name)
            open_table(place).create_checkpoint()
            made = _checkpoints(copy)[-1]
            for file in (made, copy / _HINT):
                sync_file(file)
                move(file, log / file.name)
                sync_directory(log)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _remove_old_checkpoints(channel: Path) -> None:
    log = channel / "_delta_log"
    for newest in _checkpoints(log)[-1:]:
        sync_file(newest)  # a commit may have made it meanwhile, and Delta syncs nothing
    sync_directory(log)
    for file in (*_checkpoints(log)[:-1], *log.glob("_commit_*.json.tmp")):
        file.unlink(missing_ok=True)


def _checkpoints(log: Path) -> list[Path]:
    return sorted(log.glob("[0-9]*.checkpoint.parquet"))
