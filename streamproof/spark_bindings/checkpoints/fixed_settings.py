"""Whether a merge goes on with the checkpoint that it wrote: asked before its query starts.

A serializer asks again when rows come, whoever has started the query. By then Spark has planned a
batch of the wrong inputs, and will plan no other in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamproof.spark_bindings.checkpoints.checkpoint import has_begun
from streamproof.spark_bindings.durations import shown
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.storage.json_files import read_json, write_json
from streamproof.spark_bindings.storage.place import Place

FIXED_SETTINGS = "streamproof.lasting"
"""Key of a column's metadata: what may not change in the life of a checkpoint."""
_NOTE = "streamproof_merge.json"
_DURATIONS = {"bucket_us": "bucket", "lateness_us": "lateness"}


def check_fixed(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Compare what a checkpoint was written with and what is given now.

    Raises
    ------
    WrongArgument : if something differs, all of which is named
    """
    changed = [name for name in now if before.get(name) != now[name]]
    if changed:
        raise WrongArgument(
            f"the merge runs with {_told(now, changed)}, but its checkpoint was written with "
            f"{_told(before, changed)}. Rows would be merged in another way than before, or twice. "
            "Pass what it was written with; or begin anew, with another checkpoint and another "
            "table or pipeline"
        )


def check_written(checkpoint: Place, now: Mapping[str, Any]) -> None:
    """Check what a checkpoint was written with, if a query has started in it.

    Raises
    ------
    WrongArgument : if it was something else
    DamagedFile : if the note of it says nothing that can be read
    """
    before = read_json(checkpoint / _NOTE)  # absent, or empty, where an older version wrote it
    if before and has_begun(checkpoint):
        check_fixed(before, now)


def note_fixed(checkpoint: Place, now: Mapping[str, Any]) -> None:
    """Note what a checkpoint will be written with, if no query has started in it."""
    if not has_begun(checkpoint):
        write_json(checkpoint / _NOTE, dict(now))


def _told(settings: Mapping[str, Any], names: list[str]) -> str:
    texts = []
    for name in names:
        value = settings.get(name)
        if name in _DURATIONS and isinstance(value, int):
            texts.append(f"{_DURATIONS[name]}={shown(value)!r}")
        elif name == "max_delay":
            texts.append("a max_delay" if value == "given" else "no max_delay")
        else:
            texts.append(f"{name}={value!r}")
    return ", ".join(texts)
