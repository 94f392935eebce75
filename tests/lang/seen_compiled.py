"""Code that hands a symbolic value to what is written in C, or reads what that says of it."""

from __future__ import annotations

import functools
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import pandas as pd

from streamproof.lang import require

EQUALS = (3).__eq__
EQUALS_IN_PARTS = functools.partial(int.__eq__, 3)
MINUS = (3).__sub__
CLASS_OF = object.__dict__["__class__"].__get__
TEXT_OF = object.__repr__
IN_A_DICT = {"is": [(3).__eq__]}
IS_INTEGER = pd.api.types.is_integer
ONE = np.int64(1)
ASKS = getattr


class Holder:
    """An object that keeps a function of C, in its attributes and in its class."""

    __slots__ = ("equals",)
    LESS = (3).__lt__

    def __init__(self):
        self.equals = (3).__eq__


@dataclass(frozen=True)
class Outer:
    inner: object


HOLDER = Holder()
OUTER = Outer([HOLDER])


CLASSES = [Holder]


class Ways(Enum):
    SAME = ((3).__eq__,)


@dataclass(frozen=True)
class Defaulted:
    way: object = EQUALS


def helper(number):
    return number


helper.equals = EQUALS  # type: ignore[attr-defined]


class Looking:
    """A context manager that looks at what went wrong."""

    said = ""

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _):
        return "int" in error.args[0]


# --------------------------------------------------------------------------- functions of C


def method_of_a_number(model, s, p):
    return replace(s, flag=EQUALS(s.n) != True)  # noqa: E712


def partial_of_a_slot(model, s, p):
    return replace(s, flag=EQUALS_IN_PARTS(s.n) != True)  # noqa: E712


def arithmetic_of_a_number(model, s, p):
    return replace(s, flag=MINUS(s.n) != 0)


def getter_of_the_class(model, s, p):
    return replace(s, flag=CLASS_OF(s.n) == int)  # noqa: E721


def text_by_a_slot(model, s, p):
    return replace(s, flag="int" in TEXT_OF(s.n))


def slot_of_an_object(model, s, p):
    return replace(s, flag=HOLDER.equals(s.n) != True)  # noqa: E712


def attribute_of_a_class(model, s, p):
    return replace(s, flag=Holder.LESS(s.n) != True)  # noqa: E712


def object_in_a_list_in_a_record(model, s, p):
    return replace(s, flag=OUTER.inner[0].equals(s.n) != True)  # noqa: E712


def member_of_a_dict(model, s, p):
    return replace(s, flag=IN_A_DICT["is"][0](s.n) != True)  # noqa: E712


def attribute_of_a_class_in_a_list(model, s, p):
    return replace(s, flag=CLASSES[0].LESS(s.n) != True)  # noqa: E712


def value_of_an_enumeration(model, s, p):
    return replace(s, flag=Ways["SAME"].value[0](s.n) != True)  # noqa: E712


def default_of_a_record(model, s, p):
    return replace(s, flag=Defaulted().way(s.n) != True)  # noqa: E712


def attribute_of_a_function(model, s, p):
    return replace(s, flag=helper.equals(s.n) != True)  # noqa: E712


def object_by_default(model, s, p, holder=HOLDER):
    return replace(s, flag=holder.equals(s.n) != True)  # noqa: E712


def variable_around(model, s, p):
    equals = EQUALS

    def same(number):
        return equals(number) != True  # noqa: E712

    return replace(s, flag=same(s.n))


def handed_to_map(model, s, p):
    return replace(s, flag=[*map(EQUALS, [s.n])] != [True])


def function_of_another_library(model, s, p):
    return replace(s, flag=IS_INTEGER(s.n))


def class_of_another_library(model, s, p):
    return replace(s, flag=np.int64(1) == s.n)


def number_of_another_library(model, s, p):
    return replace(s, flag=s.n == ONE)


def name_that_is_made_up(model, s, p):
    return replace(s, flag=getattr(3, "__e" + "q__"[: 3 + len("a")])(s.n) != True)  # noqa: E712


def name_that_ends_in_the_text(model, s, p):
    part = "__eq"
    return replace(s, flag=getattr(3, f"{part}__")(s.n) != True)  # noqa: E712


def name_that_begins_as_special_ones(model, s, p):
    part = "_eq__"
    return replace(s, flag=getattr(3, f"_{part}")(s.n) != True)  # noqa: E712


def asked_under_another_name(model, s, p):
    return replace(s, flag=ASKS(3, "real") == s.n)


def asked_by_map(model, s, p):
    return replace(s, n=sum(map(getattr, [s], ["n"])))


# --------------------------------------------------------------------------- what C says


def text_of_a_type_error(model, s, p):
    try:
        ord(s.n)
    except TypeError as error:
        return replace(s, flag="int" in error.args[0])
    return s


def no_such_operation(model, s, p):
    try:
        s.m + 1
    except TypeError:
        return replace(s, n=1)
    return s


def caught_by_a_variable(model, s, p):
    errors = (KeyError, TypeError)
    try:
        s.n()
    except errors as error:
        return replace(s, flag="int" in str(error))
    return s


def caught_with_others(model, s, p):
    try:
        return replace(s, n=len("".join([*"ab", s.n])))
    except (ValueError, AttributeError, TypeError):
        return replace(s, n=1)


def guard_caught_by_accident(model, s, p):
    with suppress(Exception):
        require(s.n > 1)
        return replace(s, n=s.n - 1)
    return replace(s, n=0)


def looked_at_by_exit(model, s, p):
    with Looking():
        ord(s.n)
    return replace(s, n=1)


def bare_handler_beside_another(model, s, p):
    try:
        ord("a")
    except KeyError:
        return s
    try:
        s.n()
    except:  # noqa: E722
        return replace(s, n=1)
    return s
