"""What of a model's own code was traced, instructions and paths, and what of it runs plainly.

A traced path runs the very instructions that plain runs do. One that a plain run executes, and no
traced path did, is reached through a question that symbolic values answer otherwise.
"""

from __future__ import annotations

import gc
import inspect
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dis import get_instructions
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from streamproof import lang
from streamproof.lang.fork import Questions, observing_paths
from streamproof.lang.held import held

_NOT_LOOKED_AT = (
    str(Path(lang.__file__).parent),
    str(Path(__file__).parent),
    *{sysconfig.get_path(name) for name in ("stdlib", "platstdlib")},
)

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
        self.looked_at: dict[int, tuple[CodeType, set[int] | None]] = {}
        self._names: dict[CodeType, dict[str, Any]] = {}
        self._given: list[Any] = []

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what this thread runs meanwhile."""
        with observing_paths() as found, _tracing(self._enter):
            yield
        self.paths += found

    def _enter(self, frame: FrameType, event: str, _argument: Any) -> Any:
        code = frame.f_code
        if event != "call" or not is_own(code):
            return None
        if code not in self._names:
            self._names[code] = frame.f_globals
            self._given += _from_outside(frame)
        seen = self.offsets.setdefault(code, set())
        if _telling_offsets(code) <= seen:
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
        """Give the plain values that the functions that ran, and a class, have by name."""
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
        self.place: str | None = None

    def _offsets(self, code: CodeType) -> set[int] | None:
        """Give what of a function was traced; None if all of it was, so that nothing is beyond."""
        kept = self._traced.looked_at.get(id(code))
        if kept is None:
            known = self._traced.offsets.get(code, set())
            # Codes are compared by what they hold, which takes long; one that is kept is not gone.
            is_whole = _telling_offsets(code) <= known
            kept = self._traced.looked_at[id(code)] = code, None if is_whole else known
        return kept[1]

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look at what this thread runs meanwhile."""
        with _tracing(self._enter):
            yield

    def _enter(self, frame: FrameType, event: str, _argument: Any) -> Any:
        code = frame.f_code
        if event != "call" or self.place is not None or not is_own(code):
            return None
        known = self._offsets(code)
        if known is None:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False

        def note(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "opcode" and frame.f_lasti not in known and self.place is None:
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


_offsets_of: dict[int, tuple[CodeType, frozenset[int]]] = {}


def _telling_offsets(code: CodeType) -> frozenset[int]:
    """List the offsets of the instructions of a function, but for those that nobody is told of."""
    if id(code) not in _offsets_of:
        found = (i.offset for i in get_instructions(code) if i.opname not in _UNSEEN)
        _offsets_of[id(code)] = code, frozenset(found)
    return _offsets_of[id(code)][1]


_UNSEEN = ("RESUME", "CACHE", "MAKE_CELL", "COPY_FREE_VARS")
"""Instructions that do nothing which could be seen, and are not always told of."""
_owned: dict[int, tuple[CodeType, bool]] = {}
"""By number, since codes are compared by what they hold; they are kept, so that none is reused."""


def is_own(code: CodeType) -> bool:
    """Tell whether a function is neither the language's nor Python's own, nor a module's body."""
    if id(code) not in _owned:
        is_made = code.co_filename.startswith("<") and code.co_name.startswith("__")
        is_told = code.co_name in ("<module>", "__repr__", "__str__", "__format__", "__del__")
        is_foreign = code.co_filename.startswith(_NOT_LOOKED_AT) or "<frozen" in code.co_filename
        is_library = "site-packages" in code.co_filename
        _owned[id(code)] = code, not is_told and (is_library or not (is_made or is_foreign))
    return _owned[id(code)][1]


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
