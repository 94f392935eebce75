"""Reflection: code that finds a function or an attribute by its name as a text."""

from __future__ import annotations

import ast
import importlib
import inspect
import operator
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any

from streamproof.lang.named import trees_of

REFLECTIVE = frozenset((
    "__dict__", "__getattribute__", "__globals__", "__import__", "__subclasses__", "format",
    "format_map", "attrgetter", "eval", "exec", "getattr",
    "getattr_static", "getmembers", "globals", "import_module", "locals", "methodcaller", "modules",
    "vars",
))  # fmt: skip
"""What finds by a text, as it is named."""
_IMPORTS = ("__import__", "import_module", "locate", "resolve_name", "run_module", "run_path")
"""What imports, or runs, a module whose name it is given."""
_NAMES_AT = {
    "getattr": 1, "getattr_static": 1, "attrgetter": 0, "methodcaller": 0,
    **dict.fromkeys(_IMPORTS, 0),
}  # fmt: skip
"""Where a call takes the text: one that is a constant is known."""
_FUNCTIONS = (
    getattr, vars, globals, locals, eval, exec, __import__, operator.attrgetter,
    operator.methodcaller, inspect.getattr_static, inspect.getmembers, importlib.import_module,
)  # fmt: skip
_OF_MODULES = frozenset((
    "__globals__", "__import__", "__subclasses__", "globals", "import_module", "modules",
))  # fmt: skip
_OF_A_SCOPE = frozenset(("locals", "vars"))


def finds_by_text(code: CodeType, values: Iterable[Any]) -> bool:
    """Return whether a function finds something by a text that its source does not show.

    Parameters
    ----------
    code : the function's
    values : what its names stand for, as far as it is known
    """
    if any(type(value) in _FUNCTIONS or _is_one(value, code.co_names) for value in values):
        return True
    if REFLECTIVE.isdisjoint(code.co_names):
        return False
    trees = trees_of(code)
    return not trees or any(map(_hides_a_name, trees))


def finds_in_its_module(code: CodeType) -> bool:
    """Return whether a function that finds by a text may find the globals of its own module."""
    of_a_scope = _OF_A_SCOPE if code.co_name == "<module>" else frozenset[str]()
    return not (_OF_MODULES | of_a_scope).isdisjoint(code.co_names)


def imported_by_text(node: ast.AST, names: Mapping[str, Any]) -> Iterator[str]:
    """List the modules that a statement imports by a call; an unknown name is an empty text.

    Parameters
    ----------
    node : a statement, or a function
    names : what the names in the statement stand for
    """
    for call in ast.walk(node):
        if not isinstance(call, ast.Call):
            continue
        called = names.get(_name(call.func)) if isinstance(call.func, ast.Name) else None
        if _name(call.func) in _IMPORTS or called is importlib.import_module:
            match call.args:
                case [ast.Constant(str(name)), *_]:
                    yield name.partition(":")[0]
                case _:
                    yield ""


def modules_named(consts: Iterable[Any]) -> Iterator[str]:
    """List the loaded modules whose names are among a function's constants."""
    texts = (const.partition(":")[0] for const in consts if isinstance(const, str))
    yield from (text for text in texts if text in sys.modules)


def texts_in(consts: Iterable[Any]) -> Iterator[str]:
    """List the words in a function's constants: a pattern or `getattr` may take one for a name."""
    for const in consts:
        if isinstance(const, str):
            yield from const.split(".")
        elif isinstance(const, tuple):
            yield from texts_in(const)


def _is_one(value: Any, names: tuple[str, ...]) -> bool:
    """Return whether a value is a function that finds by a text, used under another name."""
    is_reflective = any(value is function for function in _FUNCTIONS)
    return is_reflective and value.__name__ not in names


def _hides_a_name(tree: ast.AST) -> bool:
    shown = {id(part) for node in ast.walk(tree) for part in _shown_by(node)}
    return any(_name(node) in REFLECTIVE and id(node) not in shown for node in ast.walk(tree))


def _shown_by(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what finds by a constant text: `getattr(x, "n")`, `vars(x)["n"]`, `x.__dict__["n"]`.

    A template such as `"{} of {}"` asks what it is given for no attribute; `"{.n}"` does.
    """
    match node:
        case ast.Call(ast.Attribute(ast.Constant(str(template))) as func) if "{" in template:
            if not any(sign in template for sign in ".["):
                yield func
        case ast.Call(func, args) if (at := _NAMES_AT.get(_name(func))) is not None:
            if at < len(args) and isinstance(args[at], ast.Constant):
                yield func
        case ast.Subscript(ast.Call(func), ast.Constant()):
            yield func
        case ast.Subscript(ast.Attribute() as found, ast.Constant()):
            yield found


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""
