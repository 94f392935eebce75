"""Durations are read strictly: what is not exactly what was meant is refused, with its name."""

from __future__ import annotations

from datetime import timedelta

import pandas as pd
import pytest

from streamproof.spark_bindings.durations import MICROSECONDS_MAX, Duration, microseconds
from streamproof.spark_bindings.errors import WrongArgument


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        ("30 seconds", 30_000_000),
        ("1 second", 1_000_000),
        (" 1 Hour 30 minutes ", 5_400_000_000),
        ("1h30min", 5_400_000_000),
        ("500 milliseconds", 500_000),
        ("1.5 s", 1_500_000),
        ("0.000001 s", 1),
        ("2 weeks", 14 * 86_400_000_000),
        ("36500 days", MICROSECONDS_MAX),
        (timedelta(microseconds=3), 3),
        (pd.Timedelta("2us"), 2),
        (30, 30_000_000),
        (0.1, 100_000),
        (1.5, 1_500_000),
    ],
    ids=str,
)
def test_a_duration_is_read_exactly(duration: Duration, expected: int) -> None:
    assert microseconds("sunion", "bucket", duration, 1) == expected


@pytest.mark.parametrize(
    "duration",
    [
        True,
        None,
        float("nan"),
        pd.NaT,
        "",
        " ",
        "30",
        "+30",
        "+30 s",
        "--1 s",
        "1 h -1 s",
        "-",
        "-" * 5_000 + "1 s",
        "30,5 s",
        "500 ns",
        "nan",
        "NaT",
        "1e3 s",
        "inf s",
        "PT30S",
        "00:00:30",
        "1 s, 2 s",
        "1.5.5 s",
        "1 mss",
        "s",
        "1 month",
        "٣ s",
        "9" * 5_000 + " s",
        "1s" + " s" * 5_000,
    ],
    ids=lambda duration: repr(duration)[:20],
)
def test_what_is_no_duration_is_refused(duration: object) -> None:
    with pytest.raises(WrongArgument, match="given bucket=.*, which is no duration"):
        microseconds("sunion", "bucket", duration, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("duration", ["0.5 us", "0.0000001 s", pd.Timedelta(1500, "ns")], ids=str)
def test_parts_of_a_microsecond_are_refused(duration: str | timedelta) -> None:
    with pytest.raises(WrongArgument, match="no whole number of microseconds"):
        microseconds("sunion", "bucket", duration, 1)


@pytest.mark.parametrize(
    "duration",
    [
        "0 s",
        "-1 s",
        timedelta(0),
        timedelta(seconds=-1),
        "36501 days",
        timedelta.max,
        "9" * 18 + " weeks",
    ],
    ids=str,
)
def test_a_duration_out_of_bounds_is_refused(duration: str | timedelta) -> None:
    with pytest.raises(WrongArgument, match="at least 1 microseconds and at most 36500 days"):
        microseconds("sunion", "bucket", duration, 1)
