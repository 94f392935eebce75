"""The snapshots of a pipeline as files: asked for, recorded part by part, and then whole.

``snapshots/<id>/request.json`` asks for one; ``states/<process>.json`` is a process's recorded
state, a batch number and positions; ``channels/<process>.json`` what was in its input channels;
``checkpoints/<query>/`` the copy of its checkpoint. ``manifest.json`` comes last: with it the
snapshot is complete. ``abandoned.json`` says that, and why, it never will be; ``outcome.json``
settles which of the two. ``removed.json`` says that it is not to be restored, whatever else is
there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from streamproof.spark_bindings.errors import FencedDriver, NotAPipeline, UnknownSnapshot
from streamproof.spark_bindings.names import (
    BatchId,
    ChannelName,
    LaneName,
    Position,
    ProcessName,
    SnapshotId,
)
from streamproof.spark_bindings.storage.builds import building
from streamproof.spark_bindings.storage.failpoints import Failpoint, RaceFailpoint, reached
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    read_json,
    write_json,
    write_json_once,
)
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import (
    is_directory,
    make_directory,
    remove,
    sync_everything,
)

_ID = re.compile(r"[0-9]{6}")
_MANIFEST = {"completed_at": str, "markers": dict, "channels": list}
_SNAPSHOTS_MAX = 999_999


class SnapshotStatus(Enum):
    """How far a snapshot has come. Only a complete one can be restored."""

    REQUESTED = "requested"
    COMPLETE = "complete"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class RecordedState:
    """A query's state at the cut: its checkpoint as of a batch, and what it had received."""

    batch: BatchId
    received: Mapping[ChannelName, Position]


@dataclass(frozen=True, slots=True)
class ChannelState:
    """What was in a channel, for one of its readers, when the cut passed it.

    Attributes
    ----------
    reader : the query or pair
    received : the reader's position when it recorded; the state starts behind it
    end : position of the state's last commit with rows; equal to `received` if it is empty
    commits : commits with rows in (received, end]; where the channel has several lanes, those of
        the cut: each lane's ahead of its marker
    rows : rows in them
    """

    channel: ChannelName
    reader: ProcessName
    received: Position
    end: Position
    commits: int
    rows: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One snapshot, as far as it has come.

    Attributes
    ----------
    reason : why it was abandoned, else empty
    states : per query or pair, its recorded state; all of them once complete
    pairs : which of these are pairs of copies; filled once complete
    markers : per lane of each channel, the position of the marker; filled once complete
    channels : per channel and reader, the channel's state; filled once complete
    """

    id: SnapshotId
    status: SnapshotStatus
    requested_at: datetime
    completed_at: datetime | None
    reason: str
    states: Mapping[ProcessName, RecordedState]
    pairs: tuple[ProcessName, ...]
    markers: Mapping[LaneName, Position]
    channels: tuple[ChannelState, ...]


class SnapshotFiles:
    """The directory ``snapshots`` of a pipeline.

    Every write is idempotent, and says the same in every driver, since a batch may be repeated and
    a frozen driver may wake up.
    """

    def __init__(self, place: AnyPlace) -> None:
        self.place = Place.of(place)
        self._store = store_at(self.place)

    def request(self, is_used: Callable[[SnapshotId], bool] = lambda _: False) -> SnapshotId:
        """Allocate an id and write the request durably, in one step.

        Parameters
        ----------
        is_used : whether something beside this directory knows an id. The directory of a snapshot
            may have been removed by hand, and its id must not be given again

        Raises
        ------
        NotAPipeline : if the pipeline's directory is gone
        DiskFailed : if the disk did not take it
        """
        if not is_directory(self.place.parent):
            raise NotAPipeline(
                f"{self.place.parent} is gone: the pipeline was moved or removed while it was in "
                "use. No snapshot was requested. Open it where it is now: Pipeline(path, ...)"
            )
        make_directory(self.place)
        with building(self.place / "request") as build:
            write_json(build.place / "request.json", {"requested_at": _now()})
            for number in range(max(map(int, self.ids()), default=0) + 1, _SNAPSHOTS_MAX + 1):
                snapshot = SnapshotId(f"{number:06d}")
                if is_used(snapshot):
                    continue
                reached(RaceFailpoint.SNAPSHOT_NUMBERED, snapshot)
                if build.name(self.place / snapshot):  # one that is taken is never empty
                    reached(Failpoint.REQUEST_WRITTEN, snapshot)
                    return snapshot
        raise OverflowError(f"{self.place} is full: {_SNAPSHOTS_MAX:,} snapshots")

    def ids(self) -> list[SnapshotId]:
        """List all ids, oldest first."""
        return [
            SnapshotId(name)
            for name in self._store.list()
            if _ID.fullmatch(name) and self._store.has(f"{name}/request.json")
        ]

    def unfinished(self) -> list[SnapshotId]:
        """List the ids that are neither complete nor abandoned."""
        return [name for name in self.ids() if not self._is_finished(name)]

    def _is_finished(self, snapshot: SnapshotId) -> bool:
        """Return whether a snapshot is complete or abandoned."""
        ends = ("manifest.json", "abandoned.json", "removed.json")
        return any(self._store.has(f"{snapshot}/{name}") for name in ends)

    def read(self, snapshot: SnapshotId) -> Snapshot:
        """Read a snapshot.

        Raises
        ------
        UnknownSnapshot : if there is none of this id
        DamagedFile : if one of its files is not what was written there
        """
        # An id is a number and no path: "../snapshots/000001" would name a file, too.
        is_id = isinstance(snapshot, str) and _ID.fullmatch(snapshot) is not None
        place = self.place / str(snapshot)
        request = read_json(place / "request.json", requested_at=str) if is_id else None
        if request is None:
            known = ", ".join(self.ids()) or "none"
            raise UnknownSnapshot(
                f"pipeline {self.place.parent} has no snapshot {snapshot!r}; it has: {known}. "
                f"Nothing was changed. Run: streamproof snapshot list {self.place.parent}"
            )
        manifest, status = None, SnapshotStatus.REQUESTED
        abandoned = read_json(place / "removed.json", reason=str)
        if abandoned is None:
            abandoned = read_json(place / "abandoned.json", reason=str)
            manifest = read_json(place / "manifest.json", **_MANIFEST)
        if manifest is not None:
            status = SnapshotStatus.COMPLETE
        elif abandoned is not None:
            status = SnapshotStatus.ABANDONED
        written = "request.json" if manifest is None else "manifest.json"
        with as_written(place / written):
            return _snapshot(snapshot, status, request, manifest, abandoned, self._states(snapshot))

    def save_state(self, snapshot: SnapshotId, process: ProcessName, state: RecordedState) -> None:
        """Write down the recorded state of a query or a pair.

        Raises
        ------
        FencedDriver : if another state is written there: two drivers ran different batches
        """
        file = self.place / snapshot / "states" / f"{process}.json"
        value = {"batch": state.batch, "received": dict(state.received)}
        if not write_json_once(file, value) and read_json(file) != value:
            raise FencedDriver(
                f"query {process!r} recorded {value} for snapshot {snapshot}, but "
                f"{read_json(file)} was recorded before. Two drivers run this pipeline; the first "
                "record stays. End one"
            )

    def save_channels(
        self, snapshot: SnapshotId, process: ProcessName, log: Mapping[LaneName, int]
    ) -> None:
        """Write down how many messages were in each lane: a process's part is complete."""
        counts: dict[str, object] = dict(log.items())
        write_json_once(self.place / snapshot / "channels" / f"{process}.json", counts)

    def state(self, snapshot: SnapshotId, process: ProcessName) -> RecordedState | None:
        """Read the recorded state of a query or a pair; None if it has not recorded yet."""
        return self._states(snapshot).get(process)

    def logged(self, snapshot: SnapshotId, process: ProcessName) -> Mapping[LaneName, int] | None:
        """Read what `save_channels` wrote; None if the process's part is not complete."""
        return read_json(self.place / snapshot / "channels" / f"{process}.json")

    def checkpoint(self, snapshot: SnapshotId, process: ProcessName) -> Place:
        """Name the place of the copy of the checkpoint of a query or a pair."""
        return self.place / snapshot / "checkpoints" / process

    def complete(
        self,
        snapshot: SnapshotId,
        *,
        pairs: Iterable[ProcessName],
        markers: Mapping[LaneName, Position],
        channels: Iterable[ChannelState],
    ) -> None:
        """Write the manifest, after everything that it speaks of: the snapshot is complete.

        It outlives the power: commits, checkpoints and states are on the disk before it. Nothing
        happens if another driver has abandoned it.
        """
        reached(RaceFailpoint.SNAPSHOT_UNSETTLED, snapshot)
        if not self._settle(snapshot, "complete"):
            return
        sync_everything()
        manifest = {
            "completed_at": _now(),
            "pairs": list(pairs),
            "markers": dict(markers),
            "channels": [asdict(part) for part in channels],
        }
        write_json_once(self.place / snapshot / "manifest.json", manifest)
        reached(Failpoint.MANIFEST_WRITTEN, snapshot)

    def abandon(self, snapshot: SnapshotId, reason: str) -> None:
        """Abandon a snapshot that cannot be completed, with the reason; its copies are removed.

        Nothing happens if another driver has completed it: this one may have been frozen.
        """
        if self._settle(snapshot, "abandoned"):
            write_json_once(self.place / snapshot / "abandoned.json", {"reason": reason})
            remove(self.place / snapshot / "checkpoints")

    def remove(self, snapshot: SnapshotId) -> None:
        """Remove what a snapshot keeps, finished or not: it cannot be restored. May be repeated.

        Raises
        ------
        UnknownSnapshot : if there is none of this id
        """
        if snapshot not in self.ids():
            self.read(snapshot)  # which says so
        write_json_once(self.place / snapshot / "removed.json", {"reason": "it was removed"})
        remove(self.place / snapshot / "checkpoints")

    def _settle(self, snapshot: SnapshotId, outcome: str) -> bool:
        """Settle, once for all drivers, how a snapshot ends; tell whether it ends so."""
        place = self.place / snapshot
        # Also an older version's, which settled nothing.
        if self._store.has(f"{snapshot}/manifest.json"):
            return outcome == "complete"
        write_json_once(place / "outcome.json", {"outcome": outcome})
        stands = read_json(place / "outcome.json", outcome=str)
        assert stands is not None
        return bool(stands["outcome"] == outcome)

    def _states(self, snapshot: SnapshotId) -> dict[ProcessName, RecordedState]:
        found: dict[ProcessName, RecordedState] = {}
        for name in self._store.list(f"{snapshot}/states"):
            if name.startswith(".") or not name.endswith(".json"):
                continue
            file = self.place / snapshot / "states" / name
            value: Any = read_json(file, batch=int, received=dict)
            state = RecordedState(BatchId(value["batch"]), value["received"])
            found[ProcessName(name.removesuffix(".json"))] = state
        return found


def _snapshot(
    snapshot: SnapshotId,
    status: SnapshotStatus,
    request: Mapping[str, Any],
    manifest: Mapping[str, Any] | None,
    abandoned: Mapping[str, Any] | None,
    states: Mapping[ProcessName, RecordedState],
) -> Snapshot:
    contents = manifest or {"markers": {}, "channels": []}
    return Snapshot(
        id=snapshot,
        status=status,
        requested_at=datetime.fromisoformat(request["requested_at"]),
        completed_at=datetime.fromisoformat(manifest["completed_at"]) if manifest else None,
        reason=abandoned["reason"] if abandoned and not manifest else "",
        states=states,
        pairs=tuple(contents.get("pairs", [])),  # absent before copies took part in snapshots
        markers=contents["markers"],
        channels=tuple(ChannelState(**part) for part in contents["channels"]),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat()
