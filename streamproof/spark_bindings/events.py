"""What the machines were told in a run, written down for `streamproof conform`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Event = Mapping[str, Any]
"""One call of a transition: its name, its arguments and the names of its effects."""


class EventLog:
    """The events of one process, one line a step. An aid, not a durable record: never synced.

    Parameters
    ----------
    path : the file
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, step: int, events: Sequence[Event]) -> None:
        """Append one step's events, in their order. A repeated step is written again."""
        if not events:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps({"step": step, "events": list(events)}) + "\n"
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            os.write(handle, line.encode())  # one write, so that lines of two drivers do not mix
        finally:
            os.close(handle)

    def read(self) -> dict[int, list[Event]]:
        """Give the events of each step. Of a repeated step the last run counts; all are equal.

        A last line that a crash cut short is left out: its step will be repeated.
        """
        steps: dict[int, list[Event]] = {}
        if not self._path.exists():
            return steps
        for line in self._path.read_text(encoding="utf-8").splitlines():
            try:
                parsed = json.loads(line)
            except json.JSONDecodeError:
                continue
            steps[parsed["step"]] = parsed["events"]
        return dict(sorted(steps.items()))
