"""What the fields of a model may hold: domains of the elements that they declare, and members."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, IntEnum, StrEnum
from typing import Any, Generic, Self, TypeVar

import pytest

from streamproof.checker import check
from streamproof.checker import explore as reference
from streamproof.checker.native.engine import explore as native
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    WrongDefinition,
    action,
    always,
    init,
    require,
)
from streamproof.lang.sorts import sort_of
from streamproof.models.kit.verdict import Proved, Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

E = TypeVar("E", bound=Element)


class P(Element): ...


def other_class() -> Any:
    return type("P", (Element,), {})


Q: Any = other_class()
Q.__qualname__ = "Q"


@dataclass(frozen=True)
class On:
    on: Map[P, bool]


@dataclass(frozen=True)
class Flips(Model[On]):
    ps: Domain[P]

    @init
    def start(self) -> On:
        return On(Map.fill(self.ps, False))

    @action
    def flip(self, s: On, p: P) -> On:
        return On(s.on.set(p, not s.on[p]))

    @always
    def one_is_off(self, s: On, p: P) -> bool:
        return not s.on[p]


@dataclass(frozen=True)
class Two(Flips):
    others: Domain[Q]


WRONG = {
    "its name": (lambda: Flips(Domain.of("procs", (P(0), P(1)))), "is Domain.procs, 2."),
    "a text": (lambda: Flips(Domain.of("P", ("a", "b"))), "has 'a' in it, of class str"),
    "a number": (lambda: Flips(Domain.of("P", (1, 2))), "of class int"),
    "another class": (lambda: Flips(Domain.of("P", (P(0), Q(1)))), "of class P"),
    "no domain": (lambda: Flips((P(0), P(1))), "declares a Domain of P"),
    "two of a name": (lambda: Two(Domain(P, 2), Domain(Q, 2)), "two classes that are named P"),
}


@pytest.mark.parametrize("engine", [reference, native])
@pytest.mark.parametrize(("make", "told"), WRONG.values(), ids=WRONG)
def test_a_domain_is_one_of_the_elements_that_its_field_declares(make, told, engine) -> None:
    with pytest.raises(WrongDefinition, match=told):
        check(make(), engine=engine)


@dataclass(frozen=True)
class OnOf(Generic[E]):
    on: Map[E, bool]


@dataclass(frozen=True)
class Open(Model[OnOf[E]], Generic[E]):
    ps: Domain[E]

    @classmethod
    def sized(cls) -> Any:
        return cls(Domain(P, 2))

    sizes = {"default": {}}

    @init
    def start(self) -> OnOf[E]:
        return OnOf(Map.fill(self.ps, False))

    @action
    def flip(self, s: OnOf[E], e: E) -> OnOf[E]:
        return OnOf(s.on.set(e, not s.on[e]))

    @always
    def is_off(self, s: OnOf[E], e: E) -> bool:
        return not s.on[e]


def test_a_domain_of_a_type_variable_is_refused_where_it_would_be_traced() -> None:
    with pytest.raises(WrongDefinition, match="of a type variable"):
        prove(Invariant(Open, (lambda m, s, e: m.is_off(s, e),)))


class Left(StrEnum):
    ON = "x"
    OFF = "y"


class Right(StrEnum):
    LOW = "x"
    HIGH = "y"


@dataclass(frozen=True)
class Sides:
    left: Left
    right: Right


@dataclass(frozen=True)
class Together(Model[Sides]):
    sizes = {"default": {}}

    @init
    def start(self) -> Sides:
        return Sides(Left.OFF, Right.LOW)

    @action
    def on(self, s: Sides) -> Sides:
        require(s.left == Left.OFF and s.right == Right.LOW)
        return Sides(Left.ON, Right.HIGH)

    @action
    def off(self, s: Sides) -> Sides:
        require(s.left == Left.ON and s.right == Right.HIGH)
        return Sides(Left.OFF, Right.LOW)

    @always
    def alike(self, s: Sides) -> bool:
        return (s.left == Left.ON) == (s.right == Right.HIGH)


def test_members_of_two_enumerations_may_have_one_value() -> None:
    assert isinstance(prove(Invariant(Together, (lambda m, s: m.alike(s),))).verdict, Proved)
    assert check(Together(), engine=native).safety.status is Status.EXHAUSTED


class Number(IntEnum):
    ONE = 1


class Same(str, Enum):  # noqa: UP042 - whose members have values of their own
    """Two members that are one text."""

    A = ("a", 1)
    B = ("a", 2)

    def __new__(cls, text: str, number: int) -> Self:
        made = str.__new__(cls, text)
        made._value_ = number  # type: ignore[assignment]
        return made


@pytest.mark.parametrize(("cls", "told"), [(Number, "are numbers, too"), (Same, "are equal")])
def test_members_that_are_taken_for_something_else_have_no_sort(cls, told) -> None:
    with pytest.raises(WrongDefinition, match=told):
        sort_of(cls)


@dataclass(frozen=True)
class Places:
    at: P
    to: P
    seen: Map[tuple[P, P], bool]


@dataclass(frozen=True)
class Walking(Model[Places]):
    """A map that is read where the state says, by two keys."""

    ps: Domain[P]

    @init
    def start(self, p: P) -> Places:
        return Places(p, p, Map.fill(self.ps, self.ps, False))

    @action
    def go(self, s: Places, p: P) -> Places:
        require(not s.seen[s.at, s.to])
        return replace(s, at=p, to=s.at)

    @always
    def is_unseen(self, s: Places) -> bool:
        return not s.seen[s.at, s.to]


def test_a_map_of_many_keys_is_read_where_a_state_says() -> None:
    report = check(Walking(Domain(P, 24)), engine=native)
    assert report.safety.status is Status.EXHAUSTED
    assert report.counts.distinct == 24 * 24
