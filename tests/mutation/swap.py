"""Making a mutant of modules that are loaded, by giving functions other code.

Tests are then collected once, and a fork for each mutant begins with everything imported. A mutant
outside of functions, such as in a constant or a default, is none of these: it needs a new import.
"""

from __future__ import annotations

import gc
import inspect
import warnings
from collections.abc import Iterator
from types import CodeType, FunctionType


def swapped_code(original: str, mutated: str, path: str) -> list[tuple[CodeType, CodeType]] | None:
    """Pair the functions that a mutant changes with their new code; None if it is not in one."""
    with warnings.catch_warnings(action="ignore"):  # such as of `is` beside a number
        before = compile(original, path, "exec", dont_inherit=True)
        after = compile(mutated, path, "exec", dont_inherit=True)
    pairs: list[tuple[CodeType, CodeType]] = []
    return pairs if _collect(before, after, pairs) and pairs else None


def _collect(one: CodeType, other: CodeType, pairs: list[tuple[CodeType, CodeType]]) -> bool:
    """Compare what runs at the import, and descend into classes; False if it differs itself."""
    if one.co_code != other.co_code or one.co_names != other.co_names:
        return False
    mine, its = list(one.co_consts), list(other.co_consts)
    if len(mine) != len(its):
        return False
    for before, after in zip(mine, its, strict=True):
        if isinstance(before, CodeType) and isinstance(after, CodeType):
            if before == after:
                continue
            if before.co_flags & inspect.CO_OPTIMIZED:
                if before.co_freevars != after.co_freevars:
                    return False
                pairs.append((before, after))
            elif not _collect(before, after, pairs):
                return False
        elif repr(before) != repr(after):
            return False
    return True


def swap(pairs: list[tuple[CodeType, CodeType]]) -> bool:
    """Return the functions that are loaded their new code; False if one of them is not."""
    functions = list(_functions())
    for before, after in pairs:
        found = [f for f in functions if f.__code__ == before]
        found = [f for f in found if f.__code__.co_filename == before.co_filename]
        if not found:
            return False
        for function in found:
            function.__code__ = after
    return True


def _functions() -> Iterator[FunctionType]:
    return (thing for thing in gc.get_objects() if type(thing) is FunctionType)
