"""The text of a source that counts: its syntax tree, without what changes no behaviour.

Positions, comments and layout are no part of it. Neither are docstrings, unless some code reads
them. The text is the same under every version of Python that has the same syntax for a source:
`ast.dump` is not, since fields come and go between versions.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import lru_cache

_LAYOUT = frozenset({"ctx", "kind", "type_comment", "type_ignores"})
"""Fields that follow from others, or that Python does not read."""

_READS_DOCSTRINGS = (b"__doc__", b"getdoc")


@lru_cache(maxsize=1024)
def tree_of(path: str, content: bytes) -> ast.Module:
    """Parse a source; nobody may change the tree."""
    return ast.parse(content, path or "<directory>")


def reads_docstrings(source: bytes) -> bool:
    """Report whether a source could read a docstring, so that docstrings count."""
    return any(word in source for word in _READS_DOCSTRINGS)


def source_digest(tree: ast.Module, *, docstrings: bool) -> str:
    """Hash a syntax tree.

    Parameters
    ----------
    docstrings : whether they count, and with them every string that stands alone
    """
    parts: list[str] = []
    _write(tree, parts, docstrings=docstrings)
    return hashlib.sha256("\n".join(parts).encode("ascii")).hexdigest()


def _write(node: ast.AST, parts: list[str], *, docstrings: bool) -> None:
    parts.append(f"({type(node).__name__}")
    if isinstance(node, ast.Constant | ast.MatchSingleton):
        parts.append(_constant(node.value))
    else:
        for name, value in ast.iter_fields(node):
            # A field that a version of Python lacks says what an empty one says in another.
            if name not in _LAYOUT and value is not None and value != []:
                parts.append(f".{name}")
                whole = _joined(value) if isinstance(node, ast.JoinedStr) else value
                _write_field(whole, parts, docstrings=docstrings)
    parts.append(")")


def _write_field(value: object, parts: list[str], *, docstrings: bool) -> None:
    if isinstance(value, ast.AST):
        _write(value, parts, docstrings=docstrings)
    elif isinstance(value, list):
        parts.append("[")
        for part in value if docstrings else _without_strings(value):
            _write_field(part, parts, docstrings=docstrings)
        parts.append("]")
    else:
        parts.append(_constant(value))


def _without_strings(nodes: list[object]) -> Iterator[object]:
    """Leave out statements that are a string alone, and a package's version."""
    for node in nodes:
        is_string = isinstance(node, ast.Expr) and _is_string(node.value)
        if not is_string and not _is_version(node):
            yield node


def _joined(nodes: list[ast.expr]) -> list[object]:
    """Put together strings that stand side by side in an f-string: versions cut them elsewhere."""
    joined: list[object] = []
    for node in nodes:
        text = node.value if isinstance(node, ast.Constant) else None
        before = joined[-1] if joined else None
        if text == "":
            continue
        if isinstance(before, ast.Constant) and isinstance(node, ast.Constant):
            joined[-1] = ast.Constant(f"{before.value!s}{text!s}")  # both are texts
        else:
            joined.append(node)
    return joined


def _is_string(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_version(node: object) -> bool:
    """Recognise ``__version__ = "1.2.3"``: a new release alone is no change of a protocol."""
    match node:
        case ast.Assign(targets=[ast.Name(id="__version__")], value=value):
            return _is_string(value)
    return False


def _constant(value: object) -> str:
    """Write a constant with its type: 1, 1.0 and True are equal and not the same."""
    match value:
        case bool() | None:
            return str(value)
        case int():
            return f"int {value:x}"  # of any length, unlike the decimal form
        case _:
            # `repr` would depend on which characters a version of Python can print.
            return f"{type(value).__name__} {value!a}"
