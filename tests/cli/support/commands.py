"""A command of streamproof, run as a user would."""

from __future__ import annotations

from typer.testing import CliRunner

from streamproof.cli.app import app


def run(*arguments: str):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result
