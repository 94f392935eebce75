"""Which source an input reads: the same in the next life of its query, or it is refused.

Spark knows inputs by their order alone, and a merge knows them by their names. If two directories
are exchanged under their names, each input goes on where the other one was: rows are lost, or come
out under the wrong name, and no error tells. So a query notes what its inputs read, and a start
compares. A merge's settings are noted beside them, since its workers would notice too late.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import Any

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.fixed_settings import check_fixed
from streamproof.spark_bindings.checkpoints.stateful import FixedPlan
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.storage.json_files import as_written, read_json, write_json
from streamproof.spark_bindings.storage.place import Place

INPUTS_FILE = "inputs.json"
"""In a query's directory, or a pair's: what its inputs read, and how its merges are set."""
_TOLD_MAX = 300
"""Characters that are told of an input, at most."""

_Inputs = Sequence[Mapping[str, Any]]


class InputsNote:
    """The note of what a query's inputs read.

    Parameters
    ----------
    file, query : where it is, and whose it is, for messages
    """

    def __init__(self, file: Place, query: str) -> None:
        self._file, self._query = file, query

    def check(self, fixed: FixedPlan, checkpoint: Checkpoint) -> None:
        """Compare a plan with the note, if the query has begun a batch.

        An older version wrote none. Called before Spark starts the query.

        Raises
        ------
        WrongCheckpoint : if an input reads something else
        WrongArgument : if a merge has other settings
        DamagedFile : if the note cannot be read
        """
        stored = read_json(self._file, inputs=list, merges=list)
        if stored is None or checkpoint.last_planned() is None:
            return
        now = _noted(fixed)
        with as_written(self._file):
            if len(stored["merges"]) == len(now["merges"]):
                for before, given in zip(stored["merges"], now["merges"], strict=True):
                    check_fixed(before, given)
            self._check_inputs(stored["inputs"], now["inputs"], checkpoint)

    def _check_inputs(self, before: _Inputs, now: _Inputs, checkpoint: Checkpoint) -> None:
        part = _what_differs(before, now)
        if part is None:
            return
        raise WrongCheckpoint(
            f"{self._query} reads {_told(now, before, part)}, but the checkpoint "
            f"{checkpoint.place} was written when it read {_told(before, now, part)}. Nothing "
            "was written: Spark goes on with each input where the one in its place was, so rows "
            "would be lost, or be taken for those of another input. Give each input what it read "
            "before. "
            "If a source has moved and has the same rows, let its old name lead there, such as by "
            f"a link; or delete {self._file}"
        )

    def write(self, fixed: FixedPlan) -> None:
        """Note what the inputs of a plan read. May be repeated."""
        write_json(self._file, _noted(fixed))


def _noted(fixed: FixedPlan) -> dict[str, Any]:
    inputs = [dataclasses.asdict(one) for one in fixed.inputs]
    return {"inputs": inputs, "merges": [dict(merge) for merge in fixed.merges]}


def _what_differs(before: _Inputs, now: _Inputs) -> str | None:
    """Name what of the inputs is not as it was; their filters and options may be others."""
    if _each(before, "name", "source") != _each(now, "name", "source"):
        return "source"
    old, new = (_each(inputs, "rows") for inputs in (before, now))
    return "rows" if old != new and sorted(old) == sorted(new) else None


def _each(inputs: _Inputs, *parts: str) -> list[tuple[str, ...]]:
    return [tuple(str(one[part]) for part in parts) for one in inputs]


def _told(inputs: _Inputs, others: _Inputs, part: str) -> str:
    """Describe what those inputs read that are not the same elsewhere."""
    texts = []
    same = _each(others, "name", part)
    for number, one in enumerate(_each(inputs, "name", part)):
        if number < len(same) and one == same[number]:
            continue
        name, what = one
        shown = what if part == "source" else f"rows by {what}"
        place = repr(name) if name else f"input {number + 1}"
        texts.append(f"{shorten(shown, _TOLD_MAX, placeholder='...')} as {place}")
    return " and ".join(texts) or "nothing"
