"""Purity: a method that answers differently the second time, and a value of another sort."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker.findings import NO_PROPERTY
from streamproof.checker.purity import ImpureModel, check_purity
from streamproof.checker.states import UnfitState
from streamproof.lang import Domain, Element, Map
from streamproof.lang.model import Model, action, always, init
from streamproof.models.kit.verdict import Status
from tests.checker.support.walks import Count, Counter

ticks = itertools.count()


class Colour(Enum):
    """Of a lamp."""

    RED = 1


class Lamp(Element):
    """Something that has a colour."""


LAMP, LEVELS = Lamp(0), Map.fill(Domain(Lamp, 1), 0)


@dataclass(frozen=True)
class Row:
    """A state with a field of every sort."""

    number: int = 0
    lit: bool = False
    colour: Colour = Colour.RED
    lamp: Lamp = LAMP
    levels: Map[Lamp, int] = LEVELS


@dataclass(frozen=True)
class Lamps(Model[Row]):
    """A model whose only state is given."""

    row: Any

    @init
    def start(self) -> Row:
        return self.row

    @action
    def stay(self, s: Row) -> Row:
        return s


class Clock(Counter):
    @action
    def up(self, now: Count) -> Count:
        return Count(next(ticks) % 3)


class Moody(Counter):
    @always
    def in_the_mood(self, now: Count) -> bool:
        return bool(next(ticks) % 2) or now.value < 9


class Sometime(Counter):
    @init
    def start(self) -> Count:
        return Count(next(ticks))


class Late(Counter):
    @action
    def up(self, now: Count) -> Count:
        return Count(now.value + 1) if now.value < 2 else Count(next(ticks) % 2)


@pytest.mark.parametrize(
    ("kind", "what"),
    [(Clock, "up()"), (Moody, "in_the_mood()"), (Sometime, "@init"), (Late, "up()")],
)
def test_a_method_that_answers_differently_the_second_time_is_named(kind, what):
    if kind is Moody:
        kind = type("Odd", (Moody,), {"in_the_mood": always(lambda self, now: f"{next(ticks)}")})
    with pytest.raises(ImpureModel) as refused:
        check(kind(3))
    assert what.partition("(")[0] in str(refused.value)
    assert "asked twice about the same state" in str(refused.value)


def test_a_number_that_is_not_itself_is_no_answer():
    with pytest.raises(UnfitState, match="nan, which is not equal to itself"):
        check_purity(type("Lost", (Counter,), {"start": init(lambda self: float("nan"))})(3))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (Row(number=True), "number is True, which is bool and not int"),
        (Row(number=1.0), "number is 1.0, which is float and not int"),
        (Row(lit=1), "lit is 1, which is int and not bool"),
        (Row(colour=1), "colour is 1, which is int and not Colour"),
        (Row(lamp=0), "lamp is 0, which is int and not Element"),
        (
            Row(levels=Map.fill(Domain(Lamp, 1), "x")),
            "levels[lamp0] is 'x', which is str and not int",
        ),
        (Row(levels=()), "levels is (), which is tuple and not Map"),
        ("a row", "is 'a row', which is str and not Row"),
    ],
)
def test_a_value_of_another_sort_is_named(row, told):
    with pytest.raises(UnfitState) as refused:
        check(Lamps(row))
    assert told in str(refused.value)


def test_values_of_their_sorts_pass_and_a_model_without_a_property_says_so():
    report = check(Lamps(Row()))
    assert report.finding("deadlock").verdict.status is Status.EXHAUSTED
    assert report.verdict.reasons == (NO_PROPERTY,)


def test_a_method_that_fails_is_left_to_the_engine():
    check_purity(type("Fails", (Counter,), {"up": action(lambda self, now: 1 / 0)})(3))
