"""What the README shows is what there is: its example, its commands, its figures.

The worked protocol in the README is the file under `examples/`, to the letter, and the commands
below it are run. The pipeline is run by `tests/spark/`.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.verdict import ExitCode, Status

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_worked_example_is_the_file_that_it_names():
    shown = re.search(r"<!-- (examples/\S+) -->\n```python\n(.*?)```", README, re.DOTALL)
    assert shown is not None
    assert shown[2] == (ROOT / shown[1]).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("check examples/lease.py", ExitCode.GREEN, "4 distinct states"),
        ("prove examples/lease.py", ExitCode.GREEN, "PROVED"),
        ("mutate examples/lease.py", ExitCode.GREEN, "2 of 2"),
        ("check examples/lease.py:hasty", ExitCode.REFUTED, "run it again"),
    ],
)
def test_the_commands_below_it_do_what_they_are_said_to_do(command, code, said):
    assert f"streamproof {command}" in README
    ran = CliRunner().invoke(app, shlex.split(command))
    assert ran.exit_code == code, ran.output
    assert said in ran.output


def test_every_command_that_is_shown_exists():
    shown = {words.split()[0] for words in re.findall(r"^streamproof (.+)$", README, re.MULTILINE)}
    listed = CliRunner().invoke(app, ["--help"]).output
    assert shown
    assert all(command in listed for command in shown)


def test_every_verdict_is_explained():
    explained = set(re.findall(r"^\| ([A-Z]+) \|", README, re.MULTILINE))
    assert explained == {status.value for status in Status}


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md")))
def test_no_link_leads_nowhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
