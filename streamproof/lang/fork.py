"""Running a function once for every path: a symbolic truth forks the run.

A run follows a list of answers to the questions that it asks (`decide`); the first question without
an answer is taken to be true, and the other answer is queued. Nothing is parsed: Python itself runs
`if`, `and`, `or`, `not`, `in`, `match` and chained comparisons.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools
import itertools
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path as FilePath
from types import CodeType, FrameType
from typing import Any

from streamproof.lang.claims import claim_text
from streamproof.lang.errors import Disabled, Untraceable
from streamproof.lang.expr import FALSE, Apply, Const, Expr, conjuncts, equal, negate
from streamproof.lang.sorts import EnumSort

PATHS_MAX = 256
"""Paths of one action, or of one merged lambda, before it is refused."""

_HERE = FilePath(__file__).parent


class Ending(Enum):
    """How a path ends."""

    VALUE = "value"
    DISABLED = "disabled"
    BROKEN_CLAIM = "broken claim"


@dataclass(frozen=True)
class Path:
    """One path through a function.

    Attributes
    ----------
    decisions : the questions asked on the way with the answers followed, in order
    value : what the function gave; for a broken claim, where it stands
    claims : claims inside merged lambdas: the condition that breaks one, and where it stands
    premises : premises of `implies` on the way: whose, and under which condition they hold
    """

    decisions: tuple[tuple[Expr, bool], ...]
    ending: Ending
    value: Any
    claims: tuple[tuple[Expr, str], ...]
    premises: tuple[tuple[CodeType, Expr], ...]

    @property
    def condition(self) -> tuple[Expr, ...]:
        """The path condition, as the conjuncts that this path chose."""
        return tuple(asked if answer else negate(asked) for asked, answer in self.decisions)


@dataclass
class _Run:
    """One execution, and what it has learned so far."""

    prefix: tuple[bool, ...]
    outer: _Run | None
    decisions: list[tuple[Expr, bool]] = field(default_factory=list)
    facts: dict[Expr, bool] = field(default_factory=dict)
    claims: list[tuple[Expr, str]] = field(default_factory=list)
    premises: list[tuple[CodeType, Expr]] = field(default_factory=list)

    def known(self, condition: Expr) -> bool | None:
        """Look a condition up among the answers given so far, here or further out."""
        if condition in self.facts:
            return self.facts[condition]
        if _enum_test(condition) and self._is_another_member(condition):
            return False
        return self.outer.known(condition) if self.outer else None

    def learn(self, condition: Expr, answer: bool) -> None:
        held = condition if answer else negate(condition)
        for fact in (held, *conjuncts(held)):
            self.facts[fact] = True
            self.facts[negate(fact)] = False

    def _is_another_member(self, condition: Expr) -> bool:
        assert isinstance(condition, Apply)
        subject, member = condition.arguments
        assert isinstance(member, Const)
        assert isinstance(member.value, Enum)
        others = (other for other in type(member.value) if other is not member.value)
        return any(self.facts.get(equal(subject, Const(o, member.sort)), False) for o in others)


_current: contextvars.ContextVar[_Run | None] = contextvars.ContextVar("run", default=None)
_fresh = itertools.count()


def fresh_name() -> str:
    """Give a variable name that no source text can contain."""
    return f"%{next(_fresh)}"


def decide(condition: Expr) -> bool:
    """Answer a symbolic truth: by what is known on this path, or by forking the run."""
    if isinstance(condition, Const):
        return bool(condition.value)
    run = _current.get()
    if run is None:
        raise untraceable(
            "a symbolic value was asked for its truth outside a trace",
            "Call the function through trace(...)",
        )
    known = run.known(condition)
    if known is not None:
        return known
    asked = len(run.decisions)
    answer = run.prefix[asked] if asked < len(run.prefix) else True
    if asked >= PATHS_MAX:
        raise untraceable(
            f"it asked more than {PATHS_MAX} questions on one path, as a symbolic loop does",
            "Loop over a quantifier or Map.map instead, which need no size",
        )
    run.decisions.append((condition, answer))
    run.learn(condition, answer)
    return answer


def break_claim(condition: Expr, where: str) -> None:
    """Note that a claim inside a merged lambda fails under a condition."""
    run = _current.get()
    if run is not None and condition != FALSE:
        run.claims.append((condition, where))


def ask_premise(code: CodeType, condition: Expr) -> None:
    """Note under which condition the premise of an `implies` holds."""
    run = _current.get()
    if run is not None:
        run.premises.append((code, condition))


def paths(function: Callable[[], Any], name: str) -> list[Path]:
    """Run a function once for every path, in the order of a depth-first search, true first.

    Raises
    ------
    Untraceable : if it does what has no symbolic reading, or has more than `PATHS_MAX` paths
    """
    found: list[Path] = []
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        prefix = pending.pop()
        run = _Run(prefix, _current.get())
        with _running(run):
            ending, value = _run_once(function, name)
        answers = tuple(answer for _, answer in run.decisions)
        pending.extend(
            (*answers[:index], False)
            for index in range(len(prefix), len(answers))
            if answers[index]
        )
        noted = tuple(run.claims), tuple(run.premises)
        found.append(Path(tuple(run.decisions), ending, value, *noted))
        if len(found) > PATHS_MAX:
            raise Untraceable(
                name,
                _location_of(function),
                f"it has more than {PATHS_MAX} paths",
                "Split it into several actions, or move conditions into forall, exists or Map.map",
            )
    return found


@contextmanager
def blaming(name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Name a function that has already ended, where its result turns out to be wrong."""
    try:
        yield
    except Untraceable as error:
        place = _location_of(function)
        raise Untraceable(name, place, error.what, error.remedy) from error


@contextmanager
def _running(run: _Run) -> Iterator[None]:
    token = _current.set(run)
    try:
        yield
    finally:
        _current.reset(token)


def _run_once(function: Callable[[], Any], name: str) -> tuple[Ending, Any]:
    try:
        return Ending.VALUE, function()
    except Disabled:
        return Ending.DISABLED, None
    except AssertionError as broken:
        return Ending.BROKEN_CLAIM, claim_text(broken)
    except Untraceable:
        raise
    except dataclasses.FrozenInstanceError as error:
        raise _refused(
            error, name, "Give a changed copy: dataclasses.replace(record, ...)"
        ) from error
    except RecursionError as error:
        remedy = "Recursion on a symbolic value never ends: use a quantifier or Map.map"
        raise Untraceable(
            name, _location_of(function), "it recursed without end", remedy
        ) from error
    except Exception as error:
        remedy = "A transition must run without errors on every state that its guard admits"
        raise _refused(error, name, remedy) from error


def _refused(error: Exception, name: str, remedy: str) -> Untraceable:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not _is_ours(f.filename)]
    place = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "unknown place"
    function = frames[-1].name if frames else name
    return Untraceable(function, place, f"{type(error).__name__}: {error}", remedy)


def untraceable(what: str, remedy: str) -> Untraceable:
    """Refuse what the innermost function outside `streamproof.lang` is doing."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - how a frame is had
    while frame is not None and _is_ours(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return Untraceable("a function", "unknown place", what, remedy)
    code = frame.f_code
    return Untraceable(code.co_name, f"{code.co_filename}:{frame.f_lineno}", what, remedy)


def _is_ours(filename: str) -> bool:
    is_generated = filename.startswith("<")  # by dataclasses, as the setter of a frozen record
    return (
        is_generated
        or FilePath(filename).parent == _HERE
        or filename.endswith(("dataclasses.py", "enum.py"))
    )


def _location_of(function: Callable[..., Any]) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code else "unknown place"


def _enum_test(condition: Expr) -> bool:
    return (
        isinstance(condition, Apply)
        and condition.operator == "eq"
        and isinstance(condition.arguments[1], Const)
        and isinstance(condition.arguments[1].sort, EnumSort)
    )
