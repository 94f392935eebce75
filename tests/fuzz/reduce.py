"""Reducing a model: as long as it still fails, whatever can go is taken out of its text."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

ATTEMPTS_MOST = 1_500
"""Texts that are tried."""
LITERALS = ("True", "False", "0", "1")


def reduced(text: str, fails: Callable[[str], bool], most: int = ATTEMPTS_MOST) -> str:
    """Return a small text that fails alike, found by taking out one thing at a time.

    Parameters
    ----------
    text : a model that fails
    fails : whether a text fails in the same way; False for one that means nothing
    most : texts that are tried
    """
    best, tried = ast.unparse(ast.parse(text)), {text}
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for option in simpler(best):
            if option in tried:
                continue
            if len(tried) > most:
                return best
            tried.add(option)
            if fails(option):
                best, is_smaller = option, True
                break
    return best


def simpler(text: str) -> Iterator[str]:
    """List texts in which one thing is gone or simpler, those with the largest steps first."""
    for change in (without_methods, without_fields, without_statements, with_smaller_parts):
        yield from change(text)


def without_methods(text: str) -> Iterator[str]:
    """Leave out one method, one class or one function."""
    owners = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef))
    names = [part.name for node in owners for part in node.body if hasattr(part, "name")]
    for name in reversed(names):
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                node.body = [part for part in node.body if getattr(part, "name", "") != name]
                node.body = node.body or [ast.Pass()]
        yield ast.unparse(tree)


def without_fields(text: str) -> Iterator[str]:
    """Leave out one field of a record, and its values wherever one is made."""
    records = [
        (node.name, number, part.target.id)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
        for number, part in enumerate(node.body)
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
    ]
    for name, number, field in records:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == name:
                del node.body[number]
                node.body = node.body or [ast.Pass()]
            if isinstance(node, ast.Call):
                if getattr(node.func, "id", "") == name and len(node.args) > number:
                    del node.args[number]
                node.keywords = [part for part in node.keywords if part.arg != field]
        yield ast.unparse(tree)


def without_statements(text: str) -> Iterator[str]:
    """Leave out one statement of a body, or put what is in it in its place."""
    bodies = sum(1 for _ in bodies_of(ast.parse(text)))
    for number in range(bodies):
        size = len(list(bodies_of(ast.parse(text)))[number])
        for place in range(size):
            for kind in ("gone", "body", "orelse"):
                tree = ast.parse(text)
                body = list(bodies_of(tree))[number]
                inner = [] if kind == "gone" else getattr(body[place], kind, None)
                if inner is None or (kind == "gone" and size == 1):
                    continue
                if kind != "gone" and isinstance(body[place], ast.FunctionDef):
                    continue
                body[place : place + 1] = inner
                if body:
                    yield ast.unparse(tree)


def bodies_of(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """List the bodies in which statements stand, those of functions."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                for name in ("body", "orelse"):
                    body = getattr(node, name, None)
                    if isinstance(body, list) and body:
                        yield body


def with_smaller_parts(text: str) -> Iterator[str]:
    """Put a part of an expression, or a literal, in its place; outer expressions first."""
    tree = ast.parse(text)
    declared = {id(part) for node in ast.walk(tree) for part in declarations_of(node)}
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in declared:
            continue
        if not isinstance(node, ast.expr) or isinstance(node, ast.Constant | ast.Name):
            if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 1:
                yield replaced(text, number, ast.Constant(node.value - 1))
            continue
        inner = [part for part in ast.walk(node) if isinstance(part, ast.expr) and part is not node]
        lambdas = [part.body for part in inner if isinstance(part, ast.Lambda)]
        for part in [*lambdas, *inner[:6]]:
            yield replaced(text, number, part)
        for literal in LITERALS:
            yield replaced(text, number, ast.parse(literal, mode="eval").body)


def declarations_of(node: ast.AST) -> Iterator[ast.AST]:
    """List all parts of decorators and annotations, which say what things are."""
    for name in ("decorator_list", "annotation", "returns", "bases"):
        found = getattr(node, name, None) or []
        for part in found if isinstance(found, list) else [found]:
            yield from ast.walk(part)


def node_at(tree: ast.AST, number: int) -> ast.AST:
    """Return the node of a number."""
    return next(node for place, node in enumerate(ast.walk(tree)) if place == number)


def replaced(text: str, number: int, new: ast.expr) -> str:
    """Put an expression in the place of the node of a number."""
    tree = ast.parse(text)
    old = node_at(tree, number)

    class Replacing(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else super().generic_visit(node)

    return ast.unparse(ast.fix_missing_locations(Replacing().visit(tree)))
