"""The state of a stateful query as files: which of them a batch needs, and where they were made.

``commits/n`` names, for each partition of each operator, the file that batch n wrote. It builds on
those of earlier batches, back to a snapshot of the state, and that one on files of its own.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from streamproof.spark_bindings.errors import LostFiles
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.json_files import as_written
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at

# 12_<uuid>.changelog, 12_<uuid>.zip: state as of batch 11
_NAMED = re.compile(r"(\d+)_([^.]+)\.(changelog|zip)")
_SCHEMA_PATHS = "stateSchemaFilePaths"


def require_state(checkpoint: Place, batch: BatchId) -> None:
    """Check that a checkpoint has the state that its log names for a completed batch.

    Raises
    ------
    LostFiles : if some is missing
    DamagedFile : if the log cannot be read
    """
    named = _named(checkpoint, batch)
    for operator, partitions in named.items():
        for number, uniques in enumerate(partitions):
            place = checkpoint / f"state/{operator}/{number}"
            for unique in uniques:
                missing = _missing(place, batch + 1, unique)
                if missing:
                    raise LostFiles(
                        f"the checkpoint {checkpoint} has lost {missing} of its state, which "
                        f"commits/{batch} needs. The query would begin without what it knew, or "
                        "not at all. If executors run on other machines, they have to see this "
                        "directory under the same name. Put the files back, or restore a snapshot"
                    )


def require_offsets_before(checkpoint: Place, planned: BatchId) -> None:
    """Check that a checkpoint has the offsets before those of its last batch: Spark reads both.

    Parameters
    ----------
    planned : the last batch that has offsets

    Raises
    ------
    LostFiles : if they are missing, so that Spark could not begin
    """
    before = f"offsets/{planned - 1}"
    if planned > 0 and not store_at(checkpoint).has(before):
        raise LostFiles(
            f"the checkpoint {checkpoint} has lost {before}, which Spark reads as it starts, as it "
            f"does those of batch {planned}. The query could not begin. Put the file back, or "
            "restore a snapshot"
        )


def require_as_of(checkpoint: Place, batch: BatchId) -> None:
    """Check that a checkpoint that ends with a completed batch has what Spark begins with.

    Raises
    ------
    LostFiles : if state, or the offsets before the last ones, are missing
    DamagedFile : if the log cannot be read
    """
    require_offsets_before(checkpoint, batch)
    require_state(checkpoint, batch)


def require_sources(checkpoint: Place, offsets: Sequence[Any]) -> None:
    """Check that a checkpoint has what its sources of files have noted: which ones they have read.

    Parameters
    ----------
    offsets : what each source has said at the end of a batch

    Raises
    ------
    LostFiles : if it is missing, so that files would be read again
    """
    for number, offset in enumerate(offsets):
        if not isinstance(offset, dict) or not isinstance(offset.get("logOffset"), int):
            continue
        noted, place = offset["logOffset"], store_at(checkpoint / f"sources/{number}")
        if noted >= 0 and not any(place.has(f"{noted}{end}") for end in ("", ".compact")):
            raise LostFiles(
                f"the checkpoint {checkpoint} has lost sources/{number}/{noted}, where its source "
                "has noted which files it has read. It would read them again, and their rows would "
                "be there twice. Nothing was written. Put the files back, or begin anew with "
                "another checkpoint and another table"
            )


def _named(checkpoint: Place, batch: BatchId) -> dict[str, list[list[str]]]:
    """Read which files a batch has written: per operator and partition, one for each store."""
    file = checkpoint / f"commits/{batch}"
    with as_written(file):
        lines = store_at(file).get().decode().splitlines()
        said: Any = json.loads(lines[1]) if len(lines) > 1 else {}
        return dict(said.get("stateUniqueIds") or {})  # none, if it has no state


def _missing(place: Place, version: int, unique: str) -> str:
    """Describe what is missing of a partition's state of a version; empty if it is there."""
    folders: dict[str, dict[int, list[tuple[str, str, str]]]] = {}
    for key in store_at(place).walk():
        folder, _, name = key.rpartition("/")
        files = folders.setdefault(folder, defaultdict(list))
        parts = _NAMED.fullmatch(name)
        if parts:
            files[int(parts[1])].append((parts[2], parts[3], name))
    for folder, files in folders.items():
        if any(own == unique for own, _, _ in files[version]):
            return _missing_below(place / folder if folder else place, files, version, unique)
    return f"{place.name}/{version}_{unique}"


def _missing_below(
    place: Place, files: dict[int, list[tuple[str, str, str]]], version: int, unique: str
) -> str:
    """Follow the changes of a store back to a snapshot of it, or to its beginning."""
    for number in range(version, 0, -1):
        # Which file of an earlier version counts, only its changes say, in Spark's own encoding.
        there = [each for each in files[number] if number < version or each[0] == unique]
        if not there:
            return f"{place.name}/{number}_*"
        snapshots = [name for _, kind, name in there if kind == "zip"]
        for name in snapshots:
            parts = _parts(place / name)
            missing = [part for part in parts if not store_at(place).has(f"SSTs/{part}")]
            if not missing:
                return ""
            if len(there) == len(snapshots):
                return f"{place.name}/SSTs/{missing[0]}"
    return ""


def _parts(snapshot: Place) -> Iterator[str]:
    """List the files that a snapshot of a store's state names."""
    with as_written(snapshot):
        try:
            with zipfile.ZipFile(snapshot.local) as packed:
                text = packed.read("metadata").decode()
        except zipfile.BadZipFile as error:
            raise ValueError(str(error)) from error
        said = json.loads(text.partition("\n")[2] if text.startswith("v") else text)
        for file in said.get("sstFiles") or []:
            yield file["dfsSstFileName"]


def settle(checkpoint: Place) -> None:
    """Let a checkpoint name its own files: Spark notes some of them with their whole path.

    A restored query would use those of the snapshot, and one whose directory was moved, none. May
    be repeated.
    """
    for file in _operators(checkpoint):
        with as_written(file):
            version, text = store_at(file).get().decode().split("\n", 1)
            said = json.loads(text)
            stores = said["stateStoreInfo"]
            here = [[_here(checkpoint, path) for path in store[_SCHEMA_PATHS]] for store in stores]
            if here == [store[_SCHEMA_PATHS] for store in stores]:
                continue
            for store, paths in zip(stores, here, strict=True):
                store[_SCHEMA_PATHS] = paths
        # Its name may be one of several for the same bytes: a new file, and no checksum of the old.
        folder = store_at(file.parent)
        folder.delete(f".{file.name}.crc")
        folder.put(file.name, f"{version}\n{json.dumps(said)}".encode())


def _operators(checkpoint: Place) -> Iterator[Place]:
    """List the files in which Spark notes its operators, and where their schemas are."""
    state = store_at(checkpoint / "state")
    for operator in state.list():
        written = NumberedFiles(state.place / f"{operator}/_metadata/v2", "")
        yield from map(written.file, written.numbers())


def _here(checkpoint: Place, path: str) -> str:
    """Return the place below a checkpoint that a path names below another one."""
    scheme, found, below = path.rpartition("/state/")
    own = checkpoint / f"state/{below}"
    if not found or not scheme.startswith("file:") or not store_at(own).has():
        return path
    return f"file:{own.for_spark()}"
