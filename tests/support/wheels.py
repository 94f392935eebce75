"""The wheel of this tree, and what runs in an environment that is not this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMAND = ("-c", "from streamproof.cli import main; main()")
"""What Python gets to be the command `streamproof`."""


def build_wheel(place: Path) -> Path:
    """Build the wheel into a directory, and return it."""
    build = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    subprocess.run([sys.executable, *build, "--wheel-dir", str(place), str(ROOT)], check=True)
    (wheel,) = place.glob("streamproof-*.whl")
    return wheel


def python_of(environment: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return environment / "bin" / "python"


def run_apart(command: Sequence[str | Path], place: Path, *, code: int = 0) -> str:
    """Run a command in a directory without this checkout on its path; return its output.

    Parameters
    ----------
    command, place : what is run, and where
    code : the exit code that it must have
    """
    around = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=place, env=around, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr
