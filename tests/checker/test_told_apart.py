"""States of a declared sort that Python takes for one, though a method can tell them apart.

A model picks one after the other; each way is refused, by the reference engine, too.
"""

import functools
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.lang import Domain, Element, Map, Model, WrongDefinition
from streamproof.lang.errors import StreamproofError
from streamproof.lang.model import action, always, init
from streamproof.lang.sorts import sort_of
from streamproof.models.kit.verdict import Status


class K(Element): ...


class Coded(int, Enum):
    A = (7, 1)
    B = (7, 2)

    def __new__(cls, number, code):
        made = int.__new__(cls, number)
        made._value_ = code
        return made


class Named(str, Enum):  # noqa: UP042 - as it was written before
    A = ("level", "x")
    B = ("level", "y")

    def __new__(cls, text, code):
        made = str.__new__(cls, text)
        made._value_ = code
        return made


class Of(IntEnum): ...


class Low(Of):
    ONE = 1


class High(Of):
    ONE = 1


class Open(int, Enum):
    A = 1

    @classmethod
    def _missing_(cls, value):
        made = int.__new__(cls, 1)
        made._value_, made._name_ = value, "other"
        return made


OTHER = Open(7)


class Loose(K):
    def __eq__(self, other):
        return isinstance(other, Loose)

    def __hash__(self):
        return 1


class Tagged(Domain): ...


def tagged(tag):
    made = Tagged(K, 1)
    made.tag = tag
    return made


@dataclass(frozen=True)
class Coder:
    v: Coded


@dataclass(frozen=True)
class Namer:
    v: Named


@dataclass(frozen=True)
class OfTwo:
    v: Of


@dataclass(frozen=True)
class Opened:
    v: Open


@dataclass(frozen=True)
class Elements:
    v: K


@dataclass(frozen=True)
class Mapped:
    v: Map[K, bool]


@dataclass(frozen=True)
class Short:
    v: int


@dataclass(frozen=True, eq=False)
class Long(Short):
    w: int


@dataclass(frozen=True)
class Text(str):  # noqa: SLOT000
    v: int

    def __new__(cls, v, _text):
        return str.__new__(cls, _text)

    def __init__(self, v, _text):
        object.__setattr__(self, "v", v)


@dataclass(frozen=True)
class Many(list):
    v: int

    def __init__(self, v, *parts):
        object.__setattr__(self, "v", v)
        list.__init__(self, parts)


class Slot:
    __slots__ = ("extra",)


class Private:
    __slots__ = ("__extra",)


class Shadowed:
    __slots__ = ("v",)


@dataclass(frozen=True)
class WithSlot(Slot):
    v: int = 0


@dataclass(frozen=True, slots=True)
class AllSlots(Slot):
    v: int


@dataclass(frozen=True)
class OwnSlot:
    __slots__ = ("extra", "v")
    v: int


@dataclass(frozen=True)
class WithPrivate(Private):
    v: int = 0


@dataclass(frozen=True)
class Twice(Shadowed):
    __slots__ = ("v",)
    v: int


@dataclass(frozen=True)
class Covered:
    v: int

    @property
    def __dict__(self):
        return {"v": 0}


@dataclass(frozen=True)
class Computing:
    v: int

    @functools.cached_property
    def double(self):
        return 2 * self.v


def with_extra(cls, name, value):
    made = cls(0)
    object.__setattr__(made, name, value)
    return made


def shadowing(value):
    made = Twice(0)
    Shadowed.v.__set__(made, value)
    return made


def forgetting(value):
    made = with_extra(WithSlot, "other", value)
    object.__delattr__(made, "v")
    return made


FOUND = {
    "enumeration of equal numbers": (Coder(Coded.A), Coder(Coded.B)),
    "enumeration of equal texts": (Namer(Named.A), Namer(Named.B)),
    "two enumerations": (OfTwo(Low.ONE), OfTwo(High.ONE)),
    "no member": (Opened(Open.A), Opened(OTHER)),
    "elements": (Elements(Loose(0)), Elements(Loose(1))),
    "domains": (Mapped(Map.fill(tagged(1), False)), Mapped(Map.fill(tagged(2), False))),
    "keys": tuple(Mapped(Map.fill(Domain.of("K", part), True)) for part in ((0, 1), (0, True))),
    "fields of a base": (Long(0, 1), Long(0, 2)),
    "a text": (Text(0, "a"), Text(0, "b")),
    "a list": (Many(0), Many(0, 1)),
    "a slot of a base": tuple(with_extra(WithSlot, "extra", part) for part in (1, 2)),
    "a slot of a base of slots": tuple(with_extra(AllSlots, "extra", part) for part in (1, 2)),
    "a slot of its own": tuple(with_extra(OwnSlot, "extra", part) for part in (1, 2)),
    "a private slot": tuple(with_extra(WithPrivate, "_Private__extra", part) for part in (1, 2)),
    "a slot of a field's name": (shadowing(1), shadowing(2)),
    "what is behind its attributes": tuple(with_extra(Covered, "w", part) for part in (1, 2)),
    "in place of what is computed": tuple(with_extra(Computing, "double", p) for p in (1, 2)),
    "in place of a field": (forgetting(1), forgetting(2)),
}


def picks(first: Any, second: Any) -> Model[Any]:
    state_class = type(first)

    @dataclass(frozen=True)
    class Picks(Model[state_class]):
        first: Any
        second: Any

        @init
        def start(self) -> state_class:
            return self.first

        @action
        def pick(self, s: state_class) -> state_class:
            return self.second

        @always
        def fine(self, s: state_class) -> bool:
            return True

    return Picks(first, second)


@pytest.mark.parametrize("states", FOUND.values(), ids=FOUND)
def test_states_that_only_a_method_can_tell_apart_are_refused(states):
    first, second = states
    assert first == second
    assert hash(first) == hash(second)
    with pytest.raises(StreamproofError):
        plain.explore(picks(first, second))
    with pytest.raises(StreamproofError):
        check(picks(first, second), engine=plain.explore)


@pytest.mark.parametrize(
    ("cls", "told"), [(Coded, "are numbers, too"), (Named, "Named.A and Named.B are equal")]
)
def test_an_enumeration_of_equal_members_has_no_sort(cls, told):
    with pytest.raises(WrongDefinition, match=told):
        sort_of(cls)


@pytest.mark.parametrize("cls", [Text, Many, Long])
def test_a_record_that_holds_more_than_it_compares_has_no_sort(cls):
    with pytest.raises(WrongDefinition, match="that differ may be equal|is built on"):
        sort_of(cls)


def test_what_is_computed_once_and_slots_that_are_empty_are_nothing_else():
    asked = Computing(1)
    assert asked.double == 2
    for first, second in ((asked, Computing(1)), (WithSlot(), WithSlot()), (AllSlots(1),) * 2):
        report = check(picks(first, second), engine=plain.explore)
        assert report.safety.status is Status.EXHAUSTED
