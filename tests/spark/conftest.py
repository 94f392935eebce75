"""One Spark session for all tests of a process; it starts when the first test needs it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tests.spark.support.driver import test_session
from tests.stamped import present_certificates


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Return a session with two cores and a 1 GB driver."""
    session = test_session()
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Run on certificates of the code as it is, also while it is being changed."""
    with present_certificates():
        yield
