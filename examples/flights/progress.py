"""What the flights example tells while it runs: stages, rows fed, batches, positions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from data import Feed
from driver_process import Sample
from report import Report
from rich.console import Console

from streamproof.spark_bindings import Pipeline, Snapshot

_TELL_SECONDS = 3.0
_REPEAT_SECONDS = 15.0  # so that one sees that it is still there


class Progress:
    """Prints each event at its time, and notes in a report the numbers for afterwards."""

    def __init__(self, console: Console, report: Report) -> None:
        self._console, self._report = console, report
        self._began = time.monotonic()
        self._told: dict[Path, tuple[float, str]] = {}
        self._rows_until: dict[tuple[Path, str], list[int]] = {}

    def say(self, text: str) -> None:
        """Print something, with the seconds since the start."""
        seconds = time.monotonic() - self._began
        self._console.print(f"[{seconds:4.0f} s] {text}", markup=False, soft_wrap=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Print that a stage begins, and note how long it takes."""
        self.say(f"== {name}")
        began = time.monotonic()
        yield
        self._report.seconds[name] = time.monotonic() - began

    def happened(self, what: str, detail: str) -> None:
        """Print a moment that the figure marks."""
        self._report.moments[what] = time.monotonic() - self._began
        self.say(f"{what}: {detail}")

    def completed(self, snapshot: Snapshot) -> None:
        """Print that a snapshot is complete."""
        self._report.completed.append(time.monotonic() - self._began)
        markers = ", ".join(f"{channel} {marker}" for channel, marker in snapshot.markers.items())
        self.say(f"snapshot {snapshot.id} is complete; its markers are at {markers}")

    def tell(self, pipeline: Pipeline, now: Sample | None, feed: Feed) -> None:
        """Print how far a pipeline is, unless that was done just now."""
        seconds, last = self._told.get(pipeline.path, (0.0, ""))
        if time.monotonic() - seconds < _TELL_SECONDS:
            return
        fed = f"{pipeline.path.name}: {feed.rows:,} of {self._report.rows:,} fed"
        parts = ["nothing; its driver is starting"]
        if now is not None:
            parts = [
                f"{query} {at['rows_received']:,} (batch {at['batch']})"
                for query, at in self.where(pipeline, now).items()
            ]
        text = f"{fed}; received: {', '.join(parts)}"
        if text != last or time.monotonic() - seconds > _REPEAT_SECONDS:
            self._told[pipeline.path] = (time.monotonic(), text)
            self.say(text)

    def where(self, pipeline: Pipeline, now: Sample) -> dict[str, dict[str, Any]]:
        """Return per query where it was: batch, positions, rows received, commits behind."""
        return {
            name: {
                "batch": query["batch"],
                "received": query["received"],
                "rows_received": self._rows_received(pipeline, query["received"]),
                "behind": query["behind"],
            }
            for name, query in now.queries.items()
        }

    def note_batches(self, pipeline: Pipeline, query: str, samples: Iterable[Sample]) -> None:
        """Note for the figure when batches of a query were seen to be done, and rows by then."""
        points = self._report.counted.setdefault(pipeline.path.name, [])
        batches: set[int | None] = {None}
        for sample in samples:
            at = sample.queries.get(query, {})
            if sample.directory == pipeline.path.name and at.get("batch") not in batches:
                batches.add(at["batch"])
                rows = self._rows_received(pipeline, at["received"])
                points.append((sample.seconds - self._began, rows))

    def _rows_received(self, pipeline: Pipeline, received: Mapping[Any, int]) -> int:
        return sum(self._rows(pipeline, channel, end) for channel, end in received.items())

    def _rows(self, pipeline: Pipeline, name: str, position: int) -> int:
        """Count the rows of a channel up to a position; a commit is read once."""
        channel = pipeline.channel(name)
        rows = self._rows_until.setdefault((pipeline.path, name), [0])
        if position >= len(rows):
            for commit in channel.follow(after=len(rows) - 1, idle=0):
                rows += [rows[-1]] * (commit.position - len(rows))  # markers have no rows
                rows.append(rows[-1] + commit.rows.num_rows)
        return rows[min(position, len(rows) - 1)]
