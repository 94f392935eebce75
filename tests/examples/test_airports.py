"""The airports example: its streams stall and end as planned, and it sees a wrong result.

Slow: the example itself, on Spark, with its figure.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from tests.examples.support.folders import EXAMPLES

_SECONDS_MAX = 900  # a limit for what hangs; the machine may be shared


def plan(**changes: object) -> object:
    from feed import Plan

    values = {"minutes": 60, "stalled": "JFK", "stall_from": 20, "stall_minutes": 20}
    return Plan(**{**values, "minutes_a_second": 2.0, **changes})


def test_departures_arrive_in_time_but_for_those_of_the_stalled_airport(tmp_path: Path) -> None:
    from feed import Feed, departures

    feed = Feed(plan(), departures(plan()), tmp_path)
    arrived = dict.fromkeys(feed.fed, 0)
    feed.advance(1.0, -1)
    assert feed.minute == 0  # nobody reads yet
    for batch in range(120):
        feed.advance(0.5, batch)
        feed.append_due()
        if feed.minute == 30:
            arrived = dict(feed.fed)
    assert feed.is_over
    assert 0 < arrived["JFK"] < len(feed.rows["JFK"])
    feed.end()
    for airport, rows in feed.rows.items():
        files = sorted(feed.of(airport).glob("*.parquet"))
        found = pd.concat(map(pd.read_parquet, files))
        assert found["seq"].tolist() == list(range(len(rows) + 1))
        assert found["scheduled"].is_monotonic_increasing


def test_a_departure_waits_from_its_arrival_to_its_first_result(tmp_path: Path) -> None:
    from feed import Feed, departures

    feed = Feed(plan(), departures(plan()), tmp_path)
    for batch in range(4):
        feed.advance(1.0, batch)
    feed.append_due()
    first = {row for row in feed.unseen if row[0] == "jfk"}
    assert first
    feed.advance(1.0, 5)
    feed.append_due()
    assert feed.waited(first) == 2.0
    assert feed.waited(first) == 0.0  # it is no first result any more
    feed.advance(1.0, 6)
    assert feed.waited({*feed.unseen}) == 4.0  # of the other airports' departures


def test_the_clock_waits_for_a_reader_that_is_behind(tmp_path: Path) -> None:
    from feed import AHEAD_MINUTES, Feed, departures

    feed = Feed(plan(), departures(plan()), tmp_path)
    for _ in range(100):
        feed.advance(0.5, 0)
    assert feed.minute == AHEAD_MINUTES


def merged_table(feed: object, place: Path, swap: bool = False, tentative: bool = False) -> Path:
    from story import expected

    rows = expected(feed)
    if swap:
        rows = rows.take([*range(3), 4, 3, *range(5, len(rows))]).reset_index(drop=True)
    table = pa.table(
        {
            "stream": rows["stream"],
            "seq": rows["seq"],
            "flight": rows["flight"].astype("int32"),
            "tuple_type": ["INSERTION"] * (len(rows) - tentative) + ["TENTATIVE"] * tentative,
            "stable_id": range(len(rows)),
        }
    )
    write_deltalake(place, table)
    return place


def test_a_row_out_of_place_and_one_left_tentative_are_seen(tmp_path: Path) -> None:
    from feed import Feed, departures
    from story import differing

    feed = Feed(plan(), departures(plan()), tmp_path / "streams")
    assert differing(feed, merged_table(feed, tmp_path / "right")) == (0, 0)
    assert differing(feed, merged_table(feed, tmp_path / "swapped", swap=True)) == (2, 0)
    left = merged_table(feed, tmp_path / "left", tentative=True)
    assert differing(feed, left) == (1, 1)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(_SECONDS_MAX)
def test_results_stay_in_time_are_tentative_and_then_corrected(tmp_path: Path) -> None:
    figure = tmp_path / "airports.svg"
    command = [sys.executable, str(EXAMPLES / "airports"), "--json", "--plot", str(figure)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert told["equal"]
    assert told["tentative_max"] > 0
    # A row comes within a batch, is due within another one, and goes with the next.
    assert 8 < told["waited_longest"] < 10 + 3 * told["batch_longest"]
    assert "nothing from JFK" in figure.read_text(encoding="utf-8")
