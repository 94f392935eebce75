"""Declared ranges: an action that leaves one is told which field, which value and which range."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest

from streamproof.checker import check
from streamproof.checker.counterexample import LeftRange
from streamproof.checker.ranges import find_outside
from streamproof.lang import Domain, Element, Map, OutOfRange, WrongDefinition
from streamproof.lang.model import Model, action, init
from streamproof.lang.sorts import Range
from tests.checker.support.walks import Count, Counter, Walk, walk


class Careless(Counter):
    @action
    def leap(self, now: Count) -> Count:
        return replace(now, value=now.value + 7)


def test_the_action_field_value_and_range_are_named():
    with pytest.raises(OutOfRange, match=r"after leap\(\), value is 7, outside its range 0..3"):
        check(Careless(3))


def test_the_way_to_the_value_is_shown():
    with pytest.raises(LeftRange) as error:
        check(Careless(3))
    assert [step.action for step in error.value.trace.steps] == ["leap()"]


def test_an_initial_state_may_be_out_of_range_too():
    class Late(Counter):
        @init
        def start(self) -> Count:
            return Count(-1)

    with pytest.raises(LeftRange, match=r"after @init, value is -1"):
        check(Late(3))


class Cell(Element):
    pass


@dataclass(frozen=True)
class Inner:
    plain: int
    level: Annotated[int, Range(-1, 1)]


@dataclass(frozen=True)
class Nested:
    flag: bool
    free: Map[Cell, int]
    cells: Map[Cell, Inner]
    pairs: Map[tuple[Cell, Cell], Annotated[int, Range(0, 2)]]
    odd: frozenset[int]


@dataclass(frozen=True)
class Cells(Model[Nested]):
    cells: Domain[Cell]

    @init
    def start(self) -> Nested:
        return nested()


def nested(level: int = 0, pair: int = 0) -> Nested:
    cells = Domain(Cell, 2)
    levels = Map.fill(cells, Inner(99, 0)).set(Cell(1), Inner(99, level))
    pairs = Map.fill(cells, cells, 0).set((Cell(0), Cell(1)), pair)
    return Nested(False, Map.fill(cells, 99), levels, pairs, frozenset())


@pytest.mark.parametrize(
    ("state", "found"),
    [
        (nested(), None),
        (nested(level=1, pair=2), None),
        (nested(level=-2), ".cells[cell1].level is -2, outside its range -1..1"),
        (nested(pair=3), ".pairs[cell0, cell1] is 3, outside its range 0..2"),
    ],
    ids=["inside", "at-the-border", "in-a-record-in-a-map", "in-a-map-of-pairs"],
)
def test_ranges_are_found_in_nested_records_and_maps_beside_a_field_that_has_no_sort(state, found):
    assert find_outside(Cells(Domain(Cell, 2)))(state) == found


def test_a_state_without_declared_ranges_is_not_looked_at():
    assert find_outside(walk(Walk)) is None


def test_an_init_that_does_not_say_what_it_returns_has_no_ranges():
    class Silent(Model[Any]):
        @init
        def start(self):
            return 0

    class Vague(Model[Any]):
        @init
        def start(self) -> frozenset[int]:
            return frozenset()

    assert find_outside(Silent()) is None
    assert find_outside(Vague()) is None


@pytest.mark.parametrize("bound", ["nowhere", "cells"])
def test_a_bound_that_is_no_integer_of_the_model_is_refused(bound):
    level = Annotated[int, Range(0, bound)]

    @dataclass(frozen=True)
    class Bounded(Model[int]):
        cells: Domain[Cell]

        @init
        def start(self):
            return 0

    Bounded.start.__annotations__["return"] = level
    with pytest.raises(WrongDefinition, match=f"bounded by '{bound}'"):
        find_outside(Bounded(Domain(Cell, 1)))
