"""Reading a channel: its Delta log, commit by commit, without opening the table.

A channel is a FIFO of commits. Position n is version n of the Delta table; version 0 creates it.
A commit carries rows, a marker behind them, or neither (a marker that a restored pipeline
inherited: foreign). A channel that several processes write has a lane for each; a marker is of its
lane.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from streamproof.spark_bindings.channels.provenance import Made
from streamproof.spark_bindings.errors import ChannelDamaged, InconsistentCut, VacuumedRows
from streamproof.spark_bindings.names import Position, SnapshotId
from streamproof.spark_bindings.storage.commit_lines import (
    EMPTIED_KEY,
    VACUUMED_KEY,
    actions_of,
    require_whole,
)
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.formats import FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.json_files import as_written, read_json
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.parquet_files import read_file
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.synced_commits import SyncedCommits, commit_file

MARKER_KEY = "streamproof.marker"
PIPELINE_KEY = "streamproof.pipeline"
CHANNEL_KEY = "streamproof.channel"
COMMIT_KEY = "streamproof.commit"
LANE_KEY = "streamproof.lane"
COPY_KEY = "streamproof.copy"
"""In a commit: the copy of a pair that delivered it."""
FLOOR_FILE = "_streamproof_floor.json"
"""In a channel's directory: up to which position its commits were compacted away."""
RETENTION_FILE = "_streamproof_retention.json"
"""In a channel's directory: up to which position rows were removed, since nobody needs them."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A parquet file of a commit, with its rows and its path below the channel's directory."""

    path: str
    rows: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit of a channel.

    Attributes
    ----------
    files : in the order in which their rows are read
    marker : the snapshot whose marker is behind its rows, if it is one of this pipeline's
    lane : whose commit it is: the number of the channel's writer, from 0
    commit : its name, which no other commit has; 0.1.0 named few
    pipeline : id of the pipeline that made it; 0.1.0 said it of markers alone
    made : what its rows were made from; None for rows from outside, and 0.1.0's
    transactions : numbers of the Delta applications that it counts
    is_emptied : its rows were left out where the channel was cloned
    information : all that the commit says of itself
    """

    position: Position
    files: tuple[DataFile, ...]
    marker: SnapshotId | None
    commit: str | None
    lane: int = 0
    pipeline: str | None = None
    made: Made | None = None
    transactions: Mapping[str, int] = field(default_factory=dict)
    is_emptied: bool = False
    information: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """Rows in all of its files."""
        return sum(file.rows for file in self.files)

    @property
    def is_of_0_1_0(self) -> bool:
        """Return whether it says little of itself, since 0.1.0 wrote it."""
        return FORMAT_KEY not in self.information

    @property
    def is_message(self) -> bool:
        """Return whether the protocol counts it: a commit with rows is one message."""
        return bool(self.files)


class ChannelLog:
    """A reader of a channel's commits. Holds no lock and no cache but the last position seen.

    Parameters
    ----------
    place : the channel's directory
    pipeline : id of the pipeline whose markers count; markers of others are skipped
    """

    def __init__(self, place: AnyPlace, pipeline: str) -> None:
        self.place, self.pipeline = Place.of(place), pipeline
        self._last_seen: Position | None = None
        self._floor, self._floor_rows = Position(0), 0
        self._synced = SyncedCommits(self.place)

    def entry(self, position: Position) -> Entry:
        """Read one commit.

        Raises
        ------
        ChannelDamaged : if the log has no such commit, or the commit removed rows
        DamagedFile : if its file is no commit, or a part of one
        UnknownFormat : if a later version wrote it
        """
        file = commit_file(self.place, position)
        try:
            with as_written(file):
                return self._entry(position, list(actions_of(file)))
        except FileNotFoundError:
            if 0 < position <= self.floor():
                return self._compacted(position)
            raise ChannelDamaged(
                f"channel {self.place} has no commit {position}. Its readers cannot go on without "
                "losing rows. Restore the file from a backup, or restore a snapshot"
            ) from None

    def floor(self) -> Position:
        """Return the position up to which commits were compacted away; 0 if none were."""
        note = read_json(self.place / FLOOR_FILE, floor=int, rows=int)
        if note is not None:
            self._floor, self._floor_rows = Position(note["floor"]), note["rows"]
        return self._floor

    def _compacted(self, position: Position) -> Entry:
        """Return a commit that was compacted away. It may have had rows that vacuum removed."""
        said = {VACUUMED_KEY: str(self._floor_rows)} if self._floor_rows else {}
        return Entry(position, (), None, None, information=said)

    def _entry(self, position: Position, actions: list[dict[str, Any]]) -> Entry:
        said = [action["commitInfo"] for action in actions if "commitInfo" in action]
        if not said:
            raise LookupError("it says nothing of itself")  # as if the power failed as it came
        information: dict[str, Any] = said[0]
        format_of(information, f"commit {position} of channel {self.place}")
        files: list[DataFile] = []
        for action in actions:
            if "remove" in action and action["remove"].get("dataChange", True):
                raise ChannelDamaged(
                    f"commit {position} of channel {self.place} removed rows. A channel only "
                    "grows; its readers may or may not have seen them. Restore a snapshot taken "
                    "before"
                )
            if "add" in action and action["add"]["dataChange"]:  # else: rewritten, not new
                rows = json.loads(action["add"]["stats"])["numRecords"]
                files.append(DataFile(unquote(action["add"]["path"]), rows))
        require_whole(information, actions)
        transactions = [action["txn"] for action in actions if "txn" in action]
        pipeline = information.get(PIPELINE_KEY)
        return Entry(
            position,
            tuple(files),
            marker=information.get(MARKER_KEY) if pipeline == self.pipeline else None,
            commit=information.get(COMMIT_KEY),
            lane=int(information.get(LANE_KEY, 0)),
            pipeline=pipeline,
            made=Made.of(information),
            transactions={each["appId"]: int(each["version"]) for each in transactions},
            is_emptied=EMPTIED_KEY in information,
            information=information,
        )

    def entries(self, after: Position, until: Position) -> Iterator[Entry]:
        """Read the commits in (after, until], in order."""
        return (self.entry(Position(number)) for number in range(after + 1, until + 1))

    def sync(self, until: Position) -> None:
        """See to it that the commits up to a position outlive the power, whoever made them.

        Raises
        ------
        DiskFailed : if the disk did not take one
        """
        self._synced.sync(until)

    def has(self, position: Position) -> bool:
        """Return whether a commit is there. Delta makes commits visible whole."""
        if store_at(commit_file(self.place, position)).has():
            return True
        return 0 < position <= self._floor or 0 < position <= self.floor()

    def last(self) -> Position:
        """Return the newest position; 0 for a channel that nothing was appended to."""
        if self._last_seen is None:
            self._last_seen = max([*committed_positions(self.place), self.floor()])
        while self.has(Position(self._last_seen + 1)):
            self._last_seen = Position(self._last_seen + 1)
        return self._last_seen

    def find_marker(self, snapshot: SnapshotId, lane: int = 0) -> Position | None:
        """Return the position of a snapshot's marker in a lane, from the newest commit backward."""
        for number in range(self.last(), self.floor(), -1):
            entry = self.entry(Position(number))
            if entry.marker == snapshot and entry.lane == lane:
                return Position(number)
        return None

    def batch_end(
        self,
        after: Position,
        commits_max: int,
        rows_max: int | None,
        *,
        at_markers: bool = True,
    ) -> Position:
        """Choose where a batch that starts behind `after` ends: at a marker, and never past it.

        Gives `after` if there is nothing new. Who takes no part in snapshots passes markers.
        """
        position, rows = after, 0
        while position - after < commits_max and self.has(Position(position + 1)):
            entry = self.entry(Position(position + 1))
            # One commit is always taken, however large: a batch cannot end inside a commit.
            if rows_max is not None and rows > 0 and rows + entry.rows > rows_max:
                break
            position, rows = entry.position, rows + entry.rows
            if at_markers and entry.marker is not None:
                break
        return position

    def state(self, received: Position, count: int, marker: Position, lane: int = 0) -> list[Entry]:
        """Return the `count` messages that were in a lane when the cut passed it.

        Parameters
        ----------
        received : what the reader had received of the channel when it recorded
        count : messages that the reader's machine logged for this lane
        marker : position of the snapshot's marker in it

        Raises
        ------
        InconsistentCut : if the log has more or fewer of them ahead of the marker
        """
        messages = [
            entry
            for entry in self.entries(received, marker)
            if entry.is_message and entry.lane == lane
        ]
        if len(messages) != count or received > marker:
            raise InconsistentCut(
                f"channel {self.place} has {len(messages)} commits with rows between {received} "
                f"and the marker at {marker}, but its reader counted {count}. The snapshot would "
                "lose or double rows. Do not write to channels from outside; take another snapshot"
            )
        return messages

    def vacuumed(self) -> Position:
        """Return the position up to which rows were removed; 0 if none were."""
        note = read_json(self.place / RETENTION_FILE, until=int)
        return Position(0 if note is None else note["until"])

    def with_rows(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Pass commits on whose rows are to be read.

        Raises
        ------
        VacuumedRows : if some were removed
        """
        gone = self.vacuumed()
        for entry in entries:
            had_rows = entry.is_message or VACUUMED_KEY in entry.information
            if had_rows and entry.position <= gone:
                raise self._vacuumed_rows(gone)
            yield entry

    def batches(self, entries: Iterable[Entry], columns: list[str]) -> Iterator[pa.RecordBatch]:
        """Read the rows of commits, in order, in Arrow batches.

        Raises
        ------
        VacuumedRows : if some were removed
        """
        for entry in self.with_rows(entries):
            for file in entry.files:
                reached(RaceFailpoint.ROWS_FOUND, self.place.name)
                try:
                    yield from read_file(self.place / file.path, columns)
                except ChannelDamaged as error:
                    gone = self.vacuumed()
                    if entry.position > gone:
                        raise
                    raise self._vacuumed_rows(gone) from error

    def _vacuumed_rows(self, gone: Position) -> VacuumedRows:
        return VacuumedRows(
            f"the rows of channel {self.place} up to position {gone} were removed by streamproof "
            "vacuum, since no query and no snapshot needed them. Those behind it are there. Read "
            f"from there: rows(after={gone}); a query that has lost its checkpoint cannot, so "
            "restore a snapshot"
        )


def committed_positions(channel: Place) -> list[Position]:
    """List the commits of a channel, in their order."""
    return [Position(number) for number in NumberedFiles(channel / "_delta_log").numbers()]
