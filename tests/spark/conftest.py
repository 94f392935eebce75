"""What all tests with Spark share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stamped import present_certificates


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    """Run on certificates of the code as it is, also while it is being changed."""
    with present_certificates():
        yield
