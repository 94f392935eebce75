"""What the README and the pages show is what there is: examples, commands, links.

An example that a page names is the file under `examples/`, to the letter, and the commands below
the worked protocol are run. The pipeline is run by `tests/spark/`.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode, Status

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
README_LINES_MAX = 120
PAGES = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
WORKED = ROOT / "docs/how-to/write-a-protocol.md"
VERDICTS = ROOT / "docs/explanation/verdicts.md"
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"<!-- (examples/\S+) -->\n```python\n(.*?)```", re.DOTALL)


def test_the_readme_is_short():
    assert len(README.splitlines()) <= README_LINES_MAX


@pytest.mark.parametrize("page", PAGES)
def test_a_shown_example_is_the_file_that_it_names(page):
    for path, text in SHOWN.findall(page.read_text(encoding="utf-8")):
        assert text == (ROOT / path).read_text(encoding="utf-8")


def test_the_worked_example_is_shown():
    assert [path for path, _ in SHOWN.findall(WORKED.read_text(encoding="utf-8"))] == [
        "examples/lease.py"
    ]


def test_the_readme_shows_a_part_of_the_worked_example():
    part = re.search(r"```python\n(@action\n.*?)```", README, re.DOTALL)
    assert part is not None
    lines = [line.strip() for line in (ROOT / "examples/lease.py").read_text("utf-8").splitlines()]
    assert all(line.strip() in lines for line in part[1].splitlines())


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
    assert f"streamproof {command}" in WORKED.read_text(encoding="utf-8")
    ran = CliRunner().invoke(app, shlex.split(command))
    assert ran.exit_code == code, ran.output
    assert said in ran.output


def test_every_command_that_is_shown_exists():
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    code = [block for text in texts for block in FENCE.findall(text)]
    lines = re.findall(r"^(?:\$ )?streamproof (.+)$", "\n".join(code), re.MULTILINE)
    listed = CliRunner().invoke(app, ["--help"]).output
    assert "streamproof check" in README
    assert [line for line in lines if line.split()[0] not in listed] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_option_that_is_shown_exists(page):
    code = "\n".join(FENCE.findall(page.read_text(encoding="utf-8")))
    for line in re.findall(r"^(?:\$ )?streamproof (.+)$", code, re.MULTILINE):
        words = shlex.split(line.partition(" | ")[0], comments=True)
        assert unknown_options(words) == [], line


def unknown_options(words: list[str]) -> list[str]:
    """List the options of a command line that its command does not have."""
    command = get_command(app)
    while words and words[0] in getattr(command, "commands", {}):
        command, words = command.commands[words[0]], words[1:]
    known = {name for part in command.params for name in (*part.opts, *part.secondary_opts)}
    shown = {word.partition("=")[0] for word in words if word.startswith("--")}
    return sorted(shown - known - {"--help"})


def test_an_option_that_there_is_not_is_noticed():
    assert unknown_options(["snapshot", "prune", "x", "--keep", "3"]) == []
    assert unknown_options(["snapshot", "prune", "x", "--keeps=3"]) == ["--keeps"]


def test_every_verdict_is_explained():
    page = VERDICTS.read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| ([A-Z]+) \|", page, re.MULTILINE))
    assert explained == {status.value for status in Status}


@pytest.mark.parametrize("page", PAGES)
def test_no_link_leads_nowhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
