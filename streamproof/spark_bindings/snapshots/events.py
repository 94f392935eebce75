"""What the machines were told in a run, written down for `streamproof conform`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from streamproof.disk import explained, move
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of

Event = Mapping[str, Any]
"""One call of a transition: its name, its arguments and the names of its effects."""


BYTES_MAX = 4_000_000
"""A longer file is put aside, in the place of what was put aside before."""


class EventLog:
    """The events of one process, one line a step. An aid, not a durable record: never synced.

    Parameters
    ----------
    path : the file; one with earlier events is beside it once it has become long, and only one
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._earlier = path.with_name(f"earlier-{path.name}")

    def write(self, step: int, events: Sequence[Event]) -> None:
        """Append one step's events, in their order. A repeated step is written again."""
        if not events:
            return
        # The line begins with its end, too: a crash may have cut off the one before.
        said = {FORMAT_KEY: FORMAT, "step": step, "events": list(events)}
        line = f"\n{json.dumps(said)}\n"
        with explained(self._path, "The step is not told"):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists() and self._path.stat().st_size > BYTES_MAX:
                move(self._path, self._earlier)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(handle, line.encode())  # in one, so that lines of two drivers do not mix
            finally:
                os.close(handle)

    def read(self) -> dict[int, list[Event]]:
        """Give the events of each step. Of a repeated step the last run counts; all are equal.

        A last line that a crash cut short is left out: its step will be repeated.

        Raises
        ------
        UnknownFormat : if a later version of streamproof wrote some of it
        """
        steps: dict[int, list[Event]] = {}
        for file in (self._earlier, self._path):
            if not file.exists():
                continue
            for line in file.read_text(encoding="utf-8").splitlines():
                try:
                    parsed = json.loads(line)
                except json.JSONDecodeError:
                    continue
                format_of(parsed, file)
                steps[parsed["step"]] = parsed["events"]
        return dict(sorted(steps.items()))
