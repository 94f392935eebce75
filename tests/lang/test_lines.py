"""The lines that traced paths run are known, so that a plain run on another line is noticed."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from streamproof.lang import require
from streamproof.lang.lines import noting_lines, traced_lines
from tests.lang.refused import model_with


def helped(n):
    return n + 1


def branching(model, s, p):
    require(s.n >= 0)
    if s.n > 3:
        return replace(s, m=s.m.map(lambda n: helped(n + 1)))
    if s.n < 0:
        return replace(s, n=7)  # never
    return replace(s, n=helped(s.n))


def numbers(function):
    first = function.__code__.co_firstlineno
    return {first + index for index in (1, 2, 3, 4, 6)}


def test_lines_of_all_paths_are_noted_and_no_others():
    found = traced_lines(model_with(branching))
    assert {line for code, line in found if code is branching.__code__} == numbers(branching)
    assert {line for code, line in found if code is helped.__code__} == {
        helped.__code__.co_firstlineno + 1
    }


@pytest.mark.parametrize("before", [None, lambda *_: None])
def test_lines_are_noted_for_a_while(before):
    old = sys.gettrace()
    sys.settrace(before)
    try:
        with noting_lines() as lines:
            helped(1)
        assert sys.gettrace() is before
        helped(2)
    finally:
        sys.settrace(old)
    assert (helped.__code__, helped.__code__.co_firstlineno + 1) in lines
