"""Every Python example of a page runs: its fences, from top to bottom, are one module.

`RUN_BY` says of each page which test runs it. A page with an example that is not in it fails, and
so does one whose test leaves an example out. Few are left out on purpose: `LEFT_OUT` names them.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from streamproof import prove
from streamproof.models.kit.verdict import Proved
from tests.docs.support.pages import PAGES, ROOT, Page, fences_in, is_shown, name_of, runnable

RUN_BY = {
    "README.md": "test_spark_pages",
    "docs/explanation/from-spark.md": "test_tutorials",
    "docs/explanation/from-tla.md": "test_fences",
    "docs/how-to/certificate.md": "test_spark_pages",
    "docs/how-to/compare-a-run.md": "test_spark_pages",
    "docs/how-to/hot-standby.md": "test_spark_pages",
    "docs/how-to/merging-streams.md": "test_spark_pages",
    "docs/how-to/snapshots.md": "test_spark_pages",
    "docs/how-to/test-against-a-model.md": "test_fences",
    "docs/how-to/write-a-protocol.md": "test_fences",
    "docs/reference/language.md": "test_fences",
    "docs/tutorial/data-engineers.md": "test_tutorials",
    "docs/tutorial/protocol-designers.md": "test_tutorials",
    "docs/tutorial/test-engineers.md": "test_tutorials",
}
"""By which module of this directory a page's examples are run."""
LEFT_OUT = {"README.md": ["a part of examples/lease.py"]}
"""Why the examples that are not run are not, by page."""
LEFT_OUT_MAX = 3
HERE = [page for page, module in RUN_BY.items() if module == "test_fences"]


@pytest.mark.parametrize("name", HERE)
def test_the_fences_of_a_page_run_and_its_invariant_is_proven(name, tmp_path, monkeypatch):
    path = ROOT / name
    page = Page(path.read_text(encoding="utf-8"), tmp_path / f"{path.stem}.py", monkeypatch)
    invariant = getattr(page.run_all(), "INVARIANT", None)
    page.require_over()
    assert invariant is None or isinstance(prove(invariant).verdict, Proved)


def test_each_page_with_an_example_is_run_by_a_test():
    shown = {name_of(path) for path in PAGES if runnable(path.read_text(encoding="utf-8"))}
    assert shown == RUN_BY.keys()


@pytest.mark.parametrize("name", sorted({*RUN_BY.values()} - {"test_fences"}))
def test_a_test_of_the_other_modules_names_each_page_that_they_run(name):
    tree = ast.parse(Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8"))
    tests = [part for part in tree.body if getattr(part, "name", "").startswith("test_")]
    nodes = [node for test in tests for node in ast.walk(test) if isinstance(node, ast.Constant)]
    named = {node.value for node in nodes if str(node.value).endswith(".md")}
    assert named == {page for page, module in RUN_BY.items() if module == name}


def test_few_examples_are_left_out_and_each_says_why():
    found = {}
    for path in PAGES:
        fences = fences_in(path.read_text(encoding="utf-8"))
        reasons = [fence.left_out for fence in fences if fence.left_out]
        assert not any(fence.note == "not run" for fence in fences)
        if reasons:
            found[name_of(path)] = reasons
    assert found == LEFT_OUT
    assert sum(map(len, found.values())) <= LEFT_OUT_MAX


# ----------------------------------------------------------------------------- planted violations

FINE = "```python\nn = 1\n```\n\n```python\nassert n == 1\n```\n"
BROKEN = "# Page\n\n```python\nn = 1\n```\n\n```python\nassert n == 2\n```\n"
SKIPPED = "<!-- not run: it is a sketch -->\n\n```python\nn = ...\nassert n == 2\n```\n"
RAISING = "<!-- raises: LookupError -->\n```python\n{}[1]\n```\n"
NOT_RAISING = "<!-- raises: LookupError -->\n```python\n{1: 2}[1]\n```\n"
RAISING_ANOTHER = "<!-- raises: TypeError -->\n```python\n{}[1]\n```\n"


@pytest.mark.parametrize("text", [FINE, FINE + SKIPPED, FINE + RAISING])
def test_a_page_in_order_passes(text, tmp_path, monkeypatch):
    page = Page(text, tmp_path / "page.py", monkeypatch)
    page.run_all()
    page.require_over()


def test_a_fence_that_was_not_run_is_noticed(tmp_path, monkeypatch):
    page = Page(FINE, tmp_path / "page.py", monkeypatch)
    page.run_next()
    with pytest.raises(AssertionError, match=r"lines \[6\]"):
        page.require_over()


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [(BROKEN, AssertionError, 8), (NOT_RAISING, AssertionError, 3), (RAISING_ANOTHER, KeyError, 3)],
    ids=["broken", "raises nothing", "raises another"],
)
def test_a_broken_fence_fails_with_its_line(text, error, line, tmp_path, monkeypatch):
    with pytest.raises(error) as caught:
        Page(text, tmp_path / "page.py", monkeypatch).run_all()
    told = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    places = [entry.lineno + 1 for entry in caught.traceback if str(entry.path).endswith("page.py")]
    assert f"line {line}" in " ".join(told) or line in places


@pytest.mark.parametrize(
    ("shown", "output", "fits"),
    [
        ("a  b\nc\n", "a b c\n", True),
        ("...\nc\n", "a\nb\nc\n", True),
        ("a\n...\n", "a\n", True),
        ("1 passed in 1.31s\n", "1 passed in 0.02s\n", True),
        ("a\nc\n", "a\nb\nc\n", False),
        ("...\nc\n", "a\nc\nd\n", False),
        ("2 passed in 1.31s\n", "1 passed in 1.31s\n", False),
    ],
)
def test_an_output_is_compared_with_the_shown_one(shown, output, fits):
    assert is_shown(shown, output) is fits
