"""One use of every operation of the language, whose two readings must agree.

Each is an action that leaves what the operation gives in the state. The names are those of the
operation: the class of the values, or `lang`, and the method.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

from streamproof.lang import Map, count, exists, forall, implies, require
from tests.lang.support.refused import Color, Small

OPERATIONS: dict[str, Callable[..., Any]] = {}


def operation(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return which operations a function uses."""

    def note(function: Callable[..., Any]) -> Callable[..., Any]:
        OPERATIONS.update(dict.fromkeys(names, function))
        return function

    return note


# --------------------------------------------------------------------------- functions


@operation("lang.forall")
def all_of_several(model, s, p):
    all_pairs = forall(model.ps, s.m, lambda q, r: s.pair[q, r] or s.m[q] <= s.m[r])
    return replace(s, flag=all_pairs, n=1 if forall(model.ps, lambda q: s.m[q] > 0) else 0)


@operation("lang.exists")
def some_of_several(model, s, p):
    some_pair = exists(s.pair, lambda q, r: s.pair[q, r] and q != r)
    return replace(s, flag=some_pair, n=1 if exists(model.ps, lambda q: s.m[q] == 1) else 0)


@operation("lang.count")
def counted(model, s, p):
    pairs = count(model.ps, model.ps, lambda q, r: s.pair[q, r])
    return replace(s, n=pairs - count(s.m, lambda q: s.m[q] > 0))


@operation("lang.implies")
def implied(model, s, p):
    inner = forall(model.ps, lambda q: implies(q == p, s.m[q] > 0))
    return replace(s, flag=implies(s.flag, s.n > 0), n=2 if implies(s.n > 1, inner) else 3)


@operation("lang.require")
def required(model, s, p):
    require(s.n > 0)
    require(s.flag or s.n > 1, "neither")
    return replace(s, n=s.n - 1)


# --------------------------------------------------------------------------- maps


@operation("Map.fill")
def filled(model, s, p):
    return replace(s, m=Map.fill(model.ps, s.n), pair=Map.fill(model.ps, s.m, s.flag))


@operation("Map.build")
def built(model, s, p):
    pair = Map.build(s.m, model.ps, lambda q, r: s.m[q] < s.m[r] or q == p)
    return replace(s, m=Map.build(model.ps, lambda q: s.m[q] + s.n if q != p else 0), pair=pair)


@operation("Map.domains")
def over_its_domains(model, s, p):
    first, second = s.pair.domains
    same = s.m.domains == (model.ps,) and len(s.pair.domains) == 2
    return replace(s, m=Map.fill(first, 1), flag=same and exists(second, lambda q: s.pair[p, q]))


@operation("Map.__getitem__")
def looked_up(model, s, p):
    return replace(s, n=s.m[p] + s.m[s.owner], flag=s.pair[p, s.owner])


@operation("Map.set")
def set_at_keys(model, s, p):
    m = s.m.set(p, s.n).set(s.owner, s.m[p])
    return replace(s, m=m, pair=s.pair.set((p, s.owner), s.flag).set((p, p), False), n=m[p])


@operation("Map.map")
def mapped(model, s, p):
    m = s.m.map(lambda n: n + 1 if n > s.n else -n)
    return replace(s, m=m, pair=s.pair.map(lambda met: not met), n=m[p])


@operation("Map.map_items")
def items_mapped(model, s, p):
    m = s.m.map_items(lambda q, n: n if q == p else s.n)
    return replace(s, m=m, pair=s.pair.map_items(lambda q, r, met: met or q == r != p))


@operation("Map.__eq__", "Map.__ne__")
def maps_compared(model, s, p):
    m, pair = s.m.set(p, 1), s.pair.map(lambda met: met)
    return replace(s, flag=s.m == m, n=1 if m != Map.fill(model.ps, 1) else 2 if pair != s else 3)


@operation("Map.__copy__", "Map.__deepcopy__")
def maps_copied(model, s, p):
    return replace(s, m=copy.copy(s.m).set(p, 1), pair=copy.deepcopy(s.pair))


# --------------------------------------------------------------------------- domains


@operation("Domain.__eq__", "Domain.__ne__")
def domains_compared(model, s, p):
    return replace(s, flag=model.ps == s.m.domains[0], n=1 if model.ps != s.pair.domains[1] else 2)


@operation("Domain.__copy__", "Domain.__deepcopy__")
def domains_copied(model, s, p):
    others, more = copy.copy(model.ps), copy.deepcopy(model.ps)
    return replace(s, flag=others == more, m=Map.fill(others, s.n))


# --------------------------------------------------------------------------- scalars


@operation("bool.__bool__")
def truths(model, s, p):
    return replace(s, flag=not s.flag, n=1 if s.flag and s.n > 0 else 2)


@operation("bool.__and__", "bool.__rand__")
def both(model, s, p):
    return replace(s, flag=(s.flag & (s.n > 0)) & (True & s.pair[p, p]))


@operation("bool.__or__", "bool.__ror__")
def either(model, s, p):
    return replace(s, flag=(s.flag | (s.n > 0)) | (False | s.pair[p, p]))


@operation("bool.__eq__", "bool.__ne__")
def truths_compared(model, s, p):
    return replace(s, flag=s.flag == s.pair[p, p], n=1 if s.flag != (s.n > 0) else 2)


@operation("int.__bool__")
def truth_of_a_number(model, s, p):
    return replace(s, flag=bool(s.n), n=s.n or s.m[p])


@operation("int.__add__", "int.__radd__")
def added(model, s, p):
    return replace(s, n=s.n + s.m[p] + 2, m=s.m.map(lambda n: 3 + n))


@operation("int.__sub__", "int.__rsub__")
def subtracted(model, s, p):
    return replace(s, n=s.n - s.m[p] - 2, m=s.m.map(lambda n: 3 - n))


@operation("int.__mul__", "int.__rmul__")
def multiplied(model, s, p):
    return replace(s, n=s.n * s.m[p] * 2, m=s.m.map(lambda n: 3 * n))


@operation("int.__neg__")
def negated(model, s, p):
    return replace(s, n=-s.n, m=s.m.map(lambda n: -(n - 1)))


@operation("int.__lt__", "int.__gt__")
def less_or_more(model, s, p):
    pair = s.pair.map_items(lambda q, r, _: s.m[q] > s.m[r])
    return replace(s, flag=s.n < s.m[p], n=1 if 1 > s.n else 2, pair=pair)  # noqa: SIM300


@operation("int.__le__", "int.__ge__")
def at_most_or_least(model, s, p):
    pair = s.pair.map_items(lambda q, r, _: s.m[q] >= s.m[r])
    return replace(s, flag=s.n <= s.m[p], n=1 if 1 >= s.n else 2, pair=pair)  # noqa: SIM300


@operation("int.__eq__", "int.__ne__")
def numbers_compared(model, s, p):
    return replace(s, flag=s.n == s.m[p], n=1 if s.n != 1 else 2)


@operation("Enum.__eq__", "Enum.__ne__")
def members_compared(model, s, p):
    color = Color.RED if s.color != Color.RED else Color.GREEN
    return replace(s, flag=s.color == Color.GREEN, color=color)


@operation("Element.__eq__", "Element.__ne__")
def elements_compared(model, s, p):
    return replace(s, flag=p == s.owner, n=1 if s.owner != p else 2, owner=p)


@operation("scalar.__copy__", "scalar.__deepcopy__")
def copied(model, s, p):
    again = copy.deepcopy(s)
    return replace(again, n=copy.copy(s.n) + again.m[p], flag=asdict(s)["flag"])


# --------------------------------------------------------------------------- records


@operation("record.__eq__", "record.__ne__")
def records_compared(model, s, p):
    other = replace(s, n=1, m=s.m.set(p, 1))
    return replace(s, flag=s == other, n=1 if Small(s.flag) != Small(s.n > 0) else 2)


@operation("record.replace")
def records_replaced(model, s, p):
    inner = replace(Small(s.flag), wanted=s.n > 0)
    return replace(replace(s, n=s.m[p]), flag=inner.wanted)
