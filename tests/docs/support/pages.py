"""The fences of a page, and running them: Python ones in one module, commands in a directory.

A comment in front of a fence says what becomes of it. `<!-- shop.py -->` makes it a file.
`<!-- not run: why -->` leaves it out. `<!-- raises: Name -->` wants an error whose class, or one of
its bases, has this name.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?:<!-- *(?P<note>[^\n]*?) *-->\n+)?```(?P<language>\w*) *\n(?P<text>.*?)^```",
    re.DOTALL | re.MULTILINE,
)
FILE = re.compile(r"[\w/]+\.(py|ini)")


@dataclass(frozen=True)
class Fence:
    """One example, on the lines that it has on its page."""

    language: str
    note: str
    line: int
    text: str

    @property
    def is_python(self) -> bool:
        return self.language == "python"

    @property
    def left_out(self) -> str:
        """Why it is not run; empty if it is."""
        return self._told("not run")

    @property
    def raises(self) -> str:
        """The name of the error that it must raise; empty if it must run."""
        return self._told("raises")

    @property
    def file(self) -> str:
        """The name of the file that it is; empty if it is none."""
        return self.note if FILE.fullmatch(self.note) else ""

    @property
    def padded(self) -> str:
        """The text with its page's line numbers."""
        return "\n" * (self.line - 1) + self.text

    def _told(self, mark: str) -> str:
        name, _, told = self.note.partition(":")
        return told.strip() if name == mark else ""


def fences_in(page: str) -> list[Fence]:
    """List all fences of a page."""
    return [
        Fence(
            match["language"],
            match["note"] or "",
            page.count("\n", 0, match.start("text")) + 1,
            match["text"],
        )
        for match in FENCE.finditer(page)
    ]


def runnable(page: str) -> list[Fence]:
    """List the Python fences of a page that are to be run."""
    return [fence for fence in fences_in(page) if fence.is_python and not fence.left_out]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


class Page:
    """A page whose Python fences are run one after the other in one module.

    What reads the source of a function finds it in a file that has the page's line numbers.
    """

    def __init__(self, text: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._place, self._left = place, runnable(text)
        self.module = ModuleType(f"fences_of_{place.stem.replace('-', '_')}")
        self.module.__file__ = str(place)
        monkeypatch.setitem(sys.modules, self.module.__name__, self.module)
        lines = [""] * text.count("\n")
        for fence in self._left:
            for number, line in enumerate(fence.text.splitlines(), start=fence.line - 1):
                lines[number] = line
        place.write_text("\n".join(lines), encoding="utf-8")

    def give(self, **names: object) -> None:
        """Define names that the page takes for granted."""
        vars(self.module).update(names)

    def run_next(self) -> None:
        """Run the next fence."""
        self._run(self._left.pop(0))

    def run_all(self) -> ModuleType:
        """Run the fences that are left, and return their module."""
        while self._left:
            self.run_next()
        return self.module

    def require_over(self) -> None:
        """Check that every fence was run."""
        lines = [fence.line for fence in self._left]
        assert not lines, f"the fences in lines {lines} were not run"

    def _run(self, fence: Fence) -> None:
        code = compile(fence.padded, str(self._place), "exec", dont_inherit=True)
        try:
            exec(code, vars(self.module))
        except Exception as error:
            if fence.raises in [cls.__name__ for cls in type(error).__mro__]:
                return
            wanted = f"should raise {fence.raises}" if fence.raises else "should run"
            error.add_note(f"the fence in line {fence.line} of {self._place.stem}.md {wanted}")
            raise
        assert not fence.raises, f"the fence in line {fence.line} does not raise {fence.raises}"


# ------------------------------------------------------------------------------------- commands


@dataclass(frozen=True)
class Command:
    """A command of a page, and the output that the page shows below it."""

    text: str
    shown: str


def commands_in(fence: Fence) -> Iterator[Command]:
    """List the commands of a fence: lines behind a dollar sign."""
    _, *parts = re.split(r"^\$ ", fence.text, flags=re.MULTILINE)
    for part in parts:
        text, _, shown = part.partition("\n")
        yield Command(text, shown)


def is_shown(shown: str, output: str) -> bool:
    """Report whether an output is the shown one.

    A line of dots stands for anything. Spaces and breaks of lines do not count, nor do seconds.
    """
    pieces = re.split(r"^\.\.\.$", shown, flags=re.MULTILINE)
    pattern = r"(?:.* )?".join(re.escape(_words(piece)) for piece in pieces)
    return re.fullmatch(pattern, _words(output)) is not None


def _words(text: str) -> str:
    """Return the words of a text, each behind by one space."""
    timeless = re.sub(r"\d+\.\d+ ?s\b", "#s", text)
    return "".join(f"{word} " for word in timeless.split())
