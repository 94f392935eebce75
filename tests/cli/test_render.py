"""Rendering: the line that tells of a running search, on a terminal and in a pipe."""

from __future__ import annotations

import io
import sys

import pytest

from streamproof.checker.native import search
from streamproof.checker.progress import Meter, Progress, ignore
from streamproof.cli import render
from streamproof.cli.check import check
from streamproof.cli.render import duration, line_of, progress_line, short


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_has_distinct_depth_queue_rate_and_memory():
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    now[0] = 2.0
    assert line_of(Progress(expanded=1000, distinct=3000, depth=7), meter, 1234) == (
        "3,000 distinct, depth 7, 2,000 waiting, 500/s, 1,234 MiB"
    )


def test_the_line_tells_what_is_left_once_levels_shrink():
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    now[0] = 2.0
    ends = (10_000_000, 90_000_000, 110_000_000)
    progress = Progress(100_000_000, 111_000_000, 3, ends, resumed=90_000_000)
    assert line_of(progress, meter, 2_345) == (
        "111.0 M distinct, depth 3, 11.0 M waiting, 5.0 M/s, 2,345 MiB, about 10.2 M left, 2 s"
    )


def test_the_line_fits_100_columns_however_large_the_numbers():
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    now[0] = 9.0
    ends = (200_000_000, 600_000_000, 999_900_000)
    line = line_of(Progress(200_000_001, 999_949_999, 99_999, ends), meter, 999_999)
    assert "left" in line
    assert len(line) <= 100 - len("* ")


def test_the_line_tells_what_is_decided_once_all_states_are_found():
    progress = Progress(10, 12_345, 0, deciding="every_snapshot_completes")
    assert line_of(progress, Meter(), 1_234) == (
        "12.3 k distinct, deciding every_snapshot_completes, 1,234 MiB"
    )


def test_the_line_tells_how_much_of_a_checkpoint_was_read():
    progress = Progress(10, 12_345, 7, reading=20_000)
    told = "reading the checkpoint, 12.3 k of 20.0 k states, 1,234 MiB"
    assert line_of(progress, Meter(), 1_234) == told


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (9_999, "9,999"),
        (10_000, "10.0 k"),
        (12_345, "12.3 k"),
        (999_949, "999.9 k"),
        (999_950, "1.0 M"),
        (61_515_776, "61.5 M"),
        (4_294_967_295, "4.3 G"),
        (10**16, "10,000,000.0 G"),
    ],
)
def test_numbers_are_short(count, text):
    assert short(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89.0, "89 s"), (91.0, "2 min"), (7_200.0, "2 h")]
)
def test_durations_have_one_unit(seconds, text):
    assert duration(seconds) == text


def test_in_a_pipe_there_is_no_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_line() as on_progress:
        assert on_progress is ignore


def test_on_a_terminal_the_line_is_alive(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress_line() as on_progress:
        on_progress(Progress(expanded=1, distinct=2, depth=2))
    assert "2 distinct" in terminal.getvalue()
    assert " MiB" in terminal.getvalue()


def test_a_check_tells_what_is_left(monkeypatch):
    """A whole check on a terminal: the line of its last levels has an estimate."""
    lines = []
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(render, "line_of", lambda *told: lines.append(line_of(*told)) or "")
    monkeypatch.setattr(search, "REPORT_EVERY_SECONDS", 0.0)
    check("chandy_lamport", "default", threads=2, safety=True)
    assert any(" left, " in line for line in lines)
    assert all(len(line) <= 98 for line in lines)
