"""What tests of searches that are kept share."""

from __future__ import annotations

import os

import pytest

from streamproof.checker.native import search
from streamproof.models.kit import registry
from tests.checker.native.support.keeping import ROUND


@pytest.fixture
def small_rounds(monkeypatch):
    """Make small searches have many rounds, and do not wait for the disk."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(search, "BUFFER", ROUND)
    monkeypatch.setattr(search, "REPORT_EVERY_SECONDS", 0.0)


@pytest.fixture(scope="module")
def snapshots():
    return registry.build("chandy_lamport", "default")


@pytest.fixture
def place(tmp_path):
    return tmp_path / "kept"
