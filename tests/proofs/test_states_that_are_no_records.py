"""Proofs about states that are one value: a number, a truth, an enum's member, a map.

A failed proof shows states that the prover made. Reading them once ended in a traceback.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from streamproof.checker.reach import reach
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    WrongDefinition,
    action,
    always,
    every_step,
    forall,
    init,
    require,
)
from streamproof.lang.show import show_model
from streamproof.lang.trace import trace_model
from streamproof.models.kit.verdict import Reachable, Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


class Bit(Model[int]):
    sizes = {"default": {}}

    @init
    def zero(self) -> int:
        return 0

    @action
    def turn(self, n: int) -> int:
        return 1 - n

    @always
    def is_a_bit(self, n: int) -> bool:
        return 0 <= n <= 1


class Lamp(Model[bool]):
    sizes = {"default": {}}

    @init
    def dark(self) -> bool:
        return False

    @action
    def toggle(self, lit: bool) -> bool:
        return not lit

    @always
    def stays_dark(self, lit: bool) -> bool:
        return not lit


class Colour(Enum):
    RED, GREEN, BLUE = range(3)


class Light(Model[Colour]):
    sizes = {"default": {}}

    @init
    def red(self) -> Colour:
        return Colour.RED

    @action
    def go(self, colour: Colour) -> Colour:
        require(colour == Colour.RED)
        return Colour.GREEN

    @action
    def stop(self, colour: Colour) -> Colour:
        require(colour == Colour.GREEN)
        return Colour.RED

    @always
    def is_never_blue(self, colour: Colour) -> bool:
        return colour != Colour.BLUE


class Key(Element): ...


@dataclass(frozen=True)
class Locks(Model[Map[Key, bool]]):
    keys: Domain[Key]
    sizes = {"default": {"keys": 2}}

    @init
    def all_free(self) -> Map[Key, bool]:
        return Map.fill(self.keys, False)

    @action
    def take(self, held: Map[Key, bool], key: Key) -> Map[Key, bool]:
        require(forall(self.keys, lambda other: not held[other]))
        return held.set(key, True)

    @always
    def at_most_one(self, held: Map[Key, bool]) -> bool:
        return forall(
            self.keys,
            lambda j: forall(self.keys, lambda k: j == k or not (held[j] and held[k])),
        )


@dataclass(frozen=True)
class Entry:
    used: bool
    count: int


@dataclass(frozen=True)
class Table(Model[Map[Key, Entry]]):
    keys: Domain[Key]
    sizes = {"default": {"keys": 2}}

    @init
    def empty(self) -> Map[Key, Entry]:
        return Map.fill(self.keys, Entry(used=False, count=0))

    @action
    def use(self, table: Map[Key, Entry], key: Key) -> Map[Key, Entry]:
        return table.set(key, Entry(used=True, count=table[key].count + 1))

    @always
    def what_is_counted_was_used(self, table: Map[Key, Entry]) -> bool:
        return forall(self.keys, lambda k: table[k].used or table[k].count == 0)


def at_most_one(model: Any, n: int) -> bool:
    return n <= 1


def never_green(model: Any, colour: Colour) -> bool:
    return colour != Colour.GREEN


def nobody_holds(model: Any, held: Map[Key, bool], key: Key) -> bool:
    return not held[key]


def never_twice(model: Any, table: Map[Key, Entry], key: Key) -> bool:
    return table[key].count < 2


def a_bit(model: Bit, n: int) -> bool:
    return model.is_a_bit(n)


def dark(model: Lamp, lit: bool) -> bool:
    return model.stays_dark(lit)


def never_blue(model: Light, colour: Colour) -> bool:
    return model.is_never_blue(colour)


def one_at_most(model: Locks, held: Map[Key, bool]) -> bool:
    return model.at_most_one(held)


def counted_was_used(model: Table, table: Map[Key, Entry]) -> bool:
    return model.what_is_counted_was_used(table)


@pytest.mark.parametrize(
    ("model", "conjunct"),
    [
        (Bit, a_bit),
        (Light, never_blue),
        (Locks, one_at_most),
        (Table, counted_was_used),
    ],
)
def test_what_holds_is_proved(model: type[Model[Any]], conjunct: Callable[..., bool]) -> None:
    verdict = prove(Invariant(model, (conjunct,))).verdict
    assert verdict.status is Status.PROVED, verdict


@pytest.mark.parametrize(
    ("model", "conjunct"),
    [
        (Lamp, dark),
        (Light, never_green),
        (Locks, nobody_holds),
    ],
)
def test_what_a_run_breaks_is_refuted_with_the_run(
    model: type[Model[Any]], conjunct: Callable[..., bool]
) -> None:
    verdict = prove(Invariant(model, (conjunct,)), reach=reach).verdict
    assert verdict.status is Status.REFUTED
    assert len(verdict.trace) >= 1


def test_a_state_that_no_run_reaches_is_shown_and_refutes_nothing() -> None:
    report = prove(Invariant(Bit, (at_most_one,)), reach=reach)
    assert report.verdict.status is Status.UNDETERMINED
    examples = [example for outcome in report.failed for example in outcome.examples]
    assert examples
    assert {example.reachable for example in examples} == {Reachable.NO}


def test_a_map_of_records_is_shown() -> None:
    report = prove(Invariant(Table, (never_twice,)), reach=reach)
    assert report.verdict.status is Status.UNDETERMINED
    assert any(outcome.examples for outcome in report.failed)


class Turns(Bit):
    @every_step
    def it_moves(self, n: int, m: int) -> bool:
        return n != m

    @every_step
    def it_rises(self, n: int, m: int) -> bool:
        return n <= m


def test_what_is_asked_of_a_step_reads_both_of_its_states() -> None:
    report = prove(Invariant(Turns, (a_bit,)), reach=reach)
    failed = {outcome.obligation.subject for outcome in report.failed}
    assert failed == {"it_rises"}
    assert report.verdict.status is Status.REFUTED


class Keeps(Locks):
    @every_step
    def nobody_lets_go(self, before: Map[Key, bool], after: Map[Key, bool]) -> bool:
        return forall(self.keys, lambda k: not before[k] or after[k])


class Fills(Table):
    @every_step
    def counts_only_rise(self, before: Map[Key, Entry], after: Map[Key, Entry]) -> bool:
        return forall(self.keys, lambda k: before[k].count <= after[k].count)


@pytest.mark.parametrize(("model", "conjunct"), [(Keeps, one_at_most), (Fills, counted_was_used)])
def test_steps_between_maps_are_proved(
    model: type[Model[Any]], conjunct: Callable[..., bool]
) -> None:
    verdict = prove(Invariant(model, (conjunct,))).verdict
    assert verdict.status is Status.PROVED, verdict


def test_a_state_without_a_name_is_shown_by_one() -> None:
    text = show_model(trace_model(Bit))
    assert "variable state: int" in text
    assert "state := 1 - state" in text
    assert "state[k0'] := k0' == key or state[k0']" in show_model(trace_model(Locks))


def test_a_parameter_without_an_annotation_is_refused_with_what_to_write() -> None:
    with pytest.raises(WrongDefinition, match="takes key without an annotation"):
        prove(Invariant(Locks, (lambda m, held, key: not held[key],)))
