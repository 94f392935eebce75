"""Whatever fails, and when: the client of pairs gets every row once, and no other.

A test of its own shows that without failures the rows are those which are counted beforehand.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.spark.standby import chaos
from tests.spark.standby.chaos import Failure, expected, told_by

pytestmark = pytest.mark.timeout(1200)
RUNS, FAILURES_PER_RUN = 50, 3


def run_with(place: Path, seed: int, failures: list[Failure], pairs: int = 2) -> None:
    run = chaos.Run(place, seed, pairs)
    with run.going_on():
        for failure in failures:
            run.fail(failure)
    assert run.fed > 0
    assert told_by(run.pipeline) == expected(run.fed), run.history


def test_a_copy_dies_and_is_replaced(tmp_path: Path) -> None:
    run_with(tmp_path, 0, [Failure.KILLED], pairs=1)


@pytest.mark.slow
def test_without_failures_the_rows_are_those_counted_beforehand(tmp_path: Path) -> None:
    run_with(tmp_path, 0, [])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, RUNS + 1))
def test_copies_die_and_freeze_at_any_moment(tmp_path: Path, seed: int) -> None:
    run_with(tmp_path, seed, Random(seed).sample(list(Failure), FAILURES_PER_RUN))
