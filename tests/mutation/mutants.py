"""Drawing mutants with cosmic-ray: a sample by a fixed seed, without those that change nothing."""

from __future__ import annotations

import ast
import random
import warnings
from collections.abc import Iterator
from pathlib import Path

from cosmic_ray.commands.init import _all_work_items
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_item import MutationSpec, WorkItem

SEED = 18

_SAME = (
    # Members of enums and None are equal if they are identical, and numbers are compared by value.
    "ComparisonOperator_Is_Eq",
    "ComparisonOperator_IsNot_NotEq",
    "ComparisonOperator_Eq_Is",
    "ComparisonOperator_NotEq_IsNot",
)
_CACHES = ("cache", "lru_cache", "functools.cache", "functools.lru_cache", "hashed_once")
_SHOWN_ONLY = ("__repr__", "__str__")

Span = tuple[tuple[int, int], tuple[int, int]]


def drawn(files: list[Path], sample: int, seed: int = SEED) -> list[WorkItem]:
    """Draw mutants of some files: one at most for each place, so that no line counts twice."""
    found = [
        item
        for path in files
        for item in _all_work_items([path], {})
        if not changes_nothing(item.mutations[0], quiet_spans(path))
    ]
    random.Random(seed).shuffle(found)
    places = set()
    chosen = []
    for item in found:
        (mutation,) = item.mutations
        place = (mutation.module_path, mutation.start_pos)
        if len(chosen) < sample and place not in places and is_python(mutation):
            places.add(place)
            chosen.append(item)
    return chosen


def is_python(mutation: MutationSpec) -> bool:
    """Report whether a mutant compiles: what does not is no mistake that anybody could make."""
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    text = mutation.module_path.read_text(encoding="utf-8")
    mutated = mutate_code(text, operator, mutation.occurrence)
    try:
        with warnings.catch_warnings(action="ignore"):  # such as of `is` beside a number
            compile(mutated or "not a mutant", "mutant", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def changes_nothing(mutation: MutationSpec, quiet: list[Span]) -> bool:
    """Recognise mutants that no test could kill."""
    if mutation.operator_name.endswith(_SAME):
        return True
    return any(start <= mutation.start_pos and mutation.end_pos <= end for start, end in quiet)


def quiet_spans(path: Path) -> list[Span]:
    """List where a file can be mutated without an effect on what it decides.

    These are annotations, which nobody evaluates, imports for type checkers, the decorator of a
    cache, messages of errors, and functions that show a value.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [span_of(node) for node in _quiet(tree)]


def _quiet(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from (_line_of(part) for part in node.decorator_list if _is_cache(part))
        match node:
            case ast.arg(annotation=ast.expr() as annotation):
                yield annotation
            case ast.AnnAssign(annotation=annotation):
                yield annotation
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                yield node
            case ast.JoinedStr():
                yield node
            case ast.Raise(exc=ast.Call() as call):
                yield from call.args
            case ast.FunctionDef(name=name) if name in _SHOWN_ONLY:
                yield node
            case ast.FunctionDef(returns=ast.expr() as returns):
                yield returns


def _line_of(decorator: ast.expr) -> ast.expr:
    """Return a node as long as the line: a decorator is removed with its end."""
    return ast.Constant(
        None,
        lineno=decorator.lineno,
        col_offset=decorator.col_offset,
        end_lineno=decorator.lineno + 1,
        end_col_offset=0,
    )


def _is_cache(decorator: ast.expr) -> bool:
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return ast.unparse(function) in _CACHES


def span_of(node: ast.AST) -> Span:
    """Return where a node begins and ends, with the sign before a decorator."""
    assert isinstance(node, ast.expr | ast.stmt)
    begin, end = (node.lineno, max(0, node.col_offset - 1)), node.end_lineno or node.lineno
    return begin, (end, (node.end_col_offset or 0) + 1)
