"""Comparisons by identity would quietly be false in a trace, and are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.lang import Untraceable, exists, require
from streamproof.lang.trace import trace_model
from tests.lang.support.refused import Color, model_with


def same_member(model, s, p):
    require(s.color is Color.RED)
    return s


def another_element(model, s, p):
    require(exists(model.ps, lambda q: q is not s.owner))
    return s


def is_green(color):
    return color is Color.GREEN


def same_in_a_helper(model, s, p):
    return replace(s, flag=is_green(s.color))


def in_a_match(model, s, p):
    match s.flag:
        case True:
            return s
    return replace(s, flag=True)


@pytest.mark.parametrize(
    ("step", "where"),
    [
        (same_member, "same_member"),
        (another_element, "lambda"),
        (same_in_a_helper, "is_green"),
        (in_a_match, "in_a_match"),
    ],
)
def test_a_comparison_by_identity_is_refused_with_function_and_remedy(step, where):
    with pytest.raises(Untraceable, match=rf"{where}.* compares .*by identity.* Write "):
        trace_model(model_with(step))


def test_a_comparison_with_none_is_none():
    def unset(model, s, p):
        is_there = model is not None
        return s if p is None else replace(s, flag=is_there)

    assert trace_model(model_with(unset)).commands


def test_a_truth_value_beside_a_number_is_not_said_to_be_unequal():
    def step(model, s, p):
        return replace(s, flag=s.flag == 1)

    with pytest.raises(Untraceable, match="plain Python takes True for 1 and False for 0"):
        trace_model(model_with(step))
