"""Sets that are there, or that a function makes: their order is found in the code.

No state holds them, so that no other order can be tried.
"""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from streamproof.lang.impure import ImpureModel, require_pure
from tests.checker.support.ordered import LETTERS, State, first_of, kind


class Holder:
    KEPT = LETTERS
    ONE = frozenset("a")

    def __init__(self) -> None:
        self.kept = LETTERS


class Slotted:
    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept = LETTERS


HELD, SLOTTED, MAKES, NUMBERS = Holder(), Slotted(), frozenset, frozenset(range(9))
TABLE = {"x": LETTERS, "n": 1}
ROWS = [(1, LETTERS)]


def updated(s: State) -> Any:
    t: Any = set()
    t.update(s.left)
    return next(iter(t))


def united(s: State) -> Any:
    t = frozenset()
    t |= s.left
    return [*t][0]  # noqa: RUF015


def aliased(s: State) -> Any:
    f = frozenset
    return next(iter(f(s.left)))


def aliased_list(s: State) -> Any:
    f = list
    return f({*s.left})[0]


def put_in_a_table(s: State) -> Any:
    d: dict[str, Any] = {}
    d["k"] = set(s.left)
    return next(iter(d["k"]))


def put_in_a_list(s: State) -> Any:
    rows: list[Any] = []
    rows.append(set(s.left))
    return list(rows[0])[0]  # noqa: RUF015


def gone_through(s: State) -> Any:
    return next(x for t in [set(s.left)] for x in t)


def made(s: State) -> Any:
    t = {x for x in s.left if x}
    t.discard("z")
    return t


def noted(s: State) -> Any:
    t: frozenset[str] = getattr(s, "left")  # noqa: B009 - nothing but the note says what it is
    return next(iter(t))


def noted_list(s: State) -> Any:
    t: list[str] = sorted(s.left)
    return t[0]


def named(*, names: Any) -> Any:
    return next(iter(names))


def handed_out(s: State) -> Any:
    def each() -> Any:
        yield from {*s.left}

    return next(each())


MADE = {
    "table": lambda self, s: next(iter(TABLE["x"])),
    "any-entry": lambda self, s: [*TABLE[min(s.left)]][0],  # noqa: RUF015
    "get": lambda self, s: next(iter(TABLE.get("x", ()))),
    "row": lambda self, s: list(ROWS[0][1])[0],  # noqa: RUF015
    "class": lambda self, s: next(iter(Holder.KEPT)),
    "object": lambda self, s: next(iter(HELD.kept)),
    "slot": lambda self, s: next(iter(SLOTTED.kept)),
    "updated": lambda self, s: updated(s),
    "united": lambda self, s: united(s),
    "aliased": lambda self, s: aliased(s),
    "aliased-list": lambda self, s: aliased_list(s),
    "global-alias": lambda self, s: next(iter(MAKES(s.left))),
    "module": lambda self, s: next(iter(builtins.set(s.left))),
    "asked": lambda self, s: set(s.left).__iter__().__next__(),
    "put-in-a-table": lambda self, s: put_in_a_table(s),
    "put-in-a-list": lambda self, s: put_in_a_list(s),
    "gone-through": lambda self, s: gone_through(s),
    "given": lambda self, s: next(iter(made(s))),
    "given-and-handed": lambda self, s: first_of(made(s)),
    "noted": lambda self, s: noted(s),
    "by-name": lambda self, s: named(names={*s.left}),
    "handed-out": lambda self, s: handed_out(s),
    "formatted": lambda self, s: f"{ {*s.left} }"[2],
    "either": lambda self, s: next(iter(s.taken or {*s.left})),
    "of-the-class": lambda self, s: next(iter(frozenset.union(s.left, "b"))),
}


@pytest.mark.parametrize("chosen", MADE.values(), ids=MADE)
def test_the_order_of_a_set_that_is_there_or_is_made_is_found_in_the_code(chosen):
    with pytest.raises(ImpureModel, match=r"test_orders_in_code.py:\d+\) uses the order of a set"):
        require_pure(kind(chosen))


UNSEEN = {
    "size": lambda self, s: len(TABLE["x"]),
    "member": lambda self, s: "a" in Holder.KEPT,
    "sorted": lambda self, s: sorted(TABLE["x"])[1],
    "number": lambda self, s: range(TABLE["n"]),
    "one": lambda self, s: next(iter(Holder.ONE)),
    "numbers": lambda self, s: next(iter(NUMBERS)),
    "least-of-made": lambda self, s: min(made(s)),
    "told": lambda self, s: f"{made(s)} is not well",
    "least-of-boxes": lambda self, s: [min(t) for t in [set(s.left)]],
    "copied": lambda self, s: {*made(s)},
    "noted-list": lambda self, s: noted_list(s),
    "counted": lambda self, s: len([x for x in made(s)]) + sum(x == "a" for x in made(s)),  # noqa: C416
}


@pytest.mark.parametrize("chosen", UNSEEN.values(), ids=UNSEEN)
def test_code_that_does_not_see_the_order_is_not_refused(chosen):
    require_pure(kind(chosen))
