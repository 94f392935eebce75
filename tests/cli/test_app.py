"""The command as a whole: its groups, its version, and what it asks before it removes something."""

from __future__ import annotations

from importlib.metadata import version

import pytest
import typer
from typer.testing import CliRunner

from streamproof.cli import options
from streamproof.cli.app import MODELS, PIPELINES, PROJECT, app
from streamproof.cli.options import NotConfirmed, confirm


def test_the_version_is_that_of_the_package() -> None:
    shown = CliRunner().invoke(app, ["--version"])
    assert (shown.exit_code, shown.output) == (0, f"streamproof {version('streamproof')}\n")


def test_every_command_is_in_a_group() -> None:
    commands = [*app.registered_commands, *app.registered_groups]
    assert {command.rich_help_panel for command in commands} == {MODELS, PIPELINES, PROJECT}
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"}).output
    places = [shown.index(f" {group} ─") for group in (MODELS, PIPELINES, PROJECT)]
    assert places == sorted(places)


def test_what_the_supervisor_alone_needs_is_not_shown() -> None:
    shown = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "120"}).output
    assert "--driver-memory" in shown
    for hidden in ("--query", "--replica", "--partition", "--alone", "--log"):
        assert hidden not in shown


@pytest.mark.parametrize("answer", [True, False])
def test_what_cannot_be_undone_is_asked_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, *, answer: bool
) -> None:
    asked: list[str] = []

    def ask(text: str) -> bool:
        asked.append(text)
        return answer

    monkeypatch.setattr(typer, "confirm", ask)
    monkeypatch.setattr(options.sys.stdin, "isatty", lambda: True, raising=False)
    if answer:
        confirm("All will go", is_confirmed=False)
    else:
        with pytest.raises(NotConfirmed, match="Nothing was done"):
            confirm("All will go", is_confirmed=False)
    assert asked == ["All will go, which cannot be undone. Go on?"]


def test_nobody_is_asked_who_has_said_yes() -> None:
    confirm("All will go", is_confirmed=True)


def test_without_a_terminal_yes_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options.sys.stdin, "isatty", lambda: False, raising=False)
    with pytest.raises(NotConfirmed, match="no terminal to ask at. Nothing was done. Add --yes"):
        confirm("All will go", is_confirmed=False)
