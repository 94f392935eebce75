"""A crash at each operation of the durable steps loses and doubles nothing, or is refused clearly.

The process may be killed, and then nothing is refused. Or the machine loses its power: what was not
synced is lost in part, in any order. See `disk` for what is assumed, `tape` for how it is recorded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.faults.crashes import Report, crash, points, record
from tests.spark.faults.disk import Crash
from tests.spark.faults.tape import Tape
from tests.spark.faults.workloads import WORKLOADS, Workload


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
