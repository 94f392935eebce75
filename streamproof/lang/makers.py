"""Makers: the code that makes what a model's methods name, before any of them is asked.

A verdict is about the constants that were made: assigned where a module or a class is loaded, put
together by `sized`, or set by what runs as classes and functions are made, such as decorators. If
the hash of a text or the order of a set has a part in them, the next process makes others, and the
verdict is not about those.
"""

from __future__ import annotations

import ast
import functools
import inspect
import sys
from collections.abc import Iterable
from types import FunctionType, ModuleType
from typing import Any

from streamproof.lang.acting import acting_in, imported_by, imported_from, running_in, value_named
from streamproof.lang.compiled import is_made_by_running
from streamproof.lang.decorators import is_known_decorator
from streamproof.lang.named import trees_of
from streamproof.lang.origin import Origin, asks_models, is_of_tools, origin_of
from streamproof.lang.reached import (
    Reader,
    hinted_classes_of,
    is_special,
    kept_in,
    package_of,
    packages_of,
    records_of,
    roots_of,
)
from streamproof.lang.reflective import imported_by_text
from streamproof.lang.statements import (
    Run,
    as_function,
    calls_in,
    classes_of,
    definitions_in,
    is_plain_class,
    names_in_class,
    run_in_definition,
    statements_of,
    types_in,
)

_MAKING = ("sized", "__init__", "__new__", "__post_init__", "_missing_")
"""Methods of a class that make constants."""
_HOOKS = (
    "__init_subclass__", "__class_getitem__", "__set_name__", "__prepare__", "__mro_entries__",
    "_generate_next_value_",
)  # fmt: skip
"""Methods that Python calls as classes are made. What they do is not in the class statement."""

_OF_TYPING = frozenset(("_is_protocol", "_is_runtime_protocol"))


def makers_of(cls: Any) -> tuple[Any, ...]:
    """List the functions that make a model's constants; some are only read, and never called."""
    return tuple(_made(cls).found)


def is_made_plainly(cls: Any) -> bool:
    """Return whether plain statements with known decorators make all that a model names.

    A hook, a metaclass or a decorator of a user may make it otherwise than the statements say.
    """
    return not _made(cls).doubts


@functools.cache
def _made(cls: Any) -> _Makers:
    makers = _Makers(cls)
    makers.follow_all()
    return makers


class _Makers:
    """Follows names to the statements that bind them, and the names in these.

    Attributes
    ----------
    found : the makers
    doubts : what is made in a way that is not known to be plain
    """

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls
        self.packages = packages_of(cls)  # type: ignore[arg-type] # a class does hash
        self.reader = Reader(cls)
        self.found: list[Any] = []
        self.doubts: list[str] = []
        self.done: set[Any] = set()

    def follow_all(self) -> None:
        """Begin with the model's classes, and with what a search asks."""
        hinted = hinted_classes_of(self.cls)  # type: ignore[arg-type] # a class does hash
        for owner in (*self.cls.__mro__, *records_of(self.cls), *hinted):  # type: ignore[arg-type]
            self._add_class(owner)
        self._follow(roots_of(self.cls))
        begin = 0
        while begin < len(self.found):
            waiting, begin = self.found[begin:], len(self.found)
            self._follow(waiting)

    def _follow(self, roots: Iterable[Any]) -> None:
        for part in self.reader.read(roots):
            function = part.function
            module = sys.modules.get(function.__globals__.get("__name__", ""))
            self._add_module(module)
            for tree in trees_of(part.code):
                if module is not None and isinstance(tree, ast.FunctionDef):
                    self._look_at_decorators(module, tree)
                for name in imported_by_text(tree, part.names):
                    self._add_module(sys.modules.get(name))
                    self._add_attributes(sys.modules.get(name), part.code.co_names)
            for name in part.code.co_names:
                if name in function.__globals__:
                    self._add_global(module, name)
                    self._add_attributes(function.__globals__[name], part.code.co_names)
            for _, value in part.values:
                if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value:
                    self._add_module(value)
                    self._add_attributes(value, part.code.co_names)
                for kept in kept_in(value):
                    self._add_class(kept if isinstance(kept, type) else type(kept))

    # ----------------------------------------------------------------------- classes

    def _add_class(self, owner: Any) -> None:
        if owner in self.done or not is_made_by_running(owner):
            return
        self.done.add(owner)
        for base in (*owner.__mro__[1:], *type(owner).__mro__):
            self._add_class(base)
        module = sys.modules.get(owner.__module__) if isinstance(owner.__module__, str) else None
        if module is None or not self._is_own(module):
            return
        self._add_module(module)
        self._add_methods(owner)
        runs = classes_of(module).get(owner.__qualname__, [])
        for run in runs:
            self._add_definition(module, run)
        for run in statements_of(module).changed.get(owner.__name__, []):
            self._doubt(f"{owner.__name__} is changed")
            self._add(module, run)
        for run in statements_of(module).given.get(owner.__name__, []):
            given_to = calls_in(run.node, owner.__name__)
            if any(_is_users(value_named(called, module)) for called in given_to):
                self._doubt(f"{owner.__name__} is given to a function")
                self._add(module, run)
        self._look_at_class(owner, [run.node for run in runs])

    def _add_methods(self, owner: Any) -> None:
        """Add the methods that make something; of a metaclass, all."""
        for name, member in list(vars(owner).items()):
            for part in (member, *(getattr(member, p, None) for p in ("__func__", "fget"))):
                is_own = isinstance(part, FunctionType) and origin_of(part.__code__) is Origin.USER
                if is_own and name in _HOOKS:
                    self._doubt(f"{owner.__name__} has {name}")
                if is_own and (name in (*_MAKING, *_HOOKS) or issubclass(owner, type)):
                    self.found.append(part)
            hook = inspect.getattr_static(type(member), "__set_name__", None)
            if isinstance(hook, FunctionType) and origin_of(hook.__code__) is Origin.USER:
                self._doubt(f"{owner.__name__}.{name} is given its name")
                self._add_class(type(member))

    def _look_at_class(self, owner: Any, nodes: list[ast.stmt]) -> None:
        """Look whether a class has what its statement says, and nothing else."""
        own = _OF_TYPING.union(*map(names_in_class, nodes))
        mangled = f"_{owner.__name__.lstrip('_')}__"
        for name in vars(owner):
            is_pythons = name.startswith("_abc_") or (name[0] == "_" and name[-1] == "_")
            if not is_pythons and name.replace(mangled, "__", 1) not in own:
                self._doubt(f"{owner.__name__}.{name} is set by no statement")
        if not nodes or not all(map(is_plain_class, nodes)):
            self._doubt(f"{owner.__name__} is no plain class")

    # ----------------------------------------------------------------------- modules

    def _add_module(self, module: ModuleType | None) -> None:
        """Add the code that acts while a module, or a module that it imports, is loaded."""
        waiting = [] if module is None else [module]
        while waiting:
            part = waiting.pop()
            if part not in self.done and self._is_own(part) and not is_of_tools(part):
                self.done.add(part)
                for node in acting_in(part, self._is_own):
                    self._add_part(part, node)
                self.found += running_in(part, self._is_own)
                waiting += imported_by(part)

    # ----------------------------------------------------------------------- globals

    def _add_global(self, module: ModuleType | None, name: str) -> None:
        if module is None:
            self._doubt(f"{name} stands in no module")
            return
        if (module, name) in self.done or not self._is_own(module):
            return
        self.done.add((module, name))
        value = vars(module).get(name)
        if isinstance(value, type):
            self._add_class(value)
        if not isinstance(value, ModuleType):
            self._add_bindings(module, name)

    def _add_bindings(self, module: ModuleType, name: str) -> None:
        file = statements_of(module)
        is_imported = [self._add_imported(module, node, name) for node in file.imports]
        for run in file.bound.get(name, []):
            if not isinstance(run.node, ast.Import | ast.ImportFrom):
                self._add_definition(module, run)
        for run in file.changed.get(name, []):
            self._add(module, run)
        for run in file.handed.get(name, []):
            self._doubt(f"{name} is set by a function")
            self._add_setter(module, run.node)
        if not (any(is_imported) or name in file.bound or is_special(name)):
            self._doubt(f"{name} is bound by no statement")
        if file.calls:
            self._doubt(f"{module.__name__} calls something")

    def _add_setter(self, module: ModuleType, node: ast.stmt) -> None:
        value = vars(module).get(getattr(node, "name", ""))
        if isinstance(value, FunctionType):
            self.found.append(value)

    def _add_attributes(self, value: Any, names: Iterable[str]) -> None:
        """Add the globals of another module that are asked for by the module."""
        if isinstance(value, ModuleType) and self._is_own(value):
            for name in names:
                if name in vars(value):
                    self._add_global(value, name)

    def _add_imported(self, module: ModuleType, node: ast.ImportFrom, name: str) -> bool:
        is_bound = False
        for alias in node.names:
            if (alias.asname or alias.name) in (name, "*"):
                source = sys.modules.get(imported_from(module, node))
                if source is not None and (alias.name != "*" or name in vars(source)):
                    self._add_global(source, name if alias.name == "*" else alias.name)
                is_bound |= source is not None and (alias.name != "*" or name in vars(source))
        return is_bound

    # ----------------------------------------------------------------------- statements

    def _add_definition(self, module: ModuleType, run: Run) -> None:
        """Add what is run as a function or class is made; any other statement as it is."""
        definitions = list(definitions_in(run.node))
        if not definitions:
            self._add(module, run)
            return
        for definition in definitions:
            self._look_at_decorators(module, definition)
        for part in (*run.guards, *run_in_definition(run.node)):
            self._add_part(module, part)
        for written in types_in(run.node):
            for named in ast.walk(written):
                if isinstance(named, ast.Name) and named.id in vars(module):
                    self._add_global(module, named.id)
                elif isinstance(named, ast.Call):
                    self._add_part(module, named)

    def _look_at_decorators(self, module: ModuleType, node: Any) -> None:
        if (module, node) in self.done:
            return
        self.done.add((module, node))
        for decorator in node.decorator_list:
            called = decorator.func if isinstance(decorator, ast.Call) else decorator
            if not is_known_decorator(value_named(called, module)):
                self._doubt(f"{ast.unparse(decorator)} is no decorator that is known")
                self._add_part(module, called)
            if isinstance(decorator, ast.Call):
                for given in (*decorator.args, *(word.value for word in decorator.keywords)):
                    self._add_part(module, given)

    def _add(self, module: ModuleType, run: Run) -> None:
        if isinstance(run.node, ast.Expr) and any(
            _is_of_a_tool(value_named(called, module)) for called in calls_in(run.node)
        ):
            return
        parts: list[ast.stmt | ast.expr] = [*run.guards, run.node]
        for part in parts:
            self._add_part(module, part)

    def _add_part(self, module: ModuleType, node: ast.stmt | ast.expr) -> None:
        key = (module, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        if not isinstance(node, ast.Constant) and key not in self.done:
            self.done.add(key)
            self.found.append(as_function(module, node))

    def _doubt(self, what: str) -> None:
        self.doubts.append(what)

    def _is_own(self, module: ModuleType) -> bool:
        return package_of(module.__name__) in self.packages


def _is_users(value: Any) -> bool:
    """Return whether a function is of a user, or not known."""
    if not isinstance(value, FunctionType):
        return value is None
    return origin_of(value.__code__) is Origin.USER and not _is_of_a_tool(value)


def _is_of_a_tool(value: Any) -> bool:
    """Return whether a function asks models, like a script, and makes none."""
    return isinstance(value, FunctionType) and asks_models(value.__code__)
