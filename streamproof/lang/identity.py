"""Comparisons by identity, which no symbolic value can answer: `is` would quietly be false.

Whether a function makes one, or another that it may call, is read off their bytecode.
"""

from __future__ import annotations

import dis
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

_HERE = str(Path(__file__).parent)
_LIBRARIES = tuple(
    str(Path(sysconfig.get_path(name))) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


def find_identity_test(function: Callable[..., Any], cls: type[Any]) -> tuple[CodeType, int] | None:
    """Find the first comparison by identity, other than with None, in what a method may run.

    Parameters
    ----------
    function : a method of a model, or another function that is to be traced
    cls : the class whose other methods it may call
    """
    waiting: list[tuple[CodeType, dict[str, Any]]] = []
    seen: set[CodeType] = set()

    def wait(value: Any) -> None:
        plain = getattr(value, "__wrapped__", getattr(value, "__func__", value))
        if isinstance(plain, FunctionType):
            waiting.append((plain.__code__, plain.__globals__))
            for cell in plain.__closure__ or ():
                with suppress(ValueError):  # it is empty as long as its function runs
                    wait(cell.cell_contents)

    wait(function)
    for code, names in waiting:
        if code in seen or code.co_filename.startswith(("<", _HERE, *_LIBRARIES)):
            continue
        seen.add(code)
        line = _identity_test(code)
        if line is not None:
            return code, line
        waiting += [(part, names) for part in code.co_consts if isinstance(part, CodeType)]
        for value in _named(code, names, cls):
            wait(value)
    return None


def _named(code: CodeType, names: dict[str, Any], cls: type[Any]) -> Iterator[Any]:
    """List what names in a function may stand for: globals, and what modules and records have."""
    records = [value for value in names.values() if isinstance(value, type) and _is_record(value)]
    for name in code.co_names:
        found = names.get(name)
        yield found
        yield getattr(cls, name, None)
        for record in records:
            yield vars(record).get(name)
        if isinstance(found, ModuleType):
            yield from (vars(found).get(other) for other in code.co_names)


def _is_record(cls: type[Any]) -> bool:
    return is_dataclass(cls) or issubclass(cls, Enum)


def _identity_test(code: CodeType) -> int | None:
    """Give the line at which a function itself compares by identity with something but None."""
    line, before = code.co_firstlineno, None
    for instruction in dis.get_instructions(code):
        line = instruction.starts_line or line
        is_none = before is not None and (before.opname, before.argval) == ("LOAD_CONST", None)
        if instruction.opname == "IS_OP" and not is_none:
            return line
        before = instruction
    return None
