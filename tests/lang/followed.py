"""Code that asks what a value is, catches errors or keeps things, and is rightly followed.

A plain run and the traced form give the same.
"""

from __future__ import annotations

import enum
import functools
import itertools
import operator
from contextlib import contextmanager
from dataclasses import is_dataclass, replace
from typing import NamedTuple

from streamproof.lang import Disabled, Map, require
from tests.lang.support.refused import Color, S

CALM = (Color.RED, Color.GREEN)
LIMITS = {"low": 1, "high": 2}


class Pair(NamedTuple):
    left: int
    right: int


class Stop(Exception):
    """A way out."""


@functools.singledispatch
def kind_of(_value):
    return 0


@kind_of.register
def _(_value: int):
    return 1


@kind_of.register
def _(_value: Color):
    return 2


@contextmanager
def closing(found):
    found.append(1)
    yield found
    found.append(2)


# --------------------------------------------------------------------------- what it is


def an_int(model, s, p):
    return replace(s, n=1 if isinstance(s.n, int) else 0)


def no_bool(model, s, p):
    return replace(s, flag=isinstance(s.n, bool))


def a_bool_is_an_int(model, s, p):
    return replace(s, flag=isinstance(s.flag, int) and isinstance(s.flag, bool))


def a_member(model, s, p):
    return replace(s, flag=isinstance(s.color, Color) and isinstance(s.color, enum.Enum))


def one_of_several_classes(model, s, p):
    return replace(s, flag=isinstance(s.n, str | float) or isinstance(s.n, (Color, int)))  # noqa: SIM101


def neither_text_nor_float(model, s, p):
    return replace(s, flag=isinstance(s.n, float) or isinstance(s.color, str))


def a_map(model, s, p):
    return replace(s, flag=isinstance(s.m, Map) and not isinstance(s.m, dict))


def a_record(model, s, p):
    return replace(s, flag=isinstance(s, S) and is_dataclass(s) and not is_dataclass(s.n))


def case_of_a_number(model, s, p):
    match s.n:
        case int(1):
            return replace(s, n=2)
        case bool():
            return replace(s, n=3)
        case int() as n if n > 1:
            return replace(s, n=n - 1)
    return s


def case_of_a_value(model, s, p):
    match s.n, s.color:
        case 1, Color.RED:
            return replace(s, n=2)
        case (0 | 2) as n, Color():
            return replace(s, n=n + 1)
        case [n, _]:
            return replace(s, n=-n)


def case_of_a_truth(model, s, p):
    match s.flag:
        case bool(flag):
            return replace(s, flag=not flag)
        case int():
            return replace(s, n=7)


def case_of_no_sequence(model, s, p):
    match s.m:
        case [*_] | {}:
            return replace(s, n=7)
    match s.n:
        case [*_] | {} | str() | float() | None:
            return replace(s, n=7)
    return s


def case_of_a_record(model, s, p):
    match s:
        case S(n=int(n), flag=bool(), color=Color.RED):
            return replace(s, n=n + 1)
    return s


def dispatched_on_a_number(model, s, p):
    return replace(s, n=kind_of(s.n) + kind_of(s.color) + kind_of("a"))


# --------------------------------------------------------------------------- errors


def own_error_as_a_way_out(model, s, p):
    try:
        if s.n > 1:
            raise Stop  # noqa: TRY301
        return replace(s, n=s.n + 1)
    except Stop:
        return replace(s, n=0)
    finally:
        pass


def caught_guard(model, s, p):
    try:
        require(s.n > 1)
    except Disabled:
        return replace(s, n=0)
    return replace(s, n=s.n - 1)


def caught_claim(model, s, p):
    try:
        assert s.n > 1, "too small"
    except AssertionError:
        return replace(s, n=0)
    return s


def guard_after_a_claim(model, s, p):
    try:
        require(s.n > 0)
        assert s.n > 1
    finally:
        require(s.flag)
    return s


def missing_key_of_a_dict(model, s, p):
    try:
        return replace(s, n=LIMITS["none"] + s.n)
    except KeyError:
        return replace(s, n=LIMITS["low"] + s.n)


# --------------------------------------------------------------------------- plain containers


def ordered(model, s, p):
    return replace(s, n=sorted([s.n, 1, s.m[p]])[1])


def extremes(model, s, p):
    return replace(s, n=max(s.n, 1) - min(s.m[p], 0, s.n))


def summed(model, s, p):
    return replace(s, n=sum([s.n, 1, s.m[p]]), flag=any([s.flag, s.n > 1]) and all((s.flag,)))


def zipped(model, s, p):
    pairs = zip((s.n, s.m[p]), enumerate([1, 2]), strict=True)
    return replace(s, n=sum(n * i for n, (_, i) in pairs))


def in_a_tuple(model, s, p):
    return replace(s, flag=s.color in CALM and s.n in [0, s.m[p]] and s.n in range(2))


def tuples_compared(model, s, p):
    return replace(s, flag=(s.n, s.m[p]) < (1, 0) or (s.n, 2) == (s.m[p], 2))


def lists_searched(model, s, p):
    return replace(s, n=[0, 1, s.n].index(s.n) + [1, s.n].count(1))


def accumulated(model, s, p):
    found = []
    for n in (s.n, s.m[p]):
        if n > 0:
            found.append(n)  # noqa: PERF401
    return replace(s, n=len(found))


def accumulated_in_a_dict(model, s, p):
    found = {"n": s.n}
    found["n"] += 1
    found.update(m=s.m[p])
    return replace(s, n=found["n"] + found.get("m", 0) + found.get("none", 5))


def nonlocal_of_a_function(model, s, p):
    total = 0

    def add(n):
        nonlocal total
        total += n

    add(s.n)
    add(1)
    return replace(s, n=total)


def list_of_a_function(model, s, p):
    found = [s.n]

    def add(n):
        found.append(n)
        found[0] += 1

    add(1)
    return replace(s, n=found[0] + len(found))


def generated(model, s, p):
    def numbers():
        yield s.n
        yield from (n for n in (1, s.m[p]) if n > 0)

    return replace(s, n=sum(numbers()))


def named_tuple(model, s, p):
    pair = Pair(s.n, right=1)._replace(right=2)
    return replace(s, n=pair.left + pair.right)


def library(model, s, p):
    total = functools.reduce(operator.add, itertools.chain([s.n], [1], (s.m[p],)))
    return replace(s, n=functools.partial(operator.sub, total)(1))


def context_manager(model, s, p):
    found = []
    with closing(found) as opened:
        opened.append(s.n)
    return replace(s, n=found[1], flag=len(found) == 3)
