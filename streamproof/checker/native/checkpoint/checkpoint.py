"""Checkpoints: directories in which a search is kept, so that it goes on after it was ended.

States, links and ends of levels are only ever appended to, in memory as on the disk. A checkpoint
appends what is new, waits until it is on the disk, and replaces the manifest. Nothing that a
manifest speaks of is changed before another one has taken its place, so a process may die at any
moment. The index of the states is not kept: it is made again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamproof.checker.native.checkpoint.files import MANIFEST, is_ours
from streamproof.checker.native.checkpoint.manifest import (
    CheckpointRefused,
    Manifest,
    Owner,
)
from streamproof.checker.progress import KEPT_EVERY_SECONDS
from streamproof.disk import make_directory
from streamproof.file_locks import try_lock
from streamproof.lang.model import Model
from streamproof.models.kit.verdict import Json
from streamproof.paths import why_not_local


@dataclass
class Checkpoint:
    """A directory in which a search is kept while it runs, and when it ends; and what became of it.

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

    directory: Path
    resume: bool = False
    every_seconds: float = KEPT_EVERY_SECONDS
    states: int = field(default=0, init=False)
    is_whole: bool = field(default=False, init=False)
    failure: str | None = field(default=None, init=False)

    @contextmanager
    def opened(self, model: Model[Any]) -> Iterator[tuple[Owner, Manifest | None]]:
        """Hold the directory for a search of a model; give who owns it, and what it holds.

        Raises
        ------
        CheckpointRefused : if the directory is not what it should be, or belongs to another search
        """
        if why := why_not_local(self.directory):
            raise CheckpointRefused(
                f"a checkpoint was given the directory {str(self.directory)!r}, {why}. Nothing was "
                "searched"
            )
        owner = Owner.of(model)
        if not self.resume:
            self._make_directory()
        elif not (self.directory / MANIFEST).is_file():
            raise CheckpointRefused(
                f"{self.directory} holds no checkpoint (there is no {MANIFEST}), so there is "
                "nothing to go on from. Name the directory that was given to --checkpoint, or "
                "begin anew with --checkpoint"
            )
        with _held(self.directory):
            manifest = Manifest.read(self.directory)
            if manifest is None:
                self._check_nothing_else_is_there()
            else:
                self._check_owner(owner, manifest)
            yield owner, manifest

    def refused(self, difference: str) -> CheckpointRefused:
        """Describe how the kept search differs from the one that is to go on."""
        return CheckpointRefused(
            f"the checkpoint in {self.directory} is not of this search: {difference}. Nothing was "
            "changed. Name the model and the size that it is of, or begin anew with --checkpoint "
            "and another directory"
        )

    def to_json(self) -> Json:
        """Return what became of the search that was kept."""
        return {
            "directory": str(self.directory),
            "states": self.states,
            "is_whole": self.is_whole,
            "failure": self.failure,
        }

    def _make_directory(self) -> None:
        try:
            self.directory.mkdir(exist_ok=True)
            make_directory(self.directory)  # its name, too, is to outlive the power
        except OSError as error:
            raise CheckpointRefused(
                f"the directory {self.directory} cannot be made ({error.strerror or error}), so a "
                "search could not be kept there. Nothing was searched. Name a directory that is "
                "not there yet, in one that is"
            ) from error

    def _check_nothing_else_is_there(self) -> None:
        others = [path.name for path in self.directory.iterdir() if not is_ours(path)]
        if others:
            raise CheckpointRefused(
                f"{self.directory} holds something else ({min(others)}), which is not touched. "
                "Nothing was searched. Name a directory that is empty or not there yet"
            )

    def _check_owner(self, owner: Owner, manifest: Manifest) -> None:
        difference = owner.differs(manifest.owner)
        if difference is not None:
            raise self.refused(difference)
        if not self.resume:
            raise CheckpointRefused(
                f"{self.directory} holds a checkpoint of this model already, with "
                f"{manifest.states:,} states, which would be lost. Nothing was changed. Go on from "
                "it with --resume, or name another directory"
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
    if not try_lock(handle):
        raise CheckpointRefused(
            f"{directory} is being used by another search that runs now, and two would spoil it. "
            "Nothing was changed. Wait for its end, or name another directory"
        )
