"""The merge example does what the page about merging shows, to the letter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/how-to/merging-streams.md").read_text(encoding="utf-8")


_SHOWN = re.search(
    r"<!-- (examples/\S+) -->\n```python\n(.*?)```.*?\n```\n(.*?)```", PAGE, re.DOTALL
)


def test_the_page_shows_the_example() -> None:
    assert _SHOWN is not None
    assert _SHOWN[2] == (ROOT / _SHOWN[1]).read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_example_prints_what_the_page_shows() -> None:
    assert _SHOWN is not None
    command = [sys.executable, _SHOWN[1]]
    ran = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == _SHOWN[3]
