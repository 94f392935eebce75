"""Texts of what is written down: shortened, numbered, and of code."""

from __future__ import annotations

import functools
import re
from hashlib import blake2b
from types import CodeType
from typing import Any

LENGTH_MAX = 500
"""Letters of a text; an object that holds another twice would double it at each level."""
NUMBER = re.compile("\0[0-9]*\0?")


def shortened(text: str) -> str:
    """Shorten a long text to how it begins, and a digest of all of it."""
    if len(text) <= LENGTH_MAX:
        return text
    return f"{text[:LENGTH_MAX]}... ({blake2b(text.encode(), digest_size=12).hexdigest()})"


def plain_text(value: Any) -> str:
    """Write a plain value down; Python writes no number of thousands of digits."""
    is_huge = type(value) is int and value.bit_length() > LENGTH_MAX
    return hex(value) if is_huge else repr(value)


def numbered(text: str, *values: Any) -> str:
    """Distinguish values of one text by hidden numbers."""
    return text + "".join(f"\0{id(value)}\0" for value in values)


@functools.lru_cache(maxsize=4096)
def code_text(code: CodeType) -> str:
    """Write down what a function does: two of one name may do different things."""
    consts = (code_text(c) if isinstance(c, CodeType) else (type(c), c) for c in code.co_consts)
    does = (code.co_code, code.co_names, code.co_varnames, code.co_freevars, *consts)
    return blake2b(repr(does).encode(), digest_size=6).hexdigest()
