"""What would run: whether the modules that are loaded do what their sources say."""

from __future__ import annotations

import ast
import builtins
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import ModuleType

from streamproof.certified.code import names_in
from streamproof.certified.fresh import FreshModules
from streamproof.certified.same import Comparison
from streamproof.certified.sources import Source

_copies: dict[tuple[tuple[str, str, bytes], ...], dict[str, ModuleType]] = {}
"""The copies that were made last, since sources change rarely between two starts."""
_lock = threading.Lock()


def replaced(sources: Mapping[str, Source]) -> list[str]:
    """List what is loaded and is not as its source says: a place, and how, in each line.

    Parameters
    ----------
    sources : of all modules to look at; those of them that are loaded must be loaded whole
    """
    with _lock:
        found = Comparison(_copies_of(sources)).run()
    return found or [*_replaced_builtins(sources)]


def _copies_of(sources: Mapping[str, Source]) -> dict[str, ModuleType]:
    key = tuple((source.name, source.path, source.content) for source in sources.values())
    if key not in _copies:
        fresh = FreshModules(sources)
        made = {name: fresh.module(name) for name in sources}
        _copies.clear()
        _copies[key] = made
    return _copies[key]


def _replaced_builtins(sources: Mapping[str, Source]) -> Iterator[str]:
    """List functions of Python itself that the sources use and that somebody has replaced."""
    used = {name for source in sources.values() for name in names_in(source.code)}
    for name in sorted(used & vars(builtins).keys()):
        found = vars(builtins)[name]
        if isinstance(found, type):
            is_own = found.__module__ == "builtins"
        else:
            is_own = not callable(found) or getattr(found, "__self__", None) is builtins
            is_own = is_own or name == "open"
        if not is_own:
            yield f"builtins.{name} is {found!r}, which is not Python's"


def held_elsewhere(sources: Mapping[str, Source], users: str) -> list[str]:
    """List what other modules have imported from the sources, and hold another object for now.

    Parameters
    ----------
    users : the package whose loaded modules are looked at, such as those that run a protocol
    """
    return [
        f"{name}.{own} is not {origin}.{part}, which it imports"
        for name, module in sorted(sys.modules.items())
        if name == users or name.startswith(f"{users}.")
        for own, origin, part in _imported(getattr(module, "__file__", None) or "")
        if origin in sources and own in vars(module)
        if vars(module)[own] is not getattr(sys.modules[origin], part, None)
    ]


@lru_cache(maxsize=1024)
def _imported(path: str) -> tuple[tuple[str, str, str], ...]:
    """List what a file imports by name: its own name for it, and from where."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            content = file.read()
    except OSError:
        return ()
    if b"streamproof.protocols" not in content:
        return ()
    return tuple(
        (alias.asname or alias.name, node.module or "", alias.name)
        for node in ast.parse(content).body
        if isinstance(node, ast.ImportFrom) and not node.level
        for alias in node.names
    )
