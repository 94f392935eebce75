"""The order of a set: where a function makes a set and lets its order decide something.

The order of a set of texts is another one in every process, and that of objects too. What asks
for members, sizes, the least or all in order (`x in s`, `len`, `min`, `sorted`) does not see it.
Sets in states are rebuilt in another order and asked again; this finds those that a function makes.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from streamproof.lang.named import Named, parents_in, trees_of
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.reached import Reached

_MAKERS = ("set", "frozenset")
_SET_METHODS = ("union", "intersection", "difference", "symmetric_difference", "copy")
_BLIND = ("len", "sum", "any", "all", "set", "frozenset", "bool", "isinstance", "type")
_BLIND_WITHOUT_KEY = ("sorted", "min", "max")
_MAKES_LIST = ("list", "tuple", "iter", "next", "dict", "reversed", "deque")
_GOES_THROUGH = ("enumerate", "zip", "map", "filter", "str", "repr", "ascii", "format")
_ATTRIBUTES_THAT_SHOW = ("pop", "__iter__", "__repr__", "__str__", "__format__", "__reduce__")
_PUTS = ("append", "add", "insert", "setdefault", "appendleft")
_OF_THE_LIBRARY = (
    "reduce", "Counter", "OrderedDict", "deque", "accumulate", "batched", "chain", "combinations",
    "cycle", "dropwhile", "groupby", "islice", "pairwise", "permutations", "product", "starmap",
    "takewhile", "zip_longest", "from_iterable",
)  # fmt: skip
_METHODS_THAT_SHOW = ("join", "extend", "fromkeys", *_OF_THE_LIBRARY)
_PARTS_OF_REASONS = (ast.IfExp, ast.BoolOp, ast.BinOp, ast.FormattedValue, ast.JoinedStr, ast.Dict)
_COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.DictComp)
Handed: TypeAlias = tuple[tuple[CodeType, str], ...]
"""Functions that were given a set, and the parameters that they call it by."""
_INSTEAD = "Go through sorted(...) of it, or a tuple, or a Map over a Domain"


def find_use_of_order(part: Reached, cls: type[Any]) -> Iterator[tuple[int, str, str]]:
    """List where a function lets the order of a set decide: line, what it does, what to write."""
    if part.code is part.function.__code__:
        for tree in trees_of(part.code):
            for node in _Finder(part.names, cls).uses(tree):
                yield node.lineno, f"uses the order of a set ({ast.unparse(node)})", _INSTEAD


class _Finder:
    def __init__(self, names: Mapping[str, Any], cls: type[Any], handed: Handed = ()) -> None:
        self.names, self.cls, self.handed = names, cls, handed
        self.named = Named(names, cls)
        self.own = {name for _, name in handed}  # variables that hold a set
        self.boxes: set[str] = set()  # and those that hold what holds one
        self.aliases: dict[str, str] = {}  # and those that are a function of Python's

    def uses(self, tree: ast.AST) -> Iterator[ast.expr]:
        """List the expressions that depend on the order of a set."""
        self.find_variables(tree)
        parents = parents_in(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.expr) and self.is_set(node):
                yield from [node] * self._shows_order(node, parents)

    def find_variables(self, tree: ast.AST) -> None:
        """Note the variables that hold sets, whatever else they hold."""
        for _ in range(3):  # a set may be handed on
            for node in ast.walk(tree):
                match node:
                    case ast.Assign(targets=targets, value=value):
                        for target in targets:
                            self._note(target, value)
                    case ast.NamedExpr(target, value) | ast.AugAssign(target, _, value):
                        self._note(target, value)
                    case ast.AnnAssign(ast.Name(name) as target, note, value=value):
                        self.own |= {name} if _names_a_set(note) else set()
                        self._note(target, value)
                    case ast.For(target, iterated) | ast.comprehension(target, iterated):
                        if isinstance(target, ast.Name) and self._holds_sets(iterated):
                            self.own.add(target.id)
                    case ast.Call(ast.Attribute(ast.Name(name), put), arguments) if put in _PUTS:
                        self.boxes |= {name} if any(map(self.is_set, arguments)) else set()

    def _note(self, target: ast.expr, value: ast.expr | None) -> None:
        match target:
            case ast.Name(name) if value is not None:
                if self.is_set(value):
                    self.own.add(name)
                elif self._holds_sets(value):
                    self.boxes.add(name)
                elif called := self._called(value):
                    self.aliases.setdefault(name, called)
            case ast.Subscript(ast.Name(name)) if value is not None and self.is_set(value):
                self.boxes.add(name)

    def is_set(self, node: ast.expr) -> bool:
        """Return whether an expression may give a set whose order is not the same everywhere."""
        match node:
            case ast.Set(elements):
                return not all(map(_is_number, elements))
            case ast.SetComp():
                return True
            case ast.Call(called) if self._makes_set(called):
                return True
            case ast.BinOp(left, ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor(), right):
                return any(self.is_set(side) or _is_view(side) for side in (left, right))
            case ast.IfExp() | ast.BoolOp() | ast.NamedExpr():
                return any(map(self.is_set, _outcomes(node)))
            case ast.Name(name, ast.Load()) if name in self.own:
                return True
            case ast.Subscript(owner) | ast.Call(ast.Attribute(owner, "get" | "pop")):
                return self._is_in_box(owner) or self.named.any(node, _holds_order)
            case _:
                return self.named.any(node, _holds_order)

    def _makes_set(self, called: ast.expr) -> bool:
        """Return whether a function, Python's or a user's, gives a set."""
        if self._called(called) in _MAKERS or self._gives_set(self._function(called)):
            return True
        if not isinstance(called, ast.Attribute) or called.attr not in _SET_METHODS:
            return False
        return self.is_set(called.value) or self._called(called.value) in _MAKERS

    def _is_in_box(self, node: ast.expr) -> bool:
        """Return whether an entry of what a function has made may be a set."""
        match node:
            case ast.Name(name):
                return name in self.boxes
            case ast.List(parts) | ast.Tuple(parts) | ast.Dict(_, parts):
                return any(map(self.is_set, parts))
            case ast.Subscript(owner) | ast.Call(ast.Attribute(owner, "values" | "get")):
                return self._is_in_box(owner)
            case _:
                return False

    def _holds_sets(self, node: ast.expr) -> bool:
        entry = ast.Subscript(node, node, ast.Load())
        return self._is_in_box(node) or self.named.any(entry, _holds_order)

    def _called(self, node: ast.expr) -> str:
        """Name the function of Python's that an expression stands for; empty if it is none."""
        if isinstance(node, ast.Name) and node.id not in self.names:
            return self.aliases.get(node.id, node.id if hasattr(builtins, node.id) else "")
        for value in self.named.values(node):
            name = getattr(value, "__name__", None)
            if isinstance(name, str) and getattr(builtins, name, None) is value:
                return name
        return ""

    def _gives_set(self, called: Any) -> bool:
        """Return whether a function of a user gives a set that it makes."""
        if not isinstance(called, FunctionType) or origin_of(called.__code__) is not Origin.USER:
            return False
        code = called.__code__
        if (code, "return") in self.handed:
            return False
        finder = _Finder(called.__globals__, self.cls, (*self.handed, (code, "return")))
        for tree in trees_of(code):
            finder.find_variables(tree)
            body = tree.body if isinstance(tree, ast.Lambda) else None
            given = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
            if any(value is not None and finder.is_set(value) for value in (body, *given)):
                return True
        return False

    def _shows_order(self, node: ast.expr, parents: dict[ast.AST, ast.AST]) -> bool:
        match parent := parents.get(node):
            case ast.For(iter=iterated):
                return iterated is node
            case ast.comprehension():
                return iterated_by(parents[parent], parents)
            case ast.Call(called, arguments) if node in arguments:
                return self._is_shown_by(called, arguments.index(node), parent)
            case ast.keyword(name) if isinstance(call := parents[parent], ast.Call):
                return name is not None and self._is_used_in(self._function(call.func), name)
            case ast.Attribute(_, name):
                return name in _ATTRIBUTES_THAT_SHOW
            case ast.Starred():
                return not isinstance(parents.get(parent), ast.Set)
            case ast.Assign(targets=[ast.Tuple() | ast.List()], value=value):
                return value is node
            case ast.FormattedValue():
                return is_read(parents[parent], parents)
            case ast.YieldFrom():
                return True
            case _:
                return False

    def _is_shown_by(self, called: ast.expr, place: int, call: ast.Call) -> bool:
        """Return whether a function lets the order of its argument at a place be seen."""
        if isinstance(called, ast.Attribute) and called.attr in _METHODS_THAT_SHOW:
            return True
        name = self._called(called) or (called.id if isinstance(called, ast.Name) else "")
        by_key = name in _BLIND_WITHOUT_KEY and _has_key(call)
        if by_key or name in (*_MAKES_LIST, *_GOES_THROUGH, *_OF_THE_LIBRARY):
            return True
        function = self._function(called)
        if not isinstance(function, FunctionType):
            return False
        code = function.__code__
        place += ast.unparse(called).startswith("self.")
        return place < code.co_argcount and self._is_used_in(function, code.co_varnames[place])

    def _function(self, called: ast.expr) -> Any:
        return next(iter(self.named.values(called)), None)

    def _is_used_in(self, called: Any, name: str) -> bool:
        """Return whether a function of a user lets the order of the set decide that it is given."""
        if not isinstance(called, FunctionType) or origin_of(called.__code__) is not Origin.USER:
            return False
        code = called.__code__
        if (code, name) in self.handed:
            return False
        finder = _Finder(called.__globals__, self.cls, (*self.handed, (code, name)))
        return any(True for tree in trees_of(code) for _ in finder.uses(tree))


def reads_text(tree: ast.AST) -> bool:
    """Return whether a function looks at a text that it has formatted."""
    parents = parents_in(tree)
    return any(is_read(text, parents) for text in parents if isinstance(text, ast.JoinedStr))


def is_read(text: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a function reads a text that it has made, and not only returns it."""
    while isinstance(parents.get(text), _PARTS_OF_REASONS):
        text = parents[text]
    return not isinstance(parents.get(text), ast.Return | ast.Raise | ast.Assert | ast.Lambda)


def iterated_by(made: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Return whether a comprehension over a set passes on the order of the set."""
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
    """Return whether a dict gives its keys or items, of which an operator makes a set."""
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "items")
    )


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _holds_order(value: Any) -> bool:
    """Return whether a value is a set whose order is not the same everywhere."""
    is_set = isinstance(value, set | frozenset) and len(value) > 1
    return is_set and not all(type(part) is int for part in value)


def _outcomes(node: ast.IfExp | ast.BoolOp | ast.NamedExpr) -> list[ast.expr]:
    match node:
        case ast.IfExp(_, then, otherwise):
            return [then, otherwise]
        case ast.BoolOp(_, ways):
            return ways
        case _:
            return [node.value]


def _names_a_set(note: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id in _MAKERS for part in ast.walk(note))
