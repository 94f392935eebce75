"""A disk that is full or fails refuses a call clearly; called again, the call loses nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from streamproof.disk import DiskFailed
from tests.spark.faults import chains, pairs, tables
from tests.spark.faults.crashes import Check, no_syncs
from tests.spark.faults.failing import Disk, Failure


@dataclass(frozen=True)
class Workload:
    """Steps that may be tried again, and what must hold when all are done.

    Attributes
    ----------
    each : how many operations there are from one failure to the next, in the fast test
    calls_min : operations that the slow test refuses at least
    """

    steps: Callable[[Path], Iterator[Callable[[], object]]]
    check: Check
    facts: list[Any]
    without_spark: Callable[[], AbstractContextManager[None]]
    each: int
    calls_min: int = 300


FACTS = ["created", chains.Removed("000001"), *map(chains.Appended, range(4))]
WORKLOADS = {
    "pipeline": Workload(
        *(chains.steps, chains.check, FACTS),
        chains.without_spark,
        each=151,
    ),
    "pair": Workload(*(pairs.steps, pairs.check, ["created"]), pairs.without_spark, each=251),
    "table": Workload(
        *(tables.steps, tables.check, [tables.Applied(len(tables.BATCHES) - 1)]),
        tables.without_spark,
        each=31,
        calls_min=200,
    ),
}
CASES = [(name, failure) for name in WORKLOADS for failure in Failure]
FAST = [case for case in CASES if case[0] != "pair" or case[1] is Failure.FULL]
FAILING = [case for case in CASES if case[1] is not Failure.SLOW]


def ids(cases: list[tuple[str, Failure]]) -> list[str]:
    return [f"{name}-{failure.name}" for name, failure in cases]


def attempt(workload: Workload, place: Path, at: int, failure: Failure) -> Disk:
    """Do all steps on a disk that refuses one operation, and that step once more; then look."""
    disk = Disk(at, failure)
    try:
        with workload.without_spark():
            with disk.used():
                for step in workload.steps(place):
                    try:
                        step()
                    except DiskFailed:
                        step()
            with no_syncs():
                workload.check(place, workload.facts)
    except BaseException as error:
        error.add_note(f"operation {at} was refused ({disk.failed}, {failure.name})")
        raise
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return disk


@pytest.mark.parametrize(("name", "failure"), FAST, ids=ids(FAST))
def test_a_refused_operation_is_told_and_may_be_repeated(
    name: str, failure: Failure, memory: Path
) -> None:
    workload = WORKLOADS[name]
    count = len(attempt(workload, memory / "whole", -1, failure).calls)
    begin = list(Failure).index(failure) * workload.each // 3
    for at in range(begin, count, workload.each):
        attempt(workload, memory / f"{name}-{failure.name}-{at}", at, failure)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "failure"), FAILING, ids=ids(FAILING))
def test_each_refused_operation_is_told_and_may_be_repeated(
    name: str, failure: Failure, memory: Path
) -> None:
    at, workload = 0, WORKLOADS[name]
    while attempt(workload, memory / f"{name}-{at}", at, failure).failed is not None:
        at += 1
    assert at > workload.calls_min
