"""The order in which test files are handed to the processes that run them."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take minutes, so that no process is left alone with one."""
    long = {"spark", "examples", "lang"}
    items.sort(key=lambda item: item.path.parent.name not in long)
