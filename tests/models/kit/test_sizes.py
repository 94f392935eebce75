"""Sizes: settings read from text as their annotations say, and what is answered to a wrong one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import pytest

from streamproof.lang import Domain, Element
from streamproof.lang.model import Model, init
from streamproof.lang.sorts import Range
from streamproof.models.kit.sizes import (
    FailedSize,
    UnknownSize,
    at_size,
    named_size,
    parsed,
    settings,
)


class Shape(Enum):
    RING = "ring"
    FAN_IN = "fan_in"


class Process(Element):
    pass


@dataclass(frozen=True)
class Fields(Model[int]):
    processes: Domain[Process]
    shape: Shape = Shape.RING
    sizes = {"tiny": {"processes": 1}, "wide": {"processes": 9}}

    @init
    def start(self) -> int:
        return 0


@dataclass(frozen=True)
class Own(Fields):
    @classmethod
    def sized(
        cls,
        *,
        messages: tuple[int, ...],
        pair: tuple[int, Shape] = (0, Shape.RING),
        count: Annotated[int, Range(0, 9)] = 1,
        fast: bool = False,
        name: str = "",
        weight: float = 0,
        unsaid=0,
    ) -> Own:
        return cls(Domain(Process, len(messages)))


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        ({"messages": "1,2,3"}, {"messages": (1, 2, 3)}),
        ({"messages": "(1, 2)"}, {"messages": (1, 2)}),
        ({"messages": "(1,)"}, {"messages": (1,)}),
        ({"messages": "()"}, {"messages": ()}),
        ({"pair": "3,fan_in"}, {"pair": (3, Shape.FAN_IN)}),
        ({"count": "4", "fast": "True", "name": "x"}, {"count": 4, "fast": True, "name": "x"}),
        ({"fast": "false", "unsaid": "7"}, {"fast": False, "unsaid": 7}),
    ],
)
def test_a_setting_is_read_as_the_parameter_is_annotated(texts, values):
    assert parsed(Own, texts) == values


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        ({"count": "many"}, "count=many is no value .* a whole number"),
        ({"fast": "yes"}, "give true or false"),
        ({"pair": "1"}, "give 2 values with commas"),
        ({"pair": "1,square"}, "give one of ring, fan_in"),
        ({"weight": "1.5"}, "use a named --size"),
        ({"colour": "red"}, r"no setting 'colour'.* messages \(tuple\), pair"),
    ],
)
def test_a_wrong_setting_is_answered_with_what_would_be_right(texts, answer):
    with pytest.raises(UnknownSize, match=answer):
        parsed(Own, texts)


@pytest.mark.parametrize(
    ("texts", "answer"),
    [
        ({"count": "1,fast=true"}, "Write --set count=1 --set fast=true"),
        ({"messages": "1,1,pair=3,ring"}, "Write --set messages=1,1 --set pair=3,ring"),
        ({"pair": "3,ring, count=2,fast=true"}, "3 settings as one.* --set count=2 --set fast"),
        ({"fast": "true,colour=red"}, "Write --set fast=true --set colour=red"),
    ],
)
def test_settings_that_are_given_as_one_are_told_apart(texts, answer):
    with pytest.raises(UnknownSize, match=answer):
        parsed(Own, texts)


def test_text_may_hold_what_looks_like_another_setting():
    assert parsed(Own, {"name": "x,count=2"}) == {"name": "x,count=2"}


def test_fields_are_settings_where_sized_is_not_overridden():
    assert dict(settings(Fields)) == {"processes": Domain[Process], "shape": Shape}
    assert parsed(Fields, {"processes": "2", "shape": "fan_in"}) == {
        "processes": 2,
        "shape": Shape.FAN_IN,
    }


def test_a_number_for_a_domain_is_its_size():
    model: Any = at_size(Fields, {"processes": 2})
    assert model.processes == Domain(Process, 2)
    assert at_size(Fields, {"processes": Domain(Process, 2)}) == model


@pytest.mark.parametrize("size", [{}, {"processes": 2, "bogus": 1}])
def test_a_size_that_does_not_fit_is_answered_with_the_settings(size):
    with pytest.raises(UnknownSize, match=r"settings are processes \(int\), shape \(ring | fan_in"):
        at_size(Fields, size)


def test_a_missing_parameter_of_sized_is_answered_too():
    with pytest.raises(UnknownSize, match="missing a required argument: 'messages'"):
        at_size(Own, {})


def test_without_a_default_size_the_first_is_taken():
    assert named_size(Fields, "") == ("tiny", {"processes": 1})
    assert named_size(Fields, "wide") == ("wide", {"processes": 9})


def test_an_unknown_size_is_answered_with_the_known_ones():
    with pytest.raises(UnknownSize, match="no size 'huge'.* --size with tiny, wide"):
        named_size(Fields, "huge")

    class Sizeless(Fields):
        sizes = {}

    assert named_size(Sizeless, "") == ("", {})
    with pytest.raises(UnknownSize, match="none"):
        named_size(Sizeless, "huge")


class Failing(Fields):
    @classmethod
    def sized(cls, count: int) -> Failing:
        return cls(Domain(Process, [1, 2][count]))


def test_an_error_in_the_code_that_makes_a_model_is_told_with_its_place():
    with pytest.raises(FailedSize, match=r"Failing .* IndexError: .*test_sizes.py:\d+\)"):
        at_size(Failing, {"count": 2})
