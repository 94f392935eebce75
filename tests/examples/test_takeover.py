"""The takeover example: what it counts as right, and what it draws. Slow: the example itself."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.examples.support.folders import EXAMPLES

_SECONDS_MAX = 3600  # a limit for what hangs; the machine may be shared


def timeline(**changes: object) -> object:
    from timeline import Timeline

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
    assert (timeline().equal, timeline().exit_code) == (True, 0)
    wrong = timeline(**changes)
    assert (wrong.equal, wrong.exit_code) == (False, 1)


@pytest.mark.parametrize(
    ("changes", "is_stalled", "said"),
    [
        ({"killed": (0.0, "")}, True, "not in sync"),
        ({"outputs": [(1.0, "A")]}, True, "has not delivered yet"),
        ({}, False, "still delivers"),
    ],
)
def test_time_that_is_over_before_anything_is_known_is_no_difference(
    changes: dict[str, object], is_stalled: bool, said: str
) -> None:
    from pair import Unfinished
    from story import give_up

    with pytest.raises(Unfinished, match=said):
        give_up(timeline(wrong="8 of 9", **changes), is_stalled=is_stalled)
    given_up = timeline(unfinished=said)
    assert (given_up.equal, given_up.exit_code) == (False, 3)
    assert given_up.to_json()["unfinished"] == said


def test_what_is_missing_though_nothing_moves_any_more_is_a_difference() -> None:
    from story import give_up

    lost = timeline(wrong="8 of 9")
    give_up(lost, is_stalled=True)
    assert (lost.wrong, lost.exit_code) == ("8 of 9", 1)


class Copies:
    """A pipeline of which only the copies are asked."""

    def __init__(self, *copies: object) -> None:
        self.copies = list(copies)

    def processes(self) -> list[object]:
        return self.copies


def copy(state: str, **changes: object) -> object:
    from streamproof.spark_bindings import ProcessStatus
    from streamproof.spark_bindings.processes.process_status import ProcessState

    return ProcessStatus("revenue", None, 1, ProcessState[state], **{"is_warm": True, **changes})


def test_the_primary_is_killed_only_if_the_other_copy_is_in_sync() -> None:
    from pair import Pair

    pair = Pair.__new__(Pair)
    pair._pipeline = Copies(copy("PRIMARY"), copy("BEHIND", turns=5))
    assert pair.primary() is not None
    assert pair.primary(replaceable=True) is None
    pair._pipeline = Copies(copy("PRIMARY"), copy("IN_SYNC"))
    assert pair.primary(replaceable=True) is not None


def test_a_run_is_given_time_as_long_as_something_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    import client

    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    pipeline = Copies(copy("STARTING"))
    progress = client.Progress(pipeline)
    for outputs, copies in (["B"], "STARTING"), ([], "COLD"), ([], "PRIMARY"):
        now += client.STALL_SECONDS_MAX - 1
        pipeline.copies = [copy(copies)]
        assert not progress.is_over(outputs)
    now += client.STALL_SECONDS_MAX + 1
    pipeline.copies = [copy("PRIMARY", commits=9)]
    assert progress.is_over([])
    assert progress.is_stalled
    now = client.RUN_SECONDS_MAX + 1.0
    assert progress.is_over(["B"])
    assert not progress.is_stalled


def test_the_timeline_is_drawn(tmp_path: Path) -> None:
    from timeline import draw

    draw(timeline(), tmp_path / "timeline.svg")
    assert "<svg" in (tmp_path / "timeline.svg").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.timeout(_SECONDS_MAX)
def test_a_primary_is_killed_and_each_order_counts_once(tmp_path: Path) -> None:
    plot = tmp_path / "timeline.svg"
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / "takeover"), "--json", "--plot", str(plot)],
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
