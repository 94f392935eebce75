"""The files of an example import one another as siblings; so do their tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.examples.support.folders import EXAMPLES


@pytest.fixture(autouse=True)
def siblings(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a test import the files of its example, and forget them: names are used again."""
    folder = EXAMPLES / request.path.stem.removeprefix("test_")
    monkeypatch.syspath_prepend(str(folder))
    yield
    for file in folder.glob("[!_]*.py"):
        sys.modules.pop(file.stem, None)


@pytest.fixture(scope="session", autouse=True)
def protocols_are_certified(certificates: None) -> None:
    """Run all of them on certificates of the code as it is."""
