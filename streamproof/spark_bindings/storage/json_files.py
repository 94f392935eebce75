"""Small durable objects under keys: whole or absent, however the process dies."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from streamproof.disk import DiskFailed, explained
from streamproof.lang import StreamproofError
from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at


def write_json(place: Place, value: Mapping[str, object]) -> None:
    """Replace a file in one step; after a crash it holds the old or the new value.

    May be repeated.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    store_at(place.parent).put(place.name, _text(value))


def write_json_once(place: Place, value: Mapping[str, object]) -> bool:
    """Create a file in one step unless it is there; tell whether this call created it.

    Either way it is on the disk afterwards.

    Raises
    ------
    DiskFailed : if the disk did not take it
    """
    return store_at(place.parent).create(place.name, _text(value))


def read_json(place: Place, **fields: type) -> Any | None:
    """Read an object that `write_json` wrote at a place, or give None if there is none.

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
        value = json.loads(store_at(place).get().decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (IsADirectoryError, ValueError) as error:
        raise _damaged(place, str(error)) from error
    if not isinstance(value, dict):
        raise _damaged(place, f"it holds no object but {value!r}")
    format_of(value, place)
    value.pop(FORMAT_KEY, None)
    missing = [name for name in fields if name not in value]
    if missing:
        raise _damaged(place, f"{', '.join(missing)} is missing")
    for name, kind in fields.items():
        if not isinstance(value[name], kind):
            raise _damaged(place, f"its {name} is {value[name]!r}, and no {kind.__name__}")
    return value


@contextmanager
def as_written(place: Place) -> Iterator[None]:
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
        raise _damaged(place, f"{type(error).__name__}: {error}") from error


def _damaged(place: Place, what: str) -> DamagedFile:
    return DamagedFile(
        f"{place} is not what was written there ({what}), so what it said is unknown. Nothing was "
        "changed. Restore the file from a backup"
    )


@contextmanager
def opening(place: Place, consequence: str = "Nothing was written") -> Iterator[None]:
    """Turn the errors of opening or writing a file into ones that explain; see `explained`.

    Raises
    ------
    DiskFailed : if the disk did not take it, or the process has too many files open
    """
    try:
        with explained(place, consequence):
            yield
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE) or isinstance(error, DiskFailed):
            raise
        raise DiskFailed(
            f"{place} could not be opened ({os.strerror(error.errno)}). {consequence}. Close "
            "files, or raise the limit of open ones (ulimit -n), then call again",
            error.errno,
        ) from error


def _text(value: Mapping[str, object]) -> bytes:
    return json.dumps({**value, FORMAT_KEY: FORMAT}, indent=1, sort_keys=True).encode()
