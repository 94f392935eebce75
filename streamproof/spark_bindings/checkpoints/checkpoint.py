"""A query's Spark checkpoint as files: what a batch read, and a copy of it as of one batch.

Spark writes a checkpoint's files once and keeps those of the last batches
(spark.sql.streaming.minBatchesToRetain, 100 by default). So the state at a batch can be copied out
while the query goes on: by linking files, without reading them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from streamproof.disk import (
    DiskFailed,
    make_directory,
    move,
    sync_directory,
    sync_files,
    sync_tree,
    temporary_sibling,
)
from streamproof.spark_bindings.channels.offsets import DONE_KEY, is_offset
from streamproof.spark_bindings.channels.provenance import as_json
from streamproof.spark_bindings.errors import (
    DamagedFile,
    LostFiles,
    PurgedCheckpoint,
    WrongWiring,
)
from streamproof.spark_bindings.names import BatchId, ChannelName, Position
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    link_or_copy,
    read_json,
)
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.state_files import (
    require_as_of,
    require_offsets_before,
    require_sources,
    require_state,
)

# 12.zip, 12_<uuid>.changelog, .12_<uuid>.zip.crc, 12.delta, 12.snapshot: state as of batch 11
_STATE_FILE = re.compile(r"\.?(\d+)(?:_[^.]*)?\.(?:zip|changelog|delta|snapshot)(?:\.crc)?")
_LINK_ATTEMPTS_MAX = 3


class Checkpoint:
    """One query's checkpoint directory. Reads need no Spark; nothing here changes it.

    Parameters
    ----------
    path : the directory; Spark creates it when the query first starts
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def identity(self) -> str:
        """Give the id of this query's life. A restored query has another one.

        Raises
        ------
        PurgedCheckpoint : if the query has never started, or the file that says it is gone
        DamagedFile : if it says something else
        """
        metadata = read_json(self.path / "metadata", id=str)
        if metadata is None:
            raise PurgedCheckpoint(
                f"the checkpoint {self.path} has no metadata file. The query cannot be told from "
                "others, so its rows could be appended twice. Put the file back, or restore a "
                "snapshot"
            )
        return str(metadata["id"])

    def is_planned(self, batch_id: BatchId) -> bool:
        """Tell whether Spark has chosen what a batch reads, and still knows it."""
        return (self.path / "offsets" / str(batch_id)).exists()

    def is_committed(self, batch_id: BatchId) -> bool:
        """Tell whether Spark has completed a batch: its state files are then final."""
        return (self.path / "commits" / str(batch_id)).exists()

    def has_reached(self, batch_id: BatchId) -> bool:
        """Tell whether a batch or a later one is completed: its files are final, or purged."""
        newest = self.last_committed()
        return newest is not None and newest >= batch_id

    def last_committed(self) -> BatchId | None:
        """Give the newest completed batch, or None if there is none yet."""
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
                    self._check_log(self.path / kind / str(number))
                except DamagedFile as error:
                    if number == max(self._logged(kind)):
                        raise self._cut_off(kind, number) from error
                    raise
        planned, last = self.last_planned(), self.last_committed()
        if planned is not None:
            require_offsets_before(self.path, planned)
        if last is not None:
            require_state(self.path, last)
            if self.is_planned(last):
                require_sources(self.path, self.offsets(last))

    def _check_identity(self) -> None:
        try:
            read_json(self.path / "metadata", id=str)
        except DamagedFile as error:
            if self._logged("commits") or len(self._logged("offsets")) > 1:
                raise
            crc = self.path / ".metadata.crc"
            raise DamagedFile(
                f"{self.path / 'metadata'} is not what was written there, and the query has "
                "completed no batch. Nothing was changed. If the machine lost its power as it was "
                f"written, nothing was done in its name: then delete {self.path / 'metadata'} and "
                f"{crc}, and start the query again. Else restore it from a backup"
            ) from error

    @staticmethod
    def _check_log(file: Path) -> None:
        with as_written(file):
            version, about, *offsets = file.read_text(encoding="utf-8").splitlines()
            if not version.startswith("v"):
                raise ValueError("it does not begin as it should")
            # What a source writes is its own business; most write objects.
            for line in (about, *(each for each in offsets if each.startswith("{"))):
                json.loads(line)

    def _cut_off(self, kind: str, number: BatchId) -> DamagedFile:
        file, crc = self.path / kind / str(number), self.path / kind / f".{number}.crc"
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
        return [BatchId(number) for number in NumberedFiles(self.path / kind, "").numbers()]

    def offsets(self, batch_id: BatchId) -> list[Any]:
        """Read what each source of the plan has said at the end of a batch, in the plan's order.

        None stands for a source that has said nothing yet. Some that are not ours say no JSON.

        Raises
        ------
        PurgedCheckpoint : if Spark has deleted it
        DamagedFile : if it is not what Spark wrote
        """
        file = self.path / "offsets" / str(batch_id)
        try:
            with as_written(file):
                _version, _batch, *lines = file.read_text(encoding="utf-8").splitlines()
                return [None if line == "-" else as_json(line) for line in lines]
        except FileNotFoundError:
            raise self._purged(batch_id) from None

    def last_planned(self) -> BatchId | None:
        """Give the newest batch for which Spark has chosen what it reads; None if there is none."""
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
        with as_written(self.path / "offsets" / str(batch_id)):
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
                    f"the plan reads channel {channel!r} through two sources ({self.path}). They "
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
        names = [Path(kind, name) for kind, name in logs]
        names += [Path(kind, f".{name}.crc") for kind, name in logs]
        names += [Path("metadata"), Path(".metadata.crc")]
        there = [file for file in map(self.path.joinpath, names) if file.exists()]
        make_directory(self.path)  # which Spark has made; its name may be lost, too
        sync_files([*there, self.path])

    def acknowledged(self, channel: ChannelName) -> Position:
        """Give up to where a restart need not read again: it goes on behind the last batch."""
        batch = self.last_committed()
        if batch is None:
            return Position(0)
        try:
            return self.received(batch).get(channel, Position(0))
        except PurgedCheckpoint:
            return Position(0)  # the copy is just replaced

    def copy_as_of(self, batch_id: BatchId, target: Path) -> None:
        """Link or copy what a restart right after a batch needs. May be repeated.

        Called by the collector's thread while the query runs on, once Spark has committed the
        batch. Either the whole copy is at `target` afterwards, or nothing.

        Raises
        ------
        PurgedCheckpoint : if Spark has deleted files of this batch
        LostFiles : if state that the batch has written is not there
        """
        if target.exists():
            return
        for _ in range(_LINK_ATTEMPTS_MAX):
            temporary = temporary_sibling(target)
            try:
                self._link(batch_id, temporary)
                require_as_of(temporary, batch_id)
            except DiskFailed:
                shutil.rmtree(temporary, ignore_errors=True)
                raise
            except LostFiles:
                shutil.rmtree(temporary, ignore_errors=True)
                # In the words of the checkpoint, unless it was replaced meanwhile.
                require_as_of(self.path, batch_id)
                continue
            except FileNotFoundError:
                # Spark deleted a file between listing and linking. An old one is not needed and
                # will not be listed again; one of this batch's is found missing below.
                shutil.rmtree(temporary, ignore_errors=True)
                if not self._retained(batch_id):
                    raise self._purged(batch_id) from None
                continue
            reached(Failpoint.CHECKPOINT_LINKED, self.path.parent.name)
            try:
                sync_tree(temporary)  # a crash must not leave a part of it under its name
                move(temporary, target)
            except OSError:
                shutil.rmtree(temporary, ignore_errors=True)
                if not target.exists():  # else another driver's collector was faster
                    raise
            sync_directory(target.parent)
            return
        raise self._purged(batch_id)

    def _link(self, batch_id: BatchId, target: Path) -> None:
        if not self._retained(batch_id):
            raise FileNotFoundError(batch_id)
        before = self.path.stat().st_ino
        for relative in self._files_as_of(batch_id):
            link_or_copy(self.path / relative, target / relative)
        # A copy's checkpoint may be replaced by its twin's meanwhile: a mixture of two is none.
        if self.path.stat().st_ino != before:
            raise FileNotFoundError(self.path)

    def _retained(self, batch_id: BatchId) -> bool:
        log = (self.path / kind / str(batch_id) for kind in ("offsets", "commits"))
        return all(file.exists() for file in log)

    def _files_as_of(self, batch_id: BatchId) -> Iterator[Path]:
        """List the files of a checkpoint that ends with a batch, relative to it.

        Spark looks at the batch before the last one too when it starts. Of the state, every file
        up to the batch's version is taken, since changelogs build on older snapshots.
        """
        yield Path("metadata")
        for kind in ("offsets", "commits"):
            for number in (batch_id - 1, batch_id):
                for name in (str(number), f".{number}.crc"):
                    if (self.path / kind / name).exists():
                        yield Path(kind, name)
        for folder in ("state", "sources"):
            for directory, _, names in os.walk(self.path / folder):
                for name in sorted(names):
                    relative = Path(directory, name).relative_to(self.path)
                    if _belongs(relative, batch_id):
                        yield relative

    def _purged(self, batch_id: BatchId) -> PurgedCheckpoint:
        return PurgedCheckpoint(
            f"checkpoint {self.path} no longer has batch {batch_id}. Spark keeps the last "
            "spark.sql.streaming.minBatchesToRetain batches alone, so the state at the cut is "
            "gone. Raise that setting, or take another snapshot"
        )


def _belongs(file: Path, batch_id: BatchId) -> bool:
    """Tell whether a state file is part of the state as of a batch."""
    if file.name.endswith(".tmp"):
        return False
    if "_metadata" in file.parts:  # written by the batch that the operator changed in
        number = file.name.lstrip(".").removesuffix(".crc")
        return not number.isdigit() or int(number) <= batch_id
    if "_stateSchema" in file.parts:
        return True
    version = _STATE_FILE.fullmatch(file.name)
    # A newer version would be taken for the state of a batch that this life never ran.
    return version is None or int(version.group(1)) <= batch_id + 1


def begin_new_life(copy: Path, target: Path, pipeline: str | None = None) -> str:
    """Make a checkpoint to start a restored query from, with an id of its own; give the id.

    With the old id, sinks would take the batches that it runs again for repetitions and skip them,
    silently. Its offsets name the new pipeline from then on.

    Parameters
    ----------
    copy : what `Checkpoint.copy_as_of` made; it is not changed
    target : must not exist
    pipeline : id of the pipeline that the query is of; None leaves the offsets as they are
    """
    for directory, _, names in os.walk(copy):
        for name in names:
            file = Path(directory, name)
            relative = file.relative_to(copy)
            if relative.parent == Path("offsets") and pipeline is not None:
                if name.isdigit():  # else it is a checksum of what is written anew
                    _rename_pipeline(file, target / relative, pipeline)
            elif relative.name not in ("metadata", ".metadata.crc") or relative.parent != Path("."):
                link_or_copy(file, target / relative)
    identity = str(uuid.uuid4())
    target.mkdir(parents=True, exist_ok=True)
    (target / "metadata").write_text(json.dumps({"id": identity}), encoding="utf-8")
    return identity


def _rename_pipeline(file: Path, target: Path, pipeline: str) -> None:
    """Write a batch's offsets anew, as those of another pipeline."""
    with as_written(file):
        version, about, *lines = file.read_text(encoding="utf-8").splitlines()
        offsets = [as_json(line) for line in lines]
    for offset in filter(is_offset, offsets):
        offset["pipeline"] = pipeline
        offset.pop(DONE_KEY, None)  # it is of what the query itself was restored from
    renamed = [
        json.dumps(offset) if is_offset(offset) else line
        for line, offset in zip(lines, offsets, strict=True)
    ]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join([version, about, *renamed]), encoding="utf-8")
