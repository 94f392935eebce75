"""A crash at each operation of the durable steps loses and doubles nothing, or is refused clearly.

The process may be killed, and then nothing is refused. Or the machine loses its power: what was not
synced is lost in part, in any order. See `disk` for what is assumed, `tape` for how it is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.spark.faults import chains, pairs, searches, tables
from tests.spark.faults.crashes import Check, Report, crash, points, record
from tests.spark.faults.disk import Crash
from tests.spark.faults.tape import Tape


@dataclass(frozen=True)
class Workload:
    """What is done, what must hold behind a crash, and what stands in for Spark.

    Attributes
    ----------
    each : how many operations there are from one crash to the next, in the fast test
    lossy : kinds of loss that the slow test tries at each operation; they take turns
    points_min : crashes that the slow test tries at least
    refusals : that a loss of power may bring, beside those that say which file to delete
    """

    work: Callable[[Tape], None]
    check: Check
    without_spark: Callable[[], AbstractContextManager[None]]
    each: int
    lossy: int
    points_min: int
    refusals: frozenset[str]


SPARK_S_OWN = frozenset({"EngineRefused", "LostFiles"})
"""Spark does not go on without the newest state, which it does not sync: see docs/crashes.md."""

WORKLOADS = {
    "pipeline": Workload(
        *(chains.work, chains.check, chains.without_spark),
        each=43,
        lossy=2,
        points_min=1200,
        refusals=SPARK_S_OWN,
    ),
    "pair": Workload(
        *(pairs.work, pairs.check, pairs.without_spark),
        each=197,
        lossy=1,
        points_min=1000,
        refusals=SPARK_S_OWN,
    ),
    "table": Workload(
        *(tables.work, tables.check, tables.without_spark),
        each=7,
        lossy=6,
        points_min=300,
        refusals=frozenset(),
    ),
    "search": Workload(
        *(searches.work, searches.check, searches.small_rounds),
        each=7,
        lossy=3,
        points_min=120,
        refusals=frozenset(),
    ),
}


def run(workload: Workload, tape: Tape, place: Path, **how: int) -> Report:
    with workload.without_spark():
        return crash(tape, place, workload.check, refusals=workload.refusals, **how)


def recorded(workload: Workload, place: Path) -> Tape:
    with workload.without_spark():
        return record(place / "recorded", workload.work)


def test_there_are_two_thousand_crashes() -> None:
    """What the table says of each workload is compared with its tape, below."""
    assert sum(workload.points_min for workload in WORKLOADS.values()) > 2000


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_crash_loses_nothing(name: str, memory: Path) -> None:
    workload = WORKLOADS[name]
    tape = recorded(workload, memory / name)
    # As many as the slow test will try; there are some more, or the table is out of date.
    count = sum(1 for _ in points(tape, lossy=workload.lossy))
    assert workload.points_min <= count < 2 * workload.points_min
    report = run(workload, tape, memory / name, each=workload.each)
    assert report.points > 12
    assert report.refused(Crash.KILL) == set()


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", WORKLOADS)
def test_a_crash_at_each_operation_loses_nothing(name: str, memory: Path) -> None:
    workload = WORKLOADS[name]
    place = memory / f"{name}-each"
    report = run(workload, recorded(workload, place), place, lossy=workload.lossy)
    assert report.points >= workload.points_min, report
