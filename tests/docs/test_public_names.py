"""Examples and pages import public names alone: those that a public module lists in `__all__`."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.support.pages import PAGES, ROOT, fences_in, name_of
from tests.docs.support.public import PUBLIC

EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))


def private_imports(text: str) -> list[str]:
    """List what a text imports from streamproof and no public module lists."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if is_ours(name.name)]
        elif isinstance(node, ast.ImportFrom) and is_ours(node.module or ""):
            listed = importlib.import_module(node.module).__all__ if node.module in PUBLIC else ()
            found += [
                f"{node.module}.{each.name}" for each in node.names if each.name not in listed
            ]
    return sorted(set(found) - {*PUBLIC})


def is_ours(module: str) -> bool:
    return module.partition(".")[0] == "streamproof"


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_an_example_imports_public_names_alone(path: Path) -> None:
    assert private_imports(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_imports_public_names_alone(path: Path) -> None:
    fences = fences_in(path.read_text(encoding="utf-8"))
    texts = [fence.padded for fence in fences if fence.is_python]
    assert [name for text in texts for name in private_imports(text)] == []


@pytest.mark.parametrize("module", PUBLIC)
def test_what_a_public_module_lists_is_there(module: str) -> None:
    found = importlib.import_module(module)
    assert found.__all__
    assert [name for name in found.__all__ if not hasattr(found, name)] == []
    assert {*found.__all__} <= {*dir(found)}


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("from streamproof.lang import Model\nfrom elsewhere import x", []),
        ("import streamproof\nfrom streamproof import check", []),
        ("from streamproof.spark_bindings import sunion", []),
        ("import streamproof.disk", ["streamproof.disk"]),
        ("from streamproof.lang import Nonsense", ["streamproof.lang.Nonsense"]),
        ("from streamproof.lang.map import Map", ["streamproof.lang.map.Map"]),
        ("def f():\n    from streamproof.models import lease", ["streamproof.models.lease"]),
    ],
)
def test_an_import_of_what_is_private_is_noticed(text: str, private: list[str]) -> None:
    assert private_imports(text) == private


def test_the_package_loads_no_engine_until_it_is_asked_for_one() -> None:

    said = "import sys, streamproof; print({'z3', 'llvmlite', 'pyspark'} & {*sys.modules})"
    ran = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
    with pytest.raises(AttributeError, match="'nonsense'"):
        importlib.import_module("streamproof").nonsense  # noqa: B018
