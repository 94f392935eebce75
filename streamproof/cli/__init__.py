"""The command line: one file a command; each parses, calls, renders and gives an exit code."""

from streamproof.cli.app import main

__all__ = ["main"]
