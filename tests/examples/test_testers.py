"""The examples for testers: each mistake is found as the page shows, and nothing without it."""

from __future__ import annotations

import pytest

from tests.docs.support.pages import ROOT, commands_in, fences_in, is_shown
from tests.examples.support.pytest_of import pytest_of

PAGE = ROOT / "docs/how-to/test-against-a-model.md"


@pytest.mark.slow
def test_the_mistake_is_found_as_the_page_shows_it() -> None:
    commands = [c for f in fences_in(PAGE.read_text(encoding="utf-8")) for c in commands_in(f)]
    shown = {command.text.split("/")[-1]: command.shown for command in commands}
    for example in ("store", "delivery"):
        said = pytest_of(example)
        assert is_shown(shown[example], said), said


def test_the_store_without_the_mistake_passes() -> None:
    assert "1 passed" in pytest_of("store", "-k", "TestSnapshotStore").splitlines()[-1]


def test_the_client_without_the_mistake_passes() -> None:
    assert "1 passed" in pytest_of("delivery", "-k", "TestCarefulClient").splitlines()[-1]
