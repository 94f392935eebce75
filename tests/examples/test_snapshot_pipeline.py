"""The example of a snapshot ends its second life as its first. Slow: it is run."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.examples.support.folders import EXAMPLES


@pytest.mark.slow
@pytest.mark.spark
def test_both_lives_end_alike() -> None:
    command = [sys.executable, str(EXAMPLES / "snapshot_pipeline.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "both lives end with {'FR': 520, 'NO': 525}\n"
