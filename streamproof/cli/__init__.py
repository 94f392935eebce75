"""The command line: one file a command; each parses, calls, renders and gives an exit code."""

import sys

from streamproof.models.kit.verdict import ExitCode

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    try:
        from streamproof.cli.app import app  # which imports nearly everything, and takes a while

        app()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted before there was anything to report.\n")
        sys.exit(int(ExitCode.UNDETERMINED))
