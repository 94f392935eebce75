"""Texts of classes: where a function makes the text of a class, which has the module's name in it.

A class of a file that is run as a program is `<class '__main__.C'>`, and another one in a check.
The name of a class alone, `type(x).__name__`, is the same.
"""

from __future__ import annotations

import ast
import builtins
import typing
from collections.abc import Iterator, Mapping
from enum import EnumType
from types import CodeType, FunctionType
from typing import Any

from streamproof.lang.model import Role, methods_of
from streamproof.lang.named import Named, parents_in, trees_of
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.reached import Reached, kept_in, package_of
from streamproof.lang.set_order import is_read

_MAKES_TEXT = ("repr", "str", "format", "ascii")
_BY_METHOD = (
    "format", "format_map", "repr", "pformat", "saferepr", "substitute", "safe_substitute", "mod",
)  # fmt: skip
_SAYS = ("__repr__", "__str__", "__format__")
_GIVES_CLASSES = (
    "__class__", "__bases__", "__mro__", "__base__", "__orig_class__", "__orig_bases__",
    "__origin__", "__args__", "__annotations__", "__objclass__", "__thisclass__",
)  # fmt: skip
_MAKES_CLASSES = (
    "type", "namedtuple", "make_dataclass", "new_class", "NamedTuple", "NewType", "TypeVar",
)  # fmt: skip
_KEEPS = ("tuple", "list", "set", "frozenset", "dict", "sorted", "map", "filter", "reversed")
_GOES_THROUGH = ("map", "filter", "sorted", "min", "max", "reduce")
_BOXES = (
    ast.Tuple, ast.List, ast.Set, ast.Dict, ast.IfExp, ast.BoolOp, ast.Starred, ast.NamedExpr,
    ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp, ast.Subscript,
)  # fmt: skip
_WITHOUT_PARTS = (bool, int, float, complex, str, bytes, type)
_ALIAS: Any = type(typing.List)  # noqa: UP006 - what typing names a class by
_INSTEAD = "Use the name of the class alone, type(x).__name__, or compare classes by `is`"


def find_text_of_class(part: Reached, cls: type[Any]) -> Iterator[tuple[int, str, str]]:
    """List where a function makes the text of a class: line, what it does, what to write."""
    if part.code is part.function.__code__:
        is_reason = part.code in _codes_that_give_reasons(cls)
        for tree in trees_of(part.code):
            finder = _Finder(part.names, cls)
            for node, shown in finder.texts(tree, is_reason=is_reason):
                told = f"makes a text of a class ({ast.unparse(shown)}), which names its module"
                yield getattr(node, "lineno", part.code.co_firstlineno), told, _INSTEAD


def _codes_that_give_reasons(cls: Any) -> set[CodeType]:
    """List the code of methods whose texts are only told."""
    names = (method.name for method in methods_of(cls) if method.role not in _WITH_STATES)
    codes = (getattr(getattr(cls, name), "__code__", None) for name in names)
    return {code for code in codes if code is not None}


_WITH_STATES = (Role.INIT, Role.ACTION)


def _is_one_entry(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Return whether of a table one entry is read, by a name that is none of Python's own."""
    match parents.get(node):
        case ast.Subscript(table, ast.Constant(str(name))):
            return table is node and not name.startswith("__")
        case _:
            return False


class _Finder:
    def __init__(
        self,
        names: Mapping[str, Any],
        cls: type[Any],
        own: frozenset[str] = frozenset(),
        handed: tuple[tuple[CodeType, int], ...] = (),
    ) -> None:
        self.names, self.cls, self.handed = names, cls, handed
        self.named = Named(names, cls)
        self.own = set(own)  # variables that hold a class

    def texts(self, tree: ast.AST, *, is_reason: bool) -> Iterator[tuple[ast.AST, ast.AST]]:
        """List where the text of a class is made and read: where, and what holds the class."""
        self._find_variables(tree)
        parents = parents_in(tree)
        for node in ast.walk(tree):
            if _is_only_told(node, parents, is_reason=is_reason) or _is_one_entry(node, parents):
                continue
            for shown in self._shown_by(node):
                if self.holds_class(shown):
                    yield node, shown
            if isinstance(node, ast.Call):
                yield from self._handed_on(node)

    def _find_variables(self, tree: ast.AST) -> None:
        for _ in range(3):  # a class may be handed on
            for node in ast.walk(tree):
                match node:
                    case ast.Assign(targets=targets, value=value) if self.holds_class(value):
                        self.own.update(part.id for target in targets for part in _names_in(target))
                    case ast.NamedExpr(target, value) | ast.AnnAssign(target, value=value):
                        if value is not None and self.holds_class(value):
                            self.own.update(part.id for part in _names_in(target))
                    case ast.For(target, iterated) | ast.comprehension(target, iterated):
                        if self.holds_class(iterated):
                            self.own.update(part.id for part in _names_in(target))
                    case ast.ClassDef(name):
                        self.own.add(name)
                    case ast.Call(ast.Lambda(arguments), given):
                        pairs = zip(arguments.args, given, strict=False)
                        self.own.update(name.arg for name, part in pairs if self.holds_class(part))
                    case _:
                        pass

    def _shown_by(self, node: ast.AST) -> Iterator[ast.expr]:
        """List the expressions of which a node makes a text."""
        match node:
            case ast.FormattedValue(shown) | ast.BinOp(_, ast.Mod(), shown):
                yield shown
            case ast.Call(ast.Attribute(ast.Name("object" | "type"), name), shown) if name in _SAYS:
                yield from shown
            case ast.Call(ast.Attribute(shown, name)) if name in _SAYS:
                yield from () if self.named.any(shown, _is_class) else (shown,)
            case ast.Call(ast.Call(_, [ast.Constant(name)]), given) if name in _SAYS:
                yield from given  # as by operator.methodcaller
            case ast.Call(ast.Name("vars"), [shown]) | ast.Attribute(shown, "__dict__"):
                yield shown  # its module is in it
            case ast.Call(called, given, words) if self._makes_text(called, given, words):
                yield from (*given, *(word.value for word in words))
            case _:
                pass

    def _makes_text(
        self, called: ast.expr, given: list[ast.expr], words: list[ast.keyword]
    ) -> bool:
        """Return whether a call makes texts of its arguments, or by a function among them."""
        goes_through = isinstance(called, ast.Name) and called.id in _GOES_THROUGH
        functions = [called, *(word.value for word in words), *(given if goes_through else ())]
        if any(isinstance(part, ast.Name) and self._is_maker(part.id) for part in functions):
            return True
        return isinstance(called, ast.Attribute) and called.attr in _BY_METHOD

    def _is_maker(self, name: str) -> bool:
        if name not in self.names:
            return name in _MAKES_TEXT
        return any(self.names[name] is function for function in (repr, str, format, ascii))

    def holds_class(self, node: ast.AST) -> bool:
        """Return whether an expression may give a class of a user, or hold one."""
        match node:
            case ast.Name(name) if name in self.own:
                return True
            case ast.Name("self"):
                return False
            case ast.Name() | ast.Attribute() if self.named.any(node, _holds_own_class):
                return True
            case ast.Attribute(_, name):
                return name in _GIVES_CLASSES
            case ast.Call(called, given):
                return self._call_holds_class(called, given)
            case ast.Subscript(ast.Dict(_, values)):
                return any(map(self.holds_class, values))
            case ast.Subscript(owner, key):
                known = list(self.named.values(node))
                if known:
                    return any(map(_holds_own_class, known))
                return self.holds_class(owner) or (self._is_class(owner) and self.holds_class(key))
            case _ if isinstance(node, _BOXES):
                return any(map(self.holds_class, ast.iter_child_nodes(node)))
            case _:
                return False

    def _call_holds_class(self, called: ast.expr, given: list[ast.expr]) -> bool:
        """Return whether a call may give a class of a user, or an object that holds one."""
        match called:
            case ast.Name(name) | ast.Attribute(attr=name) if name in _MAKES_CLASSES:
                return True
            case ast.Attribute(_, "mro" | "__subclasses__"):
                return True
            case ast.Name(name) if name in _KEEPS:
                return any(map(self.holds_class, given))
        if self._is_class(called):
            return any(map(self.holds_class, given))
        return any(map(self._gives_class, self.named.values(called)))

    def _is_class(self, node: ast.expr) -> bool:
        """Return whether an expression names a class, Python's own or another."""
        if isinstance(node, ast.Name) and node.id not in self.names:
            found = getattr(builtins, node.id, None)
            return isinstance(found, type) and found not in _WITHOUT_PARTS
        return self.named.any(node, lambda value: isinstance(value, type | _ALIAS))

    def _gives_class(self, function: Any) -> bool:
        """Return whether a function of a user returns a class."""
        if not isinstance(function, FunctionType) or (function.__code__, -1) in self.handed:
            return False
        code = function.__code__
        if origin_of(code) is not Origin.USER:
            return False
        finder = _Finder(function.__globals__, self.cls, handed=(*self.handed, (code, -1)))
        return any(map(finder.returns_class, trees_of(code)))

    def returns_class(self, tree: ast.AST) -> bool:
        """Return whether a function returns a class."""
        self._find_variables(tree)
        body = [tree.body] if isinstance(tree, ast.Lambda) else []
        given = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
        return any(value is not None and self.holds_class(value) for value in (*body, *given))

    def _handed_on(self, call: ast.Call) -> Iterator[tuple[ast.AST, ast.AST]]:
        """List where a user's function makes a text of the class that it is given."""
        function = next(iter(self.named.values(call.func)), None)
        if not isinstance(function, FunctionType):
            return
        code = function.__code__
        if origin_of(code) is not Origin.USER:
            return
        shift = int(ast.unparse(call.func).startswith("self."))
        for number, given in enumerate(call.args):
            place = min(number + shift, code.co_argcount)
            if not self.holds_class(given) or (code, place) in self.handed:
                continue
            names = {**function.__globals__}
            own = frozenset(code.co_varnames[place : place + 1])
            finder = _Finder(names, self.cls, own, (*self.handed, (code, place)))
            if any(True for tree in trees_of(code) for _ in finder.texts(tree, is_reason=False)):
                yield call, given


def _names_in(target: ast.AST) -> Iterator[ast.Name]:
    return (part for part in ast.walk(target) if isinstance(part, ast.Name))


def _is_only_told(node: ast.AST, parents: dict[ast.AST, ast.AST], *, is_reason: bool) -> bool:
    """Return whether a text is shown, and nothing looks at it.

    Parameters
    ----------
    node, parents : what makes the text, and what each part of the function is in
    is_reason : whether what the function returns is shown
    """
    inner, outer = node, parents.get(node)
    while outer is not None and not isinstance(outer, ast.stmt):
        inner, outer = outer, parents.get(outer)
    match outer:
        case ast.Raise():
            return True
        case ast.Assert(msg=message):
            return inner is message
        case ast.Return():
            text = parents[node] if isinstance(node, ast.FormattedValue) else node
            return is_reason and not is_read(text, parents)
        case _:
            return False


def _is_class(value: Any) -> bool:
    return isinstance(value, type)


def _holds_own_class(value: Any) -> bool:
    """Return whether a value is a class of a user, or holds one; the text of an enum names none."""
    return any(
        isinstance(part, type)
        and not isinstance(part, EnumType)
        and isinstance(part.__module__, str)
        and package_of(part.__module__) is not None
        and part.__module__ != "builtins"
        for part in kept_in(value)
    )
