"""Goal: the simplifier of truth values is right. Method: every small expression over three truths
is built by the builders, and its truth table is compared with Python's."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import pytest

from streamproof.lang import expr as ex
from streamproof.lang.evaluate import World, evaluate
from streamproof.lang.expr import BOOL, Expr, Var

ATOMS = tuple(Var(name, BOOL) for name in "abc")
NOWHERE = World({}, {})
VALUATIONS = [
    dict(zip(ATOMS, row, strict=True)) for row in itertools.product((False, True), repeat=3)
]

Table = tuple[bool, ...]


def table(expr: Expr) -> Table:
    """Evaluate in every world there is."""
    return tuple(bool(evaluate(expr, NOWHERE, world)) for world in VALUATIONS)


def literals() -> dict[Expr, Table]:
    """Each truth and its opposite, with tables that no builder has made."""
    made: dict[Expr, Table] = {}
    for atom in ATOMS:
        here = tuple(world[atom] for world in VALUATIONS)
        made[atom] = here
        made[ex.Apply("not", (atom,), BOOL)] = tuple(not value for value in here)
    return made


def pairs(parts: Mapping[Expr, Table]) -> dict[Expr, Table]:
    """What is joined from two parts; as the nodes are, without a builder."""
    made: dict[Expr, Table] = {}
    for (left, x), (right, y) in itertools.combinations(parts.items(), 2):
        made[ex.Apply("and", (left, right), BOOL)] = tuple(map(_both, x, y))
        made[ex.Apply("or", (left, right), BOOL)] = tuple(map(_either, x, y))
    return made


def _both(left: bool, right: bool) -> bool:
    return left and right


def _either(left: bool, right: bool) -> bool:
    return left or right


LITERALS = literals()
SMALL = {**LITERALS, **pairs(LITERALS)}


def test_there_are_small_expressions_of_every_kind() -> None:
    assert len(SMALL) == 6 + 2 * 15


@pytest.mark.parametrize(
    ("build", "means"),
    [
        (ex.conjunction, _both),
        (ex.disjunction, _either),
        (ex.equal, lambda left, right: left == right),
    ],
    ids=["and", "or", "eq"],
)
def test_what_is_joined_from_two_has_their_truth_table(
    build: Callable[..., Expr], means: Callable[..., bool]
) -> None:
    for (left, x), (right, y) in itertools.product(SMALL.items(), repeat=2):
        assert table(build(left, right)) == tuple(map(means, x, y)), (left, right)


def test_what_is_negated_has_the_opposite_truth_table() -> None:
    for part, values in SMALL.items():
        assert table(ex.negate(part)) == tuple(not value for value in values), part


def test_three_that_are_joined_have_their_truth_table() -> None:
    parts = list(SMALL.items())
    for (one, x), (two, y), (three, z) in itertools.product(parts[::2], parts, parts[::3]):
        both = tuple(a and b and c for a, b, c in zip(x, y, z, strict=True))
        either = tuple(a or b or c for a, b, c in zip(x, y, z, strict=True))
        assert table(ex.conjunction(one, two, three)) == both
        assert table(ex.disjunction(one, two, three)) == either


def test_a_choice_has_the_truth_table_of_what_is_chosen() -> None:
    parts = list(SMALL.items())
    for (condition, c), (then, x), (otherwise, y) in itertools.product(parts[::4], parts, parts):
        chosen = tuple(a if on else b for on, a, b in zip(c, x, y, strict=True))
        assert table(ex.choose(condition, then, otherwise)) == chosen, (condition, then, otherwise)
