"""Executed code: the instructions and paths of a model that were traced, or that run plainly.

A traced path runs the very instructions that plain runs do. One that a plain run executes, and no
traced path did, is reached through a question that symbolic values answer otherwise.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from streamproof.lang.fork import Questions, observing_paths
from streamproof.lang.held import held
from streamproof.lang.origin import Origin, instructions_of, origin_of

HELD_MAX, RANGE_MAX = 1_000, 64
"""Parts of a constant in which whole numbers are looked for, at most, and numbers of a range."""


class Executed:
    """The instructions that have run while it was recording, and the paths that were traced.

    Attributes
    ----------
    offsets : per function of the model's own, the offsets of its instructions
    paths : per method that was traced, in their order, what holds on each of its paths
    """

    def __init__(self) -> None:
        self.offsets: dict[CodeType, set[int]] = {}
        self.paths: list[list[Questions]] = []
        self._names: dict[CodeType, dict[str, Any]] = {}
        self._given: list[Any] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what this thread runs meanwhile."""
        with observing_paths() as found, _tracing(self._enter):
            yield
        self.paths += found

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        own = _own_function(frame.f_code)
        if own is None:
            return None
        if own.code not in self._names:
            self._names[own.code] = frame.f_globals
            self._given += _from_outside(frame)
        seen = self.offsets.setdefault(own.code, set())
        if own.offsets <= seen:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def note(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "opcode":
                seen.add(frame.f_lasti)
            return note

        return note

    def numbers(self) -> set[int]:
        """List the whole numbers that the functions that ran name."""
        found: set[int] = set()
        for code, names in self._names.items():
            _gather(code.co_consts, found)
            for name in code.co_names:
                value = names.get(name)
                _gather(value, found)
                if isinstance(value, ModuleType | type):
                    attributes = (inspect.getattr_static(value, n, None) for n in code.co_names)
                    _gather([*attributes], found)
        _gather(self._given, found)
        return found

    def constants(self, cls: type[Any] | None = None) -> dict[str, Any]:
        """Return the plain values that the functions that ran, and a class, have by name."""
        found = {}
        for code, names in self._names.items():
            for name in code.co_names:
                if isinstance(names.get(name), _PLAIN):
                    found[f"{names.get('__name__')}.{name}"] = names[name]
        for base in cls.__mro__ if cls is not None else ():
            for name, value in vars(base).items():
                if isinstance(value, _PLAIN) and not name.startswith("__"):
                    found[f"{base.__qualname__}.{name}"] = value
        return found


_PLAIN = (bool, int, str, tuple, frozenset)


class Beyond:
    """Looks for an instruction that runs plainly and has not run in any traced path.

    Attributes
    ----------
    place : function and line of the first one; None as long as there is none
    """

    def __init__(self, traced: Executed) -> None:
        self._traced = traced
        self._known: dict[_OwnFunction, set[int] | None] = {}
        self.place: str | None = None

    def _traced_offsets(self, own: _OwnFunction) -> set[int] | None:
        """Return the traced part of a function; None if all of it was traced."""
        if own not in self._known:
            known = self._traced.offsets.get(own.code, set())
            self._known[own] = None if own.offsets <= known else known
        return self._known[own]

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look at what this thread runs meanwhile."""
        self.place = None
        with _tracing(self._enter):
            yield

    def _enter(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        own = _own_function(frame.f_code)
        known = None if own is None else self._traced_offsets(own)
        if known is None:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def note(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "opcode" and frame.f_lasti not in known and self.place is None:
                code = frame.f_code
                self.place = f"{code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
            return note

        return note


@contextmanager
def _tracing(enter: Any) -> Iterator[None]:
    before, collects = sys.gettrace(), gc.isenabled()
    gc.disable()  # finalizers of others would run as if the model called them
    sys.settrace(enter)
    try:
        yield
    finally:
        sys.settrace(before)
        if collects:
            gc.enable()


@dataclass(frozen=True, slots=True, eq=False)
class _OwnFunction:
    """A function of a model's own.

    Attributes
    ----------
    offsets : those of its instructions that Python reports to a tracer
    """

    code: CodeType
    offsets: frozenset[int]


_functions: dict[int, tuple[CodeType, _OwnFunction | None]] = {}
"""By number, since codes are compared by what they hold; they are kept, so that none is reused."""


def _own_function(code: CodeType) -> _OwnFunction | None:
    """Return what is known of a function; None if it is none of a model's own."""
    kept = _functions.get(id(code))
    if kept is None:
        found = (i.offset for i in instructions_of(code) if i.opname not in _UNSEEN)
        own = _OwnFunction(code, frozenset(found)) if is_own(code) else None
        kept = _functions[id(code)] = code, own
    return kept[1]


_UNSEEN = ("RESUME", "CACHE", "MAKE_CELL", "COPY_FREE_VARS")
"""Instructions without a visible effect, which Python does not always report to a tracer."""
_TOLD = ("<module>", "__repr__", "__str__", "__format__", "__del__")
"""Functions that no question asks: the body of a module, texts, what the collector calls."""
_COMPARES = str(Path(__file__).parent)


def is_own(code: CodeType) -> bool:
    """Return whether a function is a user's, but not one that only reads or shows values."""
    is_users = origin_of(code) is Origin.USER and not code.co_filename.startswith(_COMPARES)
    return is_users and code.co_name not in _TOLD


def _from_outside(frame: FrameType) -> Iterator[Any]:
    """List the variables around a function, its arguments, and what their classes have."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    for name in (*code.co_freevars, *code.co_varnames[:count]):
        value = frame.f_locals.get(name)
        yield value
        yield from (inspect.getattr_static(type(value), other, None) for other in code.co_names)


def _gather(value: Any, found: set[int]) -> None:
    """Collect the whole numbers in a value, and in all that it holds."""
    for part in islice(held(value, scalars=True), HELD_MAX):
        if isinstance(part, range):
            found.update(part[:RANGE_MAX])
        elif type(part) is int:
            found.add(part)
