"""Canonical text: what a value is, written alike in every process.

Python's `repr` shows the order of a set, and the address of an object that says nothing of itself.
Here members are sorted, and an object is its class and its parts.
"""

from __future__ import annotations

import re
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any

from streamproof.checker.forms import parts_of
from streamproof.lang import Element, Map

_PLAIN = (bool, int, str, type(None), float, bytes)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_NAMED = (type, FunctionType, BuiltinFunctionType)


def text_of(value: Any) -> str:
    """Write down what a value is, whatever the hashes and addresses of this process."""
    cls: Any = type(value)
    if cls in _PLAIN:
        return repr(value)
    if isinstance(value, Element):
        return f"{cls.__name__}({value.index})"
    if isinstance(value, Enum):
        return f"{cls.__name__}.{value.name}"
    if isinstance(value, _NAMED):
        return value.__qualname__
    if cls in (frozenset, set) or isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(text_of, value)))}}}"
    if cls in (tuple, list):
        return f"({', '.join(map(text_of, value))})"
    if cls in (dict, Map):
        return f"{{{', '.join(f'{text_of(k)}: {text_of(v)}' for k, v in value.items())}}}"
    return _of_parts(value)


def _of_parts(value: Any) -> str:
    cls: Any = type(value)
    parts = parts_of(cls)
    if parts is not None:
        names = (name.removeprefix(".") for name in parts.names(value))
        pairs = zip(names, map(text_of, parts.values(value)), strict=True)
        return f"{cls.__name__}({', '.join(f'{name}={text}' for name, text in pairs)})"
    return _ADDRESS.sub("", repr(value))
