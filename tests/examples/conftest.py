"""Examples are scripts that import one another as siblings; so do their tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.support.driver import test_session
from tests.stamped import present_certificates

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def siblings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests import what the examples consist of."""
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Give the session that all tests of a process share."""
    session = test_session()
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Run on certificates of the code as it is, also while it is being changed."""
    with present_certificates():
        yield
