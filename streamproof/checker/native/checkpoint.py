"""Checkpoints: a search that is kept in a directory, so that it goes on after it was ended.

States, links and ends of levels are only ever appended to, in memory as on the disk. A checkpoint
appends what is new, waits until it is on the disk, and replaces the manifest. Nothing that a
manifest speaks of is changed before another one has taken its place, so a process may die at any
moment. The index of the states is not kept: it is made again.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from streamproof.checker.limits import LimitReached
from streamproof.checker.native.cells import Ranges
from streamproof.checker.native.files import KINDS, AppendedFile, new_files
from streamproof.checker.native.manifest import (
    MANIFEST,
    TEMPORARY,
    CheckpointRefused,
    Manifest,
    Owner,
    Share,
)
from streamproof.checker.native.partition import Partition
from streamproof.checker.native.resume import load
from streamproof.checker.native.search import Search
from streamproof.checker.progress import KEPT_EVERY_SECONDS
from streamproof.lang.model import Model
from streamproof.models.verdict import Json

_OURS = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(TEMPORARY)}|\d+-\d+\.({'|'.join(KINDS)})")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A moment at which every partition was complete in itself.

    Attributes
    ----------
    shares : per partition, its states, those expanded, and its levels
    """

    depth: int
    fired: tuple[int, ...]
    shares: tuple[tuple[int, int, int], ...]


class Checkpoint:
    """A directory in which a search is kept while it runs, and when it ends.

    Parameters
    ----------
    directory : made if it is not there, unless a search is to go on from it
    resume : whether a search goes on from what the directory holds
    every_seconds : how long a search runs before it is kept again

    Attributes
    ----------
    states : how many states the directory holds
    is_whole : whether these are all states of the model, with all their steps
    failure : why the search could not be kept any more; None if it could
    """

    def __init__(
        self, directory: Path, *, resume: bool = False, every_seconds: float = KEPT_EVERY_SECONDS
    ) -> None:
        self.directory, self.resume, self.every_seconds = directory, resume, every_seconds
        self.states, self.is_whole = 0, False
        self.failure: str | None = None
        self._loaded: Manifest | None = None
        self._mark: _Mark | None = None
        self._kept_at = -inf
        self._is_writable = False

    @contextmanager
    def opened(self, model: Model[Any]) -> Iterator[Ranges]:
        """Hold the directory for a search of a model; give the ranges that are known.

        Raises
        ------
        CheckpointRefused : if the directory is not what it should be, or belongs to another search
        """
        self.owner = Owner.of(model)
        self._make_directory()
        with _held(self.directory):
            self._loaded = Manifest.read(self.directory)
            self._check_content(self._loaded)
            self._generation = self._loaded.generation if self._loaded else 0
            yield self._loaded.ranges if self._loaded else {}

    @contextmanager
    def following(self, search: Search) -> Iterator[None]:
        """Keep a search now and then, and when it ends; the first one goes on from the directory.

        Raises
        ------
        CheckpointRefused : if the directory's content is damaged, or nothing can be written there
        """
        self._search, self._mark, self._kept_at = search, None, -inf
        self._generation += 1
        self._files = new_files(self.directory, self._generation, len(search.partitions))
        if self._loaded is not None:
            self._go_on(search, self._loaded)
            self._loaded = None
        search.after_round = self._after_round
        try:
            yield
        except (LimitReached, KeyboardInterrupt):
            self._keep()
            raise
        self._keep()

    def to_json(self) -> Json:
        """Give what became of the search that was kept."""
        return {
            "directory": str(self.directory),
            "states": self.states,
            "is_whole": self.is_whole,
            "failure": self.failure,
        }

    def _go_on(self, search: Search, manifest: Manifest) -> None:
        if search.program.identity != manifest.program:
            raise self._foreign("it is of a search with other options or other initial states")
        files = load(search, manifest, self.directory)
        self.states = manifest.states
        if len(files) == len(search.partitions):
            for kinds in files:
                for file in kinds.values():
                    file.truncate()
            self._files, self._generation = files, manifest.generation

    def _after_round(self) -> None:
        search = self._search
        shares = tuple((part.count, part.done, len(part.level_ends)) for part in search.partitions)
        self._mark = _Mark(search.depth, tuple(search.fired), shares)
        if time.monotonic() > self._kept_at + self.every_seconds:
            self._keep()

    def _keep(self) -> None:
        """Write a checkpoint. A search goes on without one, unless it has only begun."""
        if self._mark is None:
            return
        try:
            self._write(self._mark)
            self.failure, self._is_writable = None, True
        except OSError as error:
            self.failure = str(error)
            if not self._is_writable:
                raise CheckpointRefused(
                    f"the search cannot be kept in {self.directory} ({error}), so it would be lost "
                    "if it were ended. Nothing was searched. Name another directory"
                ) from error
        self._kept_at = time.monotonic()

    def _write(self, mark: _Mark) -> None:
        search = self._search
        files = [
            {kind: file.extended(_content(part, share, kind, file)) for kind, file in kinds.items()}
            for part, share, kinds in zip(search.partitions, mark.shares, self._files, strict=True)
        ]
        shares = tuple(
            Share(*share, {kind: file.digest.hexdigest() for kind, file in kinds.items()})
            for share, kinds in zip(mark.shares, files, strict=True)
        )
        manifest = Manifest(
            self.owner,
            search.program.identity,
            search.program.ranges,
            self._generation,
            mark.depth,
            search.is_in_order,
            mark.fired,
            shares,
        )
        manifest.write(self.directory)
        # If the process is interrupted here, the same is written to the same places once more.
        self._files, self.states = files, manifest.states
        self.is_whole = all(share.done == share.count for share in shares)
        for path in self._others():
            path.unlink()

    def _others(self) -> list[Path]:
        """List the files of other generations."""
        ours = {file.path for kinds in self._files for file in kinds.values()}
        ours.add(self.directory / MANIFEST)
        found = [path for path in self.directory.iterdir() if _OURS.fullmatch(path.name)]
        return [path for path in found if path not in ours]

    def _make_directory(self) -> None:
        if self.resume:
            if not (self.directory / MANIFEST).is_file():
                raise CheckpointRefused(
                    f"{self.directory} holds no checkpoint (there is no {MANIFEST}), so there is "
                    "nothing to go on from. Name the directory that was given to --checkpoint, or "
                    "begin anew with --checkpoint"
                )
            return
        try:
            self.directory.mkdir(exist_ok=True)
        except OSError as error:
            raise CheckpointRefused(
                f"the directory {self.directory} cannot be made ({error.strerror}), so a search "
                "could not be kept there. Nothing was searched. Name a directory that is not "
                "there yet, in one that is"
            ) from error

    def _check_content(self, manifest: Manifest | None) -> None:
        if manifest is None:
            foreign = [p.name for p in self.directory.iterdir() if not _OURS.fullmatch(p.name)]
            if foreign:
                raise CheckpointRefused(
                    f"{self.directory} holds something else ({min(foreign)}), which is not touched."
                    " Nothing was searched. Name a directory that is empty or not there yet"
                )
            return
        difference = self.owner.differs(manifest.owner)
        if difference is not None:
            raise self._foreign(difference)
        if not self.resume:
            raise CheckpointRefused(
                f"{self.directory} holds a checkpoint of this model already, with "
                f"{manifest.states:,} states, which would be lost. Nothing was changed. Go on from "
                "it with --resume, or name another directory"
            )

    def _foreign(self, difference: str) -> CheckpointRefused:
        return CheckpointRefused(
            f"the checkpoint in {self.directory} is not of this search: {difference}. Nothing was "
            "changed. Name the model and the size that it is of, or begin anew with --checkpoint "
            "and another directory"
        )


@contextmanager
def _held(directory: Path) -> Iterator[None]:
    """Keep other processes out of a directory."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        _lock(handle, directory)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, directory: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CheckpointRefused(
            f"{directory} is being used by another search that runs now, and two would spoil it. "
            "Nothing was changed. Wait for its end, or name another directory"
        ) from None


def _content(
    part: Partition, share: tuple[int, int, int], kind: str, file: AppendedFile
) -> memoryview:
    """Give what is to be in a file beyond what it holds."""
    count, _, levels = share
    width = part.program.layout.words
    arrays: Mapping[str, Any] = {
        "states": part.states[: count * width],
        "links": part.links[:count],
        "levels": np.array(part.level_ends[:levels], KINDS["levels"]),
    }
    array = arrays[kind]
    new = array[file.length // array.itemsize :]
    return np.ascontiguousarray(new, KINDS[kind]).data.cast("B")
