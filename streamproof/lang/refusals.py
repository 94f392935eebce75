"""Refusals: what cannot be traced, with the function, the line and what to write instead.

A refusal is noted in the run as well as raised, since the function that is traced may catch it.
"""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from streamproof.lang.errors import Untraceable
from streamproof.lang.origin import is_users, runs_aside, users_frame
from streamproof.lang.runs import current_run


def untraceable(what: str, remedy: str) -> Untraceable:
    """Refuse what the innermost function of a user is doing."""
    here = sys._getframe(1)  # noqa: SLF001 - how a frame is had
    frame = users_frame(here)
    error = Untraceable("a function", "unknown place", what, remedy)
    if frame is not None:
        error = refused_at(frame.f_code, frame.f_lineno, what, remedy)
    return error if runs_aside(here) else noted(error)


def noted(error: Untraceable) -> Untraceable:
    """Note a refusal in the run, which raises it again when its path ends."""
    run = current_run()
    if run is not None:
        run.refuse(error)
    return error


def refused_at(code: CodeType, line: int, what: str, remedy: str) -> Untraceable:
    """Refuse what a function does in a line."""
    return Untraceable(code.co_name, f"{code.co_filename}:{line}", what, remedy)


def refused_in(function: Callable[..., Any] | None, what: str, remedy: str) -> Untraceable:
    """Refuse the act of a function that has ended; without a function, that of the user's frame."""
    code = None if function is None else code_of(function)
    if code is None:
        return untraceable(what, remedy)
    return noted(refused_at(code, code.co_firstlineno, what, remedy))


def refused_error(error: BaseException, name: str, remedy: str) -> Untraceable:
    """Refuse what ended in an error of another kind, where the user's code did it."""
    frames = [
        (frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if is_users(frame)
    ]
    what = f"{type(error).__name__}: {error}"
    if not frames:
        return Untraceable(name, "unknown place", what, remedy)
    frame, line = frames[-1]
    return refused_at(frame.f_code, line, what, remedy)


@contextmanager
def blaming(name: str, function: Callable[..., Any] | None) -> Iterator[None]:
    """Name a function that has already ended, where its result turns out to be wrong."""
    try:
        yield
    except Untraceable as error:
        if function is None:
            raise
        place = location_of(function)
        raise noted(Untraceable(name, place, error.what, error.remedy)) from error


def location_of(function: Callable[..., Any]) -> str:
    """Return file and line of a function's definition."""
    code = code_of(function)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "unknown place"


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code of a function, also where some of its arguments are given already."""
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def quantifiers_over(name: str) -> str:
    """Describe what is written instead of Python's words for all elements."""
    return (
        f"Write forall({name}, lambda ...) instead of all(...), exists({name}, lambda ...) instead "
        f"of any(...), count({name}, lambda ...) instead of sum(1 for ... if ...)"
    )
