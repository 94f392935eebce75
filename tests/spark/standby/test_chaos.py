"""Whatever fails, and when: the client of pairs gets every row once, and no other.

A test of its own shows that without failures the rows are those which are counted beforehand.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.spark.standby.support import chaos
from tests.spark.standby.support.chaos import (
    AT_ONCE,
    FREEZES,
    IN_CATCH_UP,
    OF_BOTH,
    Failure,
    chosen,
    expected,
    told_by,
)

pytestmark = [pytest.mark.timeout(1200), pytest.mark.usefixtures("conforms")]
SEEDS = range(1, 51)


def run_with(place: Path, seed: int, failures: list[Failure], pairs: int = 2) -> None:
    run = chaos.Run(place, seed, pairs)
    with run.going_on():
        for failure in failures:
            run.fail(failure)
    assert run.fed > 0
    assert told_by(run.pipeline) == expected(run.fed), run.history


def test_each_run_has_a_freeze_one_failure_in_catch_up_and_two_at_once() -> None:
    runs = [chosen(Random(seed)) for seed in SEEDS]
    for kind in (FREEZES, IN_CATCH_UP, AT_ONCE):
        assert all({*kind} & {*failures} for failures in runs)
    assert {failure for failures in runs for failure in failures} == {*Failure} - {*OF_BOTH}
    assert len({*map(tuple, runs)}) > len(SEEDS) / 4


@pytest.mark.slow
def test_copies_freeze_and_die_in_catch_up_and_are_replaced(tmp_path: Path) -> None:
    run_with(tmp_path, 0, [Failure.FROZEN, Failure.KILLED_IN_CATCH_UP])


@pytest.mark.slow
def test_without_failures_the_rows_are_those_counted_beforehand(tmp_path: Path) -> None:
    run_with(tmp_path, 0, [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_copies_die_and_freeze_at_any_moment(tmp_path: Path, seed: int) -> None:
    run_with(tmp_path, seed, chosen(Random(seed)))


@pytest.mark.slow
@pytest.mark.parametrize("failure", OF_BOTH)
@pytest.mark.parametrize("seed", range(1, 6))
def test_both_copies_of_a_pair_fail(tmp_path: Path, seed: int, failure: Failure) -> None:
    run_with(tmp_path, seed, [failure])
