"""Pruning: the newest snapshots of a pipeline stay, what older ones keep goes."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from streamproof.disk import move
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import SnapshotStatus
from streamproof.spark_bindings.names import SnapshotId
from streamproof.spark_bindings.snapshots.commands import remove_snapshot

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
            doomed = snapshots.path / f".{name}.removed.tmp"
            shutil.rmtree(doomed, ignore_errors=True)
            move(snapshots.path / name, doomed)
            shutil.rmtree(doomed, ignore_errors=True)
            for feed in directory.feeds.glob(f"*/{name}"):
                shutil.rmtree(feed, ignore_errors=True)
    if not snapshots.path.is_dir():
        return
    newest = ids[-1] if ids else None
    for place in snapshots.path.iterdir():
        # A driver that repeats a batch may have made a part of one anew, without its request.
        is_part = _ID.fullmatch(place.name) and newest is not None and place.name < newest
        if (is_part and place.name not in ids) or _DOOMED.fullmatch(place.name):
            shutil.rmtree(place, ignore_errors=True)
