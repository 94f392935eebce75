"""What the machines were told in a run, written down for `streamproof conform`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.disk import explained
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.local_files import append_line
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at

Event = Mapping[str, Any]
"""One call of a transition: its name, its arguments and the names of its effects."""


BYTES_MAX = 4_000_000
"""A longer file is put aside, in the place of what was put aside before."""


class EventLog:
    """The events of one process, one line a step. An aid, not a durable record: never synced.

    Parameters
    ----------
    place : the file; one with earlier events is beside it once it has become long, and only one
    bytes_max : how long it becomes
    """

    def __init__(self, place: AnyPlace, *, bytes_max: int = BYTES_MAX) -> None:
        self._place, self._bytes_max = Place.of(place), bytes_max
        self._earlier = self._place.beside(f"earlier-{self._place.name}")

    def write(self, step: int, events: Sequence[Event]) -> None:
        """Append one step's events, in their order. A repeated step is written again."""
        if not events:
            return
        # The line begins with its end, too: a crash may have cut off the one before.
        said = {FORMAT_KEY: FORMAT, "step": step, "events": list(events)}
        line = f"\n{json.dumps(said)}\n"
        with explained(self._place, "The step is not told"):
            append_line(self._place, line, self._earlier, self._bytes_max)

    def read(self) -> dict[int, list[Event]]:
        """Return the events of each step. Of a repeated step the last run counts; all are equal.

        A last line that a crash cut short is left out: its step will be repeated.

        Raises
        ------
        UnknownFormat : if a later version of streamproof wrote some of it
        """
        steps: dict[int, list[Event]] = {}
        for file in (self._earlier, self._place):
            if not store_at(file).has():
                continue
            for line in store_at(file).get().decode().splitlines():
                try:
                    parsed = json.loads(line)
                except json.JSONDecodeError:
                    continue
                format_of(parsed, file)
                steps[parsed["step"]] = parsed["events"]
        return dict(sorted(steps.items()))
