"""Small durable files: whole or absent, however the process dies, and linked instead of copied."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from streamproof.disk import DiskFailed, create_file, explained, make_directory, replace_file
from streamproof.lang import StreamproofError
from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Replace a file in one step; after a crash it holds the old or the new value.

    May be repeated.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    make_directory(path.parent)
    replace_file(path, _text(value))


def write_json_once(path: Path, value: Mapping[str, object]) -> bool:
    """Create a file in one step unless it is there; tell whether this call created it.

    Either way it is on the disk afterwards.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    make_directory(path.parent)
    return create_file(path, _text(value))


def read_json(path: Path, **fields: type) -> Any | None:
    """Read an object that `write_json` wrote at a path, or give None if there is none.

    The format that the file says it has is checked, and left out.

    Parameters
    ----------
    fields : types of what the object must have; it may have more

    Raises
    ------
    DamagedFile : if it holds something else
    UnknownFormat : if a later version wrote it
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (IsADirectoryError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    if not isinstance(value, dict):
        raise _damaged(path, f"it holds no object but {value!r}")
    format_of(value, path)
    value.pop(FORMAT_KEY, None)
    missing = [name for name in fields if name not in value]
    if missing:
        raise _damaged(path, f"it lacks {', '.join(missing)}")
    for name, kind in fields.items():
        if not isinstance(value[name], kind):
            raise _damaged(path, f"its {name} is {value[name]!r}, and no {kind.__name__}")
    return value


@contextmanager
def as_written(path: Path) -> Iterator[None]:
    """Make objects of what a file holds: what does not fit tells that it is damaged.

    Raises
    ------
    DamagedFile : if a value in it has another type or form than was written there
    """
    try:
        yield
    except StreamproofError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error


def _damaged(path: Path, what: str) -> DamagedFile:
    return DamagedFile(
        f"{path} is not what was written there ({what}), so what it said is unknown. Nothing was "
        "changed. Restore the file from a backup"
    )


@contextmanager
def opening(path: Path, consequence: str = "Nothing was written") -> Iterator[None]:
    """Say what it means that a file cannot be opened, or cannot be written; see `explained`.

    Raises
    ------
    DiskFailed : if the disk did not take it, or the process has too many files open
    """
    try:
        with explained(path, consequence):
            yield
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE) or isinstance(error, DiskFailed):
            raise
        raise DiskFailed(
            f"{path} could not be opened ({os.strerror(error.errno)}). {consequence}. Close files, "
            "or raise the limit of open ones (ulimit -n), then call again",
            error.errno,
        ) from error


def link_or_copy(source: Path, target: Path) -> None:
    """Give a write-once file a second name; copy it where the file system cannot link.

    Only for files that nobody changes in place: both names stand for the same bytes.
    """
    with explained(target, "The copy is not complete"):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.ENOTSUP):
                raise
            shutil.copyfile(source, target)


def _text(value: Mapping[str, object]) -> bytes:
    return json.dumps({**value, FORMAT_KEY: FORMAT}, indent=1, sort_keys=True).encode()
