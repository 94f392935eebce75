"""A crash at each operation of the durable steps loses and doubles nothing, or is refused clearly.

The process may be killed, and then nothing is refused. Or the machine loses its power: what was not
synced is lost in part, in any order. See `disk` for what is assumed, `tape` for how it is recorded.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.faults import chains
from tests.spark.faults.crashes import crash, record
from tests.spark.faults.disk import Crash
from tests.spark.faults.engine import no_executors


@pytest.fixture(scope="module")
def chain_tape(memory):
    with no_executors():
        return record(memory / "recorded", chains.work)


def test_a_crash_in_a_pipeline(chain_tape, memory: Path) -> None:
    with no_executors():
        report = crash(chain_tape, memory, chains.check, each=13)
    assert report.points > 50
    assert report.refused(Crash.KILL) == set()


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_crash_at_each_operation_of_a_pipeline(chain_tape, memory: Path) -> None:
    with no_executors():
        report = crash(chain_tape, memory, chains.check, lossy=2)
    assert report.points > 1500, report
