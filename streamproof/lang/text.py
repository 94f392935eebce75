"""The text of a symbolic value, which differs from that of a plain one.

It may be told: in the reason that a property gives, and in the message of an `assert` or a
`require`. Anywhere else it could be compared, measured or looked at, and decide something.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
from types import FrameType
from typing import Any, TypeAlias

from streamproof.lang.guarded import RUNS_A_PATH, is_guarded
from streamproof.lang.origin import Origin, is_aside, is_users, origin_of

_REASON = "_answer"
"""The function of the tracer that asks a property for its answer."""
_CALLING = (RUNS_A_PATH, "<lambda>", "<genexpr>")
"""Functions of the language that call what they are given, such as `str` itself."""
_BUILDERS = {"str", "repr", "format", "join"}


def may_tell(frame: FrameType | None) -> bool:
    """Return whether the text that is made in a frame is only shown, and decides nothing.

    Parameters
    ----------
    frame : the one that asks for the text
    """
    is_detail = False
    while frame is not None and not is_users(frame) and not _is_language(frame):
        is_detail = is_detail or _is_of_a_claim(frame)
        frame = frame.f_back
    if frame is None or _is_language(frame):
        return frame is None or frame.f_code.co_name not in _CALLING
    return not is_guarded(frame) if is_detail else _is_told(frame)


def _is_of_a_claim(frame: FrameType) -> bool:
    code = frame.f_code
    return is_aside(code.co_filename) or code.co_name == "assert_never"


def _is_language(frame: FrameType) -> bool:
    return origin_of(frame.f_code) is Origin.LANGUAGE


def _is_told(frame: FrameType) -> bool:
    """Return whether the value of a frame's expression is only shown, as a reason or a message."""
    nodes = _around(frame)
    for inner, node in itertools.pairwise(nodes):
        match node:
            case ast.Return():
                return _is_answer(frame)
            case ast.Lambda():
                return inner is node.body and _is_answer(frame)
            case ast.Assert():
                return inner is node.msg and not is_guarded(frame)
            case ast.Call(func=ast.Name("require") | ast.Attribute(attr="require")):
                return inner in (*node.args[1:], *node.keywords) and not is_guarded(frame)
            case _ if not _hands_on(node, inner):
                return False
    return False


def _hands_on(node: ast.AST, inner: ast.AST) -> bool:
    """Return whether an expression only passes on the text of one of its parts."""
    match node:
        case ast.IfExp():
            return inner is not node.test
        case ast.BoolOp():
            return inner is node.values[-1]
        case ast.Dict():
            return inner in node.values
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)):
            return name in _BUILDERS
        case _:
            is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)
            return is_sum or isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.keyword)


def _is_answer(frame: FrameType) -> bool:
    """Return whether what a frame returns is a property's answer."""
    caller = frame.f_back
    if caller is None or is_guarded(frame):
        return False
    if _is_language(caller):
        return caller.f_code.co_name == _REASON
    return is_users(caller) and _is_told(caller)


def _around(frame: FrameType) -> list[ast.AST]:
    """List the nodes around the instruction that a frame stands at, innermost first."""
    code = frame.f_code
    positions = list(code.co_positions())
    line, last, column, end = positions[frame.f_lasti // 2]
    if line is None or last is None or column is None or end is None:
        return []
    tree = parsed(code.co_filename)
    return _path_to((line, column), (last, end), tree) if tree is not None else []


Position: TypeAlias = tuple[int, int]
"""A line, and a column in it."""


def _path_to(start: Position, end: Position, node: ast.AST) -> list[ast.AST]:
    """Find the nodes below a node that reach over a range, innermost first."""
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno"):  # such as the arguments of a function
            below = _path_to(start, end, child)
            if below:
                return below
        elif _begin(child) <= start and end <= _end(child):
            return [*_path_to(start, end, child), child]
    return []


def _begin(node: Any) -> Position:
    return node.lineno, node.col_offset


def _end(node: Any) -> Position:
    return node.end_lineno, node.end_col_offset


@functools.cache
def parsed(filename: str) -> ast.AST | None:
    """Parse a file; None if there is none, such as for what was typed."""
    try:
        return ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:
        return None
