"""The flights example shows what it claims, and would see it if it were not so.

Fast: its queries in one session, against pandas, with a snapshot that is counted from outside; and
its comparison, on results that were damaged. Slow: the example itself, and the same with a row
taken from the restored pipeline.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from tests.examples.support.folders import EXAMPLES

ROWS_FAST, ROWS_SLOW = 1500, 6000
_SECONDS_MAX = 1200  # a limit for what hangs; the machine may be shared


def children(ancestor: int) -> set[int]:
    """List the processes that one has started, and theirs; it is among them itself."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended meanwhile
            parents[int(entry.name)] = int(fields[1])
    found = {ancestor}
    for _ in parents:
        found |= {process for process, parent in parents.items() if parent in found}
    return found


def test_departures_are_fed_in_time_order_and_the_streams_end(tmp_path: Path) -> None:
    from data import Feed, cut_into_slices, load
    from queries import SOURCES, flights_pipeline

    slices = cut_into_slices(load(ROWS_FAST))
    pipeline = flights_pipeline(tmp_path / "flights")
    for _ in range(2):  # the second feed finds that everything is there
        feed = Feed(pipeline, slices)
        while not feed.is_at_its_end:
            feed.append_next()
    channels = [pipeline.channel(source).rows().to_pandas() for source in SOURCES]
    assert sum(len(rows) for rows in channels) == ROWS_FAST + len(SOURCES)
    for rows in channels:
        assert rows["scheduled"].is_monotonic_increasing
        assert rows["carrier"].isna().tolist() == [False] * (len(rows) - 1) + [True]


def test_the_whole_year_is_there() -> None:
    from data import load

    departures = load(None)
    assert len(departures) == 336_776
    assert departures["dep_delay"].isna().sum() == 8_255  # cancelled


@pytest.mark.filterwarnings("ignore:.* several watermarks")
@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(_SECONDS_MAX)
def test_the_queries_find_what_pandas_finds_and_a_snapshot_holds_each_departure_once(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import data
    from cut import measure
    from data import Feed, cut_into_slices, load
    from queries import flights_pipeline
    from results import differences, expected, results

    monkeypatch.setattr(data, "SLICES_MIN", 12)  # two batches of each query
    departures = load(ROWS_FAST)
    pipeline = flights_pipeline(tmp_path / "flights")
    feed = Feed(pipeline, cut_into_slices(departures))
    while feed.share < 0.7:
        feed.append_next()
    snapshot = pipeline.snapshot()
    while not feed.is_at_its_end:
        feed.append_next()
    with pipeline.start(spark):
        cut = measure(pipeline, pipeline.await_snapshot(snapshot, _SECONDS_MAX))
        pipeline.await_idle(_SECONDS_MAX)
    wanted = expected(departures)
    assert all(rows.empty for rows in differences(results(pipeline), wanted).values())
    assert all(not rows.empty for rows in wanted.values())
    assert cut.wrong == ()
    assert cut.queries["carriers"].rows_received == feed_rows(departures, 0.7)
    assert all(part.rows_in_state > 0 for part in cut.queries.values())
    damaged = tmp_path / "damaged"
    restored = pipeline.restore(snapshot, into=damaged)
    # A restored pipeline that has not been run on has found less: the comparison sees that too.
    missing = differences(results(restored), wanted)
    assert all(set(rows["only_in"]) == {"second"} for rows in (missing["legs"], missing["raised"]))


def feed_rows(departures: pd.DataFrame, share: float) -> int:
    """Count the departures in the first slices, up to a share of all slices."""
    from data import cut_into_slices

    slices = cut_into_slices(departures)
    count = next(n for n in range(len(slices)) if n / len(slices) >= share)
    return sum(len(part) for part in slices[:count])


def test_the_comparison_sees_a_lost_a_doubled_and_a_changed_row() -> None:
    from data import load
    from results import KEYS, RESULTS, differences, expected

    good = expected(load(ROWS_FAST))
    assert all(rows.empty for rows in differences(good, good).values())
    for name in RESULTS:
        rows = good[name]
        lost = {**good, name: rows.drop(index=0)}
        assert differences(good, lost)[name]["only_in"].tolist() == ["first"]
        doubled = {**good, name: pd.concat([rows, rows.iloc[[0]]])}
        assert differences(good, doubled)[name]["only_in"].tolist() == ["second"]
    for name in KEYS:
        column = {"carrier_hours": "delay", "plane_delays": "carried"}[name]
        rows = good[name].copy()
        rows.loc[0, column] += 1
        assert len(differences(good, {**good, name: rows})[name]) == 2


@pytest.mark.spark
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_example_leaves_no_process_and_no_file(
    tmp_path: Path, number: signal.Signals
) -> None:
    command = [sys.executable, str(EXAMPLES / "flights"), "--rows", str(ROWS_FAST)]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as run:
        assert run.stderr is not None
        while "driver is starting" not in run.stderr.readline():
            assert run.poll() is None
        started = children(run.pid)
        assert len(started) >= 2
        run.send_signal(number)
        assert run.wait(_SECONDS_MAX) == 130
    assert not any(Path(f"/proc/{process}").exists() for process in started)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(_SECONDS_MAX)
def test_the_killed_and_the_restored_pipeline_end_alike(tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "flights"), "--rows", str(ROWS_SLOW), "--json"]
    plot = tmp_path / "flights.svg"
    run = subprocess.run(
        [*command, "--plot", str(plot), "--directory", str(tmp_path / "flights")],
        capture_output=True,
        text=True,
        timeout=_SECONDS_MAX,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert report["equal"] is True
    assert report["rows"] == ROWS_SLOW
    assert {n for pair in report["mismatches"].values() for n in pair.values()} == {0}
    assert len(report["snapshots"]) == 2
    for snapshot in report["snapshots"]:
        assert snapshot["wrong"] == []
        assert 0 < snapshot["queries"]["carriers"]["rows_received"] < ROWS_SLOW
        assert all(part["rows_in_state"] > 0 for part in snapshot["queries"].values())
    assert report["killed"]["queries"]["carriers"]["rows_received"] < ROWS_SLOW
    assert any(query["behind"] > 0 for query in report["killed"]["queries"].values())
    assert plot.read_text().startswith("<?xml")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(_SECONDS_MAX)
def test_a_row_that_the_restored_pipeline_lacks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from data import load
    from story import Story

    from streamproof.spark_bindings import Pipeline
    from streamproof.spark_bindings.channels import producers

    # Feeds are repeated behind a restore, and would be refused where a row is gone: ReusedSequence.
    monkeypatch.setattr(producers.Producers, "_has", lambda *_: True)

    dropped: list[int] = []

    def drop_last_flight(restored: Pipeline) -> None:
        import pyarrow.parquet as pq

        channel = restored.channel("ewr")
        last = channel.log.entry(channel.log.last())
        file = (channel.place / last.files[0].path).local
        rows = pq.read_table(file)
        file.unlink()  # the file is shared with the original, which must keep it
        pq.write_table(rows.slice(0, len(rows) - 1), file)
        dropped.append(1)

    before = children(os.getpid())
    story = Story(tmp_path / "flights", load(ROWS_SLOW), Console(stderr=True))
    report = story.run(on_restored=drop_last_flight)
    assert dropped
    assert not report.equal
    sizes = {
        pair: {channel: len(rows) for channel, rows in found.items()}
        for pair, found in report.mismatches.items()
    }
    assert sizes["original, pandas"] == dict.fromkeys(sizes["original, pandas"], 0)
    assert sizes["original, restored"]["carrier_hours"] == 2  # the true total, and the false one
    assert sizes["restored, pandas"] == sizes["original, restored"]
    assert children(os.getpid()) <= before


def test_verify_can_show_what_the_example_reports() -> None:
    from report import Report

    from streamproof.cli.spark_examples import EXAMPLES

    report = Report(1500, seconds={"restore": 0.5, "compare": 1.3})
    report.mismatches["original, restored"] = {"legs": pd.DataFrame()}
    (flights,) = (example for example in EXAMPLES if example.name == "flights")
    row = flights.row(json.loads(json.dumps(report.to_json())))
    assert (row.verdict, row.counts, row.seconds) == ("EQUAL", "1,500 flights", 1.8)
