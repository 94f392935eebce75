"""Three airports' departures are merged; one of them stalls, and the results stay in time.

    python examples/airports.py [--minutes 90] [--stall 20] [--plot airports.svg] [--json]

1. Each airport's departures arrive as files, by a clock that runs some hundred times faster.
2. `sunion` merges them in the order of time, whatever arrived when, in buckets of five minutes.
3. One airport stalls for twenty minutes. After ten the others' results go on as tentative ones: no
   departure waits for longer than that and a batch.
4. It comes back, with all that was missing: the tentative results are revoked and corrected.
5. In the end the table must hold what pandas makes of the complete streams, row for row.

A few results are tentative outside the stall too: an airport without a departure for longer than
the delay is as silent as one that stalls.

What a Spark user needs to know of it is in `docs/how-to/merging-streams.md`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer
from airports_feed import AIRPORTS, COLUMNS, Feed, Plan, departures
from airports_report import Report, Sample, draw, live_table, summary
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery
from rich.console import Console
from rich.live import Live

from streamproof.spark_bindings import spark_session
from streamproof.spark_bindings.sunion import TupleType, reconcile, sunion

STALLED = "JFK"
BUCKET_MINUTES, DELAY_MINUTES = 5, 10
MINUTES_A_SECOND = 2.0
SETTLE_SECONDS_MAX = 240
INTERRUPTED = 130
_POLL_SECONDS = 0.25
_TELL_SECONDS = 5.0


def merged(spark: SparkSession, feed: Feed) -> DataFrame:
    """Merge the airports' streams: the part to copy into a job of your own."""
    airports = {
        airport.lower(): spark.readStream.schema(COLUMNS).parquet(str(feed.of(airport)))
        for airport in AIRPORTS
    }
    # Half a day passes in minutes: a bucket is complete much sooner than its width says.
    warnings.filterwarnings("ignore", message="sunion was given max_delay")
    result = sunion(
        airports,
        time="scheduled",
        position="seq",
        bucket=f"{BUCKET_MINUTES} minutes",
        lateness="0 seconds",
        max_delay=f"{feed.plan.seconds(DELAY_MINUTES)} seconds",
    )
    # The rows that end the streams are no departures.
    return result.where(sf.col("flight").isNull() | (sf.col("flight") > 0))


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
    """Give the number of the newest batch that is done, or -1, and the seconds that it took."""
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


def main(
    minutes: Annotated[int, typer.Option(min=60, help="Replay so many minutes.")] = 90,
    stall: Annotated[int, typer.Option(min=0, help="Interrupt one airport for so many.")] = 20,
    speed: Annotated[
        float, typer.Option(min=0.5, max=20, help="Minutes of the flights' time in a second.")
    ] = MINUTES_A_SECOND,
    plot: Annotated[Path | None, typer.Option(help="Save a figure: .svg or .png.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a line.")] = False,
) -> None:
    """Merge, stall, correct, and compare.

    Exit codes: 0 the result is right, 1 it is not, 2 wrong use, 130 interrupted.
    """
    console = Console(stderr=True, highlight=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends Spark too, as Ctrl-C does
    place = Path(tempfile.mkdtemp(prefix="airports-"))
    try:
        plan = Plan(minutes, STALLED, minutes // 3, stall, speed)
        report = run(plan, place, console)
    except KeyboardInterrupt:
        console.print("interrupted")
        sys.exit(INTERRUPTED)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if plot is not None:
        draw(report, plot)
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        Console(highlight=False).print(summary(report))
    sys.exit(0 if report.equal else 1)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app()
