"""Side effects: what a model's methods may change that they have not made themselves.

Read off the source, so it errs on one side: whoever may have a side effect is watched while it is
asked (`checker/disturbed.py`), and whoever has none is as fast as before.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from enum import Enum
from types import CodeType
from typing import Any

from streamproof.lang.named import trees_of
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.reached import reached_from, roots_of

_METHODS = frozenset(
    (
        "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "popitem",
        "remove", "discard", "clear", "sort", "reverse", "rotate", "add", "update", "setdefault",
        "difference_update", "intersection_update", "symmetric_difference_update", "subtract",
        "move_to_end", "register", "cache_clear",
    )
)  # fmt: skip
"""Methods that change what they are asked of; so do the special ones below."""
_SPECIAL = ("__set", "__del", "__i", "__next", "__init", "__dict")
"""How the names of special methods begin that change something, or give what can be changed."""
_SPECIAL_READS = ("__int__", "__index__", "__iter__", "__invert__", "__instancecheck__")
_OF_MODULES = frozenset(
    (
        "setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod",
        "imul", "ior", "ipow", "irshift", "isub", "itruediv", "ixor", "heappush", "heappop",
        "heapify", "heapreplace", "heappushpop", "insort", "insort_left", "insort_right", "shuffle",
    )
)  # fmt: skip
"""Functions of Python's modules that change an argument."""
_FUNCTIONS = _OF_MODULES | {
    *("setattr", "delattr", "next", "vars", "globals", "locals", "exec", "eval", "getattr"),
}
"""Functions that change an argument, or reach an attribute by a text."""
_FRESH = frozenset(
    (
        "list", "dict", "set", "frozenset", "tuple", "sorted", "reversed", "range", "enumerate",
        "zip", "map", "filter", "deque", "defaultdict", "Counter", "OrderedDict", "bytearray",
        "len", "sum", "min", "max", "abs", "int", "str", "bool", "float", "copy", "deepcopy",
        "fromkeys", "iter", "repr", "divmod", "round", "ord", "chr", "any", "all",
    )
)  # fmt: skip
"""What these give is new, or cannot be changed."""
_NEW = (
    ast.Constant, ast.List, ast.Set, ast.Dict, ast.Tuple, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.JoinedStr, ast.Compare, ast.BinOp, ast.UnaryOp, ast.Lambda,
)  # fmt: skip


class Effect(Enum):
    """What a function may change."""

    ENTRIES = "entries"
    """What lists, tables, sets and other objects of C code hold."""
    ATTRIBUTES = "attributes"
    """Attributes of objects, classes and functions, closures, globals."""


def side_effects_of(cls: type[Any]) -> frozenset[Effect]:
    """Return what the methods of a model may change that they have not made.

    Changes of their own local lists, dicts and sets are none. Where the source of a function is not
    there, it may change anything.
    """
    found: frozenset[Effect] = _effects_of(cls)  # type: ignore[arg-type] # a class does hash
    return found


@functools.cache
def _effects_of(cls: Any) -> frozenset[Effect]:
    codes = [part.function.__code__ for part in reached_from(cls, roots_of(cls))]
    return frozenset(effect for code in dict.fromkeys(codes) for effect in _effects_in(code))


def _effects_in(code: CodeType) -> Iterator[Effect]:
    if origin_of(code) is Origin.USER:
        trees = trees_of(code)
        yield from () if trees else Effect
        for tree in trees:
            yield from _Function(tree).effects()


class _Function:
    """What a function, with those inside of it, may change.

    Names are told apart by their text alone: one that is bound to something shared anywhere in the
    function is shared everywhere.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.nodes = list(ast.walk(tree))
        self.own = self._own()

    def effects(self) -> Iterator[Effect]:
        """List what it may change that it has not made."""
        for node in self.nodes:
            if (effect := self._effect(node)) is not None:
                yield effect

    def _own(self) -> frozenset[str]:
        """Name the variables that only ever stand for something new, or for what cannot change."""
        bound: dict[str, bool] = {}
        for name, value in self._bindings():
            bound[name] = bound.get(name, True) and (value is not None and _is_new(value))
        for node in self.nodes:
            if isinstance(node, ast.Global):
                bound |= dict.fromkeys(node.names, False)
            elif isinstance(node, ast.arg):
                bound[node.arg] = False
        return frozenset(name for name, is_own in bound.items() if is_own)

    def _bindings(self) -> Iterator[tuple[str, ast.expr | None]]:
        """List what variables are bound to; None where it is not one expression."""
        for node in self.nodes:
            match node:
                case ast.Assign(targets, value):
                    for target in targets:
                        yield from _bound(target, value)
                case ast.NamedExpr(target, value) | ast.AnnAssign(target, value=value):
                    yield from _bound(target, value)
                case (
                    ast.For(target)
                    | ast.comprehension(target)
                    | ast.withitem(_, ast.expr() as target)
                ):
                    yield from _bound(target, None)
                case ast.MatchAs(_, str(name)) | ast.MatchStar(str(name)) | ast.FunctionDef(name):
                    yield name, None
                case ast.ExceptHandler(_, str(name)) | ast.ClassDef(name):
                    yield name, None
                case ast.Import(names) | ast.ImportFrom(names=names):
                    yield from ((alias.asname or alias.name, None) for alias in names)

    def _effect(self, node: ast.AST) -> Effect | None:
        match node:
            case ast.Global() | ast.ClassDef() | ast.Call(ast.Name("type"), [_, _, *_]):
                return Effect.ATTRIBUTES
            case ast.Nonlocal(names):
                return None if {*names} <= self.own else Effect.ATTRIBUTES
            case ast.Attribute(value, _, ast.Store() | ast.Del()):
                return None if self._is_own(value) else Effect.ATTRIBUTES
            case ast.Subscript(value, _, ast.Store() | ast.Del()):
                return None if self._is_own(value) else Effect.ENTRIES
            case ast.AugAssign(ast.Name(name), _, value):
                is_plain = name in self.own or isinstance(value, ast.Constant)
                return None if is_plain else Effect.ENTRIES
            case ast.Attribute(value, name):
                return None if self._is_own(value) else _effect_of(name)
            case ast.Name(name, ast.Load()) if name in _OF_MODULES | {"next"}:
                return Effect.ENTRIES
            case ast.Name(name, ast.Load()) if name in _FUNCTIONS:
                return Effect.ATTRIBUTES
            case _:
                return None

    def _is_own(self, node: ast.expr) -> bool:
        """Return whether an expression stands for something that the function has made."""
        return _is_new(node) or (isinstance(node, ast.Name) and node.id in self.own)


def _effect_of(name: str) -> Effect | None:
    """Return what a method of this name may change of what it is asked of."""
    if name in ("register", "cache_clear"):
        return Effect.ATTRIBUTES
    if name in _METHODS or name in _OF_MODULES:
        return Effect.ENTRIES
    is_special = name.startswith(_SPECIAL) and name not in _SPECIAL_READS
    return Effect.ATTRIBUTES if is_special else None


def _is_new(node: ast.expr) -> bool:
    """Return whether what an expression gives is new, or cannot be changed."""
    match node:
        case ast.Call(ast.Name(name) | ast.Attribute(_, name)):
            return name in _FRESH
        case ast.IfExp(_, then, otherwise):
            return _is_new(then) and _is_new(otherwise)
        case _:
            return isinstance(node, _NEW)


def _bound(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr | None]]:
    """List the names in a target, each with what it is bound to."""
    if isinstance(target, ast.Name):
        yield target.id, value
        return
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, None
