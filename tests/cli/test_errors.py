"""How a command ends that cannot: never with the exit code of a verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode


def run(*arguments: str):
    return CliRunner().invoke(app, arguments)


def interrupting(place: Path) -> str:
    """Write a model whose first state never comes: somebody is tired of waiting."""
    text = Path("examples/lease.py").read_text(encoding="utf-8")
    state = "return State(free=True, holds=Map.fill(self.workers, False))"
    assert state in text
    (place / "mine.py").write_text(text.replace(state, "raise KeyboardInterrupt"), encoding="utf-8")
    return str(place / "mine.py")


def test_an_interrupt_before_the_search_is_undetermined(tmp_path):
    result = run("check", interrupting(tmp_path))
    assert result.exit_code == ExitCode.UNDETERMINED
    assert "Interrupted" in result.stderr


def test_a_mistake_in_streamproof_is_never_taken_for_a_verdict(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("oops")

    monkeypatch.setattr("streamproof.cli.check.run_check", fail)
    result = run("check", "examples/lease.py")
    assert result.exit_code == ExitCode.INTERNAL_ERROR
    assert "This is a mistake in streamproof" in result.stderr


@pytest.mark.parametrize("target", ["examples/lease.py", "there_is_no_such_model"])
def test_a_reader_that_went_away_is_not_taken_for_a_verdict(target):
    """The exit code of an exception that nobody catches, 1, would mean REFUTED."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-c", "from streamproof.cli import main; main()", "check", target]
    ran = subprocess.run(command, stdout=writing, stderr=writing, check=False)
    os.close(writing)
    assert ran.returncode == ExitCode.UNDETERMINED


def test_a_verdict_is_given_where_the_shell_has_closed_the_output():
    command = [sys.executable, "-c", "from streamproof.cli import main; main()", "check"]
    told = [
        subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *command, target], check=False
        ).returncode
        for closed in (">&-", ">&- 2>&-")
        for target in ("examples/lease.py", "examples/lease.py:hasty")
    ]
    assert told == [ExitCode.GREEN, ExitCode.REFUTED] * 2
