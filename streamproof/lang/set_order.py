"""The order of a set: where a function makes a set and lets its order decide something.

The order of a set of texts is another one in every process, and that of objects too. What asks
for members, sizes, the least or all in order (`x in s`, `len`, `min`, `sorted`) does not see it.
Sets in states are rebuilt in another order and asked again; this finds those that a function makes.
"""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.reached import Reached

_MAKERS = ("set", "frozenset")
_SET_METHODS = ("union", "intersection", "difference", "symmetric_difference", "copy")
_BLIND = ("len", "sum", "any", "all", "set", "frozenset", "bool", "isinstance", "type")
_BLIND_WITHOUT_KEY = ("sorted", "min", "max")
_MAKES_LIST = ("list", "tuple", "iter", "next", "dict", "reversed", "deque")
_GOES_THROUGH = ("enumerate", "zip", "map", "filter", "str", "repr")
_OF_THE_LIBRARY = (
    "reduce", "Counter", "OrderedDict", "deque", "accumulate", "batched", "chain", "combinations",
    "cycle", "dropwhile", "groupby", "islice", "pairwise", "permutations", "product", "starmap",
    "takewhile", "zip_longest", "from_iterable",
)  # fmt: skip
_METHODS_THAT_SHOW = ("join", "extend", "fromkeys", *_OF_THE_LIBRARY)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.DictComp)
Handed: TypeAlias = tuple[tuple[CodeType, str], ...]
"""Functions that were given a set, and the parameters that they call it by."""
_INSTEAD = "Go through sorted(...) of it, or a tuple, or a Map over a Domain"


def find_use_of_order(part: Reached, cls: type[Any]) -> Iterator[tuple[int, str, str]]:
    """List where a function lets the order of a set decide: line, what it does, what to write."""
    if part.code is part.function.__code__:
        for tree in _trees_of(part.code):
            for node in _Finder(part.names, cls).uses(tree):
                yield node.lineno, f"uses the order of a set ({ast.unparse(node)})", _INSTEAD


def _trees_of(code: CodeType) -> list[ast.AST]:
    return _functions_in(code.co_filename).get(code.co_firstlineno, [])


@functools.cache
def _functions_in(path: str) -> dict[int, list[ast.AST]]:
    """Read the functions of a file, by the lines on which they begin; none if there is no file."""
    try:
        module = ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return {}
    found: dict[int, list[ast.AST]] = {}
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            found.setdefault(first, []).append(node)
    return found


class _Finder:
    def __init__(self, names: Mapping[str, Any], cls: type[Any], handed: Handed = ()) -> None:
        self.names, self.cls, self.handed = names, cls, handed
        self.own = {name for _, name in handed}  # variables that hold a set

    def uses(self, tree: ast.AST) -> Iterator[ast.expr]:
        """List the expressions that depend on the order of a set."""
        self._find_variables(tree)
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.expr) and self._is_set(node):
                yield from [node] * self._shows_order(node, parents)

    def _find_variables(self, tree: ast.AST) -> None:
        for _ in range(3):  # a set may be handed on
            for node in ast.walk(tree):
                match node:
                    case ast.Assign(targets=[ast.Name(name)], value=value) if self._is_set(value):
                        self.own.add(name)
                    case ast.NamedExpr(ast.Name(name), value) if self._is_set(value):
                        self.own.add(name)
                    case ast.AnnAssign(ast.Name(name), note, value=value):
                        if _names_a_set(note) or (value is not None and self._is_set(value)):
                            self.own.add(name)

    def _is_set(self, node: ast.expr) -> bool:
        match node:
            case ast.Set(elements):
                return not all(_is_number(element) for element in elements)
            case ast.SetComp():
                return True
            case ast.Call(ast.Name(name), arguments) if name in _MAKERS:
                return bool(arguments) and name not in self.names
            case ast.Call(ast.Attribute(owner, name)) if name in _SET_METHODS:
                return self._is_set(owner)
            case ast.BinOp(left, ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor(), right):
                return any(self._is_set(side) or _is_view(side) for side in (left, right))
            case ast.IfExp(_, then, otherwise):
                return self._is_set(then) or self._is_set(otherwise)
            case ast.Name(name, ast.Load()):
                return name in self.own or _holds_order(self.names.get(name))
            case ast.Attribute(ast.Name("self" | "cls"), name):
                return _holds_order(getattr(self.cls, name, None))
            case _:
                return False

    def _shows_order(self, node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
        match parent := parents.get(node):
            case ast.For(iter=iterated):
                return iterated is node
            case ast.comprehension():
                return iterated_by(parents[parent], parents)
            case ast.Call(ast.Name(name), arguments) if node in arguments:
                by_key = name in _BLIND_WITHOUT_KEY and _has_key(parent)
                is_shown = by_key or name in (*_MAKES_LIST, *_GOES_THROUGH, *_OF_THE_LIBRARY)
                return is_shown or self._is_used_in(self.names.get(name), arguments.index(node))
            case ast.Call(ast.Attribute(_, name), arguments) if name in _METHODS_THAT_SHOW:
                return node in arguments
            case ast.Call(ast.Attribute(ast.Name("self"), name), arguments) if node in arguments:
                called = getattr(self.cls, name, None)
                return self._is_used_in(called, arguments.index(node) + 1)
            case ast.Attribute(_, "pop"):
                return True
            case ast.Starred():
                return not isinstance(parents.get(parent), ast.Set)
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
                return value is node
            case _:
                return False

    def _is_used_in(self, called: Any, place: int) -> bool:
        """Tell whether a function of a user lets the order of the set decide that it is given."""
        if not isinstance(called, FunctionType) or origin_of(called.__code__) is not Origin.USER:
            return False
        code = called.__code__
        if place >= code.co_argcount or (code, code.co_varnames[place]) in self.handed:
            return False
        handed = (*self.handed, (code, code.co_varnames[place]))
        finder = _Finder(called.__globals__, self.cls, handed)
        return any(True for tree in _trees_of(code) for _ in finder.uses(tree))


def iterated_by(made: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Tell whether what goes through a set hands its order on."""
    if not isinstance(made, _COMPREHENSIONS):
        return False  # it makes a set
    match parent := parents.get(made):
        case ast.Call(ast.Name(name), arguments) if made in arguments and name in _BLIND:
            return False
        case ast.Call(ast.Name(name), arguments) if name in _BLIND_WITHOUT_KEY:
            return _has_key(parent)
        case _:
            return True


def _has_key(call: ast.Call) -> bool:
    return any(keyword.arg == "key" for keyword in call.keywords)


def _is_view(node: ast.expr) -> bool:
    """Tell whether a dict gives its keys or items, of which an operator makes a set."""
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "items")
    )


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _holds_order(value: Any) -> bool:
    """Tell whether a value is a set whose order is not the same everywhere."""
    return isinstance(value, set | frozenset) and not all(type(part) is int for part in value)


def _names_a_set(note: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in _MAKERS for part in ast.walk(note))
