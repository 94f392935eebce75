"""Running the tests of an example, as its reader does."""

from __future__ import annotations

import subprocess
import sys

from tests.docs.support.pages import ROOT


def pytest_of(example: str, *arguments: str) -> str:
    """Run pytest on an example, and return what it prints."""
    command = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider"]
    command += ["--hypothesis-seed=0", f"examples/{example}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout
