"""Named values: what an expression in a function's source stands for, if it names what is there.

Globals, variables of functions around, attributes of classes, modules and objects, and entries of
tables are there before a method is asked. They are read without running any code of a user.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import CodeType, MappingProxyType, MemberDescriptorType, ModuleType
from typing import Any

from streamproof.lang.text import parsed

_OF_A_TABLE = ("get", "values", "pop", "setdefault")


_noted: dict[int, tuple[CodeType, list[ast.AST]]] = {}
"""Sources of functions that stand in no file, by their code, which is kept for it."""


def note_trees(code: CodeType, trees: list[ast.AST]) -> None:
    """Note the source of a function that was made of something else."""
    _noted[id(code)] = code, trees


def trees_of(code: CodeType) -> list[ast.AST]:
    """Return the source of a function; none if its file is not there."""
    if id(code) in _noted:
        return _noted[id(code)][1]
    return _functions_in(code.co_filename).get(code.co_firstlineno, [])


@functools.cache
def _functions_in(path: str) -> dict[int, list[ast.AST]]:
    """Read the functions of a file, by the lines on which they begin; none if there is no file."""
    module = parsed(path)
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            found.setdefault(first, []).append(node)
    return found


def parents_in(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    """Return the parent of each node below another one."""
    return {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}


class Named:
    """Reads what expressions of a function name.

    Parameters
    ----------
    names : what its global and free names stand for
    cls : the model's class, whose attributes are asked for by `self`
    """

    def __init__(self, names: Mapping[str, Any], cls: type[Any]) -> None:
        self.names, self.cls = names, cls

    def values(self, node: ast.AST | None) -> Iterator[Any]:
        """List all that an expression may stand for; nothing if that is not known."""
        match node:
            case ast.Name("self" | "cls"):
                yield self.cls
            case ast.Name(name) if name in self.names:
                yield self.names[name]
            case ast.Attribute(owner, name):
                for value in self.values(owner):
                    yield from _attribute(value, name)
            case ast.Subscript(owner, key):
                for value in self.values(owner):
                    yield from _entries(value, key)
            case ast.Call(ast.Attribute(owner, name)) if name in _OF_A_TABLE:
                for value in self.values(owner):
                    yield from _entries(value, node.args[0] if node.args else node)
            case _:
                return

    def any(self, node: ast.AST | None, is_so: Callable[[Any], bool]) -> bool:
        """Return whether an expression may stand for a value that is so."""
        return any(map(is_so, self.values(node)))


def _attribute(owner: Any, name: str) -> Iterator[Any]:
    """Yield an attribute as it is kept, without asking a property."""
    if isinstance(owner, ModuleType):
        if name in vars(owner):
            yield vars(owner)[name]
        return
    found = inspect.getattr_static(owner, name, None)
    if isinstance(found, MemberDescriptorType) and not isinstance(owner, type):
        try:
            found = found.__get__(owner, type(owner))
        except AttributeError:
            return
    yield found


def _entries(table: Any, key: ast.AST) -> Iterator[Any]:
    """List the entries of a table: the one that a key names, or all."""
    if isinstance(table, dict | MappingProxyType):
        if isinstance(key, ast.Constant):
            if key.value in table:
                yield table[key.value]
        else:
            yield from list(table.values())
    elif isinstance(table, list | tuple):
        if isinstance(key, ast.Constant) and isinstance(key.value, int):
            yield from table[key.value : key.value + 1 or None]
        else:
            yield from table
