"""A checkpoint's manifest: the one small file that says what else of its directory counts.

It is replaced in one step, after all that it speaks of is on the disk. Whatever lies behind or
beside that was being written when the process died, and is of no account.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

from streamproof import __version__
from streamproof.checker.native.checkpoint.files import MANIFEST, TEMPORARY
from streamproof.checker.native.code.program import form_of, generator_digest
from streamproof.disk import replace_file
from streamproof.lang import StreamproofError
from streamproof.lang.model import Model
from streamproof.lang.trace import trace_model
from streamproof.models.kit.trace import fields_of, show

FORMAT = 1
"""Raised when a manifest or the files that it speaks of mean something else."""


class CheckpointRefused(StreamproofError, ValueError):
    """A checkpoint is damaged, belongs to another search, or cannot be kept where it should be."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose a checkpoint is.

    Attributes
    ----------
    version : of streamproof, and of what its native engine makes of a model
    model : the name of its class
    form : a digest of the traced model
    size : the model's fields, as text
    """

    version: str
    model: str
    form: str
    size: Mapping[str, str]

    @classmethod
    def of(cls, model: Model[Any]) -> Self:
        """Describe a model.

        Raises
        ------
        Untraceable, WrongDefinition : if it cannot be traced
        """
        return cls(
            f"streamproof {__version__}, engine {generator_digest()}",
            type(model).__name__,
            _digest(form_of(trace_model(type(model)))),
            {name: show(value) for name, value in fields_of(model)},
        )

    def differs(self, other: Owner) -> str | None:
        """Return why a checkpoint of another owner cannot be used by this one; None if it can."""
        if self.version != other.version:
            return f"it was written by {other.version}, and this is {self.version}"
        if self.model != other.model:
            return f"it is of {other.model}, and this is {self.model}"
        if self.form != other.form:
            return f"{self.model} was changed since it was written"
        for name, value in self.size.items():
            if value != other.size.get(name):
                return f"it is of {name}={other.size.get(name)}, and this is {name}={value}"
        return None


@dataclass(frozen=True, slots=True)
class Share:
    """What is kept of one partition.

    Attributes
    ----------
    count, done : states found, and expanded
    levels : how many levels were begun
    digests : per kind of file, the digest of what is kept in it
    """

    count: int
    done: int
    levels: int
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a checkpoint holds.

    Attributes
    ----------
    owner : whose it is
    program : the identity of the compiled program
    ranges : what numbers without a declared range were found to need
    generation : which files are meant; each search that begins anew writes others
    depth, is_in_order : as in `Search`
    fired : per ground action, how often it was taken
    shares : per partition, what is kept of it
    """

    owner: Owner
    program: str
    ranges: Mapping[str, tuple[int, int]]
    generation: int
    depth: int
    is_in_order: bool
    fired: tuple[int, ...]
    shares: tuple[Share, ...]

    @property
    def states(self) -> int:
        """How many states are kept."""
        return sum(share.count for share in self.shares)

    @classmethod
    def read(cls, directory: Path) -> Self | None:
        """Read the manifest of a directory, or give None if it has none.

        Raises
        ------
        CheckpointRefused : if it is damaged, or of another format
        """
        path = directory / MANIFEST
        try:
            text = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            content = json.loads(text)
            is_whole = text == _sealed({name: content[name] for name in content if name != "seal"})
        except (ValueError, TypeError):
            is_whole = False
        if not is_whole:
            raise damaged(path)
        if content["format"] != FORMAT:
            raise CheckpointRefused(
                f"{path} has format {content['format']}, and this version of streamproof reads "
                f"{FORMAT}. Nothing was changed. Go on with the version that wrote it"
            )
        known = {field.name: content[field.name] for field in fields(cls)}
        known["owner"] = Owner(**content["owner"])
        known["ranges"] = {name: (low, high) for name, (low, high) in content["ranges"].items()}
        known["shares"] = tuple(Share(**share) for share in content["shares"])
        return cls(**known)

    def write(self, directory: Path) -> None:
        """Replace the manifest of a directory in one step."""
        content = {"format": FORMAT, **asdict(self)}
        replace_file(directory / MANIFEST, _sealed(content), temporary=directory / TEMPORARY)


def damaged(path: Path) -> CheckpointRefused:
    """Return the error of a checkpoint's file that is not what was written."""
    return CheckpointRefused(
        f"{path} is damaged: it is not what was written there, so a search that went on from it "
        "could miss states. Nothing was changed. Restore the directory from a backup, or begin "
        "anew with --checkpoint and another directory"
    )


def _sealed(content: Mapping[str, Any]) -> bytes:
    """Write content down with its own digest, in the only way that is accepted."""
    seal = _digest(json.dumps(content, sort_keys=True))
    return json.dumps({**content, "seal": seal}, indent=1, sort_keys=True).encode()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
