"""The workloads that are crashed: a pipeline, a pair, a table."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from tests.spark.faults import chains, pairs, searches, tables
from tests.spark.faults.crashes import Check
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
"""Spark refuses an older state than the newest, and syncs none: see docs/how-to/crashes.md."""


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
