"""Addresses: where a function makes the text of an object whose class has no `__repr__`.

Python writes such an object with its address, which is another one in every process.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from streamproof.lang.named import Named, parents_in, trees_of
from streamproof.lang.reached import Reached, kept_in
from streamproof.lang.set_order import is_read

_MAKES_TEXT = ("repr", "str", "format", "ascii")
_INSTEAD = "Let the class have a __repr__ that says what it is, or compare objects by =="


def find_text_of_address(part: Reached, cls: type[Any]) -> Iterator[tuple[int, str, str]]:
    """List where a function sees an object's address: line, what it does, what to write."""
    if part.code is part.function.__code__:
        named = Named(part.names, cls)
        for tree in trees_of(part.code):
            for node in _texts_in(tree):
                if named.any(node, _shows_address):
                    told = f"makes a text of {ast.unparse(node)}, which has an address in it"
                    yield node.lineno, told, _INSTEAD


def _texts_in(tree: ast.AST) -> Iterator[ast.expr]:
    """List the expressions whose text is made and then read."""
    parents = parents_in(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name(name), [shown, *_]) if name in _MAKES_TEXT:
                yield shown
            case ast.FormattedValue(shown) if is_read(parents[node], parents):
                yield shown
            case ast.Attribute(shown, "__repr__" | "__str__" | "__format__"):
                yield shown
            case _:
                pass


def _shows_address(value: Any) -> bool:
    return any(map(_has_address, kept_in(value)))


def _has_address(value: Any) -> bool:
    if isinstance(value, FunctionType | MethodType):
        return True
    if isinstance(value, BuiltinFunctionType):
        return not isinstance(value.__self__, ModuleType | None)
    kind: Any = type(value)
    return kind.__repr__ is object.__repr__ and kind.__str__ is object.__str__
