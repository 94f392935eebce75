"""Statements that act: the work of a module as it is loaded, apart from binding plain values.

`TABLE = {}` binds a name. `fill(TABLE)`, `TABLE | FILLER`, a base class, a decorator that calls
what it decorates, or a neighbour that is imported may fill it. A clock or a random number in any of
these has a part in what a model is made of, whatever form the statement has.

Python runs a user's code in many ways without a call: operators, properties, `with`, `for`, `del`.
So the form of a statement decides nothing. A statement acts if it names a function, a class or an
object of a user, or calls what is not known; and what it names is followed by `reached`.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import inspect
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import EnumType
from types import ModuleType
from typing import Any, TypeAlias

from streamproof.lang.decorators import is_known_decorator
from streamproof.lang.origin import is_of_tools
from streamproof.lang.reached import kept_in
from streamproof.lang.reflective import REFLECTIVE, imported_by_text
from streamproof.lang.statements import (
    Definition,
    classes_of,
    run_in_definition,
    runs_in,
    statements_of,
)
from streamproof.lang.text import parsed

IsOwn: TypeAlias = Callable[[ModuleType], bool]
_TOOLS = frozenset(("pytest", "_pytest", "hypothesis"))
"""Libraries that keep the functions of a user, and call none as a file is loaded."""
_WRITTEN = (ast.Subscript, ast.Attribute)
_PLAIN = (dict, list, tuple, set, frozenset, str, bytes, int, float, range)
_MADE_PLAINLY = (type, ABCMeta)
_HOOKS = ("__init_subclass__", "__class_getitem__", "__mro_entries__")
"""What Python calls of a class as another one is derived from it."""
_ASKING = frozenset((
    "copy", "count", "endswith", "format", "get", "index", "items", "join", "keys", "lower",
    "partition", "replace", "rpartition", "split", "splitlines", "startswith", "strip", "upper",
    "values",
))  # fmt: skip
"""Methods of Python's own values that change nothing."""


def acting_in(module: ModuleType, is_own: IsOwn) -> Iterator[ast.stmt | ast.expr]:
    """List what acts in a module's own file: statements, definitions, and parts of some.

    Parameters
    ----------
    module : a loaded one
    is_own : whether a module is a user's, so that its functions may do anything
    """
    yield from _Loading(module, is_own).acting_in(_body_of(module))


def running_in(module: ModuleType, is_own: IsOwn) -> Iterator[Any]:
    """List functions that may run while a module is loaded, though its file does not name them.

    These are the methods of classes that a metaclass of a library makes, such as those of enums,
    and what was imported under a name that now stands for something else.
    """
    for name in classes_of(module):
        cls = _named(name.split("."), module)
        if isinstance(cls, type) and type(cls) not in _MADE_PLAINLY:
            yield from vars(cls).values()
    for run in runs_in(_body_of(module)):
        for source, _, name in _imports_of(module, run.node):
            other = sys.modules.get(source)
            if other is not None and is_own(other) and _is_covered(name, other, module):
                yield from vars(other).values()


def imported_by(module: ModuleType) -> Iterator[ModuleType]:
    """List the modules that a module's own file imports as it is loaded."""
    for run in runs_in(_body_of(module)):
        for source, attribute, _ in _imports_of(module, run.node):
            names = (source, f"{source}.{attribute}")
            yield from (sys.modules[name] for name in names if name in sys.modules)


def imported_from(module: ModuleType, node: ast.ImportFrom) -> str:
    """Name the module that a statement of another one imports from."""
    package = module.__package__ or module.__name__.rpartition(".")[0]
    return importlib.util.resolve_name(f"{'.' * node.level}{node.module or ''}", package)


def _imports_of(module: ModuleType, node: ast.stmt) -> Iterator[tuple[str, str, str]]:
    """List what a statement imports: the module, a name in it, and the name that is bound."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name, "", alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, ast.ImportFrom):
        with suppress(ImportError):  # one that the file has tried in vain
            source = imported_from(module, node)
            for alias in node.names:
                yield source, alias.name, alias.asname or alias.name
    elif not isinstance(node, Definition):
        yield from ((name, "", "") for name in imported_by_text(node, vars(module)))


def _is_covered(name: str, source: ModuleType, module: ModuleType) -> bool:
    """Return whether what was imported under a name may have come to stand for something else."""
    if name != "*":
        return is_rebound(name, module)
    own, file = vars(module), statements_of(module)
    public = getattr(source, "__all__", [name for name in vars(source) if name[0] != "_"])
    return any(
        own.get(name) is not vars(source).get(name) or name in file.bound or name in file.handed
        for name in public
    )


def is_rebound(name: str, module: ModuleType) -> bool:
    """Return whether a module's name may have stood for something else while it was loaded."""
    file = statements_of(module)
    return len(file.bound.get(name, [])) > 1 or name in file.handed


class _Loading:
    """Finds what acts as one module is loaded."""

    def __init__(self, module: ModuleType, is_own: IsOwn) -> None:
        self.module = module
        self.is_own = is_own
        self._running: dict[int, bool] = {}

    def acting_in(
        self, body: list[ast.stmt], *, in_class: bool = False
    ) -> Iterator[ast.stmt | ast.expr]:
        """List what acts in a block."""
        used = _loaded_in(body) if in_class else None
        guards: set[int] = set()  # one is that of several statements
        for run in runs_in(body):
            for guard in run.guards:
                if id(guard) not in guards:
                    guards.add(id(guard))
                    yield from self._parts(guard)
            if isinstance(run.node, Definition):
                yield from self._of_definition(run.node, used)
            elif isinstance(run.node, ast.Import | ast.ImportFrom):
                yield from (run.node,) if in_class else ()
            else:
                is_kept = not in_class and self._only_keeps(run.node)
                if not is_kept:
                    yield from self._parts(run.node)
                elif isinstance(run.node, ast.AnnAssign):
                    yield from self._parts(run.node.annotation, names=False)

    def _of_definition(
        self, node: Definition, used: set[str] | None
    ) -> Iterator[ast.stmt | ast.expr]:
        """List what acts in a definition; `used` are names that the class around it uses itself."""
        is_reached = node.name in used if used is not None else is_rebound(node.name, self.module)
        is_hook = used is None and isinstance(node, ast.FunctionDef) and node.name[:2] == "__"
        if is_reached or is_hook or any(map(self._calls_it, node.decorator_list)):
            yield node
            return
        for decorator in node.decorator_list:
            yield from self._parts(decorator)
        if isinstance(node, ast.ClassDef):
            hooked = (base for base in node.bases if not self._is_plain_base(base))
            for head in (*hooked, *(word.value for word in node.keywords)):
                yield from self._parts(head)
            yield from self.acting_in(node.body, in_class=True)
            return
        given = node.args
        arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
        for default in run_in_definition(node):
            yield from self._parts(default)
        for annotation in (*(part.annotation for part in arguments), node.returns):
            yield from self._parts(annotation, names=False) if annotation is not None else ()

    def _is_plain_base(self, base: ast.expr) -> bool:
        """Return whether a base, such as `Base` or `Base[X]`, runs no code when a class derives."""
        if any(isinstance(part, ast.Call) for part in ast.walk(base)):
            return False
        cls = value_named(base.value if isinstance(base, ast.Subscript) else base, self.module)
        if not isinstance(cls, type) or type(cls) not in _MADE_PLAINLY:
            return False
        hooks = (vars(part).get(name) for part in cls.__mro__ for name in _HOOKS)
        return not any(self._runs_code(getattr(hook, "__func__", hook)) for hook in hooks)

    def _calls_it(self, decorator: ast.expr) -> bool:
        """Return whether a decorator may call its function, or pass it to another that does."""
        made = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = value_named(made, self.module)
        if self._is_of_tools(made) or is_known_decorator(value):
            return False
        home = str(getattr(value, "__module__", None) or "").partition(".")[0]
        is_others = value is not None and home not in sys.stdlib_module_names
        return not is_others or self._is_users(value) or self._is_users(type(value))

    def _parts(self, node: ast.AST, *, names: bool = True) -> Iterator[ast.stmt | ast.expr]:
        """List the outermost parts of a statement or an expression that act.

        Parameters
        ----------
        node : the statement or expression
        names : whether to name something of a user is enough, which it is not in an annotation
        """
        match node:
            case ast.Call() if self._is_of_tools(node.func):
                names = False
            case ast.Call() if self._call_acts(node):
                yield node
                return
            case ast.Assign(targets) | ast.Delete(targets) if any(
                isinstance(part, _WRITTEN) for target in targets for part in ast.walk(target)
            ):
                yield node
                return
            case ast.AugAssign() | ast.Raise() | ast.Assert() | ast.NamedExpr() | ast.Match():
                yield node
                return
            case ast.AnnAssign(target) | ast.For(target) if isinstance(target, _WRITTEN):
                yield node
            case ast.AnnAssign(annotation=annotation, value=value):
                yield from self._parts(annotation, names=False)
                yield from self._parts(value) if value is not None else ()
                return
            case ast.Name() | ast.Attribute() if names and self._names_users(node):
                yield node
                return
        for part in ast.iter_child_nodes(node):
            if not isinstance(part, ast.Lambda | Definition):
                yield from self._parts(part, names=names)

    def _names_users(self, node: ast.AST) -> bool:
        """Return whether a name, or an attribute of one, may stand for something of a user."""
        if isinstance(node, ast.Name):
            is_asked = isinstance(node.ctx, ast.Load)
            return is_asked and self._runs_code(value_named(node, self.module))
        if not isinstance(node, ast.Attribute):
            return any(map(self._names_users, ast.iter_child_nodes(node)))
        if isinstance(node.value, ast.Name) and not self._is_known(node.value.id):
            return True  # of an object that nobody knows: the name tells which method it may be
        value = value_named(node, self.module)
        return self._runs_code(value) or self._names_users(node.value)

    def _only_keeps(self, node: ast.stmt) -> bool:
        """Return whether a statement only binds names to named values, alone or in a table.

        The names must stand for nothing else, and what is in the table must be there until the end:
        then whatever runs it names the table.
        """
        match node:
            case ast.Assign(targets, value):
                bound = [part for target in targets for part in _items(target)]
                if len(bound) > len(targets) and not isinstance(value, ast.Tuple):
                    return False  # `a, b = x` asks x for its items
            case ast.AnnAssign(ast.Name() as target, value=ast.expr() as value):
                bound = [target]
            case _:
                return False
        names = [part.id for part in bound if isinstance(part, ast.Name)]
        if len(names) < len(bound) or any(is_rebound(name, self.module) for name in names):
            return False
        if not self._is_path(value) and not all(map(self._is_path, _kept_by(value))):
            return False
        kept = [part for name in names for part in kept_in(vars(self.module).get(name))]
        lambdas = sum(isinstance(part, ast.Lambda) for part in _kept_by(value))
        return lambdas <= sum(getattr(part, "__name__", "") == "<lambda>" for part in kept) and all(
            any(part is value_named(path, self.module) for part in kept)
            for path in _kept_by(value)
            if self._runs_code(value_named(path, self.module))
        )

    def _is_path(self, node: ast.expr) -> bool:
        """Return whether a node is a constant, a name, or one in a module or an enum."""
        if isinstance(node, ast.Attribute):
            owner = value_named(node.value, self.module)
            is_member = isinstance(owner, EnumType) and node.attr in owner.__members__
            return is_member or isinstance(owner, ModuleType)
        return isinstance(node, ast.Name | ast.Constant | ast.Lambda)

    def _is_known(self, name: str) -> bool:
        return name in vars(self.module) or hasattr(builtins, name)

    def _call_acts(self, node: ast.Call) -> bool:
        called = value_named(node.func, self.module)
        name = getattr(node.func, "attr", getattr(called, "__name__", ""))
        if self._runs_code(called) or name in REFLECTIVE:
            return True
        if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Constant):
            owner = value_named(node.func.value, self.module)
            if type(owner) in _PLAIN and name in _ASKING:
                return False
            if not isinstance(owner, ModuleType | type):
                return True  # a method may change its object
        given = (*node.args, *(word.value for word in node.keywords))
        return any(isinstance(part, ast.Lambda) for word in given for part in ast.walk(word))

    def _runs_code(self, value: Any) -> bool:
        """Return whether a value is a user's function, class or object, or keeps one."""
        if id(value) not in self._running:  # and is kept by the module
            parts = kept_in(value)
            self._running[id(value)] = any(
                self._is_users(part) or self._is_users(type(part)) for part in parts
            )
        return self._running[id(value)]

    def _is_users(self, value: Any) -> bool:
        """Return whether a function or class is a user's, and none that asks models."""
        name = getattr(value, "__module__", None)
        home = sys.modules.get(name) if isinstance(name, str) else None
        if home is None or not callable(value):
            return False
        return self.is_own(home) and not is_of_tools(home)

    def _is_of_tools(self, called: ast.expr) -> bool:
        """Return whether a called function is of a library that only keeps its arguments."""
        while isinstance(called, ast.Attribute):
            called = called.value
        root = value_named(called, self.module)
        name = root.__name__ if isinstance(root, ModuleType) else getattr(root, "__module__", None)
        return str(name).partition(".")[0] in _TOOLS


def _items(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _kept_by(node: ast.expr) -> list[ast.expr]:
    """List the entries of a tuple, list or dict display; any other node is its own only entry."""
    match node:
        case ast.Tuple(items) | ast.List(items):
            return [part for item in items for part in _kept_by(item)]
        case ast.Dict(keys, values) if all(isinstance(key, ast.Constant) for key in keys):
            return [part for value in values for part in _kept_by(value)]
        case _:
            return [node]


def _loaded_in(body: list[ast.stmt]) -> set[str]:
    """List the names that the body of a class uses while the class is made."""
    heads = (
        (*node.decorator_list, *run_in_definition(node))
        if isinstance(node, Definition)
        else (node,)
        for node in (run.node for run in runs_in(body))
    )
    parts = (part for head in heads for node in head for part in ast.walk(node))
    return {
        part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _body_of(module: ModuleType) -> list[ast.stmt]:
    tree = parsed(getattr(module, "__file__", None) or "")
    return tree.body if isinstance(tree, ast.Module) else []


def value_named(node: ast.AST, module: ModuleType) -> Any:
    """Return the value of a name, or of an attribute of one; None for other expressions."""
    if isinstance(node, ast.Name):
        return vars(module).get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute):
        return _attribute(value_named(node.value, module), node.attr)
    return None


def _named(names: list[str], module: ModuleType) -> Any:
    found: Any = module
    for name in names:
        found = _attribute(found, name)
    return found


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, ModuleType):
        return vars(owner).get(name)
    found = inspect.getattr_static(owner, name, None) if owner is not None else None
    return getattr(found, "__func__", found)
