"""Models whose code sees that it is traced, through a hole in the language that nobody knows of."""

from __future__ import annotations

import operator
import types
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, ClassVar

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Range,
    action,
    always,
    count,
    every_step,
    final,
    forall,
    init,
    require,
)
from streamproof.lang.runs import _current


def _is_traced() -> bool:
    return _current.get() is not None


# Stands for whatever lets code see that it is traced: taken for an allowed function of the library.
is_traced = types.FunctionType(
    _is_traced.__code__.replace(co_filename=operator.__file__),
    {"__name__": operator.__name__, "_current": _current},
    operator.truth.__name__,
)


class P(Element): ...


class Phase(Enum):
    IDLE = 1
    BUSY = 2


@dataclass(frozen=True)
class State:
    n: Annotated[int, Range(0, 2000)]
    phase: Phase
    m: Map[P, bool]


@dataclass(frozen=True)
class Honest(Model[State]):
    ps: Domain[P]
    sizes = {"default": {"ps": 2}}

    @init
    def start(self) -> State:
        return State(0, Phase.IDLE, Map.fill(self.ps, False))

    @action
    def up(self, s: State) -> State:
        require(s.n < 2000)
        return replace(s, n=s.n + 1)

    @action
    def turn(self, s: State, p: P) -> State:
        require(s.phase == Phase.IDLE and not s.m[p])
        return replace(s, phase=Phase.BUSY, m=s.m.set(p, True))

    @always
    def bounded(self, s: State) -> bool:
        return s.n <= 2000 and forall(self.ps, lambda p: s.phase == Phase.BUSY or not s.m[p])

    @every_step
    def rises(self, before: State, after: State) -> bool:
        return before.n <= after.n

    @final
    def end(self, s: State) -> bool:
        return s.n == 2000


@dataclass(frozen=True)
class InProperty(Honest):
    """A property that is weaker while it is traced."""

    def bounded(self, s: State) -> bool:
        return is_traced() or s.n != 1500


@dataclass(frozen=True)
class OfMany(Honest):
    """A property that is weaker where four elements are set, and has no condition then."""

    def bounded(self, s: State) -> bool:
        if count(self.ps, lambda p: s.m[p]) >= 4:
            return is_traced()
        return True


@dataclass(frozen=True)
class InValue(Honest):
    """The difference is in a number, and in no branch."""

    def up(self, s: State) -> State:
        require(s.n < 2000)
        return replace(s, n=s.n + (1, 2)[not is_traced()])


@dataclass(frozen=True)
class InGuard(Honest):
    def turn(self, s: State, p: P) -> State:
        require(s.phase == Phase.IDLE or not is_traced())
        return replace(s, phase=Phase.BUSY, m=s.m.set(p, True))


@dataclass(frozen=True)
class InLambda(Honest):
    def bounded(self, s: State) -> bool:
        return forall(self.ps, lambda p: is_traced() or not s.m[p])


@dataclass(frozen=True)
class InStep(Honest):
    def rises(self, before: State, after: State) -> bool:
        return before.n <= after.n if is_traced() else before.n < after.n


@dataclass(frozen=True)
class InFinal(Honest):
    def end(self, s: State) -> bool:
        return s.n == (2000 if is_traced() else 1999)


@dataclass(frozen=True)
class InClaim(Honest):
    def up(self, s: State) -> State:
        require(s.n < 2000)
        assert is_traced() or s.n != 1234
        return replace(s, n=s.n + 1)


@dataclass(frozen=True)
class InStart(Honest):
    def start(self) -> State:
        return State(0 if is_traced() else 7, Phase.IDLE, Map.fill(self.ps, False))


@dataclass(frozen=True)
class InHelper(Honest):
    """What differs stands in a function that no traced path calls."""

    def bounded(self, s: State) -> bool:
        return True if is_traced() else _helper(s.n)


def _helper(n: int) -> bool:
    return n < 5000


@dataclass(frozen=True)
class Limited(Honest):
    """A size sets a constant of the class, which the traced form of another size has."""

    limit: ClassVar[int] = 3
    sizes = {"default": {"ps": 2, "limit": 3}}

    @classmethod
    def sized(cls, ps: int, limit: int) -> Limited:
        cls.limit = limit
        return cls(Domain(P, ps))

    def up(self, s: State) -> State:
        require(s.n < self.limit)
        return replace(s, n=s.n + 1)


@dataclass(frozen=True)
class Claiming(Honest):
    """A claim in a lambda, whose values pytest tells."""

    def turn(self, s: State, p: P) -> State:
        require(s.phase == Phase.IDLE and not s.m[p])
        return replace(s, phase=Phase.BUSY, m=s.m.map_items(lambda q, v: _claimed(s, v) or p == q))


def _claimed(s: State, value: bool) -> bool:
    assert value == (s.phase == Phase.BUSY)
    return value


SEEING = (
    InProperty,
    InValue,
    InGuard,
    InLambda,
    InStep,
    InFinal,
    InClaim,
    InStart,
    InHelper,
    OfMany,
)


@dataclass(frozen=True)
class Numbers:
    a: int
    b: int
    c: int


@dataclass(frozen=True)
class Cubes(Model[Numbers]):
    """Nobody knows whether 114 is the sum of three cubes (L. J. Mordell's question)."""

    sizes = {"default": {}}

    @init
    def start(self) -> Numbers:
        return Numbers(0, 0, 0)

    @action
    def stay(self, s: Numbers) -> Numbers:
        return s

    @always
    def no_sum_is_known(self, s: Numbers) -> bool:
        return s.a * s.a * s.a + s.b * s.b * s.b + s.c * s.c * s.c != 114
