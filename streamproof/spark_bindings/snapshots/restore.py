"""Restoring a snapshot: a new pipeline whose queries and channels are exactly those of the cut.

Channels are cut behind the snapshot's marker and keep their positions, so that every query's
checkpoint still points to the right place. Data files and state files are linked, not copied, so
it takes little time and space, and neither pipeline can harm the other.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from streamproof.spark_bindings.arguments import member_of
from streamproof.spark_bindings.channels.channel_log import (
    RETENTION_FILE,
    ChannelLog,
    Entry,
)
from streamproof.spark_bindings.channels.compaction import copy_floor
from streamproof.spark_bindings.checkpoints.checkpoint import begin_new_life
from streamproof.spark_bindings.checkpoints.input_sources import INPUTS_FILE
from streamproof.spark_bindings.checkpoints.state_plan import (
    STATE_PLAN_FILE,
    notes_several_watermarks,
)
from streamproof.spark_bindings.errors import (
    AbandonedSnapshot,
    ChannelDamaged,
    IncompleteSnapshot,
    ReplayedFreely,
)
from streamproof.spark_bindings.layout.directory import (
    PipelineDirectory,
    build_up,
    named_place,
    new_identity,
)
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory
from streamproof.spark_bindings.layout.snapshot_files import Snapshot, SnapshotStatus
from streamproof.spark_bindings.names import (
    ChannelName,
    Lane,
    PairId,
    Position,
    QueryName,
    SnapshotId,
    lanes_of,
)
from streamproof.spark_bindings.snapshots.cuts import cut_of, require_recorded
from streamproof.spark_bindings.snapshots.rerun_notes import Restored, note_reruns
from streamproof.spark_bindings.storage.commit_lines import copy_without_rows
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.json_files import write_json
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.storage.trees import make_unsynced

_INDEX_COMMITS_MIN = 100  # from here on, opening a channel is slow without a Delta checkpoint


class Replay(Enum):
    """What a restored pipeline finds in its source channels behind the cut.

    ALL gives it everything that was fed since, to be processed again: what one wants after an
    error. NONE gives it nothing: its feeds go on from the cut.

    Examples
    --------
    >>> Replay("none")
    <Replay.NONE: 'none'>
    """

    ALL = "all"
    NONE = "none"


def restore_snapshot(
    path: Path | str, snapshot: str, *, into: Path | str, replay: Replay | str = Replay.ALL
) -> Path:
    """Make a new pipeline from a snapshot; give its path. Needs no Spark session.

    The pipeline that the snapshot is of is not changed, and may be running.

    Raises
    ------
    NotAPipeline : if `path` is none
    WrongArgument : if `into` is no directory of this machine, or `replay` none of its values
    UnknownSnapshot : if it has no such snapshot
    IncompleteSnapshot, AbandonedSnapshot : if the snapshot is not complete, or is removed meanwhile
    TargetNotEmpty : if there is something at `into`
    LostFiles : if a file of a query's state is gone
    ChannelDamaged : if a file of a channel is gone

    Warns
    -----
    ReplayedFreely : if a query with a watermark cannot be told where the original's batches ended,
        or one with several how far each had come

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> with shop.start(spark_session()):
    ...     snapshot = shop.await_snapshot(shop.snapshot())
    >>> restore_snapshot("shop", snapshot.id, into="shop-2", replay="none").name
    'shop-2'
    """
    replayed = member_of("restore_snapshot", "replay", replay, Replay)
    source, target = PipelineDirectory.at(path), named_place("a restored pipeline", into)
    found = source.snapshots.read(SnapshotId(snapshot))
    origin = {"pipeline": source.id, "snapshot": snapshot, "replay": replayed.value}
    origin |= cut_of(found.states)
    identity = new_identity()
    _require_complete(source, found)
    with _complete_to_the_end(source, found.id):
        require_recorded(source, found)
    with (
        build_up(target, source.wiring, origin, identity) as place,
        _complete_to_the_end(source, found.id),
    ):
        for channel in source.wiring.channels:
            log = source.log(channel)
            markers = _markers(found, channel)
            until = max(markers)
            if replayed is Replay.ALL and channel in source.wiring.sources:
                markers = [until := log.last()]
            _clone_channel(log, until, markers, place / "channels" / channel)
            reached(RaceFailpoint.CHANNEL_CLONED, channel)
        for process in found.states:
            _link_notes(source.query_place(QueryName(process)), place / "queries" / process)
            copy = source.snapshots.checkpoint(found.id, process)
            for checkpoint in _checkpoints(place / "queries" / process, process in found.pairs):
                begin_new_life(copy, checkpoint, identity)
        freely = note_reruns(Restored(source, found, place, identity))
    _warn_of_late_rows(source, target, found, freely)
    return target.local


def _warn_of_late_rows(
    source: PipelineDirectory, target: Place, found: Snapshot, freely: Sequence[QueryName]
) -> None:
    """Warn of queries that may take other rows to be late than those of the original did."""
    consequence = (
        "A row that the original dropped as late may count here, or the other way round. Compare "
        "what comes out, or let no row be late: give withWatermark a longer delay"
    )
    places = {process: source.query_place(QueryName(process)) for process in found.states}
    several = [process for process, place in places.items() if notes_several_watermarks(place)]
    if freely:
        warnings.warn(
            f"{target} was restored, and {', '.join(freely)} will not end batches where the "
            "original did: it has a watermark, and reads from a cycle or from behind a pair. "
            f"{consequence}",
            ReplayedFreely,
            stacklevel=3,
        )
    if several:
        warnings.warn(
            f"{target} was restored, and {', '.join(several)} has several watermarks. Spark keeps "
            "each in memory, and only the lowest on the disk, so a new life does not know how far "
            f"each input had come. {consequence}; or set one watermark, behind a union",
            ReplayedFreely,
            stacklevel=3,
        )


@contextmanager
def _complete_to_the_end(source: PipelineDirectory, snapshot: SnapshotId) -> Iterator[None]:
    """Refuse what was made of a snapshot that was removed, and vacuumed, at the same time."""
    try:
        yield
    finally:
        _require_complete(source, source.snapshots.read(snapshot))


def _markers(found: Snapshot, channel: ChannelName) -> list[Position]:
    """Return the positions of the markers in the lanes of a channel, in the lanes' order."""
    count = sum(Lane.of(name).channel == channel for name in found.markers)
    return [found.markers[lane.name] for lane in lanes_of(channel, count)]


def _checkpoints(process: Place, is_pair: bool) -> Iterator[Place]:
    """Yield the places of a restored process's checkpoints; a pair's copies both have one."""
    if not is_pair:
        yield process / "checkpoint"
        return
    pair = PairDirectory(process)
    make_unsynced(pair.order)
    for copy in Copy:
        yield pair.copy(copy).checkpoint.place


def _link_notes(process: Place, restored: Place) -> None:
    """Let a restored query or pair know what its state and inputs are, and which rows it takes."""
    for file in (STATE_PLAN_FILE, INPUTS_FILE, PairDirectory(process).rows.name):
        if store_at(process).has(file):
            store_at(process).copy(file, restored / file)


def _require_complete(source: PipelineDirectory, found: Snapshot) -> None:
    if found.status is SnapshotStatus.ABANDONED:
        raise AbandonedSnapshot(
            f"snapshot {found.id} was abandoned: {found.reason}. It has no consistent state. "
            f"Choose another. Run: streamproof snapshot list {source.place}"
        )
    if found.status is SnapshotStatus.REQUESTED:
        recorded = {PairId.of(process).query for process in found.states}
        waiting = [name for name in source.wiring.queries if name not in recorded]
        raise IncompleteSnapshot(
            f"snapshot {found.id} is not complete; queries that have not recorded: "
            f"{', '.join(waiting) or 'none, but channels are open'}. A part of a cut is no state "
            "of the pipeline. Start the pipeline and call await_snapshot, or choose another"
        )


def _clone_channel(
    log: ChannelLog, until: Position, markers: Sequence[Position], target: Place
) -> None:
    """Link a channel's commits up to a position, and the files that they name.

    Delta's own checkpoints are left out: they may be of later positions. A new one is made where
    the log is long.

    Parameters
    ----------
    log, until, target : from where, up to which position, and the directory of the new channel
    markers : per lane; what it has behind its marker is not part of the cut, and leaves a commit
        without rows
    """
    log.entry(Position(0))  # which says so if it is not there
    store_at(commit_file(log.place, 0)).copy("", commit_file(target, 0))
    copy_floor(log, target)
    gone = Position(0)
    for entry in log.entries(log.floor(), until):
        here, there = (commit_file(place, entry.position) for place in (log.place, target))
        if entry.position > markers[entry.lane]:
            copy_without_rows(here, there)
        elif _link_rows(log, entry, target):
            store_at(here).copy("", there)
        else:
            gone = entry.position
            copy_without_rows(here, there, vacuumed=entry.rows)
    # A copy of a copy has them from the first one.
    gone = max(gone, min(log.vacuumed(), until))
    if gone:
        write_json(target / RETENTION_FILE, {"until": gone, "done": gone})
    if until >= _INDEX_COMMITS_MIN:
        open_table(target).create_checkpoint()


def _link_rows(log: ChannelLog, entry: Entry, target: Place) -> bool:
    """Link the files of a commit; tell whether they are there: no reader needs vacuumed ones."""
    file = None
    try:
        for file in entry.files:
            store_at(log.place).copy(file.path, target / file.path)
    except FileNotFoundError:
        assert file is not None
        if entry.position > log.vacuumed():
            raise ChannelDamaged(
                f"the data file {file.path} of channel {log.place} is gone, with {file.rows} rows "
                f"of commit {entry.position}, which the snapshot has. Nothing was restored. Put "
                "the file back from a backup, or restore another snapshot"
            ) from None
        return False
    return True
