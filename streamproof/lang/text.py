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

from streamproof.lang.guarded import is_guarded
from streamproof.lang.origin import Origin, is_of_pytest, is_users, origin_of

_REASON = "_answer"
"""The function of the tracer that asks a property for its answer."""
_BUILDERS = {"str", "repr", "format", "join"}


def may_tell(frame: FrameType | None) -> bool:
    """Tell whether text that is being made in a frame is only told.

    Parameters
    ----------
    frame : the one that asks for the text
    """
    is_detail = False
    while frame is not None and not is_users(frame) and not _is_language(frame):
        is_detail = is_detail or is_of_pytest(frame.f_code.co_filename)
        frame = frame.f_back
    if frame is None or _is_language(frame):
        return True
    return not is_guarded(frame) if is_detail else _is_told(frame)


def _is_language(frame: FrameType) -> bool:
    return origin_of(frame.f_code) is Origin.LANGUAGE


def _is_told(frame: FrameType) -> bool:
    """Follow an expression outwards from where a frame stands, to what is done with it."""
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
    """Tell whether an expression only hands on the text that a part of it makes."""
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
    """Tell whether what a frame returns is a property's answer."""
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
    found: list[ast.AST] = []
    for node in _nodes(code.co_filename):
        starts = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
        ends = (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))
        if starts <= (line, column) and (last, end) <= ends:
            found.append(node)
    return found[::-1]


@functools.cache
def _nodes(filename: str) -> tuple[ast.AST, ...]:
    """List what stands in a file with its place, outer nodes before inner ones."""
    try:
        tree = ast.parse("".join(linecache.getlines(filename)))
    except SyntaxError:  # no file of Python's, such as what was typed
        return ()
    found: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if hasattr(node, "lineno"):
            found.append(node)
        for child in ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return tuple(found)
