"""Code that reaches in a roundabout way what could see a symbolic value."""

# ruff: noqa: E721

from __future__ import annotations

import builtins
from dataclasses import dataclass, replace

from streamproof.lang import Map
from tests.lang.seen_values import Tools


@dataclass(frozen=True)
class Outer:
    inner: Tools


# --------------------------------------------------------------------------- reached otherwise


def by_default(value, look=type):
    return look(value)


def type_by_default(model, s, p):
    return replace(s, n=1 if by_default(s.n) == int else 0)


def type_by_builtins(model, s, p):
    return replace(s, n=1 if builtins.type(s.n) == int else 0)


def type_by_getattr_of_builtins(model, s, p):
    return replace(s, n=1 if getattr(builtins, "ty" + "pe")(s.n) == int else 0)


def type_by_builtins_as_they_are(model, s, p):
    return replace(s, n=1 if __builtins__["type"](s.n) == int else 0)


def type_in_the_class_of_a_part(model, s, p):
    return replace(s, n=1 if Outer(Tools(None)).inner.look(s.n) == int else 0)


def type_of_a_local_class(model, s, p):
    class Local:
        look = type

    return replace(s, n=1 if Local.look(s.n) == int else 0)


def text_by_a_map(model, s, p):
    return replace(s, flag=s.m.map(str)[p] == "1")


def text_by_a_quantifier(model, s, p):
    return replace(s, flag=Map.build(model.ps, repr)[p] == "p0")


def text_of_named_parts(model, s, p):
    pairs = s.m.map(Tools)
    return replace(s, flag=f"{pairs[p]}" == "Tools(1)")
