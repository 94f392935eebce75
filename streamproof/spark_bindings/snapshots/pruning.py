"""Pruning: the newest snapshots of a pipeline stay, what older ones keep goes."""

from __future__ import annotations

import re
from pathlib import Path

from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import SnapshotStatus
from streamproof.spark_bindings.names import SnapshotId
from streamproof.spark_bindings.snapshots.commands import remove_snapshot
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import remove, remove_at_once

_ID = re.compile(r"[0-9]{6}")
_DOOMED = re.compile(r"\.[0-9]{6}\.removed\.tmp")


def prune_snapshots(path: Path | str, keep: int) -> list[SnapshotId]:
    """Remove all snapshots but the newest complete ones, and those under way; give their ids.

    Rows that only a removed snapshot kept go with the next `vacuum`. May be called while the
    pipeline runs, and repeated after a crash. Needs no Spark session.

    Parameters
    ----------
    path : the pipeline's directory
    keep : how many complete ones stay, at least 1

    Raises
    ------
    WrongArgument : if none would stay
    NotAPipeline : if the directory is none

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> snapshot = shop.snapshot()
    >>> prune_snapshots("shop", keep=1)  # none is complete
    []
    """
    if isinstance(keep, bool) or not isinstance(keep, int) or keep < 1:
        raise WrongArgument(
            f"prune_snapshots was given keep={keep!r}. Without a complete snapshot there is "
            "nothing to restore. Nothing was removed. Keep at least 1, or remove each by its id"
        )
    directory = PipelineDirectory.at(path)
    found = [directory.snapshots.read(name) for name in directory.snapshots.ids()]
    complete = [each.id for each in found if each.status is SnapshotStatus.COMPLETE]
    oldest = complete[-keep] if len(complete) >= keep else None
    # One under way that is older than one that is complete will not be: its query is gone.
    removed = [
        each.id
        for each in found
        if each.status is not SnapshotStatus.ABANDONED and oldest is not None and each.id < oldest
    ]
    for name in removed:
        remove_snapshot(path, name)
    _forget(directory, oldest)
    return removed


def _forget(directory: PipelineDirectory, oldest: SnapshotId | None) -> None:
    """Delete the directories of removed snapshots, but the newest one's: it tells the next id."""
    snapshots = directory.snapshots
    ids = snapshots.ids()
    for name in ids[:-1]:
        if (oldest is None or name < oldest) and name not in snapshots.unfinished():
            # First what says that it was removed would go, else a half of it could be restored.
            remove_at_once(snapshots.place / name, snapshots.place / f".{name}.removed.tmp")
            for feed in store_at(directory.feeds).list():
                if store_at(directory.feeds).has(f"{feed}/{name}"):
                    remove(directory.feeds / feed / name)
    newest = ids[-1] if ids else None
    for part in store_at(snapshots.place).list():
        # A driver that repeats a batch may have made a part of one anew, without its request.
        is_part = _ID.fullmatch(part) and newest is not None and part < newest
        if (is_part and part not in ids) or _DOOMED.fullmatch(part):
            remove(snapshots.place / part)
