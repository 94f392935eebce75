"""Comparing compiled code: what it does counts, and not the lines that it stands on."""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Any

_PARTS = {
    "co_code": "other instructions",
    "co_names": "other names",
    "co_varnames": "other variables",
    "co_freevars": "other variables of the function around it",
    "co_cellvars": "other variables that inner functions use",
    "co_argcount": "other parameters",
    "co_posonlyargcount": "other parameters",
    "co_kwonlyargcount": "other parameters",
    "co_flags": "another kind of function",
    "co_exceptiontable": "other handling of errors",
}


def differing_part(one: CodeType, other: CodeType) -> str:
    """Describe how two compiled functions differ; an empty text if they do the same.

    A function and the lambdas in it are compared by their place: names, like lines, may move.
    """
    for part, told in _PARTS.items():
        if getattr(one, part) != getattr(other, part):
            return told
    if len(one.co_consts) != len(other.co_consts):
        return "other constants"
    for mine, its in zip(one.co_consts, other.co_consts, strict=True):
        if isinstance(mine, CodeType) and isinstance(its, CodeType):
            inner = differing_part(mine, its)
            if inner:
                return f"{inner} in {its.co_name}"
        elif not is_same_constant(mine, its):
            return f"the constant {mine!r} instead of {its!r}"
    return ""


def is_same_constant(one: Any, other: Any) -> bool:
    """Compare constants with their types: 1, 1.0 and True are equal and not the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(is_same_constant, one, other))
    if isinstance(one, frozenset):
        return sorted(map(_typed, one)) == sorted(map(_typed, other))
    return repr(one) == repr(other)  # tells 0.0 from -0.0


def _typed(value: Any) -> str:
    return f"{type(value).__name__} {value!r}"


def names_in(code: CodeType) -> Iterator[str]:
    """List the names that code looks up, with those of the functions in it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
