"""Code that could see what a value is: its class, its attributes, how it computes.

Each would go another way in a plain run than on values of which nothing is known.
"""

# ruff: noqa: E721, B009, E711, E712

from __future__ import annotations

import collections.abc
import functools
import numbers
import operator
import pickle
import typing
from dataclasses import dataclass, replace
from fractions import Fraction

from streamproof.lang import Element, Map, fork, scalars
from streamproof.lang.scalars import Symbolic
from tests.lang.support.refused import Color, P, sized_map

KINDS = {int: 1}
TYPE = type
PLAIN_MAP = sized_map()


class Kept:
    kind = type
    look = staticmethod(type)


@dataclass(frozen=True)
class Tools:
    kind: object = type
    look = staticmethod(type)


TOOLS = Tools()


class Own:
    """Something with an equality of its own."""

    def __eq__(self, other):
        return isinstance(other, int)

    __hash__ = None


@typing.runtime_checkable
class HasBits(typing.Protocol):
    def bit_length(self) -> int: ...


@functools.cache
def kept_result(name):
    return name


@functools.singledispatch
def described(_value):
    return 0


@described.register
def _(_value: P):
    return 1


# --------------------------------------------------------------------------- what it is


def type_of(model, s, p):
    return replace(s, n=1 if type(s.n) == int else 0)


def type_under_another_name(model, s, p):
    return replace(s, n=1 if TYPE(s.n) == int else 0)


def type_in_a_dict(model, s, p):
    return replace(s, n=KINDS.get(TYPE(s.n), 0))


def type_of_a_class(model, s, p):
    return replace(s, n=1 if Kept.look(s.n) == int else 0)


def type_in_a_class(model, s, p):
    return replace(s, n=1 if Kept.kind(s.n) == int else 0)


def type_in_a_record(model, s, p):
    return replace(s, n=1 if TOOLS.kind(s.n) == int else 0)


def type_by_map(model, s, p):
    return replace(s, n=1 if list(map(type, (s.n,))) == [int] else 0)


def type_of_the_class(model, s, p):
    return replace(s, n=1 if int.__class__(s.n) == int else 0)


def type_by_getattr(model, s, p):
    return replace(s, n=1 if getattr(int, "__class__")(s.n) == int else 0)


def class_of(model, s, p):
    return replace(s, n=1 if s.n.__class__ == int else 0)


def type_of_a_map(model, s, p):
    return replace(s, n=1 if type(s.m) == Map else 0)


def identity(model, s, p):
    return replace(s, n=id(s.n) % 2)


def identity_by_operator(model, s, p):
    return replace(s, flag=operator.is_(s.color, Color.RED))


def called(model, s, p):
    return replace(s, flag=callable(s.n))


def abstract_class(model, s, p):
    return replace(s, flag=isinstance(s.n, collections.abc.Iterable))


def abstract_number(model, s, p):
    return replace(s, flag=isinstance(s.n, numbers.Integral))


def protocol(model, s, p):
    return replace(s, flag=isinstance(s.n, HasBits))


def class_of_an_element(model, s, p):
    return replace(s, flag=isinstance(p, P))


def case_of_an_element(model, s, p):
    match s.owner:
        case Element():
            return replace(s, n=5)
    return s


def case_with_an_attribute(model, s, p):
    match s.color:
        case Color(value=1):
            return replace(s, n=5)
    return s


def case_with_a_part(model, s, p):
    match s.n:
        case int(real=1500):
            return replace(s, n=5)
    return s


def dispatched(model, s, p):
    return replace(s, n=described(p))


def class_of_the_tracer(model, s, p):
    return replace(s, flag=isinstance(s.n, Symbolic))


def module_of_the_tracer(model, s, p):
    return replace(s, flag=scalars.is_symbolic(s.n))


def run_of_the_tracer(model, s, p):
    return replace(s, flag=fork.current_run() is None)


# --------------------------------------------------------------------------- attributes


def attribute(model, s, p):
    return replace(s, n=s.n.bit_length())


def attribute_or_none(model, s, p):
    return replace(s, flag=getattr(s.n, "real", None) == s.n)


def has_attribute(model, s, p):
    return replace(s, flag=hasattr(s.n, "numerator"))


def has_the_tracers_attribute(model, s, p):
    return replace(s, flag=hasattr(s.n, "expr"))


def attribute_or_error(model, s, p):
    try:
        return replace(s, n=s.n.real)
    except AttributeError:
        return replace(s, n=7)


def value_of_a_member(model, s, p):
    return replace(s, n=s.color.value)


def name_of_a_member(model, s, p):
    return replace(s, flag=s.color.name == "RED")


def index_of_an_element(model, s, p):
    return replace(s, n=p.index)


def attributes_listed(model, s, p):
    return replace(s, n=len(dir(s.n)))


def fields_by_vars(model, s, p):
    return replace(s, n=len(vars(s)))


def slots(model, s, p):
    return replace(s, flag="expr" in getattr(s.n, "__slots__", ()))


def tables_of_a_map(model, s, p):
    return replace(s, flag=hasattr(s.m, "_values"))


def openness_of_a_domain(model, s, p):
    return replace(s, flag=model.ps.is_open)


def name_of_a_domain(model, s, p):
    return replace(s, flag=model.ps.name == "P")


def truth_of_a_domain(model, s, p):
    return replace(s, flag=bool(model.ps))


def truth_of_a_map(model, s, p):
    return replace(s, flag=bool(s.m))


def truth_of_a_member(model, s, p):
    return replace(s, flag=bool(s.color))


def pickled(model, s, p):
    return replace(s, n=pickle.loads(pickle.dumps(s.n)))


# --------------------------------------------------------------------------- hashes and keys


def hashed(model, s, p):
    return replace(s, n=hash(s.n))


def hashed_record(model, s, p):
    return replace(s, n=hash(s))


def hashed_domain(model, s, p):
    return replace(s, n=len({model.ps, model.ps}))


def member_or_default(model, s, p):
    return replace(s, n={1: 5}.get(s.n, 0))


def unhashable(model, s, p):
    try:
        return replace(s, flag=s.n in {1, 2})
    except TypeError:
        return replace(s, flag=False)


def kept_by_its_key(model, s, p):
    return replace(s, flag=kept_result("a") == "b")


# --------------------------------------------------------------------------- operators


def bits(model, s, p):
    return replace(s, n=s.n & 1)


def shifted(model, s, p):
    return replace(s, n=1 << s.n)


def inverted(model, s, p):
    return replace(s, n=~s.n)


def exclusive(model, s, p):
    return replace(s, flag=s.flag ^ True)


def bool_ordered(model, s, p):
    try:
        return replace(s, flag=s.flag < 3)
    except TypeError:
        return replace(s, flag=False)


def bools_added(model, s, p):
    try:
        return replace(s, n=sum([s.flag, s.flag]))
    except TypeError:
        return replace(s, n=0)


def members_ordered(model, s, p):
    try:
        return replace(s, flag=s.color < Color.RED)
    except TypeError:
        return replace(s, flag=False)


def rounded(model, s, p):
    return replace(s, n=round(s.n))


def absolute(model, s, p):
    return replace(s, n=abs(s.n))


def converted(model, s, p):
    return replace(s, n=int(s.n))


def three_argument_power(model, s, p):
    try:
        return replace(s, n=pow(s.n, 2, 5))
    except TypeError:
        return replace(s, n=0)


def sliced(model, s, p):
    return replace(s, n=len([1, 2, 3][: s.n]))


def repeated(model, s, p):
    return replace(s, n=len("ab" * s.n))


def with_none(model, s, p):
    return replace(s, flag=s.n == None)


def with_text(model, s, p):
    return replace(s, flag=s.n == "1")


def with_a_bool(model, s, p):
    return replace(s, flag=s.n == True)


def with_a_fraction(model, s, p):
    return replace(s, flag=s.n == Fraction(1, 2))


def with_an_own_equality(model, s, p):
    return replace(s, flag=s.n == Own())


def with_a_large_float(model, s, p):
    return replace(s, flag=s.n < float("inf"))


def map_with_a_sized_one(model, s, p):
    from_outside = PLAIN_MAP
    return replace(s, flag=s.m == from_outside)
