"""Code that asks what a value is, catches errors or keeps things, and is rightly followed.

A plain run and the traced form give the same.
"""

from __future__ import annotations

import enum
import functools
import itertools
import operator
from contextlib import contextmanager, suppress
from dataclasses import asdict, astuple, dataclass, fields, is_dataclass, replace
from typing import NamedTuple, assert_never

from streamproof.lang import Disabled, Map, exists, forall, require
from tests.lang.refused import Big, Color, S, Small

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


class Level(enum.Enum):
    LOW = 1
    HIGH = 2

    @property
    def other(self):
        return Level.HIGH if self == Level.LOW else Level.LOW


@dataclass(frozen=True)
class Capped:
    """A record that changes what it is given."""

    n: int

    def __post_init__(self):
        object.__setattr__(self, "n", min(2, self.n))

    @property
    def is_full(self):
        return self.n == 2

    def __eq__(self, other):
        return isinstance(other, Capped) and self.n + 0 == other.n

    __hash__ = None


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


def guard_caught_by_accident(model, s, p):
    with suppress(Exception):
        require(s.n > 1)
        return replace(s, n=s.n - 1)
    return replace(s, n=0)


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


def no_such_operation(model, s, p):
    try:
        s.m + 1
    except TypeError:
        return replace(s, n=1)
    return s


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


# --------------------------------------------------------------------------- records


def as_data(model, s, p):
    return replace(s, n=asdict(s)["n"] + len(fields(s)), flag=astuple(s)[1])


def attribute_of_a_record(model, s, p):
    return replace(s, n=getattr(s, "n", 7) + getattr(s, "none", 7), flag=hasattr(s, "color"))


def records_of_two_classes(model, s, p):
    wanted = Small(s.flag) if s.n > 0 else Big(s.flag)
    return replace(s, n=1 if isinstance(wanted, Small) else 2)


def record_that_changes_what_it_is_given(model, s, p):
    capped = Capped(s.n)
    return replace(s, n=capped.n, flag=capped.is_full or capped == Capped(s.m[p]))


def members_by_name(model, s, p):
    level = Level.LOW if s.n > 0 else Level.HIGH
    return replace(s, n=level.value + level.other.value, flag=level.name == "LOW")


def records_compared(model, s, p):
    return replace(s, flag=s == replace(s, n=1), n=1 if s != s else 2)  # noqa: PLR0124


def text_of_what_is_plain(model, s, p):
    return replace(s, flag=f"{Color.RED.name}{1:02d}" == "RED01", n=len(str(LIMITS["low"])))


def message_of_a_guard(model, s, p):
    require(s.n > 0, f"it is {s.n}, of {s.m[p]!r}")
    assert s.n < 2, f"it is {s.n}"
    return s


# --------------------------------------------------------------------------- lambdas


def named_tuples_in_a_map(model, s, p):
    pairs = s.m.map(lambda n: Pair(n, right=1) if n > 0 else Pair(0, n))
    return replace(s, n=pairs[p].left + pairs[s.owner].right)


def every_member_is_known(model, s, p):
    match s.color:
        case Color.RED:
            return replace(s, n=1)
        case Color.GREEN:
            return replace(s, n=2)
        case other:
            assert_never(other)


def variable_around_a_lambda(model, s, p):
    by = s.n
    by = by + 1
    names = ["a", "b"]
    return replace(s, m=s.m.map(lambda n: n + by + len(names)))


def claim_in_a_lambda(model, s, p):
    def positive(n):
        assert n >= 0
        return n

    return replace(s, m=s.m.map(positive))


def own_error_inside_of_a_lambda(model, s, p):
    def small(n):
        try:
            if n > 1:
                raise Stop  # noqa: TRY301
            return True  # noqa: TRY300
        except Stop:
            return False

    return replace(s, flag=forall(model.ps, lambda q: small(s.m[q])))


def lambdas_within_lambdas(model, s, p):
    return replace(
        s, flag=exists(s.m, lambda q: forall(model.ps, lambda r: s.pair[q, r] or q == p))
    )
