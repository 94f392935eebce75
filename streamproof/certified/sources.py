"""The sources that a protocol runs on: its module, and all that this one imports, transitively.

Python's own library is left aside. Every other module counts, wherever it is installed: a helper
of one's own decides as much as the protocol that calls it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType
from typing import Any

from streamproof.lang.errors import StreamproofError
from streamproof.lang.source_text import reads_docstrings, source_digest, tree_of


class SourceMissing(StreamproofError, ImportError):
    """A module that a protocol imports has no Python source that could be read."""


@dataclass(frozen=True)
class Source:
    """One module as it is on disk.

    Attributes
    ----------
    name, path : the module's name, and the file that it is read from; empty for a directory
        without an `__init__.py`
    package : the names that relative imports begin with
    search : where submodules are looked for; empty if the module is no package
    """

    name: str
    path: str
    content: bytes
    package: str
    search: tuple[str, ...]

    @property
    def tree(self) -> ast.Module:
        """The syntax tree."""
        return tree_of(self.path, self.content)

    @property
    def code(self) -> CodeType:
        """The compiled module, as Python compiles it when it is imported."""
        return _code(self.path, self.content)


@lru_cache(maxsize=1024)
def _code(path: str, content: bytes) -> CodeType:
    return compile(content, path or "<directory>", "exec", dont_inherit=True)


def sources_of(*modules: str) -> dict[str, Source]:
    """Read the sources of modules and of all that they import, in the order of their names.

    Raises
    ------
    SourceMissing : if one of them cannot be found, or is no Python source
    """
    found: dict[str, Source] = {}
    waiting = [part for module in modules for part in _with_parents(module)][::-1]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found[name] = source = _read(name, found)
        for imported in _imports(source):
            waiting += [part for part in _with_parents(imported) if part not in found][::-1]
    return dict(sorted(found.items()))


def digests_of(sources: Mapping[str, Source]) -> dict[str, str]:
    """Hash each source: comments, layout and docstrings that nobody reads do not count."""
    docstrings = any(reads_docstrings(source.content) for source in sources.values())
    return {
        name: _digest(source.path, source.content, docstrings=docstrings)
        for name, source in sources.items()
        if source.path
    }


@lru_cache(maxsize=1024)
def _digest(path: str, content: bytes, *, docstrings: bool) -> str:
    return source_digest(tree_of(path, content), docstrings=docstrings)


def _with_parents(name: str) -> list[str]:
    """List a module after the packages that it lies in: these run first."""
    parts = name.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def is_outside(name: str) -> bool:
    """Report whether a module is Python's own, so that a certificate says nothing of it."""
    return name.partition(".")[0] in sys.stdlib_module_names


def _read(name: str, found: Mapping[str, Source]) -> Source:
    spec = _spec(name, found)
    if spec is None:
        raise _missing(name, "there is no such module")
    search = tuple(spec.submodule_search_locations or ())
    if spec.origin is None and search:
        return Source(name, "", b"", name, search)
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise _missing(name, f"it comes from {spec.origin}, which is no Python source")
    loader: Any = spec.loader
    try:
        content = loader.get_data(spec.origin)
    except OSError as error:
        raise _missing(name, f"its file cannot be read ({error})") from None
    package = name if search else name.rpartition(".")[0]
    return Source(name, spec.origin, content, package, search)


def _missing(name: str, why: str) -> SourceMissing:
    return SourceMissing(
        f"the source of {name} is not known: {why}. A certificate is about sources, so what this "
        "module does is unproven. Install it as .py files, or do not import it from a protocol"
    )


def _spec(name: str, found: Mapping[str, Source]) -> ModuleSpec | None:
    """Find a module without importing it; one that is loaded is where it was loaded from."""
    loaded = getattr(sys.modules.get(name), "__spec__", None)
    if isinstance(loaded, ModuleSpec):
        return loaded
    parent = name.rpartition(".")[0]
    return PathFinder.find_spec(name, found[parent].search if parent else None)


def _imports(source: Source) -> Iterator[str]:
    """List the modules that a source imports, at its top or in its functions."""
    for node in _run(source.tree):
        match node:
            case ast.Import(names=names):
                wanted = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                base = _absolute(source.package, module or "", level)
                wanted = [base]
                if not is_outside(base):
                    wanted += [f"{base}.{a.name}" for a in names if _is_module(base, a.name)]
            case _:
                continue
        yield from (name for name in wanted if not is_outside(name))


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what only type checkers read."""
    yield node
    children = ast.iter_child_nodes(node)
    if isinstance(node, ast.If) and _is_type_checking(node.test):
        children = iter(node.orelse)
    for child in children:
        yield from _run(child)


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _absolute(package: str, module: str, level: int) -> str:
    if not level:
        return module
    parts = package.split(".")
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{module}" if module else base


def _is_module(package: str, name: str) -> bool:
    """Return a submodule from another name that is imported from a package."""
    loaded = sys.modules.get(f"{package}.{name}")
    if loaded is not None:
        return True
    held = sys.modules.get(package)
    search = getattr(held, "__path__", None) if held else _search(package)
    if not search:
        return False
    return PathFinder.find_spec(f"{package}.{name}", list(search)) is not None


def _search(package: str) -> list[str] | None:
    search: list[str] | None = None
    for name in _with_parents(package):
        spec = PathFinder.find_spec(name, search)
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or ())
    return search
