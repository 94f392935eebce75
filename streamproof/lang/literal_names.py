"""Whether code asks for attributes by names that stand in its text."""

from __future__ import annotations

import ast
from types import CodeType

from streamproof.lang.text import parsed

_ASKING = ("getattr", "hasattr")


def asks_by_literal_names(code: CodeType) -> bool:
    """Tell whether each `getattr` and `hasattr` of a function is called with a literal name."""
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
            case ast.Call(ast.Name(name), [_, ast.Constant(str()), *_]) if name in _ASKING:
                named += 1
    return asked == named > 0
