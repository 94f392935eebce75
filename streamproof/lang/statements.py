"""Statements of a file: what is run as it is loaded, and what of that makes a name what it is."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import TypeAlias

from streamproof.lang.named import note_trees
from streamproof.lang.text import parsed

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar)
_PLAIN_IN_CLASSES = (ast.Assign, ast.AnnAssign, ast.FunctionDef, ast.ClassDef, ast.Pass)


@dataclass(frozen=True)
class Run:
    """A statement that is run, and what decides whether it is, outermost first."""

    node: ast.stmt
    guards: tuple[ast.expr, ...] = ()


@dataclass(frozen=True)
class Statements:
    """The statements that are run as a module is loaded.

    Attributes
    ----------
    bound, changed, given, handed : by name, those that bind it, may change what it stands for, give
        it to a function whose answer they bind, or make a function that may bind it
    imports : those that import names
    calls : whether something is called for what it does
    """

    bound: Mapping[str, list[Run]]
    changed: Mapping[str, list[Run]]
    given: Mapping[str, list[Run]]
    handed: Mapping[str, list[Run]]
    imports: tuple[ast.ImportFrom, ...]
    calls: bool


@functools.cache
def statements_of(module: ModuleType) -> Statements:
    """Read the statements of a module's file; none if there is none."""
    tree = parsed(getattr(module, "__file__", None) or "")
    runs = list(runs_in(tree.body)) if isinstance(tree, ast.Module) else []
    nodes = [run.node for run in runs]
    return Statements(
        _by_name(runs, _names_bound),
        _by_name(runs, _names_changed),
        _by_name(runs, _names_given),
        _by_name(runs, _names_handed),
        tuple(node for node in nodes if isinstance(node, ast.ImportFrom)),
        any(isinstance(node, ast.Expr) and _calls(node) for node in nodes),
    )


def _by_name(runs: list[Run], names_of: Callable[[ast.stmt], set[str]]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        for name in names_of(run.node):
            found.setdefault(name, []).append(run)
    return found


def _calls(node: ast.Expr) -> bool:
    return any(isinstance(part, ast.Call) for part in ast.walk(node))


def runs_in(body: Iterable[ast.stmt], guards: tuple[ast.expr, ...] = ()) -> Iterator[Run]:
    """List the statements that run in a block, except those below `__name__ == "__main__"`."""
    for node in body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            continue
        inner = (*guards, *_heads(node))
        if isinstance(node, _BLOCKS):
            for name in ("body", "orelse", "finalbody"):
                yield from runs_in(getattr(node, name, []), inner)
            for handler in getattr(node, "handlers", []):
                yield from runs_in(handler.body, inner)
        if not isinstance(node, ast.If | ast.Try | ast.TryStar | ast.While):
            yield Run(node, guards)


def _heads(node: ast.stmt) -> list[ast.expr]:
    match node:
        case ast.If(test) | ast.While(test):
            return [test]
        case ast.For(_, iterated) | ast.AsyncFor(_, iterated):
            return [iterated]
        case ast.With(items) | ast.AsyncWith(items):
            return [item.context_expr for item in items]
        case _:
            return []


@functools.cache
def classes_of(module: ModuleType) -> dict[str, list[Run]]:
    """Find the class statements of a file, by the qualified names of what they make."""
    tree = parsed(getattr(module, "__file__", None) or "")
    found: dict[str, list[Run]] = {}

    def look(body: Iterable[ast.stmt], prefix: str) -> None:
        for run in runs_in(body):
            if isinstance(run.node, ast.ClassDef):
                found.setdefault(f"{prefix}{run.node.name}", []).append(run)
                look(run.node.body, f"{prefix}{run.node.name}.")
            elif isinstance(run.node, ast.FunctionDef | ast.AsyncFunctionDef):
                look(run.node.body, f"{prefix}{run.node.name}.<locals>.")

    look(tree.body if isinstance(tree, ast.Module) else (), "")
    return found


# --------------------------------------------------------------------------- names


def _names_bound(node: ast.stmt) -> set[str]:
    """Name what a statement binds by its own head, not in its body."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.Import(imported) | ast.ImportFrom(names=imported):
            return {alias.asname or alias.name.partition(".")[0] for alias in imported}
        case ast.For(target, iterated) | ast.AsyncFor(target, iterated):
            heads: list[ast.AST] = [target, iterated]
        case ast.With(items) | ast.AsyncWith(items):
            heads = list(items)
        case ast.AnnAssign(value=None):
            return set()
        case _:
            heads = [node]  # a `:=` in a value binds a name, too
    parts = [part for head in heads for part in ast.walk(head)]
    names = {part.id for part in parts if isinstance(part, ast.Name) and _is_store(part)}
    matched = {part.name for part in parts if isinstance(part, ast.MatchAs | ast.MatchStar)}
    return names | {name for name in matched if name is not None}


def _is_store(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _names_changed(node: ast.stmt) -> set[str]:
    """Name what a statement may change, as `TABLE.update(...)` does."""
    match node:
        case ast.Expr(ast.Call() as call):
            heads: list[ast.expr] = [call]
        case ast.Assign(targets) | ast.Delete(targets):
            heads = targets
        case ast.AugAssign(target) | ast.For(target) | ast.AnnAssign(target):
            heads = [target]
        case _:
            return set()
    parts = [part for head in heads for part in ast.walk(head)]
    called = [part.func for part in parts if isinstance(part, ast.Call)]  # and not changed by it
    return {part.id for part in parts if isinstance(part, ast.Name) and part not in called}


def _names_given(node: ast.stmt) -> set[str]:
    """Name the arguments of calls in a statement that binds a name."""
    is_binding = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
    return {name for call in calls_run(node) for name in _given_to(call)} if is_binding else set()


def _given_to(call: ast.Call) -> set[str]:
    given = (*call.args, *(word.value for word in call.keywords))
    return {part.id for part in given if isinstance(part, ast.Name)}


def calls_run(node: ast.AST) -> Iterator[ast.Call]:
    """List the calls that are run with a statement, which those in a lambda are not."""
    if isinstance(node, ast.Call):
        yield node
    for part in ast.iter_child_nodes(node):
        if not isinstance(part, ast.Lambda):
            yield from calls_run(part)


def calls_in(node: ast.stmt, name: str = "") -> list[ast.expr]:
    """List the functions that a statement calls; with a name, those that get it as an argument."""
    return [call.func for call in calls_run(node) if not name or name in _given_to(call)]


def _names_handed(node: ast.stmt) -> set[str]:
    """Name the globals that a function, or a method of a class, may bind."""
    parts = ast.walk(node) if isinstance(node, Definition) else ()
    return {name for part in parts if isinstance(part, ast.Global) for name in part.names}


def names_in_class(node: ast.stmt) -> set[str]:
    """Name what stands in the body of a class, with what is only declared."""
    body = node.body if isinstance(node, ast.ClassDef) else []
    declared = {getattr(part.target, "id", "") for part in body if isinstance(part, ast.AnnAssign)}
    return declared.union(*map(_names_bound, body))


# --------------------------------------------------------------------------- definitions


def run_in_definition(node: ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    """List what is run as a function or class is made, but for the body of a function.

    Decorators are left out, and so are base classes and annotations.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.args.defaults
        yield from (default for default in node.args.kw_defaults if default is not None)
    elif isinstance(node, ast.ClassDef):
        yield from (keyword.value for keyword in node.keywords)
        for run in runs_in(node.body):
            yield from run.guards
            if isinstance(run.node, Definition):
                yield from run_in_definition(run.node)
            elif not (isinstance(run.node, ast.AnnAssign) and run.node.value is None):
                yield run.node


def definitions_in(node: ast.stmt) -> Iterator[Definition]:
    """List a definition, and those in the body of a class."""
    if isinstance(node, Definition):
        yield node
    if isinstance(node, ast.ClassDef):
        for run in runs_in(node.body):
            yield from definitions_in(run.node)


def types_in(node: ast.stmt) -> Iterator[ast.expr]:
    """List the base classes and annotations of a definition; what is written as text is read."""
    found: list[ast.expr | None] = []
    for part in definitions_in(node):
        if isinstance(part, ast.ClassDef):
            found += part.bases
            body = (run.node for run in runs_in(part.body))
            found += [inner.annotation for inner in body if isinstance(inner, ast.AnnAssign)]
        else:
            taken = (*part.args.posonlyargs, *part.args.args, *part.args.kwonlyargs)
            found += [argument.annotation for argument in taken]
            found.append(part.returns)
    for annotation in found:
        if annotation is not None:
            yield _read(annotation)


def _read(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            read = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
        for part in ast.walk(read):
            ast.copy_location(part, annotation)
        return read
    return annotation


def is_plain_class(node: ast.stmt) -> bool:
    """Return whether a class statement has bases by name and holds plain definitions alone."""
    if not isinstance(node, ast.ClassDef) or any(k.arg != "metaclass" for k in node.keywords):
        return False
    if any(isinstance(part, ast.Call) for base in node.bases for part in ast.walk(base)):
        return False
    return all(
        isinstance(part, _PLAIN_IN_CLASSES)
        or (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
        for part in node.body
    )


def as_function(module: ModuleType, node: ast.stmt | ast.expr) -> FunctionType:
    """Make a function of a statement, or of the head of one, that is read and never called."""
    head: ast.stmt = ast.Expr(node) if isinstance(node, ast.expr) else node
    ast.copy_location(head, node)
    if isinstance(node, ast.For | ast.AsyncFor):
        head = ast.copy_location(ast.For(node.target, node.iter, [ast.Pass()], []), node)
    elif isinstance(node, ast.With | ast.AsyncWith):
        head = ast.copy_location(ast.With(node.items, [ast.Pass()]), node)
    empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef("<module>", empty, [head], [])
    whole = ast.fix_missing_locations(
        ast.Module([ast.copy_location(function, node)], type_ignores=[])
    )
    code = compile(
        whole, getattr(module, "__file__", None) or "<made of text>", "exec", dont_inherit=True
    )
    inner = next(part for part in code.co_consts if hasattr(part, "co_code"))
    note_trees(inner, [function])
    return FunctionType(inner, vars(module))
