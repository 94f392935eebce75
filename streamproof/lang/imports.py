"""Imports inside of functions: the modules and names that they bring, read off the bytecode."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

from streamproof.lang.origin import instructions_of

_BINDS = ("STORE_FAST", "STORE_DEREF", "STORE_GLOBAL", "STORE_NAME")


@dataclass(frozen=True, slots=True)
class Imported:
    """What a function imports as it runs.

    Attributes
    ----------
    values : by the offset of an instruction, the modules or the attribute that it brings
    local : by a name that the function binds, what it then stands for
    """

    values: dict[int, tuple[Any, ...]] = field(default_factory=dict)
    local: dict[str, Any] = field(default_factory=dict)


def imported_in(code: CodeType, names: Mapping[str, Any]) -> Imported:
    """Read the import statements of a function; a module that is not loaded yet is loaded.

    Parameters
    ----------
    code : the function's
    names : the function's globals, of which `__package__` resolves relative imports
    """
    found = Imported()
    if not any(part.opname == "IMPORT_NAME" for part in instructions_of(code)):
        return found
    source: Any = None
    brought: Any = None
    level, is_from = 0, False
    constants: list[Any] = []
    for part in instructions_of(code):
        match part.opname:
            case "LOAD_CONST":
                constants.append(part.argval)
            case "IMPORT_NAME":
                level, is_from = constants[-2], constants[-1] is not None
                source = _module(part.argval, level, names)
                top = source if is_from else sys.modules.get(part.argval.partition(".")[0])
                brought = top
                found.values[part.offset] = (source, top)
            case "IMPORT_FROM":
                brought = _attribute(source if is_from else brought, part.argval)
                found.values[part.offset] = (brought,)
            case name if name in _BINDS and brought is not None:
                found.local[part.argval] = brought
                brought = None
    return found


def _module(name: str, level: int, names: Mapping[str, Any]) -> ModuleType | None:
    with suppress(Exception):  # whatever a module raises, a run of the function meets, too
        package = names.get("__package__") or ""
        whole = importlib.util.resolve_name("." * level + name, package) if level else name
        return sys.modules.get(whole) or importlib.import_module(whole)
    return None


def _attribute(source: ModuleType | None, name: str) -> Any:
    found = getattr(source, name, None)
    return _module(f"{source.__name__}.{name}", 0, {}) if source and found is None else found
