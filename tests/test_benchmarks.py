"""What a peer counts is believed only if it equals the golden counts."""

from __future__ import annotations

import json

import pytest

from benchmarks.engines import CASES, read_stateright

CASE = CASES["2PC(7)"]
TOLD = {
    "distinct": CASE.distinct,
    "generated": CASE.generated,
    "seconds": 2.0,
    "broken": 0,
    "peak_mb": 100.0,
}


def test_golden_counts_are_read() -> None:
    run = read_stateright(json.dumps(TOLD), CASE, 30.0)
    assert (run.distinct, run.generated, run.seconds) == (CASE.distinct, CASE.generated, 2.0)
    assert run.compile_seconds == 30.0


@pytest.mark.parametrize(
    "wrong",
    [{"distinct": CASE.distinct - 1}, {"generated": CASE.generated + 1}, {"broken": 1}],
    ids=["distinct", "generated", "broken"],
)
def test_a_wrong_count_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SystemExit, match="stateright counted"):
        read_stateright(json.dumps(TOLD | wrong), CASE, 30.0)
