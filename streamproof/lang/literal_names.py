"""Literal names: whether the names that code asks for begin with a constant in its source."""

from __future__ import annotations

import ast
import functools
from types import CodeType

from streamproof.lang.text import parsed

_ASKING = ("getattr", "hasattr")


@functools.cache
def asks_by_literal_names(code: CodeType) -> bool:
    """Return whether no `getattr` or `hasattr` of a function can ask for a special name."""
    tree = parsed(code.co_filename)
    lines = [line for line, *_ in code.co_positions() if line is not None]
    if tree is None or not lines:
        return False
    within = range(min(lines), max(lines) + 1)
    asked = named = 0
    for node in ast.walk(tree):
        if getattr(node, "lineno", None) not in within:
            continue
        match node:
            case ast.Name(name) | ast.Attribute(attr=name) if name in _ASKING:
                asked += 1
            case ast.Call(ast.Name(name), [_, asked_for, *_]) if name in _ASKING:
                named += _is_literal(asked_for)
    return asked == named > 0


def _is_literal(node: ast.expr) -> bool:
    """Return whether a name is a constant, or begins with one, and is not special."""
    match node:
        case ast.Constant(str(text)):
            return not text.startswith("__")
        case ast.JoinedStr([ast.Constant(str(text)), *_]) | ast.BinOp(
            ast.Constant(str(text)), ast.Add()
        ):
            return bool(text) and not text.startswith("_")
        case _:
            return False
