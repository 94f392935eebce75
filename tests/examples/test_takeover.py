"""The takeover example: what it counts as right, and what it draws. Slow: the example itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.conftest import EXAMPLES

_SECONDS_MAX = 600  # a limit for what hangs; the machine may be shared


def timeline(**changes: object) -> object:
    from takeover import Timeline

    outputs = [(1.0, "A"), (2.0, "A"), (4.5, "B"), (5.5, "B"), (9.5, "B")]
    return Timeline(**{"outputs": outputs[:4], "killed": (2.5, "A"), "orders": 9, **changes})


def test_the_gap_is_around_the_failure() -> None:
    assert timeline().gap == (2.0, 4.5)
    assert timeline(killed=(0.5, "A")).gap == (2.0, 4.5)
    assert timeline(outputs=[]).gap == (0.0, 0.0)


@pytest.mark.parametrize(
    "changes", [{"wrong": "an output came twice"}, {"outputs": [(1.0, "A")]}, {"outputs": []}]
)
def test_it_is_right_if_the_twin_delivers_and_nothing_is_wrong(changes: dict[str, object]) -> None:
    assert timeline().equal
    assert not timeline(**changes).equal


def test_the_timeline_is_drawn(tmp_path: Path) -> None:
    from takeover import draw

    draw(timeline(), tmp_path / "timeline.svg")
    assert "<svg" in (tmp_path / "timeline.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS_MAX)
def test_a_primary_is_killed_and_each_order_counts_once(tmp_path: Path) -> None:
    plot = tmp_path / "timeline.svg"
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "takeover.py"), "--json", "--plot", str(plot)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(ran.stdout)
    assert ran.returncode == 0, found
    assert found["equal"]
    assert found["rows"] > 100
    assert {output["copy"] for output in found["outputs"]} == {"A", "B"}
    assert plot.is_file()
