"""The cases of the table that are named after a file: what each stands for, by every engine.

The models are of the same shape as those of the table. Where plain Python reaches a state that
breaks a property, no engine may say EXHAUSTED, and the prover may not say PROVED: they find that
state, or refuse the model. More of each kind is tried in `test_forms`, `native/test_widths`, and
`tests/lang/test_definitions`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest

from streamproof.checker import check
from streamproof.checker.counterexample import WrongState
from streamproof.checker.engines import EngineName, engine_of
from streamproof.checker.reach import reach
from streamproof.lang import Domain, Element, Map, Model, Range, WrongDefinition, require
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import action, always, final, init, sometimes
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

ENGINES = list(EngineName)


def refuted(model: Model[Any], engine: EngineName) -> tuple[str, int]:
    """Check that a model is refuted; give the property, and the steps of the counterexample."""
    verdict = check(model, engine=engine_of(engine)).verdict
    assert verdict.status is Status.REFUTED
    return verdict.broken, len(verdict.trace)


class Card(Element): ...


CARDS = Domain(Card, 4)


# --------------------------------------------------------------------------- same_but_typed

PAID = (0, False, 0.0, 7)
"""The first three are one value to Python."""


@dataclass(frozen=True)
class Till:
    paid: Any


@dataclass(frozen=True)
class Pays(Model[Till]):
    """Takes one of the values; that one of them is a float is seen by its type alone."""

    cards: Domain[Card]

    @init
    def start(self) -> Till:
        return Till("nothing")

    @action
    def pay(self, s: Till, card: Card) -> Till:
        require(s.paid == "nothing")
        return Till(PAID[card.index])

    @always
    def in_whole_cents(self, s: Till) -> bool:
        return type(s.paid) is not float

    @final
    def is_paid(self, s: Till) -> bool:
        return True


@pytest.mark.parametrize("engine", ENGINES)
def test_same_but_typed_is_refused(engine: EngineName) -> None:
    refusal = WrongDefinition if engine is EngineName.NATIVE else WrongState
    told = "not a sort" if engine is EngineName.NATIVE else "0 and False, of class int and bool"
    with pytest.raises(refusal, match=told):
        check(Pays(CARDS), engine=engine_of(engine))


# --------------------------------------------------------------------------- own_equality


@dataclass(frozen=True, eq=False)
class Seat:
    """Two with one number are equal, whoever sits there."""

    number: Annotated[int, Range(0, 1)]
    guests: Annotated[int, Range(0, 5)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seat) and self.number == other.number

    def __hash__(self) -> int:
        return self.number


@dataclass(frozen=True)
class Fills(Model[Seat]):
    @init
    def empty(self) -> Seat:
        return Seat(1, 0)

    @action
    def come(self, s: Seat) -> Seat:
        require(s.guests < 5)
        return Seat(s.number, s.guests + 1)

    @always
    def one_a_seat(self, s: Seat) -> bool:
        return s.guests <= 1

    @final
    def anyhow(self, s: Seat) -> bool:
        return True


class Hashed(Seat):
    """Its hash is Python's function."""

    def __hash__(self) -> int:
        return hash(self.number)


class FillsHashed(Fills):
    @init
    def empty(self) -> Hashed:
        return Hashed(1, 0)

    @action
    def come(self, s: Hashed) -> Hashed:
        require(s.guests < 5)
        return Hashed(s.number, s.guests + 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_own_equality_is_refused(engine: EngineName) -> None:
    refusal = WrongDefinition if engine is EngineName.NATIVE else WrongState
    told = "has an == of its own" if engine is EngineName.NATIVE else "though guests is 0 and 1"
    with pytest.raises(refusal, match=told):
        check(Fills(), engine=engine_of(engine))


@pytest.mark.parametrize("engine", ENGINES)
def test_own_equality_with_a_call_of_hash_is_refused(engine: EngineName) -> None:
    with pytest.raises(ImpureModel, match="calls hash"):
        check(FillsHashed(), engine=engine_of(engine))


# --------------------------------------------------------------------------- type_test_proved


@dataclass(frozen=True)
class Lamp:
    level: int
    is_lit: bool


@dataclass(frozen=True)
class Lights(Model[Lamp]):
    """The property is false behind the one step, if `level` is a number."""

    @init
    def dark(self) -> Lamp:
        return Lamp(0, False)

    @action
    def light(self, s: Lamp) -> Lamp:
        require(not s.is_lit)
        return Lamp(s.level + 2, True)

    @final
    def anyhow(self, s: Lamp) -> bool:
        return True

    @always
    def never_two(self, s: Lamp) -> bool:
        return not (isinstance(s.level, int) and s.level == 2)


class LightsByClass(Lights):
    """As above, by a class pattern."""

    @always
    def never_two(self, s: Lamp) -> bool:
        match s:
            case Lamp(level=int(2)):
                return False
        return True


LIGHTS = [Lights, LightsByClass]


@pytest.mark.parametrize("kind", LIGHTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_type_test_proved_is_refuted_by_a_check(kind: type[Lights], engine: EngineName) -> None:
    assert refuted(kind(), engine) == ("never_two", 1)


@pytest.mark.parametrize("kind", LIGHTS)
def test_type_test_proved_is_not_proved(kind: type[Lights]) -> None:
    invariant = Invariant(
        kind, conjuncts=(lambda m, s: m.never_two(s), lambda m, s: s.is_lit or s.level == 0)
    )
    verdict = prove(invariant, reach=reach).verdict
    assert verdict.status is Status.REFUTED
    assert len(verdict.trace) == 1


# --------------------------------------------------------------------------- wide_constant

DISTANT = 2**65 + 3
"""In 64 bits, this is 3."""


@dataclass(frozen=True)
class Road:
    mile: Annotated[int, Range(0, 9)]
    met: Map[tuple[Card, Card], bool]


@dataclass(frozen=True)
class Drives(Model[Road]):
    """Drives on as long as it is not there, and it is far."""

    cards: Domain[Card]

    @init
    def begin(self) -> Road:
        return Road(0, Map.fill(self.cards, self.cards, False))

    @action
    def drive(self, s: Road) -> Road:
        require(s.mile < 9 and s.mile < DISTANT)
        return replace(s, mile=s.mile + 1, met=s.met.map(lambda met: met))

    @action
    def meet(self, s: Road, one: Card, other: Card) -> Road:
        require(s.mile > DISTANT)
        return replace(s, met=s.met.set((one, other), s.met[other, one]))

    def ruled_out(self) -> tuple[str, ...]:
        return ("meet",)

    @always
    def near(self, s: Road) -> bool:
        return s.mile < 6

    @sometimes
    def drives(self, s: Road) -> bool:
        return s.mile == 2

    @final
    def anywhere(self, s: Road) -> bool:
        return True


@pytest.mark.parametrize("cards", [2, 40], ids=["unrolled", "with loops"])
@pytest.mark.parametrize("engine", ENGINES)
def test_wide_constant_is_refuted(cards: int, engine: EngineName) -> None:
    assert refuted(Drives(Domain(Card, cards)), engine) == ("near", 6)


# --------------------------------------------------------------------------- zero_bits


@dataclass(frozen=True)
class Meter:
    low: Annotated[int, Range(0, 2**32 - 1)]
    high: Annotated[int, Range(0, 2**32 - 1)]
    faults: Annotated[int, Range(0, 0)]
    ticks: Annotated[int, Range(0, 20)]


@dataclass(frozen=True)
class Ticks(Model[Meter]):
    """64 full bits, and behind them a field of one value, which each step reads."""

    @init
    def begin(self) -> Meter:
        return Meter(0, 0, 0, 0)

    @action
    def tick(self, s: Meter) -> Meter:
        require(s.ticks < 20 and s.faults == 0)
        faults = s.faults + 1 if s.low == 1 else s.faults
        return Meter(2**32 - 1 - s.low, s.high + 5, faults, s.ticks + 1)

    @action
    def mend(self, s: Meter) -> Meter:
        require(s.faults > 0)
        return replace(s, faults=0)

    def ruled_out(self) -> tuple[str, ...]:
        return ("mend",)

    @always
    def is_short(self, s: Meter) -> bool:
        return s.ticks < 12

    @sometimes
    def ticks(self, s: Meter) -> bool:
        return s.ticks == 3 and s.faults == 0

    @final
    def anywhere(self, s: Meter) -> bool:
        return True


class FaultFree(Ticks):
    """The property reads that field; the other one holds."""

    @always
    def is_short(self, s: Meter) -> bool:
        return s.ticks <= 20 and s.faults == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_zero_bits_is_refuted(engine: EngineName) -> None:
    assert refuted(Ticks(), engine) == ("is_short", 12)


@pytest.mark.parametrize("engine", ENGINES)
def test_zero_bits_does_not_refute_what_holds(engine: EngineName) -> None:
    report = check(FaultFree(), engine=engine_of(engine))
    assert (report.verdict.status, report.counts.distinct) == (Status.EXHAUSTED, 21)
