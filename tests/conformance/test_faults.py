"""Faults that are planted in the bindings are found, each of them."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from streamproof.conformance import Outcome, conform
from streamproof.lang import StreamproofError
from tests.conformance.support import faults_of_pairs, faults_of_snapshots
from tests.conformance.support.planting import FAULTS
from tests.spark.faults.crashes import Lost
from tests.spark.faults.engine import EngineRefused

REGISTERED_BY = faults_of_snapshots, faults_of_pairs


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_bindings_is_found(name: str, tmp_path: Path) -> None:
    scenario, plant = FAULTS[name]
    # Some are noticed by the bindings, too, which stop: what was written until then is compared.
    with contextlib.suppress(StreamproofError, EngineRefused, Lost, AssertionError), plant():
        scenario(tmp_path / "p")
    found = conform(tmp_path / "p")
    assert found.outcome is Outcome.VIOLATED, found.findings
    assert all(each.process and each.where and each.reason for each in found.violations)
