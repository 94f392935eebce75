"""A query's Spark checkpoint as files: what a batch read, and a copy of it as of one batch.

Spark writes a checkpoint's files once and keeps those of the last batches
(spark.sql.streaming.minBatchesToRetain, 100 by default). So the state at a batch can be copied out
while the query goes on: by linking files, without reading them.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from streamproof.spark_bindings.channels.offsets import DONE_KEY, is_offset
from streamproof.spark_bindings.channels.provenance import as_json
from streamproof.spark_bindings.errors import (
    DamagedFile,
    LostFiles,
    PurgedCheckpoint,
    WrongWiring,
)
from streamproof.spark_bindings.names import BatchId, ChannelName, Position
from streamproof.spark_bindings.storage.builds import building
from streamproof.spark_bindings.storage.failpoints import Failpoint, RaceFailpoint, reached
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    read_json,
)
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.state_files import (
    require_as_of,
    require_offsets_before,
    require_sources,
    require_state,
)
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import (
    make_directory,
    make_unsynced,
    mark_of,
    sync_below,
    sync_files,
    sync_names,
    write_unsynced,
)

# 12.zip, 12_<uuid>.changelog, .12_<uuid>.zip.crc, 12.delta, 12.snapshot: state as of batch 11
_STATE_FILE = re.compile(r"\.?(\d+)(?:_[^.]*)?\.(?:zip|changelog|delta|snapshot)(?:\.crc)?")
_LINK_ATTEMPTS_MAX = 3


class Checkpoint:
    """One query's checkpoint directory. Reads need no Spark; nothing here changes it.

    Parameters
    ----------
    place : the directory; Spark creates it when the query first starts
    """

    def __init__(self, place: AnyPlace) -> None:
        self.place = Place.of(place)
        self._store = store_at(self.place)

    def identity(self) -> str:
        """Return the id of this query's life. A restored query has another one.

        Raises
        ------
        PurgedCheckpoint : if the query has never started, or the file that says it is gone
        DamagedFile : if it says something else
        """
        metadata = read_json(self.place / "metadata", id=str)
        if metadata is None:
            raise PurgedCheckpoint(
                f"the checkpoint {self.place} has no metadata file. The query cannot be told from "
                "others, so its rows could be appended twice. Put the file back, or restore a "
                "snapshot"
            )
        return str(metadata["id"])

    def is_planned(self, batch_id: BatchId) -> bool:
        """Return whether Spark has chosen what a batch reads, and still knows it."""
        return self._store.has(f"offsets/{batch_id}")

    def is_committed(self, batch_id: BatchId) -> bool:
        """Return whether Spark has completed a batch: its state files are then final."""
        return self._store.has(f"commits/{batch_id}")

    def has_reached(self, batch_id: BatchId) -> bool:
        """Return whether a batch or a later one is completed: its files are final, or purged."""
        newest = self.last_committed()
        return newest is not None and newest >= batch_id

    def last_committed(self) -> BatchId | None:
        """Return the newest completed batch, or None if there is none yet."""
        return max(self._logged("commits"), default=None)

    def check_readable(self) -> None:
        """Check the files with which a query begins: identity, newest logs, and what these name.

        Raises
        ------
        DamagedFile : if one is not what Spark writes
        LostFiles : if state is missing, or what a source of files has noted
        """
        self._check_identity()
        for kind in ("offsets", "commits"):
            for number in self._logged(kind)[-2:]:
                try:
                    self._check_log(self.place / f"{kind}/{number}")
                except DamagedFile as error:
                    if number == max(self._logged(kind)):
                        raise self._cut_off(kind, number) from error
                    raise
        planned, last = self.last_planned(), self.last_committed()
        if planned is not None:
            require_offsets_before(self.place, planned)
        if last is not None:
            require_state(self.place, last)
            if self.is_planned(last):
                require_sources(self.place, self.offsets(last))

    def _check_identity(self) -> None:
        try:
            read_json(self.place / "metadata", id=str)
        except DamagedFile as error:
            if self._logged("commits") or len(self._logged("offsets")) > 1:
                raise
            crc = self.place / ".metadata.crc"
            raise DamagedFile(
                f"{self.place / 'metadata'} is not what was written there, and the query has "
                "completed no batch. Nothing was changed. If the machine lost its power as it was "
                f"written, nothing was done in its name: then delete {self.place / 'metadata'} and "
                f"{crc}, and start the query again. Else restore it from a backup"
            ) from error

    @staticmethod
    def _check_log(file: Place) -> None:
        with as_written(file):
            version, about, *offsets = store_at(file).get().decode().splitlines()
            if not version.startswith("v"):
                raise ValueError("it does not begin as it should")
            # What a source writes is its own business; most write objects.
            for line in (about, *(each for each in offsets if each.startswith("{"))):
                json.loads(line)

    def _cut_off(self, kind: str, number: BatchId) -> DamagedFile:
        file, crc = self.place / f"{kind}/{number}", self.place / f"{kind}/.{number}.crc"
        # `sync_plan` comes before anything that follows from a batch.
        done = "begun" if kind == "offsets" else "completed"
        return DamagedFile(
            f"{file} is not what was written there, so how far the query is, is unknown. Nothing "
            f"was changed. If the machine lost its power as it was written, batch {number} was not "
            f"{done}: then delete {file} and {crc}, and the batch is run again. Else restore it "
            "from a backup"
        )

    def _logged(self, kind: str) -> list[BatchId]:
        """List the batches of which a log has a file, in order; none while a copy is replaced."""
        return [BatchId(number) for number in NumberedFiles(self.place / kind, "").numbers()]

    def offsets(self, batch_id: BatchId) -> list[Any]:
        """Read what each source of the plan has said at the end of a batch, in the plan's order.

        None stands for a source that has said nothing yet. Some that are not ours say no JSON.

        Raises
        ------
        PurgedCheckpoint : if Spark has deleted it
        DamagedFile : if it is not what Spark wrote
        """
        try:
            with as_written(self.place / f"offsets/{batch_id}"):
                _version, _batch, *lines = (
                    self._store.get(f"offsets/{batch_id}").decode().splitlines()
                )
                return [None if line == "-" else as_json(line) for line in lines]
        except FileNotFoundError:
            raise self._purged(batch_id) from None

    def last_planned(self) -> BatchId | None:
        """Return the newest batch whose input Spark has chosen; None if there is none."""
        return max(self._logged("offsets"), default=None)

    def received(self, batch_id: BatchId) -> Mapping[ChannelName, Position]:
        """Read the position of each input at the end of a batch; empty before the first batch.

        Spark writes it before the batch runs, so a batch can read its own.

        Raises
        ------
        WrongWiring : if the plan reads a channel at two positions
        PurgedCheckpoint : if Spark has deleted it
        DamagedFile : if it is not what Spark wrote
        """
        if batch_id < 0:
            return {}
        with as_written(self.place / f"offsets/{batch_id}"):
            positions = [
                (ChannelName(offset["channel"]), Position(offset["position"]))
                for offset in self.offsets(batch_id)
                if offset is not None
            ]
        found: dict[ChannelName, Position] = {}
        for channel, position in positions:
            # One source that the plan uses in two places has two lines, which are always equal.
            if found.setdefault(channel, position) != position:
                raise WrongWiring(
                    f"the plan reads channel {channel!r} through two sources ({self.place}). They "
                    "advance apart, so no batch is at one position of it. Read it once, and use "
                    "the same DataFrame in both places"
                )
        return found

    def sync_plan(self, batch_id: BatchId) -> None:
        """See to it that what Spark has chosen for a batch outlives the power.

        Called before anything is written that follows from the batch. Spark syncs nothing. If it
        chose anew after a crash, it would choose other rows for the same number; and a query that
        has lost its metadata would begin a new life.

        Raises
        ------
        DiskFailed : if the disk did not take it
        """
        newest, last = str(batch_id), str(batch_id - 1)
        # With the last commit, so that no more than one batch is ever without.
        logs = (("offsets", newest), ("commits", last))
        names = [f"{kind}/{name}" for kind, name in logs]
        names += [f"{kind}/.{name}.crc" for kind, name in logs]
        names += ["metadata", ".metadata.crc"]
        there = [self.place / name for name in names if self._store.has(name)]
        make_directory(self.place)  # which Spark has made; its name may be lost, too
        sync_files([*there, self.place])

    def acknowledged(self, channel: ChannelName) -> Position:
        """Return the positions that a restart does not read again, behind the last batch."""
        batch = self.last_committed()
        if batch is None:
            return Position(0)
        try:
            return self.received(batch).get(channel, Position(0))
        except PurgedCheckpoint:
            return Position(0)  # the copy is just replaced

    def copy_as_of(self, batch_id: BatchId, target: Place) -> None:
        """Link or copy what a restart right after a batch needs. May be repeated.

        Called by the collector's thread while the query runs on, once Spark has committed the
        batch. Either the whole copy is at `target` afterwards, or nothing.

        Raises
        ------
        PurgedCheckpoint : if Spark has deleted files of this batch
        LostFiles : if state that the batch has written is not there
        DamagedFile : if a link leads to no file
        """
        if store_at(target).has():
            return
        reached(RaceFailpoint.CHECKPOINT_COPY_BEGUN, self.place.parent.name)
        for _ in range(_LINK_ATTEMPTS_MAX):
            with building(target) as build:
                if self._has_linked(batch_id, build.place):
                    reached(Failpoint.CHECKPOINT_LINKED, self.place.parent.name)
                    sync_below(build.place)  # a crash must not leave a part under its name
                    if not build.name():  # another driver's collector was faster
                        sync_names(target.parent)
                    return
        raise self._purged(batch_id)

    def _has_linked(self, batch_id: BatchId, target: Place) -> bool:
        """Link what a copy needs; report whether it is all there, or has to be tried again."""
        try:
            self._link(batch_id, target)
            require_as_of(target, batch_id)
        except LostFiles:
            # In the words of the checkpoint, unless it was replaced meanwhile.
            require_as_of(self.place, batch_id)
            return False
        except FileNotFoundError:
            # Spark deleted a file between listing and linking. An old one is not needed and
            # will not be listed again; one of this batch's is found missing below.
            if not self._retained(batch_id):
                raise self._purged(batch_id) from None
            return False
        return True

    def _link(self, batch_id: BatchId, target: Place) -> None:
        if not self._retained(batch_id):
            raise FileNotFoundError(batch_id)
        before = mark_of(self.place)
        for key in self._files_as_of(batch_id):
            self._store.copy(key, target / key)
            reached(RaceFailpoint.CHECKPOINT_FILE_LINKED, key)
        # A copy's checkpoint may be replaced by the other copy's meanwhile: a mixture of two is
        # none.
        if mark_of(self.place) != before:
            raise FileNotFoundError(self.place)

    def _retained(self, batch_id: BatchId) -> bool:
        return all(self._store.has(f"{kind}/{batch_id}") for kind in ("offsets", "commits"))

    def _files_as_of(self, batch_id: BatchId) -> Iterator[str]:
        """List the files of a checkpoint that ends with a batch, relative to it.

        Spark looks at the batch before the last one too when it starts. Of the state, every file
        up to the batch's version is taken, since changelogs build on older snapshots.
        """
        yield "metadata"
        for kind in ("offsets", "commits"):
            for number in (batch_id - 1, batch_id):
                for name in (str(number), f".{number}.crc"):
                    if self._store.has(f"{kind}/{name}"):
                        yield f"{kind}/{name}"
        for folder in ("state", "sources"):
            yield from (key for key in self._store.walk(folder) if _belongs(key, batch_id))

    def _purged(self, batch_id: BatchId) -> PurgedCheckpoint:
        newest = self.last_planned()
        if newest is None or batch_id >= newest - 1:  # Spark keeps the last two, whatever is set
            return PurgedCheckpoint(
                f"checkpoint {self.place} has no batch {batch_id}, but "
                f"{'none' if newest is None else f'batches up to {newest}'}: another directory was "
                "put in its place while the query ran, or its newest batches were removed. What "
                "the batch would write belongs to the one that was there. End this driver, and "
                "open the pipeline that is there now: Pipeline(path, ...)"
            )
        return PurgedCheckpoint(
            f"checkpoint {self.place} no longer has batch {batch_id}. Spark keeps the last "
            "spark.sql.streaming.minBatchesToRetain batches alone, so the state at the cut is "
            "gone. Raise that setting, or take another snapshot"
        )


def _belongs(key: str, batch_id: BatchId) -> bool:
    """Return whether a state file is part of the state as of a batch."""
    *folders, name = key.split("/")
    if name.endswith(".tmp"):
        return False
    if "_metadata" in folders:  # written by the batch that the operator changed in
        number = name.lstrip(".").removesuffix(".crc")
        return not number.isdigit() or int(number) <= batch_id
    if "_stateSchema" in folders:
        return True
    version = _STATE_FILE.fullmatch(name)
    # A newer version would be taken for the state of a batch that this life never ran.
    return version is None or int(version.group(1)) <= batch_id + 1


def has_begun(checkpoint: Place) -> bool:
    """Report whether a query has started in a checkpoint: Spark has given it an id."""
    return store_at(checkpoint).has("metadata")


def begin_new_life(copy: Place, target: Place, pipeline: str | None = None) -> str:
    """Make a checkpoint to start a restored query from, with an id of its own; give the id.

    With the old id, sinks would take the batches that it runs again for repetitions and skip them,
    silently. Its offsets name the new pipeline from then on.

    Parameters
    ----------
    copy : what `Checkpoint.copy_as_of` made; it is not changed
    target : must not exist
    pipeline : id of the pipeline that the query is of; None leaves the offsets as they are
    """
    made = store_at(copy)
    for key in made.walk():
        folder, _, name = key.rpartition("/")
        if folder == "offsets" and pipeline is not None:
            if name.isdigit():  # else it is a checksum of what is written anew
                _rename_pipeline(copy / key, target / key, pipeline)
        elif key not in ("metadata", ".metadata.crc"):
            made.copy(key, target / key)
    identity = str(uuid.uuid4())
    make_unsynced(target)
    write_unsynced(target / "metadata", json.dumps({"id": identity}))
    return identity


def _rename_pipeline(file: Place, target: Place, pipeline: str) -> None:
    """Write a batch's offsets anew, as those of another pipeline."""
    with as_written(file):
        version, about, *lines = store_at(file).get().decode().splitlines()
        offsets = [as_json(line) for line in lines]
    for offset in filter(is_offset, offsets):
        offset["pipeline"] = pipeline
        offset.pop(DONE_KEY, None)  # it is of what the query itself was restored from
    renamed = [
        json.dumps(offset) if is_offset(offset) else line
        for line, offset in zip(lines, offsets, strict=True)
    ]
    make_unsynced(target.parent)
    write_unsynced(target, "\n".join([version, about, *renamed]))
