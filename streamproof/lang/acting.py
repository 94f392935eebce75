"""Statements that act: the work of a module as it is loaded, apart from binding names.

`TABLE = {}` binds a name. `fill(TABLE)`, a decorator that calls what it decorates, a default value
or a neighbour that is imported may fill it. A clock or a random number in any of these has a part
in what a model is made of, whatever form the statement has.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from enum import EnumType
from types import FunctionType, ModuleType
from typing import Any, TypeAlias

from streamproof.lang.origin import Origin, asks_models, origin_of
from streamproof.lang.statements import Definition, calls_run, runs_in
from streamproof.lang.text import parsed

IsOwn: TypeAlias = Callable[[ModuleType], bool]
_TOOLS = frozenset(("pytest", "_pytest", "hypothesis"))
"""Libraries that keep the functions of a user, and call none as a file is loaded."""
_WRITTEN = (ast.Subscript, ast.Attribute)
_MAKING = ("__init__", "__new__", "__post_init__")
_PLAIN = (dict, list, tuple, set, frozenset, str, bytes, int, float, range)
_ASKING = frozenset((
    "copy", "count", "endswith", "format", "get", "index", "items", "join", "keys", "lower",
    "partition", "replace", "rpartition", "split", "splitlines", "startswith", "strip", "upper",
    "values",
))  # fmt: skip
"""Methods of Python's own values that change nothing."""


def acting_in(module: ModuleType, is_own: IsOwn) -> Iterator[ast.stmt | ast.expr]:
    """List what acts in a module's own file: statements, and parts of some.

    Parameters
    ----------
    is_own : whether a module is a user's, so that its functions may do anything
    """
    tree = parsed(getattr(module, "__file__", None) or "")
    yield from _acting(tree.body if isinstance(tree, ast.Module) else [], module, is_own)


def _acting(
    body: Iterable[ast.stmt], module: ModuleType, is_own: IsOwn
) -> Iterator[ast.stmt | ast.expr]:
    seen: set[int] = set()  # a guard is that of several statements
    for run in runs_in(body):
        for guard in run.guards:
            if id(guard) not in seen and _acts(guard, module, is_own):
                yield guard
            seen.add(id(guard))
        node = run.node
        if isinstance(node, Definition):
            if any(_calls_it(part, module, is_own) for part in node.decorator_list):
                yield node
                continue
            for head in (*node.decorator_list, *_heads(node)):
                yield from _acting_parts(head, module, is_own)
            yield from _acting(node.body if isinstance(node, ast.ClassDef) else [], module, is_own)
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            yield from _acting_parts(node, module, is_own)


def imported_by(module: ModuleType) -> Iterator[ModuleType]:
    """List the modules that a module's own file imports as it is loaded."""
    tree = parsed(getattr(module, "__file__", None) or "")
    for run in runs_in(tree.body if isinstance(tree, ast.Module) else []):
        names: list[str] = []
        if isinstance(run.node, ast.Import):
            names = [alias.name for alias in run.node.names]
        elif isinstance(run.node, ast.ImportFrom):
            with suppress(ImportError):  # one that the file has tried in vain
                base = imported_from(module, run.node)
                names = [base, *(f"{base}.{alias.name}" for alias in run.node.names)]
        yield from (sys.modules[name] for name in names if name in sys.modules)


def imported_from(module: ModuleType, node: ast.ImportFrom) -> str:
    """Name the module that a statement of another one imports from."""
    package = module.__package__ or module.__name__.rpartition(".")[0]
    return importlib.util.resolve_name(f"{'.' * node.level}{node.module or ''}", package)


def _heads(node: Definition) -> Iterator[ast.expr]:
    """List what is evaluated as a class or function is made, apart from decorators and the body."""
    if isinstance(node, ast.ClassDef):
        yield from node.bases
        yield from (word.value for word in node.keywords)
        return
    given = node.args
    arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
    found = (*given.defaults, *given.kw_defaults, *(part.annotation for part in arguments))
    yield from (part for part in (*found, node.returns) if part is not None)


def _calls_it(decorator: ast.expr, module: ModuleType, is_own: IsOwn) -> bool:
    """Return whether a decorator of a user gets a definition, which it may call at once."""
    made = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(made, ast.Lambda) or _is_users(value_named(made, module), is_own)


def _acts(node: ast.AST, module: ModuleType, is_own: IsOwn) -> bool:
    return any(_acting_parts(node, module, is_own))


def _acting_parts(
    node: ast.AST, module: ModuleType, is_own: IsOwn
) -> Iterator[ast.stmt | ast.expr]:
    """List the outermost parts of a statement, or of an expression, that act."""
    match node:
        case ast.Call() if _call_acts(node, module, is_own):
            yield node
            return
        case ast.Assign(targets) | ast.Delete(targets) if any(
            isinstance(part, _WRITTEN) for target in targets for part in ast.walk(target)
        ):
            yield node
            return
        case ast.AugAssign() | ast.Raise() | ast.Assert() | ast.NamedExpr():
            yield node
            return
        case ast.AnnAssign(target) | ast.For(target) if isinstance(target, _WRITTEN):
            yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.Lambda | Definition):
            yield from _acting_parts(part, module, is_own)


def _call_acts(node: ast.Call, module: ModuleType, is_own: IsOwn) -> bool:
    called = value_named(node.func, module)
    if _is_of_tools(node.func, module):
        return False
    if called is None:
        return not (
            isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Constant)
        )
    if _is_users(called, is_own):
        return not isinstance(called, type) or type(called) not in (type, ABCMeta, EnumType)
    if isinstance(node.func, ast.Attribute):
        owner = value_named(node.func.value, module)
        if type(owner) in _PLAIN and node.func.attr in _ASKING:
            return False
        if not isinstance(owner, ModuleType | type):
            return True  # a method may change its object
    given = (*node.args, *(word.value for word in node.keywords))
    return any(
        isinstance(part, ast.Lambda) or _is_function(value_named(part, module), is_own)
        for argument in given
        for part in ast.walk(argument)
        if isinstance(part, ast.Lambda | ast.Name | ast.Attribute)
    )


def _is_of_tools(called: ast.expr, module: ModuleType) -> bool:
    """Return whether something called is of a library that keeps what it is given."""
    while isinstance(called, ast.Attribute):
        called = called.value
    root = value_named(called, module)
    name = root.__name__ if isinstance(root, ModuleType) else getattr(root, "__module__", None)
    return str(name).partition(".")[0] in _TOOLS


def making_in(module: ModuleType, is_own: IsOwn) -> Iterator[FunctionType]:
    """List the methods of users' classes that run as objects are made while a file is loaded."""
    tree = parsed(getattr(module, "__file__", None) or "")
    for run in runs_in(tree.body if isinstance(tree, ast.Module) else []):
        for call in calls_run(run.node):
            cls = value_named(call.func, module)
            if isinstance(cls, type) and _is_users(cls, is_own):
                made = (inspect.getattr_static(cls, name, None) for name in _MAKING)
                functions = (getattr(part, "__func__", part) for part in made)
                yield from (
                    part
                    for part in functions
                    if isinstance(part, FunctionType) and origin_of(part.__code__) is Origin.USER
                )


def _is_function(value: Any, is_own: IsOwn) -> bool:
    return isinstance(value, FunctionType) and _is_users(value, is_own)


def _is_users(value: Any, is_own: IsOwn) -> bool:
    """Return whether a function or class is a user's, and none that asks models, as scripts do."""
    if isinstance(value, FunctionType) and asks_models(value.__code__):
        return False
    name = getattr(value, "__module__", None)
    home = sys.modules.get(name) if isinstance(name, str) else None
    return home is not None and callable(value) and is_own(home)


def value_named(node: ast.expr, module: ModuleType) -> Any:
    """Return what a name in a file stands for, or an attribute of that; None if it is no such."""
    if isinstance(node, ast.Name):
        return vars(module).get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        owner = value_named(node.value, module)
        if isinstance(owner, ModuleType):
            return vars(owner).get(node.attr)
        found = inspect.getattr_static(owner, node.attr, None) if owner is not None else None
        return getattr(found, "__func__", found)
    return None
