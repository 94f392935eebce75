"""The page of errors: one entry for each public error class, from the sources alone.

Nothing is imported: classes, docstrings and messages are read from syntax trees. A message shows
`…` where a value goes, so that a search for what a terminal printed finds the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.docs.tables import ROOT, paragraphs

ROOTS = ("StreamproofError", "UserWarning")
"""Classes from which public errors and warnings derive."""
MESSAGES_MAX = 4
"""How many messages of a class are listed; the others are like them."""
NAMES = (ast.Name, ast.Attribute)
INTRODUCTION = (
    "Every error of streamproof derives from `StreamproofError`, and from a built-in error of its "
    "kind. A message has three parts: the fact with its values, the reason why it matters, and the "
    "next command or line to write. In the messages below `…` stands for a value. A class that "
    "derives from `UserWarning` is a warning."
)
WORDS_MIN = 3
"""Spaces in a text that is taken for a message, and not for a name."""
ROOMS = {
    "lang": "Models and the language",
    "models": "Models and the language",
    "checker": "Checking",
    "translation": "Checking",
    "proofs": "Proofs and certificates",
    "certified": "Proofs and certificates",
    "certification.py": "Proofs and certificates",
    "spark_bindings": "Spark bindings",
}
OTHERS = "Files and the command line"


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """A public error class.

    Attributes
    ----------
    module : where it is defined; `public` is the package that exports it, or the same
    bases : names of its base classes
    messages : what it says, as it is raised in the sources
    """

    name: str
    module: str
    room: str
    bases: tuple[str, ...]
    docstring: str
    messages: tuple[str, ...]

    @property
    def chapter(self) -> str:
        """The chapter of the page that it belongs to."""
        return ROOMS.get(self.room, OTHERS)


def error_classes() -> list[ErrorClass]:
    """List the public classes of errors and warnings, in the order of rooms, files and lines."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in _sources()}
    classes = [(path, node) for path, tree in trees.items() for node in _classes(tree)]
    derived, size = set(ROOTS), 0
    while len(derived) > size:
        size = len(derived)
        derived |= {node.name for _, node in classes if derived & set(_bases(node))}
    said = _messages(trees.values())
    return [
        ErrorClass(
            node.name,
            _module(path),
            path.relative_to(ROOT / "streamproof").parts[0],
            _bases(node),
            ast.get_docstring(node) or "",
            tuple(dict.fromkeys(said.get(node.name, ()))),
        )
        for path, node in classes
        if node.name in derived and not node.name.startswith("_")
    ]


def page() -> str:
    """Write the page."""
    errors = error_classes()
    lines = [
        "# Errors",
        "",
        INTRODUCTION,
    ]
    for chapter in dict.fromkeys((*ROOMS.values(), OTHERS)):
        lines += ["", f"## {chapter}"]
        for error in errors:
            if error.chapter == chapter:
                lines += ["", *_entry(error)]
    return "\n".join(lines) + "\n"


def _entry(error: ErrorClass) -> Iterator[str]:
    yield f"### {error.name}"
    yield ""
    bases = " and ".join(f"`{base}`" for base in error.bases)
    yield f"`{error.module}.{error.name}` derives from {bases}."
    for paragraph in paragraphs(error.docstring):
        if "\n---" not in paragraph:
            yield ""
            yield paragraph
            continue
        _, _, items = paragraph.partition("-\n")
        yield ""
        yield from (f"* {line}" for line in items.replace("\n    ", " ").splitlines())
    if error.messages:
        yield ""
        yield "Messages:"
        yield ""
        for message in error.messages[:MESSAGES_MAX]:
            yield f"* “{message}”"
        if left := len(error.messages) - MESSAGES_MAX:
            yield from [f"* and {left} more"] if left > 0 else []


def _sources() -> list[Path]:
    return sorted((ROOT / "streamproof").rglob("*.py"))


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _classes(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in tree.body if isinstance(node, ast.ClassDef)]


def _bases(node: ast.ClassDef) -> tuple[str, ...]:
    return tuple(ast.unparse(base).rpartition(".")[2] for base in node.bases)


def _messages(trees: Iterable[ast.Module]) -> dict[str, list[str]]:
    """List the texts with which each class is made, by its name."""
    found: dict[str, list[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and node.args and isinstance(node.func, NAMES):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                text = _text(node.args[0])
                if text.count(" ") >= WORDS_MIN:
                    found.setdefault(name, []).append(text)
    return found


def _text(node: ast.expr) -> str:
    """Write a literal text as it will be read, with `…` for each value."""
    match node:
        case ast.Constant(value=str(text)):
            written = text
        case ast.JoinedStr(values=values):
            written = "".join(_part(value) for value in values)
        case _:
            return ""
    return " ".join(written.split()).replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _part(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else "…"
