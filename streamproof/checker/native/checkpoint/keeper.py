"""Keeping a search: when a checkpoint is written, and what is written into it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from streamproof.checker.limits import LimitReached
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.files import (
    KINDS,
    MANIFEST,
    AppendedFile,
    Files,
    is_ours,
    new_files,
)
from streamproof.checker.native.checkpoint.manifest import (
    CheckpointRefused,
    Manifest,
    Owner,
    Share,
)
from streamproof.checker.native.checkpoint.resume import load
from streamproof.checker.native.code.cells import Ranges
from streamproof.checker.native.partition import Partition
from streamproof.checker.native.search import Search
from streamproof.disk import sync_directory
from streamproof.lang.model import Model


class Keeps(Protocol):
    """The interface of a keeper of searches, as an engine uses it.

    Attributes
    ----------
    ranges : what numbers without a declared range were found to need
    """

    ranges: Ranges

    def following(self, search: Search) -> AbstractContextManager[Any]:
        """Keep a search while it runs, and when it ends."""


@contextmanager
def keeper_of(checkpoint: Checkpoint | None, model: Model[Any]) -> Iterator[Keeps]:
    """Yield the keeper of a model's searches; without a directory, one that keeps nothing.

    Raises
    ------
    CheckpointRefused : if the directory is not what it should be, or belongs to another search
    """
    if checkpoint is None:
        yield _Nobody()
        return
    with checkpoint.opened(model) as (owner, manifest):
        yield _Keeper(checkpoint, owner, manifest)


class _Nobody:
    """Keeps nothing."""

    def __init__(self) -> None:
        self.ranges: Ranges = {}

    def following(self, search: Search) -> AbstractContextManager[Any]:
        return nullcontext(search)


class _Keeper:
    """Keeps one search after the other: each that begins anew takes the place of the last."""

    def __init__(self, checkpoint: Checkpoint, owner: Owner, manifest: Manifest | None) -> None:
        self.checkpoint, self.owner, self.manifest = checkpoint, owner, manifest
        self.ranges: Ranges = manifest.ranges if manifest else {}
        self._generation = manifest.generation if manifest else 0
        self._kept_at = -inf
        self._is_writable = False

    @contextmanager
    def following(self, search: Search) -> Iterator[None]:
        """Keep a search now and then, and when it ends; the first one goes on from the directory.

        Raises
        ------
        CheckpointRefused : if the directory's content is damaged, or nothing can be written there
        """
        writer = self._writer_of(search)
        self._kept_at = -inf

        def after_round() -> None:
            writer.take_note()
            if time.monotonic() > self._kept_at + self.checkpoint.every_seconds:
                self._keep(writer)

        search.after_round = after_round
        try:
            yield
        except (LimitReached, KeyboardInterrupt):
            self._keep(writer)
            raise
        self._keep(writer)

    def _writer_of(self, search: Search) -> _Writer:
        manifest, self.manifest = self.manifest, None
        self._generation += 1
        directory = self.checkpoint.directory
        files = new_files(directory, self._generation, len(search.partitions))
        if manifest is not None:
            if search.program.identity != manifest.program:
                raise self.checkpoint.refused(
                    "its code, constants, initial states, --symmetry or --safety are others"
                )
            loaded = load(search, manifest, directory)
            self.checkpoint.states = manifest.states
            if len(loaded) == len(files):
                files, self._generation = loaded, manifest.generation
                for file in (file for kinds in files for file in kinds.values()):
                    file.truncate()
        return _Writer(directory, self.owner, search, self._generation, files)

    def _keep(self, writer: _Writer) -> None:
        """Write a checkpoint. A search goes on without one, unless it has only begun."""
        if writer.note is None:
            return
        checkpoint = self.checkpoint
        try:
            manifest = writer.write(writer.note)
        except OSError as error:
            checkpoint.failure = str(error)
            if not self._is_writable:
                raise CheckpointRefused(
                    f"the search cannot be kept in {checkpoint.directory} ({error}), so it would "
                    "be lost if it were ended. Nothing was searched. Name another directory"
                ) from error
        else:
            checkpoint.states, checkpoint.failure = manifest.states, None
            checkpoint.is_whole = all(share.done == share.count for share in manifest.shares)
            self._is_writable = True
        self._kept_at = time.monotonic()


@dataclass(frozen=True, slots=True)
class _Note:
    """A moment at which every partition was complete in itself.

    Attributes
    ----------
    shares : per partition, its states, those expanded, and its levels
    """

    depth: int
    fired: tuple[int, ...]
    shares: tuple[tuple[int, int, int], ...]


class _Writer:
    """Writes what is new in one search behind what was written of it before."""

    def __init__(
        self, directory: Path, owner: Owner, search: Search, generation: int, files: Files
    ) -> None:
        self.directory, self.owner, self.search = directory, owner, search
        self.generation, self.files = generation, files
        self.note: _Note | None = None

    def take_note(self) -> None:
        """Take note of how far the search is; whatever it does later is not written with it."""
        parts = self.search.partitions
        shares = tuple((part.count, part.done, len(part.level_ends)) for part in parts)
        self.note = _Note(self.search.depth, tuple(self.search.fired), shares)

    def write(self, note: _Note) -> Manifest:
        """Write a checkpoint. After an interrupt it may be repeated, and writes the same."""
        parts = zip(self.search.partitions, note.shares, self.files, strict=True)
        files = [
            {kind: file.extended(_content(part, share, kind, file)) for kind, file in kinds.items()}
            for part, share, kinds in parts
        ]
        shares = tuple(
            Share(*share, {kind: file.digest.hexdigest() for kind, file in kinds.items()})
            for share, kinds in zip(note.shares, files, strict=True)
        )
        manifest = Manifest(
            self.owner,
            self.search.program.identity,
            self.search.program.ranges,
            self.generation,
            note.depth,
            self.search.is_in_order,
            note.fired,
            shares,
        )
        sync_directory(self.directory)  # else the manifest could be there before what it speaks of
        manifest.write(self.directory)
        self.files = files
        self._remove_other_generations()
        return manifest

    def _remove_other_generations(self) -> None:
        used = {file.path for kinds in self.files for file in kinds.values()}
        used.add(self.directory / MANIFEST)
        for path in self.directory.iterdir():
            if is_ours(path) and path not in used:
                path.unlink()


def _content(
    part: Partition, share: tuple[int, int, int], kind: str, file: AppendedFile
) -> memoryview:
    """Return the content to append to a file."""
    count, _, levels = share
    arrays: Mapping[str, Any] = {
        "states": part.states[: count * part.program.layout.words],
        "links": part.links[:count],
        "levels": np.array(part.level_ends[:levels], KINDS["levels"]),
    }
    new = arrays[kind][file.length // KINDS[kind].itemsize :]
    return np.ascontiguousarray(new, KINDS[kind]).data.cast("B")
