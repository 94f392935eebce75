"""What all tests with Spark share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamproof.conformance import conform


@pytest.fixture(scope="session", autouse=True)
def protocols_are_certified(certificates: None) -> None:
    """Run all of them on certificates of the code as it is."""


@pytest.fixture
def conforms(tmp_path: Path) -> Iterator[None]:
    """Compare all that ran in a test's directory with the models, once the test is over."""
    yield
    for found in sorted(tmp_path.rglob("pipeline.json")):
        violations = conform(found.parent).violations
        assert not violations, f"{found.parent} did what no model does: {violations}"
