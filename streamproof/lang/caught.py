"""Exceptions that a function catches, and that may come otherwise for a symbolic value.

What is written in C raises a TypeError or an AttributeError where a value is of no class that it
knows, and names the class in its text. A function that catches one goes on otherwise, and no
refusal was noted. What a user raises, a guard, a claim, a missing key come alike.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from types import CodeType, FrameType
from typing import Any

from streamproof.lang.origin import instructions_of

_OF_C = {BaseException, Exception, TypeError, AttributeError}
_CATCHING = ("CHECK_EXC_MATCH", "CHECK_EG_MATCH", "WITH_EXCEPT_START")
_REMEDY = "Ask for the condition beforehand, by if; or raise and catch an exception of your own"


def caught_by(
    frame: FrameType, uses: Iterable[tuple[int, Iterable[Any]]]
) -> Iterator[tuple[int, str, str]]:
    """Yield the exceptions that a frame's code catches, and that symbolic values may raise.

    Parameters
    ----------
    uses : lines, and all that what is used there from outside holds

    Returns
    -------
    A line, what is wrong there, and what to write instead.
    """
    code = frame.f_code
    for line in _unnamed(code):
        yield line, "it goes on behind any exception, a refusal among them", _REMEDY
    if code.co_name == "__exit__":
        for kind in {type(value) for value in frame.f_locals.values()} & _OF_C:
            yield code.co_firstlineno, _catches(kind), _REMEDY
    if _catches_some(code):
        for line, parts in uses:
            for part in parts:
                if isinstance(part, type) and part in _OF_C:
                    yield line, _catches(part), _REMEDY


def _catches(kind: type) -> str:
    return f"it catches {kind.__name__}, which a symbolic value raises where a plain one may not"


@functools.cache
def _catches_some(code: CodeType) -> bool:
    return any(instruction.opname in _CATCHING for instruction in instructions_of(code))


@functools.cache
def _unnamed(code: CodeType) -> tuple[int, ...]:
    """List lines of handlers that name no class: `except:`, or a return in `finally`."""
    found = []
    line, before, is_named = code.co_firstlineno, "", False
    for instruction in instructions_of(code):
        line = (instruction.positions.lineno if instruction.positions else None) or line
        if instruction.opname == "PUSH_EXC_INFO":
            is_named = False
        elif instruction.opname in _CATCHING:
            is_named = True
        elif before == "POP_EXCEPT" and instruction.opname != "RERAISE" and not is_named:
            found.append(line)
        before = instruction.opname
    return tuple(found)
