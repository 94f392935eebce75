"""Rendering: the line that tells of a running search, on a terminal and in a pipe."""

from __future__ import annotations

import io
import sys

from streamproof.checker.progress import Meter, Progress, ignore
from streamproof.cli.render import line_of, progress_line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_line_has_states_distinct_depth_queue_and_rate():
    now = [0.0]
    meter = Meter(clock=lambda: now[0])
    now[0] = 2.0
    assert line_of(Progress(expanded=1000, distinct=3000, depth=7), meter) == (
        "1,000 states done, 3,000 distinct, depth 7, 2,000 waiting, 1,500 a second"
    )


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
