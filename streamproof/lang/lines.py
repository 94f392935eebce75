"""Which lines of a user's code run: on traced paths, or in a plain run beside them."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, TypeAlias

from streamproof.lang.origin import is_users
from streamproof.lang.trace import trace_anew

Line: TypeAlias = tuple[CodeType, int]
"""A function's code, and the number of a line in it."""


@contextmanager
def noting_lines() -> Iterator[set[Line]]:
    """Note the lines of users' code that run in this thread while this lasts.

    A debugger, or a measurement of coverage, does not see what runs meanwhile.
    """
    lines: set[Line] = set()

    def note(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            lines.add((frame.f_code, frame.f_lineno))
        return note

    def enter(frame: FrameType, _event: str, _: Any) -> Any:
        return note if is_users(frame) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(before)


def traced_lines(cls: type[Any]) -> frozenset[Line]:
    """List the lines that the traced paths of a model's methods run, all of them together.

    Raises
    ------
    Untraceable, WrongDefinition : as `trace_model` does
    """
    lines: frozenset[Line] = _traced_lines(cls)  # type: ignore[arg-type] # a class does hash
    return lines


@functools.cache
def _traced_lines(cls: Any) -> frozenset[Line]:
    with noting_lines() as lines:
        trace_anew(cls)
    return frozenset(lines)
