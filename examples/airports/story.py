"""The story of the airports example: merge, stall, correct, compare."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from deltalake import DeltaTable
from feed import AIRPORTS, Feed, Plan, departures
from job import merged
from pyspark.sql.streaming import StreamingQuery
from report import Report, Sample, live_table
from rich.console import Console
from rich.live import Live

from streamproof.spark_bindings import spark_session
from streamproof.spark_bindings.sunion import TupleType, reconcile

SETTLE_SECONDS_MAX = 240
_POLL_SECONDS = 0.25
_TELL_SECONDS = 5.0


def look(feed: Feed, table: Path) -> Sample:
    """Count what is in the table."""
    rows = DeltaTable(table).to_pyarrow_table(columns=["tuple_type", "stream", "seq"]).to_pydict()
    kinds, minute = rows["tuple_type"], feed.minute
    waited = feed.waited({*zip(rows["stream"], rows["seq"], strict=True)})
    fed = sum(feed.departed_by(minute, airport) for airport in AIRPORTS)
    stable = kinds.count(TupleType.INSERTION.value)
    return Sample(minute, fed, stable, kinds.count(TupleType.TENTATIVE.value), waited)


def replay(
    report: Report, feed: Feed, table: Path, query: StreamingQuery, console: Console
) -> None:
    """Feed the streams, and look at the table meanwhile, until all of it is stable."""
    samples = report.samples
    wanted = sum(map(len, feed.rows.values()))
    give_up = time.monotonic() + feed.plan.seconds(feed.plan.minutes) + SETTLE_SECONDS_MAX
    now, told, is_ended = time.monotonic(), 0.0, False
    with Live(console=console, refresh_per_second=4, transient=not console.is_terminal) as live:
        while not samples or samples[-1].stable < wanted:
            if not query.isActive or time.monotonic() > give_up:
                raise SystemExit(f"the query ended by itself, or hangs: {query.exception()}")
            now, before = time.monotonic(), now
            newest, seconds = newest_batch(query)
            if newest > 0:
                minutes = seconds * feed.plan.minutes_a_second
                report.batch_longest = max(report.batch_longest, minutes)
            feed.advance(now - before, newest)
            feed.append_due()
            if feed.is_over and not is_ended:
                feed.end()
                is_ended = True
            samples.append(look(feed, table))
            live.update(live_table(feed, samples[-1]))
            if not console.is_terminal and now - told > _TELL_SECONDS:
                told = now
                console.print(samples[-1].in_words())
            time.sleep(_POLL_SECONDS)


def newest_batch(query: StreamingQuery) -> tuple[int, float]:
    """Return the number of the newest batch that is done, or -1, and the seconds that it took."""
    progress = query.lastProgress
    if progress is None:
        return -1, 0.0
    return progress["batchId"], progress["durationMs"]["triggerExecution"] / 1000


def expected(feed: Feed) -> pd.DataFrame:
    """Merge the complete streams with pandas."""
    parts = [rows.assign(stream=airport.lower()) for airport, rows in feed.rows.items()]
    whole = pd.concat(parts).sort_values(["scheduled", "stream", "seq"], kind="stable")
    return whole.reset_index(drop=True)


def differing(feed: Feed, table: Path) -> tuple[int, int]:
    """Count the rows of the table that are not in their right place, and those left tentative."""
    found = DeltaTable(table).to_pyarrow_table().to_pandas()
    is_stable = found["tuple_type"] == TupleType.INSERTION.value
    stable, wanted = found[is_stable].sort_values("stable_id"), expected(feed)
    rows = [
        list(map(tuple, frame[["stream", "seq", "flight"]].values)) for frame in (stable, wanted)
    ]
    wrong = sum(one != other for one, other in zip(*rows, strict=False))
    return wrong + abs(len(rows[0]) - len(rows[1])), int((~is_stable).sum())


@contextmanager
def stderr_to(file: Path) -> Iterator[None]:
    """Let processes that are started meanwhile write their errors into a file."""
    ours = os.dup(2)
    with file.open("wb") as log:
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)


def run(plan: Plan, directory: Path, console: Console) -> Report:
    """Run the whole story in a directory."""
    console.print("starting Spark")
    with stderr_to(directory / "spark.log"):  # its workers tell what they do
        spark = spark_session("airports")
    feed = Feed(plan, departures(plan), directory / "streams")
    table = directory / "table"
    query = reconcile(
        merged(spark, feed), table, directory / "checkpoint", processingTime="250 milliseconds"
    )
    try:
        report = Report(plan, sum(map(len, feed.rows.values())))
        began = time.monotonic()
        replay(report, feed, table, query, console)
        report.seconds["replay"] = time.monotonic() - began
        report.wrong, report.tentative_left = differing(feed, table)
    finally:
        query.stop()
        spark.stop()
    return report
