"""Vacuum: what no reader, no copy and no snapshot needs any more is removed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from deltalake import CommitProperties
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction

from streamproof.disk import explained
from streamproof.spark_bindings.certificate import check_certificate
from streamproof.spark_bindings.channels.channel_log import RETENTION_FILE, ChannelLog, Entry
from streamproof.spark_bindings.channels.commits import not_appended, pauses
from streamproof.spark_bindings.channels.compaction import compact
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.events import MachineLog
from streamproof.spark_bindings.layout.pairs import PairDirectory, ProcessDirectory
from streamproof.spark_bindings.layout.process_lock import locked
from streamproof.spark_bindings.layout.snapshot_files import SnapshotStatus
from streamproof.spark_bindings.names import ChannelName, PairId, Position, ProcessName
from streamproof.spark_bindings.snapshots.bounds import Bounds, log_floor
from streamproof.spark_bindings.snapshots.flux import discarded
from streamproof.spark_bindings.snapshots.orphans import remove_orphans
from streamproof.spark_bindings.snapshots.participants import Participant
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.storage.json_files import read_json, write_json
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import sync_everything, sync_names

RETENTION_KEY = "streamproof.retention"
"""What a commit that removes rows says of itself: the position up to which it does."""
_PROTOCOL = "flux"


@dataclass(frozen=True, slots=True)
class Vacuumed:
    """What a vacuum has removed from a channel, or would remove.

    Attributes
    ----------
    until : the last position whose rows nobody needs
    commits, rows, size : of what is removed, the size in bytes
    orphans : data files that killed processes had left
    compacted : commits that were taken out of the channel's log
    """

    channel: ChannelName
    until: Position
    commits: int
    rows: int
    size: int
    orphans: int = 0
    compacted: int = 0


def vacuum(
    path: Path | str,
    *,
    dry_run: bool = False,
    keep: Mapping[str, int] | None = None,
    outside: Mapping[str, Path | str] | None = None,
) -> list[Vacuumed]:
    """Remove what nobody needs any more: rows, commits of the channels' logs, orphaned files.

    Rows go that no copy of any query, and no snapshot, needs. Of a channel that no query reads they
    stay, unless `keep` or `outside` says what its readers need. May be called while the pipeline
    runs, in any process, and repeated after a crash. Needs no Spark session.

    Parameters
    ----------
    path, dry_run : the pipeline's directory, and whether to tell only
    keep : per channel that is read from outside, how many of its newest commits stay. Who is
        farther behind gets VacuumedRows
    outside : per channel, the checkpoint of a query outside that reads `Channel.stream`, such as
        that of `reconcile`: what it has not taken stays

    Raises
    ------
    NotAPipeline : if the directory is none
    WrongWiring, WrongArgument : if it has no such channel, or a number cannot be used
    UnverifiedProtocol : if the protocol is not the certified one
    CopyRuns : if another vacuum of the pipeline is under way

    Examples
    --------
    >>> query = Query("copy", inputs=["raw"], output="clean", plan=lambda rows: rows)
    >>> shop = Pipeline("shop", channels={"raw": "x long", "clean": "x long"}, queries=[query])
    >>> [removed.channel for removed in vacuum("shop", dry_run=True)]
    ['raw']
    """
    if not isinstance(dry_run, bool):
        raise WrongArgument(
            f"vacuum was given dry_run={dry_run!r}. Whether rows are removed has to be clear. "
            "Nothing was removed. Write dry_run=True or dry_run=False"
        )
    directory = PipelineDirectory.at(path)
    told = {} if outside is None else outside
    bounds = Bounds.of(directory, {} if keep is None else keep, told)
    check_certificate(_PROTOCOL, "what a copy may still need is kept", waivable=False)
    readers, found = list(_readers(directory)), []
    own = ProcessDirectory.vacuum(directory)
    lock = locked(own, f"the vacuum of {directory.place}", "remove the same rows")
    with nullcontext() if dry_run else lock:
        for channel in directory.wiring.channels:
            reading = [reader for reader in readers if channel in reader.inputs]
            removed = _vacuum_channel(directory, channel, reading, bounds, dry_run=dry_run)
            if reading or channel in bounds or removed.orphans:
                found.append(removed)
    return found


def _vacuum_channel(
    directory: PipelineDirectory,
    channel: ChannelName,
    readers: list[Participant],
    bounds: Bounds,
    *,
    dry_run: bool,
) -> Vacuumed:
    log = directory.log(channel)
    note = read_json(log.place / RETENTION_FILE, done=int) or {"done": 0}
    done = Position(note["done"])
    steps = MachineLog(None if dry_run else ProcessDirectory.vacuum(directory).steps)
    ends = [discarded(log, reader, channel, done, steps) for reader in readers]
    ends += bounds.ends(log, channel)
    until = min([*ends, *_kept_by_snapshots(directory, channel)]) if ends else done
    steps.end(channel=channel, until=max(until, done))
    try:
        removed = _remove(log, channel, done, until, dry_run=dry_run)
        steps.end(channel=channel, until=removed.until)
    finally:
        steps.flush(done)
    orphans = remove_orphans(directory, channel, removed.until, dry_run=dry_run)
    floor = Position(0) if dry_run else log_floor(directory, channel, removed.until)
    return replace(removed, orphans=orphans, compacted=compact(log, floor) if floor else 0)


def _readers(directory: PipelineDirectory) -> Iterator[Participant]:
    """Yield the processes that a pipeline's queries have run as, as its directory tells."""
    for query, inputs in directory.wiring.inputs.items():
        pairs = directory.pair_places(query)
        if not pairs:
            yield Participant(ProcessName(query), inputs, (directory.checkpoint(query),))
        for pair in pairs:
            yield Participant(ProcessName(pair.name), inputs, PairDirectory(pair).checkpoints)


def _kept_by_snapshots(directory: PipelineDirectory, channel: ChannelName) -> Iterator[Position]:
    """Return the position that was received, for each snapshot and reader: later rows are kept."""
    for name in directory.snapshots.ids():
        snapshot = directory.snapshots.read(name)
        if snapshot.status is SnapshotStatus.ABANDONED:
            continue
        # Who has not recorded yet will have received at least what it has acknowledged by now.
        for process, state in snapshot.states.items():
            if channel in directory.wiring.inputs[PairId.of(process).query]:
                yield state.received.get(channel, Position(0))


def _remove(
    log: ChannelLog, channel: ChannelName, done: Position, until: Position, *, dry_run: bool
) -> Vacuumed:
    note = log.place / RETENTION_FILE
    entries = [entry for entry in log.entries(done, until) if entry.is_message]
    store, files = store_at(log.place), [file.path for entry in entries for file in entry.files]
    size = sum(store.size(file) or 0 for file in files)
    if not dry_run and until > done:
        # What the readers have acknowledged is in Spark's files, which nobody syncs: a reader that
        # lost its last batch with the power would need the rows again.
        sync_everything()
        # Readers look there first. If this is killed, the next vacuum begins at `done` again.
        write_json(note, {"until": until, "done": done})
        _take_out(log, entries, until)
        reached(RaceFailpoint.ROWS_TAKEN_OUT, channel)
        for file in files:
            store.delete(file)
        sync_names(log.place)
        reached(RaceFailpoint.ROWS_REMOVED, channel)
        write_json(note, {"until": until, "done": until})
    rows = sum(entry.rows for entry in entries)
    return Vacuumed(channel, max(until, done), len(entries), rows, size)


def _take_out(log: ChannelLog, entries: list[Entry], until: Position) -> None:
    """Take the files of commits out of the Delta table, as far as they are in it."""
    for pause_seconds in pauses():
        table, now = open_table(log.place), int(time.time() * 1000)
        there = set(table.get_add_actions(flatten=True)["path"].to_pylist())
        files = [file.path for entry in entries for file in entry.files if file.path in there]
        if not files:
            log.sync(Position(table.version()))  # who took them out may have died before
            return
        # The table is append-only: Delta lets go of rows alone that are declared as no change.
        gone: list[AddAction | RemoveAction] = [
            RemoveAction(path=path, data_change=False, deletion_timestamp=now) for path in files
        ]
        said = CommitProperties(
            custom_metadata={FORMAT_KEY: str(FORMAT), RETENTION_KEY: str(until)}
        )
        try:
            with explained(log.place, "No row was removed"):
                reached(RaceFailpoint.COMMIT_TRIED, log.place.name)
                table.create_write_transaction(
                    gone, "append", table.schema(), commit_properties=said
                )
        except CommitFailedError:
            time.sleep(pause_seconds)  # feeds and queries go on committing: look again
        else:
            table.update_incremental()
            log.sync(Position(table.version()))  # before a file goes that it names
            return
    raise not_appended(f"channel {log.place.name!r}")
