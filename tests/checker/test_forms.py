"""States that Python takes for one, and values that no state may hold: refused by both engines.

A model picks one value after another for a field of any class; a property could tell them apart.
"""

from __future__ import annotations

import functools
from collections import namedtuple
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.counterexample import WrongState
from streamproof.checker.forms import difference, unfit
from streamproof.checker.native.engine import explore as native
from streamproof.checker.states import UnfitState
from streamproof.lang import Domain, Element, Map, Model, require
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import action, always, final, init
from streamproof.models.kit.verdict import Status

ENGINES = [plain.explore, native]


class K(Element): ...


class Colour(IntEnum):
    RED = 1


class Name(StrEnum):
    RED = "red"


class Plain(Enum):
    RED = 1


class MyInt(int): ...


class MyTuple(tuple): ...  # noqa: SLOT001


class Tagged(str):  # noqa: SLOT000
    tag = ""


class Pair(NamedTuple):
    a: int
    b: int


Couple = namedtuple("Couple", "a b")  # noqa: PYI024


@dataclass(frozen=True)
class Box:
    v: Any


@dataclass(frozen=True)
class Noted:
    v: int
    note: Any = field(compare=False)


@dataclass(frozen=True)
class Unhashed:
    v: int
    note: Any = field(hash=False)


@dataclass(frozen=True, eq=False)
class Own:
    k: int
    j: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own) and self.k == other.k

    def __hash__(self) -> int:
        return hash(self.k)


@dataclass(frozen=True, eq=False)
class ByIdentity:
    v: int


@dataclass
class Changeable:
    v: int
    __hash__ = object.__hash__


class Loose:
    def __init__(self, v: int) -> None:
        self.v = v

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loose) and self.v == other.v

    def __hash__(self) -> int:
        return hash(self.v)


@dataclass(frozen=True)
class Computing:
    v: int

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.v


def tagged(text: str) -> Tagged:
    made = Tagged(text)
    made.tag = "other"
    return made


KS = Domain(K, 2)
UTC_NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MERGED = [
    (True, 1),
    (1, 1.0),
    (1, 1 + 0j),
    (0.0, -0.0),
    (1, Decimal(1)),
    (Decimal("1.0"), Decimal("1.00")),
    (1, Fraction(1)),
    (1, Colour.RED),
    ("red", Name.RED),
    (1, MyInt(1)),
    ((1, 2), MyTuple((1, 2))),
    ((1, 2), Pair(1, 2)),
    (Pair(1, 2), Couple(1, 2)),
    ((1, (2,)), (1, (2.0,))),
    (frozenset({1, 2}), frozenset({True, 2})),
    ("a", tagged("a")),
    (Tagged("a"), tagged("a")),
    (Box(1), Box(True)),
    (Box(Box((0,))), Box(Box((False,)))),
    (Noted(1, "a"), Noted(1, "b")),
    (Unhashed(1, 1), Unhashed(1, True)),
    (Own(0, 0), Own(0, 1)),
    (Map.fill(KS, 1), Map.fill(KS, True)),
    (UTC_NOON, UTC_NOON.replace(fold=1)),
]
SAME = [
    (1000, int("1000")),
    ("ab", str(b"ab", "ascii")),
    (0.5, float("0.5")),
    ((1, 2), tuple(range(1, 3))),
    (Pair(1, 2), Pair(1, 2)),
    (frozenset({8, 0, "a"}), frozenset(["a", 0, 8])),
    (Box(Box(1.5)), Box(Box(float("1.5")))),
    (Map.fill(KS, Box(1)), Map.build(KS, lambda k: Box(1))),
    (Colour.RED, Colour(1)),
    (UTC_NOON, UTC_NOON.replace()),
    (Decimal("1.0"), Decimal("1.0")),
    (Tagged("a"), Tagged("a")),
]


@dataclass(frozen=True)
class State:
    v: Any


@dataclass(frozen=True)
class Picks(Model[State]):
    """Picks a value of two, and goes on for a while before it picks the other."""

    ks: Domain[K]
    values: tuple[Any, Any]

    @init
    def start(self) -> State:
        return State("nothing yet")

    @action
    def pick(self, s: State, k: K) -> State:
        require(s.v == "nothing yet")
        return State(self.values[k.index])

    @always
    def fine(self, s: State) -> bool:
        return True

    @final
    def end(self, s: State) -> bool:
        return True


class Starts(Picks):
    """The two are initial states."""

    @init
    def start(self, k: K) -> State:
        return State(self.values[k.index])

    @action
    def pick(self, s: State, k: K) -> State:
        return s


@pytest.mark.parametrize("kind", [Picks, Starts])
@pytest.mark.parametrize("values", MERGED, ids=range(len(MERGED)))
def test_equal_states_of_another_form_are_refused(kind, values):
    left, right = values
    assert State(left) == State(right)
    with pytest.raises(UnfitState, match="is equal to .* by Python's ==") as refused:
        check(kind(KS, values))
    assert isinstance(refused.value, WrongState)
    assert "The search would keep one of them" in str(refused.value)


@pytest.mark.parametrize("values", SAME, ids=range(len(SAME)))
def test_equal_states_of_one_form_are_one_state(values):
    left, right = values
    assert difference(left, right) is None
    report = check(Picks(KS, values))
    assert report.verdict.status is Status.EXHAUSTED
    assert report.counts.distinct == 2


class Late(Picks):
    """Far behind the sample that is looked at first."""

    @init
    def start(self) -> State:
        return State(0)

    @action
    def pick(self, s: State, k: K) -> State:
        if type(s.v) is int and s.v < 300:
            return State(s.v + 1)
        require(s.v == 300)
        return State(("end", self.values[k.index]))


def test_every_state_is_looked_at_and_not_a_sample():
    with pytest.raises(WrongState, match=r"v\[1\] is 1 and True, of class int and bool") as refused:
        check(Late(KS, (1, True)))
    assert len(refused.value.trace) == 300


UNFIT = [
    (float("nan"), "is not equal to itself"),
    (complex("nan"), "is not equal to itself"),
    (Decimal("NaN"), "is not equal to itself"),
    (ByIdentity(1), "is compared by identity"),
    (Changeable(1), "is compared by identity|can be changed in place"),
    (Loose(1), "can be changed in place"),
    (Unhashed(1, [1]), "note is .*can be changed in place. Write a tuple"),
    (Unhashed(1, {"a": 1}), "can be changed in place. Write a Map"),
    (Unhashed(1, {1}), "can be changed in place. Write a frozenset"),
    (Unhashed(1, bytearray()), "can be changed in place. Write bytes"),
    ((1, iter(())), "is compared by identity"),
    (Box(x for x in ()), "is compared by identity"),
]


@pytest.mark.parametrize(("value", "told"), UNFIT, ids=lambda part: str(part)[:20])
def test_what_can_change_or_is_not_itself_is_no_part_of_a_state(value, told):
    with pytest.raises(UnfitState, match=told):
        check(Picks(KS, (value, value)))
    assert unfit(State(value)) is not None


@pytest.mark.parametrize(
    "value",
    [
        *(1, "a", b"a", None, ..., 1.5, Colour.RED, K(0), (1, (2,)), frozenset({1}), Box(1), int),
        *(Map.fill(KS, 0), KS, Decimal(1), Fraction(1), UTC_NOON, range(3), Pair(1, 2), MyInt(1)),
    ],
    ids=repr,
)
def test_other_values_may_be_parts_of_a_state(value):
    assert unfit(State(value)) is None
    assert difference(State(value), State(value)) is None


def test_what_a_record_computes_once_is_no_part_of_it():
    asked, fresh = Computing(1), Computing(1)
    assert asked.double == 2
    assert difference(asked, fresh) is None
    object.__setattr__(fresh, "hidden", 1)
    assert difference(asked, fresh) is not None


@dataclass(frozen=True)
class Hides(Picks):
    """A property that counts in the state how often it was asked."""

    @always
    def seldom(self, s: State) -> bool:
        asked = vars(s).get("asked", 0)
        object.__setattr__(s, "asked", asked + 1)
        return True


def test_what_a_property_puts_into_a_state_is_found():
    with pytest.raises(ImpureModel, match="changed in place"):
        check(Hides(KS, (1, 2)))
