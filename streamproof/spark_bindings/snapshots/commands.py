"""What is asked of a pipeline's snapshots without a Spark session: list, show, take, remove."""

from __future__ import annotations

from pathlib import Path

from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import Snapshot
from streamproof.spark_bindings.names import (
    SnapshotId,
)
from streamproof.spark_bindings.snapshots.feeds import Feeds


def list_snapshots(path: Path | str) -> list[Snapshot]:
    """List a pipeline's snapshots, oldest first. Needs no Spark session.

    Raises
    ------
    NotAPipeline : if the directory is none

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> snapshot = take_snapshot("shop")
    >>> [(found.id, found.status.value) for found in list_snapshots("shop")]
    [('000001', 'requested')]
    """
    files = PipelineDirectory.at(path).snapshots
    return [files.read(name) for name in files.ids()]


def show_snapshot(path: Path | str, snapshot: str) -> Snapshot:
    """Read one snapshot of a pipeline. Needs no Spark session.

    Raises
    ------
    NotAPipeline : if the directory is none
    UnknownSnapshot : if it has no such snapshot

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> show_snapshot("shop", take_snapshot("shop")).completed_at is None
    True
    """
    return PipelineDirectory.at(path).snapshots.read(SnapshotId(snapshot))


def take_snapshot(path: Path | str) -> SnapshotId:
    """Begin a snapshot of a pipeline, as `Pipeline.snapshot` does. Needs no Spark session.

    Raises
    ------
    NotAPipeline : if the directory is none

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> take_snapshot("shop")
    '000001'
    """
    source = PipelineDirectory.at(path)
    feeds = _feeds(source)
    snapshot = feeds.request()
    feeds.initiate(snapshot)
    return snapshot


def _feeds(source: PipelineDirectory) -> Feeds:
    channels = {
        name: Channel(source.channel_place(name), name, pipeline=source.id)
        for name in source.wiring.sources
    }
    return Feeds(source, channels)


def remove_snapshot(path: Path | str, snapshot: str) -> None:
    """Remove what a snapshot keeps: it is abandoned from then on. May be repeated.

    Raises
    ------
    NotAPipeline : if the directory is none
    UnknownSnapshot : if it has no such snapshot

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> remove_snapshot("shop", take_snapshot("shop"))
    >>> [(found.status.value, found.reason) for found in list_snapshots("shop")]
    [('abandoned', 'it was removed')]
    """
    source, name = PipelineDirectory.at(path), SnapshotId(snapshot)
    if name in source.snapshots.unfinished():
        # Half begun, its processes would wait for the other half forever.
        _feeds(source).initiate(name)
    source.snapshots.remove(name)
