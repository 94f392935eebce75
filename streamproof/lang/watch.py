"""Watching which functions a run enters, so that each is looked at once.

Python tells a profile function of every call. That finds a function however it is reached: through
a variable, a record's method, a library that calls back.
"""

from __future__ import annotations

import functools
import gc
import sys
import typing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeVar

from streamproof.lang.allowed import is_allowed_builtin, is_library_that_asks, remedy_for
from streamproof.lang.looks import doubts_about
from streamproof.lang.origin import Origin, is_users, origin_of, runs_aside
from streamproof.lang.refusals import refused_at
from streamproof.lang.runs import Run, current_run

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@contextmanager
def watching() -> Iterator[None]:
    """Look at every function of a user that is entered while this lasts."""
    before = sys.getprofile()
    if before is _observe:
        yield
        return
    # The collector would run finalizers and callbacks of others, as if the function called them.
    collects = gc.isenabled()
    gc.disable()
    sys.setprofile(_observe)
    try:
        yield
    finally:
        _resume(before)
        if collects:
            gc.enable()


def _resume(profiler: Any) -> None:
    """Restore the earlier profiler, which may be written in C, like that of `cProfile`."""
    if profiler is None or callable(profiler):
        sys.setprofile(profiler)
    else:
        profiler.enable()


def unwatched(function: F) -> F:
    """Stop watching while the language computes: a tenth of the calls are a user's."""

    @functools.wraps(function)
    def compute(*arguments: Any) -> Any:
        observing = sys.getprofile()
        if observing is not _observe:
            return function(*arguments)
        sys.setprofile(None)
        try:
            return function(*arguments)
        finally:
            sys.setprofile(observing)

    return typing.cast("F", compute)


_WATCHED = ("__getattribute__", "__init__", "__repr__", "__str__", "__format__")
"""Methods that look at who calls them, or are called too often."""


def unwatched_methods(cls: type[T]) -> type[T]:
    """Stop watching inside of all methods of a class."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and name not in _WATCHED:
            setattr(cls, name, unwatched(method))
    return cls


def _observe(frame: FrameType, event: str, argument: Any) -> None:
    if event == "call":
        match origin_of(frame.f_code):
            case Origin.USER:
                _enter(frame)
            case Origin.STANDARD_LIBRARY:
                _enter_library(frame)
    elif event == "c_call" and origin_of(frame.f_code) is Origin.USER:
        _call_builtin(frame, argument)


def _enter(frame: FrameType) -> None:
    run, code = current_run(), frame.f_code
    if run is None:
        return
    # The same code may be that of several functions, with other variables around it.
    around = [id(frame.f_locals.get(name)) for name in code.co_freevars]
    key = (code, id(frame.f_globals), *around)
    if key in run.entered:
        return
    run.entered[key] = code
    if runs_aside(frame):
        return
    doubts, uses = doubts_about(frame)
    for use in uses:
        run.memory.watch(use.value, (code, use.line))
    errors = [refused_at(code, doubt.line, doubt.what, doubt.remedy) for doubt in doubts]
    for error in errors:
        run.doubt_it(error)
    for error, doubt in zip(errors, doubts, strict=True):
        if not doubt.ends:  # it might run forever, such as a loop until two values are one
            raise error


def _enter_library(frame: FrameType) -> None:
    """Look at a function of a library that a user's function calls."""
    caller, module = frame.f_back, str(frame.f_globals.get("__name__", ""))
    if caller is not None and is_users(caller) and not is_library_that_asks(module):
        _doubt(caller, module.rpartition(".")[2], module)


def _call_builtin(frame: FrameType, function: Any) -> None:
    if not is_allowed_builtin(function) and "@py_builtins" not in frame.f_code.co_names:
        name = getattr(function, "__name__", "a function")
        _doubt(frame, name, getattr(function, "__module__", "") or "")


def _doubt(frame: FrameType, name: str, module: str) -> None:
    run: Run | None = current_run()
    if run is not None and not runs_aside(frame):
        code: CodeType = frame.f_code
        what = f"it calls {name}, which may tell a symbolic value from a plain one, or two runs"
        error = refused_at(code, frame.f_lineno, f"{what} apart", remedy_for(name, module))
        run.doubt_it(error)
