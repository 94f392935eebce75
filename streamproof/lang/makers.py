"""Makers: the code that makes what a model's methods name, before any of them is asked.

A verdict is about the constants that were made: assigned where a module or a class is loaded, or
put together by `sized`. If the hash of a text or the order of a set has a part in them, the next
process makes others, and the verdict is not about those.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from streamproof.lang.named import note_trees
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.reached import (
    package_of,
    packages_of,
    reached_from,
    records_of,
    roots_of,
)
from streamproof.lang.text import parsed

_MAKING = ("sized", "__init__", "__new__", "__post_init__")
"""Methods of a model that make its constants."""
_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)


@functools.cache
def makers_of(cls: Any) -> tuple[FunctionType, ...]:
    """List the code that makes a model's constants, as functions that are read and never called."""
    return _Makers(cls).of(roots_of(cls))


class _Makers:
    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.packages = packages_of(cls)  # type: ignore[arg-type] # a class does hash
        self.found: list[FunctionType] = []
        self.done: set[Any] = set()

    def of(self, roots: Iterable[Any]) -> tuple[FunctionType, ...]:
        """Follow names to the statements that bind them, and the names in these."""
        for owner in (*self.cls.__mro__, *records_of(self.cls)):  # type: ignore[arg-type] # hashable
            self._add_class(owner)
        self._follow(roots)
        for maker in self.found:  # which grows meanwhile
            self._follow([maker])
        return tuple(self.found)

    def _follow(self, roots: Iterable[Any]) -> None:
        for part in reached_from(self.cls, roots):
            module = sys.modules.get(part.function.__globals__.get("__name__", ""))
            for name in part.code.co_names:
                if name in part.function.__globals__:
                    self._add_global(module, name)

    def _add_class(self, owner: Any) -> None:
        module = sys.modules.get(owner.__module__)
        if module is None or not self._is_own(module):
            return
        for name in _MAKING:
            method = getattr(vars(owner).get(name), "__func__", vars(owner).get(name))
            is_function = isinstance(method, FunctionType)
            if is_function and origin_of(method.__code__) is Origin.USER:
                self.found.append(method)
        for node in _statements(_body_of(module)):
            if isinstance(node, ast.ClassDef) and node.name == owner.__name__:
                self._add(module, (part for part in node.body if _binds(part)))

    def _add_global(self, module: ModuleType | None, name: str) -> None:
        if module is None or (module, name) in self.done or not self._is_own(module):
            return
        self.done.add((module, name))
        kept: list[ast.stmt] = []
        for node in _statements(_body_of(module)):
            if isinstance(node, ast.ImportFrom):
                self._add_imported(module, node, name)
            elif name in _names_bound(node) or _changes(node, name):
                kept.append(node)
        self._add(module, kept)

    def _add_imported(self, module: ModuleType, node: ast.ImportFrom, name: str) -> None:
        for alias in node.names:
            if (alias.asname or alias.name) == name:
                package = module.__package__ or module.__name__.rpartition(".")[0]
                dots = "." * node.level
                with_name = importlib.util.resolve_name(f"{dots}{node.module or ''}", package)
                self._add_global(sys.modules.get(with_name), alias.name)

    def _add(self, module: ModuleType, statements: Iterable[ast.stmt]) -> None:
        for node in statements:
            if (module, node.lineno, node.col_offset) not in self.done:
                self.done.add((module, node.lineno, node.col_offset))
                self.found.append(_as_function(module, node))

    def _is_own(self, module: ModuleType) -> bool:
        return package_of(module.__name__) in self.packages


@functools.cache
def _body_of(module: ModuleType) -> list[ast.stmt]:
    tree = parsed(getattr(module, "__file__", None) or "")
    return tree.body if isinstance(tree, ast.Module) else []


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """List the statements that are run as a module is loaded, but for what it does as a program."""
    for node in body:
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            continue
        if isinstance(node, _BLOCKS):
            inner = (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
            yield from _statements(part for block in inner for part in block)
            handlers = getattr(node, "handlers", [])
            yield from _statements(part for handler in handlers for part in handler.body)
        if not isinstance(node, ast.If | ast.Try):
            yield node


def _names_bound(node: ast.stmt) -> set[str]:
    """Name what a statement binds by its own head, not in its body."""
    match node:
        case ast.Assign() | ast.AnnAssign(value=ast.expr()) | ast.AugAssign() | ast.Expr():
            heads: list[ast.AST] = [node]  # a `:=` in a value binds a name, too
        case ast.For(target, iterated) | ast.AsyncFor(target, iterated):
            heads = [target, iterated]
        case ast.With(items):
            heads = list(items)
        case _:
            return set()
    names = (part for head in heads for part in ast.walk(head) if isinstance(part, ast.Name))
    return {name.id for name in names if isinstance(name.ctx, ast.Store)}


def _changes(node: ast.stmt, name: str) -> bool:
    """Tell whether a statement may change what a name stands for, as `TABLE.update(...)` does."""
    match node:
        case ast.Expr(ast.Call() as call):
            return any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(call))
        case ast.Assign(targets):
            heads = (part for target in targets for part in ast.walk(target))
            return any(isinstance(part, ast.Name) and part.id == name for part in heads)
        case _:
            return False


def _binds(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) or (
        isinstance(node, ast.AnnAssign) and node.value is not None
    )


def _as_function(module: ModuleType, node: ast.stmt) -> FunctionType:
    """Make a function of a statement, or of the head of one."""
    head: ast.stmt = node
    if isinstance(node, ast.For | ast.AsyncFor):
        head = ast.copy_location(ast.For(node.target, node.iter, [ast.Pass()], []), node)
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef("<module>", empty, [head], [])
    whole = ast.fix_missing_locations(
        ast.Module([ast.copy_location(function, node)], type_ignores=[])
    )
    file = str(module.__file__)
    code = compile(whole, file, "exec", dont_inherit=True)
    inner = next(part for part in code.co_consts if hasattr(part, "co_code"))
    note_trees(inner, [function])
    return FunctionType(inner, vars(module))
