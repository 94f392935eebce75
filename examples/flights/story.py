"""The story of the flights example: feed, cut, kill, restore, compare."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import pandas as pd
from cut import measure
from data import Feed, cut_into_slices
from driver_process import Driver, Sample
from progress import Progress
from queries import SOURCES, flights_pipeline
from report import ORIGINAL, PANDAS, RESTORED, Report
from results import differences, expected, results
from rich.console import Console

from streamproof.spark_bindings import Pipeline, SnapshotStatus
from streamproof.spark_bindings.errors import ReplayedFreely

SNAPSHOTS_AT = (0.25, 0.45)  # shares of the feed
KILL_AT = 0.65
AHEAD_MAX = 8  # commits of a source that its readers have not received before the feed waits
_POLL_SECONDS = 0.1


class Story:
    """One run of the example.

    Parameters
    ----------
    directory : where everything is made; absent or empty
    departures : the rows to replay, in time order
    console : where to tell of it while it goes on
    """

    def __init__(self, directory: Path, departures: pd.DataFrame, console: Console) -> None:
        self.report = Report(len(departures))
        self._directory, self._departures = directory, departures
        self._slices = cut_into_slices(departures)
        self._progress = Progress(console, self.report)

    def run(self, on_restored: Callable[[Pipeline], None] = lambda _: None) -> Report:
        """Run it; `on_restored` gets the restored pipeline before that one is started."""
        original = flights_pipeline(self._directory / ORIGINAL)
        with self._progress.stage("feed, cut and kill"):
            snapshots = self._run_until_killed(original)
        with self._progress.stage("restore"):
            with warnings.catch_warnings():
                # Planes have a watermark for each airport. None of their rows is ever late.
                warnings.simplefilter("ignore", ReplayedFreely)
                restored = original.restore(snapshots[0], into=self._directory / RESTORED)
            on_restored(restored)
            self._progress.happened("restore", f"{snapshots[0]} into {restored.path}")
        with self._progress.stage("run both to the end"):
            self._run_to_the_end([original, restored])
        with self._progress.stage("compare"):
            self._compare(original, restored)
        return self.report

    def _run_until_killed(self, pipeline: Pipeline) -> list[str]:
        """Feed the pipeline while a driver runs it, ask for snapshots, and kill the driver."""
        feed = Feed(pipeline, self._slices)
        asked: list[str] = []
        complete: set[str] = set()
        with Driver(pipeline.path) as driver:
            while True:
                now = driver.latest(ORIGINAL)
                if now is not None and feed.share >= next_share(asked):
                    asked.append(pipeline.snapshot())
                    self._progress.happened(f"snapshot {len(asked)}", f"asked for {asked[-1]}")
                for snapshot in pipeline.snapshots():
                    if snapshot.status is SnapshotStatus.COMPLETE and snapshot.id not in complete:
                        complete.add(snapshot.id)
                        self._progress.completed(snapshot)
                ahead = commits_ahead(pipeline, now)
                is_due = len(complete) == len(SNAPSHOTS_AT) and feed.share >= KILL_AT
                if is_due and ahead > 0 and now is not None:  # there is work to be torn out of
                    driver.kill()
                    break
                if ahead < AHEAD_MAX and not feed.is_at_its_end:
                    feed.append_next()
                else:
                    time.sleep(_POLL_SECONDS)
                self._progress.tell(pipeline, now, feed)
        self._progress.note_batches(pipeline, "carriers", driver.samples)
        self._progress.happened("kill", f"process {driver.pid}, its sources {ahead} commits ahead")
        where = self._progress.where(pipeline, now)
        self.report.killed = {"rows_fed": feed.rows, "queries": where}
        return asked

    def _run_to_the_end(self, pipelines: list[Pipeline]) -> None:
        """Feed what is left, and run the pipelines in a new driver until all is through."""
        feeds = [Feed(pipeline, self._slices) for pipeline in pipelines]
        with Driver(*(pipeline.path for pipeline in pipelines)) as driver:
            for feed in feeds:
                while not feed.is_at_its_end:  # what was fed before is recognised, and skipped
                    feed.append_next()
            driver.finish()
            while driver.is_running():
                for feed in feeds:
                    now = driver.latest(feed.pipeline.path.name)
                    self._progress.tell(feed.pipeline, now, feed)
                time.sleep(_POLL_SECONDS)
        for pipeline in pipelines:
            self._progress.note_batches(pipeline, "carriers", driver.samples)

    def _compare(self, original: Pipeline, restored: Pipeline) -> None:
        found = {
            ORIGINAL: results(original),
            RESTORED: results(restored),
            PANDAS: expected(self._departures),
        }
        self.report.rows_out = {
            whose: {channel: len(rows) for channel, rows in result.items()}
            for whose, result in found.items()
        }
        for one, other in ((ORIGINAL, RESTORED), (ORIGINAL, PANDAS), (RESTORED, PANDAS)):
            self.report.mismatches[f"{one}, {other}"] = differences(found[one], found[other])
        self.report.snapshots = [measure(original, taken) for taken in original.snapshots()]


def next_share(asked: list[str]) -> float:
    """Return from which share of the feed on the next snapshot is due; none is after the last."""
    return SNAPSHOTS_AT[len(asked)] if len(asked) < len(SNAPSHOTS_AT) else math.inf


def commits_ahead(pipeline: Pipeline, now: Sample | None) -> int:
    """Count the commits by which a source is ahead of the slowest of its readers."""
    readers = [query.name for query in pipeline.queries if query.inputs == SOURCES]
    ends: dict[str, int] = {s: pipeline.channel(s).last_position for s in SOURCES}
    if now is None:
        return max(ends.values())
    received: list[dict[str, int]] = [now.queries[reader]["received"] for reader in readers]
    return max(end - found.get(source, 0) for source, end in ends.items() for found in received)
