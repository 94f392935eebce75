"""The page of the command line, as Typer writes it."""

from __future__ import annotations

import subprocess
import sys

from tools.docs.tables import ROOT


def page() -> str:
    """Write the page of all commands, their arguments and options.

    Raises
    ------
    CalledProcessError : if Typer cannot read the application
    """
    command = [sys.executable, "-m", "typer", "streamproof.cli.app", "utils", "docs"]
    made = subprocess.run(  # noqa: S603 # our own words
        [*command, "--name", "streamproof", "--title", "Command line"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )
    return made.stdout
