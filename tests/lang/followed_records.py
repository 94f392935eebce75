"""Records, and lambdas over maps, that are rightly followed.

A plain run and the traced form give the same.
"""

from __future__ import annotations

import abc
import enum
from dataclasses import asdict, astuple, dataclass, fields, replace
from typing import assert_never

from streamproof.lang import exists, forall, require
from tests.lang.followed import LIMITS, Pair, Stop
from tests.lang.support.refused import Big, Color, Small


class Shape(abc.ABC):  # noqa: B024
    """A class that a record derives from."""


@dataclass(frozen=True)
class Square(Shape):
    side: int


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


# --------------------------------------------------------------------------- records


def as_data(model, s, p):
    return replace(s, n=asdict(s)["n"] + len(fields(s)), flag=astuple(s)[1])


def attribute_of_a_record(model, s, p):
    return replace(s, n=getattr(s, "n", 7) + getattr(s, "none", 7), flag=hasattr(s, "color"))


def attribute_by_the_beginning_of_its_name(model, s, p):
    part = "n"
    return replace(s, n=getattr(s, f"n{part[1:]}") + getattr(s, "n" + part[1:]))


def records_of_two_classes(model, s, p):
    wanted = Small(s.flag) if s.n > 0 else Big(s.flag)
    return replace(s, n=1 if isinstance(wanted, Small) else 2)


def record_that_changes_what_it_is_given(model, s, p):
    capped = Capped(s.n)
    return replace(s, n=capped.n, flag=capped.is_full or capped == Capped(s.m[p]))


def abstract_record(model, s, p):
    square = Square(s.n)
    return replace(s, n=square.side, flag=isinstance(square, Shape) and not isinstance(s.n, Shape))


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
