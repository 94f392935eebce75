"""Values of another class than their field declares: refused by both engines, everywhere."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated, Any

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.checker.states import UnfitState
from streamproof.lang import Domain, Element, Map, Model, Range, WrongDefinition, require
from streamproof.lang.model import action, always, final, init
from streamproof.lang.sorts import sort_of
from streamproof.models.kit.verdict import Status

ENGINES = [plain.explore, native]


class K(Element): ...


class Colour(IntEnum):
    RED = 1


class Plain(Enum):
    RED = 1


class MyInt(int): ...


@dataclass(frozen=True)
class Noted:
    v: int
    note: Any = field(compare=False)


@dataclass(frozen=True, eq=False)
class Own:
    k: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Own)

    def __hash__(self) -> int:
        return 1


@dataclass(frozen=True, eq=False)
class ByIdentity:
    v: int


KS = Domain(K, 2)


@dataclass(frozen=True)
class Declared:
    n: Annotated[int, Range(0, 9)]
    on: bool = False
    colour: Plain = Plain.RED
    m: Map[K, int] = dataclasses.field(default_factory=lambda: Map.fill(KS, 0))


@dataclass(frozen=True)
class Sub(Declared): ...


@dataclass(frozen=True)
class Given(Model[Declared]):
    """Its initial states are given, the last of many apart."""

    ks: Domain[K]
    last: Any
    at: int = 0

    @init
    def start(self, k: K) -> Declared:
        return self.last if k.index == self.at else Declared(0)

    @action
    def stay(self, s: Declared) -> Declared:
        return s

    @always
    def fine(self, s: Declared) -> bool:
        return s.n < 9


WRONG = [
    Declared(True),
    Declared(MyInt(1)),
    Declared(Colour.RED),
    Declared(1.0),
    Declared(1, on=1),
    Declared(1, colour=1),
    Declared(1, m=Map.fill(KS, True)),
    Sub(1),
]


@pytest.mark.parametrize("start", WRONG, ids=repr)
def test_a_value_of_another_class_than_declared_is_refused_wherever_it_comes(start):
    assert check(Given(Domain(K, 100), Declared(1), 99)).verdict.status is Status.EXHAUSTED
    with pytest.raises(UnfitState, match="which is .* and not"):
        check(Given(Domain(K, 100), start, 99))


@dataclass(frozen=True)
class Numbered:
    n: Annotated[int, Range(0, 9)]


@dataclass(frozen=True)
class Sized(Model[Numbered]):
    """Its constant is declared."""

    ks: Domain[K]
    top: int
    starts: Map[K, int]

    @init
    def start(self, k: K) -> Numbered:
        return Numbered(self.starts[k])

    @action
    def up(self, s: Numbered) -> Numbered:
        require(s.n < self.top)
        return Numbered(s.n + 1)

    @always
    def fine(self, s: Numbered) -> bool:
        return s.n <= 9

    @final
    def end(self, s: Numbered) -> bool:
        return s.n >= self.top


NO_STARTS = Map.fill(KS, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_start_of_another_class_than_declared_is_refused_by_both_engines(engine):
    many = Domain(K, 200)
    wrong = Sized(many, 5, Map.build(many, lambda k: k.index == 199 or 0))
    with pytest.raises(UnfitState, match="which is bool and not int"):
        engine(wrong)
    with pytest.raises(UnfitState, match="the model's starts.k199. is True"):
        check(wrong, engine=engine)


@pytest.mark.parametrize("top", [5.0, True, MyInt(5), "5"])
def test_a_constant_of_another_class_than_declared_is_refused(top):
    with pytest.raises(UnfitState, match="the model's top is"):
        check(Sized(KS, top, NO_STARTS))
    assert check(Sized(KS, 5, NO_STARTS)).verdict.status is Status.EXHAUSTED


@pytest.mark.parametrize("record", [Own, ByIdentity, Noted], ids=lambda cls: cls.__name__)
def test_a_record_with_an_equality_of_its_own_has_no_sort(record):
    hidden = dataclasses.make_dataclass("Hidden", [("v", int)], bases=(Own,), frozen=True, eq=False)
    for cls in (record, hidden):
        with pytest.raises(WrongDefinition, match="== of its own|compare=False"):
            sort_of(cls)
