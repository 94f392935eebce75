"""Restoring a snapshot: a new pipeline whose queries and channels are exactly those of the cut.

Channels are cut behind the snapshot's marker and keep their positions, so that every query's
checkpoint still points to the right place. Data files and state files are linked, not copied, so
it takes little time and space, and neither pipeline can harm the other.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path

from deltalake import DeltaTable

from streamproof.spark_bindings.channel_log import ChannelLog, commit_file
from streamproof.spark_bindings.checkpoint import begin_new_life
from streamproof.spark_bindings.directory import PipelineDirectory, build_up
from streamproof.spark_bindings.durable import link_or_copy
from streamproof.spark_bindings.errors import AbandonedSnapshot, IncompleteSnapshot
from streamproof.spark_bindings.names import Position, SnapshotId
from streamproof.spark_bindings.snapshot import Snapshot, SnapshotStatus

_INDEX_COMMITS_MIN = 100  # from here on, opening a channel is slow without a Delta checkpoint


class Replay(Enum):
    """What a restored pipeline finds in its source channels behind the cut.

    ALL gives it everything that was fed since, to be processed again: what one wants after an
    error. NONE gives it nothing: its feeds go on from the cut.
    """

    ALL = "all"
    NONE = "none"


def list_snapshots(path: Path | str) -> list[Snapshot]:
    """List a pipeline's snapshots, oldest first. Needs no Spark session.

    Raises
    ------
    NotAPipeline : if the directory is none
    """
    files = PipelineDirectory.open(Path(path)).snapshots
    return [files.read(name) for name in files.ids()]


def show_snapshot(path: Path | str, snapshot: str) -> Snapshot:
    """Read one snapshot of a pipeline. Needs no Spark session.

    Raises
    ------
    NotAPipeline : if the directory is none
    UnknownSnapshot : if it has no such snapshot
    """
    return PipelineDirectory.open(Path(path)).snapshots.read(SnapshotId(snapshot))


def restore_snapshot(
    path: Path | str, snapshot: str, *, into: Path | str, replay: Replay = Replay.ALL
) -> Path:
    """Make a new pipeline from a snapshot; give its path. Needs no Spark session.

    The pipeline that the snapshot is of is not changed, and may be running.

    Raises
    ------
    NotAPipeline : if `path` is none
    UnknownSnapshot : if it has no such snapshot
    IncompleteSnapshot, AbandonedSnapshot : if the snapshot is not complete
    TargetNotEmpty : if there is something at `into`
    """
    source, target = PipelineDirectory.open(Path(path)), Path(into)
    found = source.snapshots.read(SnapshotId(snapshot))
    _require_complete(source, found)
    origin = {"pipeline": source.id, "snapshot": snapshot, "replay": replay.value}
    with build_up(target, source.wiring, origin) as place:
        for channel in source.wiring.channels:
            log = source.log(channel)
            until = found.markers[channel]
            if replay is Replay.ALL and channel in source.wiring.sources:
                until = log.last()
            _clone_channel(log, until, place / "channels" / channel)
        for query in source.wiring.queries:
            copy = source.snapshots.checkpoint(found.id, query)
            begin_new_life(copy, place / "queries" / query / "checkpoint")
    return target


def _require_complete(source: PipelineDirectory, found: Snapshot) -> None:
    if found.status is SnapshotStatus.ABANDONED:
        raise AbandonedSnapshot(
            f"snapshot {found.id} was abandoned: {found.reason}. It has no consistent state. "
            f"Choose another. Run: streamproof snapshot list {source.path}"
        )
    if found.status is SnapshotStatus.REQUESTED:
        waiting = [name for name in source.wiring.queries if name not in found.states]
        raise IncompleteSnapshot(
            f"snapshot {found.id} is not complete; queries that have not recorded: "
            f"{', '.join(waiting) or 'none, but channels are open'}. A part of a cut is no state "
            "of the pipeline. Start the pipeline and call await_snapshot, or choose another"
        )


def _clone_channel(log: ChannelLog, until: Position, target: Path) -> None:
    """Link a channel's commits up to a position, and the files that they name.

    Delta's own checkpoints are left out: they may be of later positions. A new one is made where
    the log is long.
    """
    link_or_copy(commit_file(log.path, Position(0)), commit_file(target, Position(0)))
    for entry in log.entries(Position(0), until):
        for file in entry.files:
            link_or_copy(log.path / file.path, target / file.path)
        link_or_copy(commit_file(log.path, entry.position), commit_file(target, entry.position))
    if until >= _INDEX_COMMITS_MIN:
        DeltaTable(target).create_checkpoint()
