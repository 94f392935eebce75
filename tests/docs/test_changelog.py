"""Fragments of the changelog have a known kind, a few sentences, and become a section."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRAGMENTS = sorted((ROOT / "changes").iterdir())
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["towncrier"]
KINDS = sorted(SETTINGS["fragment"])
BESIDE = {"README.md", "template.md.jinja"}
LINES_MAX = 6
NAME = re.compile(r"\+[a-z0-9-]+\.(?P<kind>[a-z]+)\.md")


def faults(name: str, text: str) -> list[str]:
    """List what is wrong with a fragment."""
    found = NAME.fullmatch(name)
    if found is None or found["kind"] not in KINDS:
        return [f"{name} is not +WORDS.KIND.md with a kind of {', '.join(KINDS)}"]
    lines = text.strip().splitlines()
    wrong = [] if 0 < len(lines) <= LINES_MAX else [f"{name} has {len(lines)} lines"]
    return wrong if text.strip().endswith(".") else [*wrong, f"{name} does not end in a sentence"]


def test_the_kinds_are_those_that_the_changelog_names():
    said = (ROOT / "changes/README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", said, re.MULTILINE)) == KINDS
    assert all(kind in (ROOT / "CHANGELOG.md").read_text("utf-8") for kind in KINDS)


@pytest.mark.parametrize(
    "path", [p for p in FRAGMENTS if p.name not in BESIDE], ids=lambda p: p.name
)
def test_a_fragment_has_a_known_kind_and_a_few_sentences(path):
    assert faults(path.name, path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("+a-name.fixed.md", "a row was lost.\n", 0),
        ("+a-name.mended.md", "a row was lost.\n", 1),
        ("a-name.fixed.md", "a row was lost.\n", 1),
        ("+a-name.fixed.md", "", 2),
        ("+a-name.fixed.md", "a row was lost.\n" * 7, 1),
    ],
)
def test_a_fault_is_noticed(name, text, count):
    assert len(faults(name, text)) == count


@pytest.mark.skipif(importlib.util.find_spec("towncrier") is None, reason="needs towncrier")
def test_the_fragments_become_a_section():
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert ran.stdout.startswith("## 9.9\n")
    for path in FRAGMENTS:
        if path.name not in BESIDE:
            assert path.read_text(encoding="utf-8").splitlines()[0] in ran.stdout


def test_the_changelog_says_where_the_next_section_goes():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.count("<!-- towncrier release notes start -->\n") == 1
