"""Loading sources once more, beside what is loaded already, to compare the two.

The copies stand in no table of Python's: nothing else can find them, and no other thread sees an
import change. They import each other, and share Python's own library with everybody.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from streamproof.certified.sources import Source


class FreshModules:
    """Copies of modules, made from their sources when they are first asked for."""

    def __init__(self, sources: Mapping[str, Source]) -> None:
        self._sources = sources
        self._builtins = {**vars(builtins), "__import__": self._import}
        self._modules: dict[str, ModuleType] = {}

    def module(self, name: str) -> ModuleType:
        """Return a module's copy, after the packages that it lies in."""
        if name in self._modules:
            return self._modules[name]
        parent, _, last = name.rpartition(".")
        if parent:
            self.module(parent)
            if name in self._modules:  # its package has imported it
                return self._modules[name]
        source = self._sources[name]
        made = ModuleType(name)
        made.__package__ = source.package
        made.__file__ = source.path
        if source.search:
            made.__path__ = list(source.search)
        vars(made)["__builtins__"] = self._builtins
        self._modules[name] = made  # before it runs: modules may import each other
        exec(source.code, vars(made))  # noqa: S102  the source is what Python would import
        if parent:
            setattr(self._modules[parent], last, made)
        return made

    def _import(
        self,
        name: str,
        globals_: Mapping[str, Any] | None = None,
        locals_: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        """Import as the statement does, from the copies where there is one."""
        full = name
        if level:
            assert globals_ is not None
            parts = globals_["__package__"].split(".")
            base = ".".join(parts[: len(parts) - level + 1])
            full = f"{base}.{name}" if name else base
        if full not in self._sources:
            return __import__(name, globals_, locals_, fromlist, level)
        module = self.module(full)
        for part in fromlist or ():
            if f"{full}.{part}" in self._sources and not hasattr(module, part):
                self.module(f"{full}.{part}")
        return module if fromlist else self.module(full.partition(".")[0])
