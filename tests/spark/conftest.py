"""What all tests with Spark share."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def protocols_are_certified(certificates: None) -> None:
    """Run all of them on certificates of the code as it is."""
