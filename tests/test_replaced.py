"""Tests that replace a name of the product from outside: how many there are, which only falls.

Such a test knows the inside of a room. It breaks with a move, or goes on without testing anything.
What can be passed as an argument is passed. A moment in the bindings is a failpoint, see
`streamproof.spark_bindings.storage.failpoints`. The limits below are what is left: stand-ins for
Spark, mistakes that a test plants on purpose, bounds of sizes, and the certified rooms, which have
no failpoints. What belongs to Python, to a library or to the tests may be replaced.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
PRODUCT = "streamproof"
LIMITS = {
    ".": 8,
    "certified": 40,
    "checker": 20,
    "checker/native": 37,
    "cli": 22,
    "conformance": 2,
    "conformance/support": 20,
    "examples": 1,
    "fuzz": 10,
    "lang": 32,
    "proofs": 2,
    "spark/checkpoints": 1,
    "spark/faults": 17,
    "spark/pipelines": 1,
    "spark/processes": 1,
    "spark/snapshots": 3,
    "spark/storage": 2,
    "spark/sunion": 3,
    "support": 5,
    "translation": 2,
}
"""Replaced names per room of the tests. One that falls is lowered here."""


def replaced(text: str) -> list[int]:
    """List the lines that replace a name of the product, or of what nobody can tell."""
    tree = ast.parse(text)
    homes = dict(imported(tree))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return sorted(call.lineno for call in calls if _replaces(call) and _is_product(call, homes))


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each imported name with the module that it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                yield name, alias.name
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name, node.module or ""


def _replaces(call: ast.Call) -> bool:
    """Return whether a call is ``setattr``, or one of ``mock.patch``."""
    name = ast.unparse(call.func)
    if not call.args and not call.keywords:
        return False
    is_mock = name.removeprefix("unittest.").removeprefix("mock.") in (
        "patch",
        "patch.object",
        "patch.multiple",
    )
    return is_mock or name == "setattr" or name.endswith(".setattr")


def _is_product(call: ast.Call, homes: dict[str, str]) -> bool:
    target = call.args[0]
    if isinstance(target, ast.JoinedStr):
        target = target.values[0]
    if isinstance(target, ast.Constant):
        return str(target.value).partition(".")[0] == PRODUCT
    while isinstance(target, ast.Attribute | ast.Call):
        target = target.func if isinstance(target, ast.Call) else target.value
    if not isinstance(target, ast.Name):
        return True
    return homes.get(target.id, PRODUCT).partition(".")[0] == PRODUCT


def room_of(path: Path) -> str:
    """Return the folder below the tests; the tests' own folder has no name."""
    return "/".join(path.relative_to(ROOT).parts[:-1][:2]) or "."


@pytest.fixture(scope="module")
def found() -> Counter[str]:
    counts: Counter[str] = Counter()
    for path in sorted(ROOT.rglob("*.py")):
        counts[room_of(path)] += len(replaced(path.read_text(encoding="utf-8")))
    return +counts


def test_no_more_names_of_the_product_are_replaced(found: Counter[str]) -> None:
    more = {room: (count, LIMITS.get(room, 0)) for room, count in (found - Counter(LIMITS)).items()}
    assert more == {}, "pass an argument, or arm a failpoint; a limit only falls"


def test_the_limits_are_what_there_is(found: Counter[str]) -> None:
    assert Counter(LIMITS) - found == {}, "it has fallen: lower the limit"


@pytest.mark.parametrize(
    "text",
    [
        "from streamproof import disk\nmonkeypatch.setattr(disk, 'move', None)\n",
        "from streamproof import disk\npatch.setattr(disk.os, 'sync', None)\n",
        "from streamproof import disk\nwith mock.patch.object(disk, 'move'):\n    pass\n",
        "import streamproof.disk\nsetattr(streamproof.disk, 'move', None)\n",
        "monkeypatch.setattr('streamproof.disk.move', None)\n",
        "mock.patch('streamproof.disk.move')\n",
        "mock.patch(f'streamproof.disk.{name}')\n",
        "def f(files):\n    monkeypatch.setattr(files, 'ids', list)\n",
        "from importlib import import_module as load\nm = load('x')\nsetattr(m, 'a', 1)\n",
        "monkeypatch.setattr([1][0], 'a', 1)\n",
    ],
)
def test_a_replaced_name_is_found(text: str) -> None:
    assert len(replaced(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import os\nmonkeypatch.setattr(os, 'sync', None)\n",
        "from unittest import mock\nmock.patch('os.sync')\n",
        "from pathlib import Path\nmonkeypatch.setattr(Path, 'open', None)\n",
        "from tests.spark import copies\nmonkeypatch.setattr(copies, 'totals', None)\n",
        "monkeypatch.setenv('A', '1')\n",
        "mock.patch(f'os.{name}')\n",
        "getattr(disk, 'move')\n",
    ],
)
def test_what_is_no_name_of_the_product_may_be_replaced(text: str) -> None:
    assert replaced(text) == []
