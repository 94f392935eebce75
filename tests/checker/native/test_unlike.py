"""Values of unlike classes are never equal, in Python and in the traced form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import pytest

from streamproof.checker import check
from streamproof.checker.engines import EngineName, engine_of
from streamproof.checker.reference import explore as reference
from streamproof.lang import Domain, Element, Map, Model, Range, Untraceable, action, always, init
from streamproof.lang import expr as ex
from streamproof.lang.trace import trace_model
from streamproof.models.kit.verdict import Status


class P(Element): ...


@dataclass(frozen=True)
class A:
    x: Annotated[int, Range(0, 2)]


@dataclass(frozen=True)
class B:
    x: Annotated[int, Range(0, 2)]


class Pair(NamedTuple):
    left: int
    right: int


class Odd(Pair):
    def __eq__(self, other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 0


@dataclass(frozen=True)
class State:
    a: Map[P, A]
    b: Map[P, B]


@dataclass(frozen=True)
class Unlike(Model[State]):
    ps: Domain[P]

    @init
    def start(self) -> State:
        return State(Map.fill(self.ps, A(0)), Map.fill(self.ps, B(0)))

    @action
    def go(self, s: State, p: P) -> State:
        return replace(s, a=s.a.set(p, A(0 if s.a[p].x == 2 else s.a[p].x + 1)))

    @always
    def differ(self, s: State) -> bool:
        return s.a != s.b


class Nested(Unlike):
    @always
    def differ(self, s: State) -> bool:
        return s.a.map(lambda a: (a, 0)) != s.b.map(lambda b: (b, 0))


class OfPlainValues(Unlike):
    @always
    def differ(self, s: State) -> bool:
        return s.a != Map.fill(self.ps, 0)


class OfLengths(Unlike):
    @always
    def differ(self, s: State) -> bool:
        return s.a.map(lambda a: (a.x, 0)) != s.b.map(lambda b: (b.x,))


class OfTuples(Unlike):
    @always
    def differ(self, s: State) -> bool:
        return s.a.map(lambda a: Pair(a.x, 0)) != s.b.map(lambda b: (b.x, 0))


class OfTheSame(Unlike):
    @always
    def differ(self, s: State) -> bool:
        return s.a != s.b.map(lambda b: A(b.x))


class OfOddTuples(Unlike):
    @always
    def differ(self, s: State) -> bool:
        return s.a.map(lambda a: Odd(a.x, 0)) != s.b.map(lambda b: Odd(b.x, 0))


@pytest.mark.parametrize("model", [Unlike, Nested, OfPlainValues, OfLengths])
def test_unlike_records_differ_in_the_traced_form(model: type[Unlike]) -> None:
    (form,) = trace_model(model).properties
    ((_, said),) = form.conjuncts
    assert isinstance(said, ex.Quantified)  # two maps without a key are equal
    assert (said.kind, said.body) == ("exists", ex.TRUE)
    assert check(model(Domain(P, 1)), engine=reference).verdict.status is Status.EXHAUSTED


@pytest.mark.parametrize("model", [Unlike, OfTuples, OfTheSame])
def test_engines_agree_on_which_values_are_equal(model: type[Unlike]) -> None:
    engines = (reference, engine_of(EngineName.NATIVE))
    found = [check(model(Domain(P, 1)), engine=engine) for engine in engines]
    assert found[0].verdict.status is found[1].verdict.status
    assert found[0].counts == found[1].counts


def test_a_tuple_with_an_equality_of_its_own_is_not_compared_part_by_part() -> None:
    with pytest.raises(Untraceable, match="Odd, which has an equality of its own"):
        trace_model(OfOddTuples)
