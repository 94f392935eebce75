"""What the flights example tells while it runs: stages, rows fed, batches, positions."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flights_data import Feed
from flights_process import Sample
from flights_report import Report
from rich.console import Console

from streamproof.spark_bindings import Pipeline, Snapshot
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import BatchId, Position, QueryName

_TELL_SECONDS = 3.0
_REPEAT_SECONDS = 15.0  # so that one sees that it is still there


class Progress:
    """Tells what happens as it happens, and notes in a report what is wanted afterwards."""

    def __init__(self, console: Console, report: Report) -> None:
        self._console, self._report = console, report
        self._began, self._began_at = time.monotonic(), time.time()
        self._told: dict[Path, tuple[float, str]] = {}
        self._rows_until: dict[Path, list[int]] = {}

    def say(self, text: str) -> None:
        """Tell something, with the seconds since the start."""
        seconds = time.monotonic() - self._began
        self._console.print(f"[{seconds:4.0f} s] {text}", markup=False, soft_wrap=True)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Tell that a stage begins, and note how long it takes."""
        self.say(f"== {name}")
        began = time.monotonic()
        yield
        self._report.seconds[name] = time.monotonic() - began

    def happened(self, what: str, detail: str) -> None:
        """Tell of a moment that the figure marks."""
        self._report.moments[what] = time.monotonic() - self._began
        self.say(f"{what}: {detail}")

    def completed(self, snapshot: Snapshot) -> None:
        """Tell that a snapshot is complete."""
        self._report.completed.append(time.monotonic() - self._began)
        markers = ", ".join(f"{channel} {marker}" for channel, marker in snapshot.markers.items())
        self.say(f"snapshot {snapshot.id} is complete; its markers are at {markers}")

    def tell(self, pipeline: Pipeline, now: Sample | None, feed: Feed) -> None:
        """Tell how far a pipeline is, if that was not done just now."""
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
        """Say per query where it was: batch, positions, rows received, commits behind."""
        return {
            name: {
                "batch": query["batch"],
                "received": query["received"],
                "rows_received": self._rows_received(pipeline, query["received"]),
                "behind": query["behind"],
            }
            for name, query in now.queries.items()
        }

    def note_batches(self, pipeline: Pipeline, query: str) -> None:
        """Note for the figure when each batch of a query was done, and the rows received by then.

        Spark's own files say it exactly: a batch is done when its file in `commits` is there.
        """
        checkpoint = PipelineDirectory.open(pipeline.path).checkpoint(QueryName(query))
        points = []
        for file in (checkpoint.place / "commits").local.iterdir():
            if file.name.isdigit():
                received = checkpoint.received(BatchId(int(file.name)))
                rows = self._rows_received(pipeline, received)
                points.append((file.stat().st_mtime - self._began_at, rows))
        self._report.counted[pipeline.path.name] = sorted(points)

    def _rows_received(self, pipeline: Pipeline, received: Mapping[Any, int]) -> int:
        return sum(self._rows(pipeline, channel, end) for channel, end in received.items())

    def _rows(self, pipeline: Pipeline, channel: str, position: int) -> int:
        """Count the rows of a channel up to a position; a commit's log is read once."""
        rows = self._rows_until.setdefault(pipeline.channel(channel).place.local, [0])
        log = pipeline.channel(channel).log
        for entry in log.entries(Position(len(rows) - 1), Position(position)):
            rows.append(rows[-1] + entry.rows)
        return rows[position]
