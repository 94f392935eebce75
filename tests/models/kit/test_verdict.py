"""Verdicts: their order, their merging, their exit codes and their JSON."""

from __future__ import annotations

import itertools
import json

import pytest

from streamproof.models.kit.trace import Trace
from streamproof.models.kit.verdict import (
    Counts,
    Exhausted,
    ExitCode,
    Finding,
    Kind,
    Proved,
    Refuted,
    Sampled,
    Status,
    Undetermined,
    exit_code,
    weakest,
)

COUNTS = Counts(4, 5, 3, (("up", 4),))
VERDICTS = {
    Status.REFUTED: Refuted("safe", "too large", Trace("0", (), ())),
    Status.UNDETERMINED: Undetermined(("a limit",)),
    Status.SAMPLED: Sampled(runs=10, seed=1, steps=50),
    Status.EXHAUSTED: Exhausted(COUNTS),
    Status.PROVED: Proved(obligations=12),
}


def test_every_verdict_says_its_status():
    assert {status: verdict.status for status, verdict in VERDICTS.items()} == {
        status: status for status in Status
    }


@pytest.mark.parametrize("order", list(itertools.permutations(Status, 2)), ids=str)
def test_the_weakest_verdict_wins_whatever_the_order(order):
    expected = min(order, key=lambda status: status.strength)
    assert weakest([VERDICTS[status] for status in order]).status is expected


def test_nothing_merged_is_undetermined():
    assert weakest([]) == Undetermined(("nothing was checked: the model has no property",))


def test_the_reasons_of_undetermined_verdicts_add_up_once_each():
    merged = weakest(
        [
            Undetermined(("a", "b")),
            Exhausted(COUNTS),
            Undetermined(("b", "c"), COUNTS),
        ]
    )
    assert merged == Undetermined(("a", "b", "c"), COUNTS)


def test_only_proved_and_exhausted_are_green():
    codes = {status: exit_code(verdict) for status, verdict in VERDICTS.items()}
    assert codes == {
        Status.PROVED: ExitCode.GREEN,
        Status.EXHAUSTED: ExitCode.GREEN,
        Status.REFUTED: ExitCode.REFUTED,
        Status.SAMPLED: ExitCode.UNDETERMINED,
        Status.UNDETERMINED: ExitCode.UNDETERMINED,
    }
    assert [int(code) for code in ExitCode] == [0, 1, 2, 3, 70]


@pytest.mark.parametrize("status", list(Status), ids=lambda status: status.value)
def test_the_json_of_a_verdict_can_be_written_and_says_its_status(status):
    assert json.loads(json.dumps(VERDICTS[status].to_json()))["status"] == status.value


def test_the_counts_of_a_verdict_are_part_of_its_json():
    counts = {"distinct": 4, "generated": 5, "depth": 3, "firings": {"up": 4}}
    refuted = Refuted("safe", "no", Trace("0", (), ()), ("a",), COUNTS)
    for verdict in (refuted, Undetermined(("why",), COUNTS), VERDICTS[Status.EXHAUSTED]):
        assert verdict.to_json()["counts"] == counts
    assert "counts" not in VERDICTS[Status.REFUTED].to_json()
    assert refuted.to_json()["conjuncts"] == ["a"]


def test_a_sample_tells_its_size_and_its_seed():
    found = VERDICTS[Status.SAMPLED].to_json()
    assert found == {"status": "SAMPLED", "runs": 10, "seed": 1, "steps": 50}


def test_a_finding_names_what_it_is_about():
    finding = Finding("safe", Kind.ALWAYS, VERDICTS[Status.PROVED], "for any N")
    assert finding.to_json() == {
        "name": "safe",
        "kind": "always",
        "verdict": {"status": "PROVED", "obligations": 12},
        "note": "for any N",
    }


def test_only_promises_are_liveness():
    assert [kind for kind in Kind if kind.is_liveness] == [Kind.LEADS_TO, Kind.EVENTUALLY]
