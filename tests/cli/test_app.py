"""The command as a whole: its groups, its version, and what it asks before it removes something."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version

import pytest
import typer
from typer.testing import CliRunner

from streamproof.cli.app import MODELS, PIPELINES, PROJECT, app
from streamproof.cli.options import NotConfirmed, confirm
from streamproof.cli.snapshot import snapshot_app
from streamproof.models.kit.verdict import ExitCode


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
    for hidden in ("--query", "--copy", "--partition", "--alone", "--log"):
        assert hidden not in shown


def all_commands() -> list[tuple[str, ...]]:
    own = [(str(command.name),) for command in app.registered_commands]
    return [*own, *(("snapshot", str(each.name)) for each in snapshot_app.registered_commands)]


@pytest.mark.parametrize("command", [(), ("snapshot",), *all_commands()], ids=" ".join)
def test_help_names_what_is_given_and_no_type_of_python(command: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).output
    assert re.search(r"<\w", shown) is None
    assert re.search(r" (TEXT|INTEGER|FLOAT|PATH) ", shown) is None  # as older Typers show them


@pytest.mark.parametrize("command", all_commands(), ids=" ".join)
def test_a_missing_argument_says_what_can_be_given(command: tuple[str, ...]) -> None:
    usage = CliRunner().invoke(app, [*command, "--help"], env={"COLUMNS": "200"}).output
    required = re.findall(r"│ \*\s+(\S+)", usage)
    if not required or required[0].startswith("-"):
        return
    shown = CliRunner().invoke(app, list(command), env={"COLUMNS": "200"})
    assert shown.exit_code == ExitCode.WRONG_USE
    assert f"Missing argument '{required[0]}'. Give " in shown.output


def test_prove_lists_what_can_be_proven() -> None:
    shown = CliRunner().invoke(app, ["prove"], env={"COLUMNS": "200"}).output
    assert "Give one of chandy_lamport, dpc, " in shown


@pytest.mark.parametrize("answer", [True, False])
def test_what_cannot_be_undone_is_asked_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, *, answer: bool
) -> None:
    asked: list[str] = []

    def ask(text: str) -> bool:
        asked.append(text)
        return answer

    monkeypatch.setattr(typer, "confirm", ask)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    if answer:
        confirm("All will go", is_confirmed=False)
    else:
        with pytest.raises(NotConfirmed, match="Nothing was done"):
            confirm("All will go", is_confirmed=False)
    assert asked == ["All will go, which cannot be undone. Go on?"]


def test_nobody_is_asked_who_has_said_yes() -> None:
    confirm("All will go", is_confirmed=True)


def test_without_a_terminal_yes_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    with pytest.raises(NotConfirmed, match="no terminal to ask at. Nothing was done. Add --yes"):
        confirm("All will go", is_confirmed=False)
