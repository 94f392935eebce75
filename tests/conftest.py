"""How all tests run: with the same random examples, and the longest files first."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The one profile. What takes long on a busy machine is no failure, and the same examples are tried
# every time: a test that wants others has a `seed` of its own.
settings.register_profile(
    "streamproof", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("streamproof")

# A shell lets what it runs in the background ignore Ctrl-C, and so would what tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
FIRST = (
    "examples/test_flights.py",
    # Without Spark: the first session makes the archive of classes, and the next would wait for it.
    "lang/test_agreement.py",
    "fuzz/test_fuzz.py",
    "spark/standby/test_chaos.py",
    "spark/snapshots/test_snapshot.py",
    "spark/sunion/test_merge_in_pipeline.py",
    "spark/pipelines/test_start.py",
    "spark/sunion/test_sunion.py",
    "spark/sunion/test_columns.py",
    "spark/pipelines/test_crash.py",
    "spark/faults/test_crashes.py",
    "models/test_chandy_lamport.py",
    "models/test_dpc.py",
    "docs/test_fences.py",
    "docs/test_spark_pages.py",
    "checker/test_elsewhere.py",
    "checker/test_simulate.py",
    "checker/native/test_agreement.py",
    "checker/native/test_widths.py",
    "test_golden.py",
    "cli/test_resume.py",
)
"""Files that take twenty seconds and more. Whoever adds one sees it in `pytest --durations=40`."""


SLOW_SECONDS_MAX = 3600
"""What a slow test may take unless it says more: a machine may be busy with other things."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest, so that no process is left alone with one."""
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS_MAX))
    rank = {HERE / name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path, len(FIRST)))


@pytest.fixture(scope="session")
def certificates() -> Iterator[None]:
    """Let protocols run on certificates of the code as it is, also while it is being changed."""
    from tests.support.stamped import present_certificates

    with present_certificates():
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Return the one session of a process, with two cores and a 1 GB driver."""
    from tests.spark.support.driver import test_session

    session = test_session()
    yield session
    session.stop()
