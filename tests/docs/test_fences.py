"""Every Python example of a page runs: its fences, from top to bottom, are one module.

Pages that need Spark or files of their own are read alone: their fences are Python, and import what
there is.

A comment in front of a fence says what else may become of it: `<!-- not run: why -->` leaves it
out, and `<!-- raises: Name -->` wants an error whose class, or one of its bases, has this name.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.proofs.induction import prove

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("reference/language.md", "explanation/from-tla.md", "how-to/write-a-protocol.md")
"""Patterns below `docs/`, such as `tutorial/*.md`, of the pages whose fences are run."""
FENCE = re.compile(
    r"^(?:<!-- *(?P<mark>not run|raises): *(?P<told>.*?) *-->\n+)?```python *\n(?P<text>.*?)^```",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Fence:
    """One example, on the lines that it has on its page."""

    line: int
    text: str
    raises: str

    @property
    def padded(self) -> str:
        """The text with its page's line numbers."""
        return "\n" * (self.line - 1) + self.text


def fences_of(page: str) -> list[Fence]:
    """List the fences of a page that are run."""
    found = []
    for match in FENCE.finditer(page):
        line = page.count("\n", 0, match.start("text")) + 1
        if match["mark"] != "not run":
            found.append(Fence(line, match["text"], match["told"] if match["mark"] else ""))
    return found


def run_page(page: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Run the fences of a page in one namespace, and return it.

    What reads the source of a function finds it in a file that has the page's line numbers.
    """
    module = ModuleType(f"fences_of_{place.stem.replace('-', '_')}")
    module.__file__ = str(place)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    fences = fences_of(page)
    lines = [""] * page.count("\n")
    for fence in fences:
        for number, line in enumerate(fence.text.splitlines(), start=fence.line - 1):
            lines[number] = line
    place.write_text("\n".join(lines), encoding="utf-8")
    for fence in fences:
        run_fence(fence, module, place)
    return module


def run_fence(fence: Fence, module: ModuleType, place: Path) -> None:
    code = compile(fence.padded, str(place), "exec", dont_inherit=True)
    try:
        exec(code, vars(module))
    except Exception as error:
        names = [cls.__name__ for cls in type(error).__mro__]
        if fence.raises in names:
            return
        wanted = f"should raise {fence.raises}" if fence.raises else "should run"
        error.add_note(f"the fence in line {fence.line} of {place.stem}.md {wanted}")
        raise
    assert not fence.raises, f"the fence in line {fence.line} does not raise {fence.raises}"


def paths_of(pattern: str) -> list[Path]:
    return sorted(DOCS.glob(pattern))


@pytest.mark.parametrize(
    "path",
    [path for pattern in PAGES for path in paths_of(pattern)],
    ids=lambda path: str(path.relative_to(DOCS)),
)
def test_the_fences_of_a_page_run_and_its_invariant_is_proven(path, tmp_path, monkeypatch):
    page = path.read_text(encoding="utf-8")
    assert fences_of(page), f"{path} has no fence that is run"
    module = run_page(page, tmp_path / f"{path.stem}.py", monkeypatch)
    invariant = getattr(module, "INVARIANT", None)
    assert invariant is None or isinstance(prove(invariant).verdict, Proved)


@pytest.mark.parametrize("pattern", PAGES)
def test_a_pattern_names_a_page(pattern):
    assert paths_of(pattern)


@pytest.mark.parametrize(
    "path",
    [*sorted(DOCS.rglob("*.md")), DOCS.parent / "README.md"],
    ids=lambda path: str(path.relative_to(DOCS.parent)),
)
def test_what_a_page_shows_is_python_and_imports_what_there_is(path):
    for fence in fences_of(path.read_text(encoding="utf-8")):
        assert unknown_imports(ast.parse(fence.padded, str(path))) == []


def unknown_imports(tree: ast.Module) -> list[str]:
    """List names that are imported from streamproof, and are not there."""
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return [
        f"{node.module}.{name.name}"
        for node in imports
        if (node.module or "").startswith("streamproof")
        for name in node.names
        if not hasattr(importlib.import_module(node.module or ""), name.name)
    ]


def test_an_import_of_what_there_is_not_is_noticed():
    text = "from streamproof.lang import Model, Nonsense\nfrom elsewhere import x\n"
    assert unknown_imports(ast.parse(text)) == ["streamproof.lang.Nonsense"]


FINE = "```python\nn = 1\n```\n\n```python\nassert n == 1\n```\n"
BROKEN = "# Page\n\n```python\nn = 1\n```\n\n```python\nassert n == 2\n```\n"
SKIPPED = "<!-- not run: it is a sketch -->\n\n```python\nn = ...\nassert n == 2\n```\n"
RAISING = "<!-- raises: LookupError -->\n```python\n{}[1]\n```\n"
NOT_RAISING = "<!-- raises: LookupError -->\n```python\n{1: 2}[1]\n```\n"
RAISING_ANOTHER = "<!-- raises: TypeError -->\n```python\n{}[1]\n```\n"


@pytest.mark.parametrize("page", [FINE, FINE + SKIPPED, FINE + RAISING])
def test_a_page_in_order_passes(page, tmp_path, monkeypatch):
    run_page(page, tmp_path / "page.py", monkeypatch)


@pytest.mark.parametrize(
    ("page", "error", "line"),
    [(BROKEN, AssertionError, 8), (NOT_RAISING, AssertionError, 3), (RAISING_ANOTHER, KeyError, 3)],
    ids=["broken", "raises nothing", "raises another"],
)
def test_a_broken_fence_fails_with_its_line(page, error, line, tmp_path, monkeypatch):
    with pytest.raises(error) as caught:
        run_page(page, tmp_path / "page.py", monkeypatch)
    told = [str(caught.value), *getattr(caught.value, "__notes__", ())]
    places = [entry.lineno + 1 for entry in caught.traceback if str(entry.path).endswith("page.py")]
    assert f"line {line}" in " ".join(told) or line in places
