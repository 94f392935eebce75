"""Runs: one execution of a function on symbolic values, and what it has learned so far."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from types import CodeType

from streamproof.lang.errors import Untraceable
from streamproof.lang.expr import Apply, Const, Expr, conjuncts, equal, negate
from streamproof.lang.memory import Memory
from streamproof.lang.quantify import Site
from streamproof.lang.sorts import EnumSort

REFUSALS_MAX = 100
"""How often a path may go on after a refusal, before it is stopped."""


class Unending(BaseException):
    """A path catches its refusals and tries again."""


@dataclass
class Run:
    """One execution along one list of answers.

    Attributes
    ----------
    prefix : the questions that will be asked first, and the answers to follow
    outer : the run that this one is inside of: a lambda's, inside its function's
    refusal : the first thing on the way that has no symbolic reading, whoever caught it
    refusals : how many there were
    doubt : the first thing in code on the way that may see that a value is symbolic
    memory : what may not change on the way
    entered : the code that has been looked at, in order
    """

    prefix: tuple[tuple[Expr, bool], ...]
    outer: Run | None
    decisions: list[tuple[Expr, bool]] = field(default_factory=list)
    facts: dict[Expr, bool] = field(default_factory=dict)
    claims: list[tuple[Expr, str]] = field(default_factory=list)
    premises: list[tuple[Site, Expr]] = field(default_factory=list)
    refusal: Untraceable | None = None
    doubt: Untraceable | None = None
    refusals: int = 0
    memory: Memory = field(default_factory=Memory)
    entered: dict[object, CodeType] = field(default_factory=dict)

    def known(self, condition: Expr) -> bool | None:
        """Look a condition up among the answers given so far, here or further out."""
        if condition in self.facts:
            return self.facts[condition]
        if is_enum_test(condition) and self._is_another_member(condition):
            return False
        return self.outer.known(condition) if self.outer else None

    def learn(self, condition: Expr, answer: bool) -> None:
        """Keep an answer, and what follows from it."""
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

    def refuse(self, error: Untraceable) -> None:
        """Note a refusal here and further out: no `except` on the way can take it back."""
        self.refusal = self.refusal or error
        self._count()
        if self.outer is not None:
            self.outer.refuse(error)

    def _count(self) -> None:
        self.refusals += 1
        if self.is_unending:
            raise Unending

    @property
    def is_unending(self) -> bool:
        """Whether it goes on and on after refusals."""
        return self.refusals > REFUSALS_MAX

    def doubt_it(self, error: Untraceable) -> None:
        """Note what code on the way may see; a refusal, which names what it did, goes first."""
        self.doubt = self.doubt or error
        self._count()
        if self.outer is not None:
            self.outer.doubt_it(error)


_current: ContextVar[Run | None] = ContextVar("run", default=None)


def current_run() -> Run | None:
    """Return the innermost run, if there is one."""
    return _current.get()


@contextmanager
def running(run: Run) -> Iterator[None]:
    """Make a run the innermost one while this lasts."""
    token = _current.set(run)
    try:
        yield
    finally:
        _current.reset(token)


def is_enum_test(condition: Expr) -> bool:
    """Return whether a condition asks if a value is a certain member of an `Enum`."""
    return (
        isinstance(condition, Apply)
        and condition.operator == "eq"
        and isinstance(condition.arguments[1], Const)
        and isinstance(condition.arguments[1].sort, EnumSort)
    )
