"""The simplifier changes how an expression is written and never what it means.

Hypothesis makes a term without simplification, whose meaning is worked out by hand, in Python. The
same term built through `lang.expr`, substituted into, negated, printed and read back must mean it.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamproof.lang import Domain, Element, Map
from streamproof.lang import expr as ex
from streamproof.lang.evaluate import World, evaluate
from streamproof.lang.expr import Expr, Read, Var
from streamproof.lang.show import show
from streamproof.lang.sorts import ElementSort, EnumSort


class P(Element):
    pass


class Color(Enum):
    RED = 1
    GREEN = 2


@dataclass(frozen=True)
class Term:
    """An operator applied to terms; a leaf has a name or a value instead of arguments."""

    operator: str
    parts: tuple[Any, ...]


DOMAIN = Domain(P, 2)
ELEMENT, COLOR = ElementSort("P"), EnumSort(Color)
FREE = ("x", "y")  # elements
BINARY = {"and": ex.conjunction, "or": ex.disjunction, "eq": ex.equal, "lt": ex.less}
BINARY |= {"le": ex.less_equal, "add": ex.add, "sub": ex.subtract, "mul": ex.multiply}
QUANTIFIERS = ("forall", "exists", "count")


def leaf(operator: str, part: Any) -> Term:
    return Term(operator, (part,))


def elements(bound: tuple[str, ...]) -> st.SearchStrategy[Term]:
    return st.sampled_from([leaf("element", name) for name in (*FREE, *bound)])


def truths(depth: int, bound: tuple[str, ...], *, quantified: bool) -> st.SearchStrategy[Term]:
    """Make terms that are true or false."""
    at = elements(bound)
    flat = st.one_of(
        st.booleans().map(lambda value: leaf("const", value)),
        st.sampled_from(["a", "b"]).map(lambda name: leaf("read", name)),
        at.map(lambda key: Term("m", (key,))),
        st.tuples(at, at).map(lambda pair: Term("eq", pair)),
        st.tuples(st.just(leaf("read", "c")), colors()).map(lambda pair: Term("eq", pair)),
    )
    if depth == 0:
        return flat
    less, numbers_less = truths(depth - 1, bound, quantified=quantified), numbers(depth - 1, bound)
    deeper = [
        st.tuples(st.sampled_from(["and", "or", "eq"]), less, less).map(joined),
        st.tuples(st.sampled_from(["lt", "le", "eq"]), numbers_less, numbers_less).map(joined),
        st.tuples(less).map(lambda part: Term("not", part)),
        st.tuples(less, less, less).map(lambda parts: Term("ite", parts)),
    ]
    if quantified:
        name = f"%{depth}{len(bound)}"
        body = truths(depth - 1, (*bound, name), quantified=True)
        kinds = st.sampled_from(["forall", "exists"])
        deeper.append(st.tuples(kinds, body).map(lambda made: Term(made[0], (name, made[1]))))
        counted = body.map(lambda made: Term("count", (name, made)))
        deeper.append(st.tuples(counted, numbers_less).map(lambda pair: Term("le", pair)))
    return st.one_of(flat, *deeper)


def colors() -> st.SearchStrategy[Term]:
    return st.sampled_from([leaf("read", "d"), *(leaf("const", color) for color in Color)])


def numbers(depth: int, bound: tuple[str, ...]) -> st.SearchStrategy[Term]:
    """Make terms that are numbers."""
    flat = st.one_of(
        st.integers(-2, 2).map(lambda value: leaf("const", value)),
        st.sampled_from(["i", "j"]).map(lambda name: leaf("read", name)),
        elements(bound).map(lambda key: Term("n", (key,))),
    )
    if depth == 0:
        return flat
    less = numbers(depth - 1, bound)
    return st.one_of(
        flat,
        st.tuples(st.sampled_from(["add", "sub", "mul"]), less, less).map(joined),
        st.tuples(truths(depth - 1, bound, quantified=False), less, less).map(
            lambda parts: Term("ite", parts)
        ),
    )


def joined(made: tuple[str, Term, Term]) -> Term:
    operator, left, right = made
    return Term(operator, (left, right))


SORTS = {"a": ex.BOOL, "b": ex.BOOL, "i": ex.INT, "j": ex.INT, "c": COLOR, "d": COLOR}


def simplified(term: Term) -> Expr:
    """Build a term through the simplifier."""
    match term:
        case Term("const", (value,)):
            return ex.literal(value)
        case Term("read", (name,)):
            return Read(name, (), SORTS[name])
        case Term("element", (name,)):
            return Var(name, ELEMENT)
        case Term("m" | "n" as name, (key,)):
            return Read(name, (simplified(key),), ex.BOOL if name == "m" else ex.INT)
        case Term("not", (part,)):
            return ex.negate(simplified(part))
        case Term("ite", parts):
            return ex.choose(*map(simplified, parts))
        case Term("forall" | "exists" | "count" as kind, (name, body)):
            return ex.quantify(kind, (Var(name, ELEMENT),), simplified(body))
        case Term(operator, parts):
            return BINARY[operator](*map(simplified, parts))


def meaning(term: Term, values: dict[str, Any]) -> Any:
    """Work a term out by hand."""
    match term:
        case Term("const", (value,)):
            return value
        case Term("read" | "element", (name,)):
            return values[name]
        case Term("m" | "n" as name, (key,)):
            return values[name][meaning(key, values)]
        case Term("forall" | "exists" | "count" as kind, (name, body)):
            found = [meaning(body, {**values, name: element}) for element in DOMAIN]
            return {"forall": all, "exists": any, "count": sum}[kind](found)
        case Term(operator, parts):
            made = [meaning(part, values) for part in parts]
            return worked_out(operator, *made)


def worked_out(operator: str, *made: Any) -> Any:
    match operator, made:
        case "not", (part,):
            return not part
        case "and", (left, right):
            return left and right
        case "or", (left, right):
            return left or right
        case "eq", (left, right):
            return left == right
        case "lt", (left, right):
            return left < right
        case "le", (left, right):
            return left <= right
        case "add", (left, right):
            return left + right
        case "sub", (left, right):
            return left - right
        case "mul", (left, right):
            return left * right
        case _:
            condition, then, otherwise = made
            return then if condition else otherwise


def on_domain(made: tuple[Any, ...]) -> Map[Any, Any]:
    return Map.build(DOMAIN, lambda p: made[p.index])


small = st.integers(-2, 2)
assignments = st.fixed_dictionaries(
    {"a": st.booleans(), "b": st.booleans(), "i": small, "j": small}
    | {"c": st.sampled_from(Color), "d": st.sampled_from(Color)}
    | {name: st.sampled_from(DOMAIN.elements) for name in FREE}
    | {"m": st.tuples(st.booleans(), st.booleans()), "n": st.tuples(small, small)}
).map(lambda made: made | {"m": on_domain(made["m"]), "n": on_domain(made["n"])})


def in_world(expr: Expr, values: dict[str, Any]) -> Any:
    bound = {Var(name, ELEMENT): values[name] for name in FREE}
    return evaluate(expr, World({"P": DOMAIN}, values), bound)


tried = settings(max_examples=250)
X, Y = leaf("element", "x"), leaf("element", "y")


@tried
@given(truths(3, (), quantified=True), assignments)
@example(
    # Where x == y, m[x] is m[y]: neither side may be dropped where they differ.
    Term("ite", (Term("eq", (X, Y)), Term("m", (X,)), Term("m", (Y,)))),
    {"x": DOMAIN.elements[0], "y": DOMAIN.elements[1], "m": Map.build(DOMAIN, lambda p: p.index)},
)
def test_a_simplified_truth_means_what_it_meant(term, values):
    assert in_world(simplified(term), values) == meaning(term, values)


@tried
@given(numbers(3, ()), assignments)
def test_a_simplified_number_means_what_it_meant(term, values):
    assert in_world(simplified(term), values) == meaning(term, values)


@tried
@given(truths(3, (), quantified=True), assignments)
def test_a_negated_truth_means_the_opposite(term, values):
    expr = simplified(term)
    assert in_world(ex.negate(expr), values) == (not meaning(term, values))
    assert in_world(ex.negate(ex.negate(expr)), values) == meaning(term, values)


@tried
@given(truths(3, (), quantified=True), assignments, st.sampled_from(FREE))
def test_substituting_a_variable_is_giving_it_a_value(term, values, replaced):
    expr = ex.substitute(simplified(term), {Var(replaced, ELEMENT): Var("y", ELEMENT)})
    assert in_world(expr, values) == meaning(term, {**values, replaced: values["y"]})


@tried
@given(truths(3, (), quantified=True), truths(2, (), quantified=True), assignments)
def test_a_simplified_truth_can_be_used_in_another(left, right, values):
    both = ex.conjunction(simplified(left), ex.negate(simplified(right)))
    assert in_world(both, values) == (meaning(left, values) and not meaning(right, values))
    outer = ex.quantify("exists", (Var("%out", ELEMENT),), both)
    assert in_world(outer, values) == in_world(both, values)


@tried
@given(truths(3, (), quantified=False) | numbers(3, ()), assignments)
def test_what_is_printed_reads_back(term, values):
    printed = show(simplified(term))
    assert eval(printed, {"Color": Color}, values) == meaning(term, values)


# --------------------------------------------------------------------------- single laws

A, B = Read("a", (), ex.BOOL), Read("b", (), ex.BOOL)
N, M = Read("i", (), ex.INT), Read("j", (), ex.INT)
NOT_A = ex.negate(A)


@pytest.mark.parametrize(
    ("written", "simpler"),
    [
        (ex.conjunction, ex.TRUE),
        (ex.disjunction, ex.FALSE),
        (lambda: ex.conjunction(A, A), A),
        (lambda: ex.conjunction(A, NOT_A), ex.FALSE),
        (lambda: ex.disjunction(A, NOT_A), ex.TRUE),
        (lambda: ex.disjunction(A, ex.conjunction(NOT_A, B)), ex.disjunction(A, B)),
        (lambda: ex.disjunction(A, ex.conjunction(A, B)), A),
        (lambda: ex.conjunction(A, ex.disjunction(A, B)), A),
        (lambda: ex.equal(A, ex.TRUE), A),
        (lambda: ex.equal(ex.FALSE, A), NOT_A),
        (lambda: ex.equal(ex.literal(1), N), ex.equal(N, ex.literal(1))),
        (lambda: ex.less(N, N), ex.FALSE),
        (lambda: ex.less_equal(N, N), ex.TRUE),
        (lambda: ex.subtract(N, N), ex.literal(0)),
        (lambda: ex.add(ex.add(ex.literal(1), N), ex.literal(2)), ex.add(N, ex.literal(3))),
        (lambda: ex.add(ex.literal(1), ex.add(N, M)), ex.add(ex.add(N, M), ex.literal(1))),
        (lambda: ex.multiply(ex.literal(0), N), ex.literal(0)),
        (lambda: ex.multiply(ex.literal(1), N), N),
        (lambda: ex.choose(A, N, N), N),
        (lambda: ex.choose(A, ex.choose(B, N, M), M), ex.choose(ex.conjunction(A, B), N, M)),
        (lambda: ex.choose(A, ex.disjunction(B, A), A), A),
        (lambda: ex.quantify("forall", (Var("%", ELEMENT),), ex.TRUE), ex.TRUE),
        (lambda: ex.quantify("exists", (Var("%", ELEMENT),), ex.FALSE), ex.FALSE),
    ],
)
def test_a_law_simplifies(written, simpler):
    assert written() == simpler


def test_a_closed_body_stays_quantified_since_the_domain_may_be_empty():
    assert ex.quantify("forall", (Var("%", ELEMENT),), A) != A


def test_equal_quantifiers_are_one_expression_whatever_their_variables_were_called():
    def holds_everywhere(name: str) -> Expr:
        variable = Var(name, ELEMENT)
        return ex.quantify("forall", (variable,), Read("m", (variable,), ex.BOOL))

    assert holds_everywhere("%1") == holds_everywhere("%2")


def chosen_by(inner: Expr) -> Expr:
    """Return x where something holds, else y."""
    return ex.choose(inner, Var("x", ELEMENT), Var("y", ELEMENT))


def test_a_quantifier_inside_of_what_replaces_a_variable_keeps_its_own_variable():
    p, key = Var("%1", ELEMENT), Var("%2", ELEMENT)
    marked = ex.quantify("exists", (p,), Read("n", (p,), ex.BOOL))
    alone = ex.quantify("forall", (p,), ex.disjunction(ex.equal(p, key), Read("m", (p,), ex.BOOL)))
    written = ex.substitute(alone, {key: chosen_by(marked)})
    q = Var("%3", ELEMENT)
    same = ex.disjunction(ex.equal(q, chosen_by(marked)), Read("m", (q,), ex.BOOL))
    assert written == ex.quantify("forall", (q,), same)
    assert ex.free_variables(marked) == ()
    assert set(ex.free_variables(written)) == {Var("x", ELEMENT), Var("y", ELEMENT)}


def test_a_free_variable_that_replaces_another_is_not_captured():
    p, key = Var("%1", ELEMENT), Var("%2", ELEMENT)
    differs = ex.quantify("exists", (p,), ex.negate(ex.equal(p, key)))
    (bound,) = differs.variables
    written = ex.substitute(differs, {key: bound})
    assert ex.free_variables(written) == (bound,)
    assert ex.substitute(written, {bound: key}) == differs


def test_the_variables_that_an_expression_reads_are_named():
    x = Var("x", ELEMENT)
    body = ex.conjunction(Read("m", (x,), ex.BOOL), ex.less(N, ex.literal(2)))
    assert ex.variables_read(ex.quantify("exists", (x,), body)) == {"m", "i"}


def test_conjuncts_are_the_parts_of_a_conjunction():
    assert ex.conjuncts(ex.conjunction(A, B)) == (A, B)
    assert ex.conjuncts(A) == (A,)
    assert ex.conjuncts(ex.TRUE) == ()


def test_a_deep_expression_is_hashed_once_and_travels_without_its_hash():
    asked = []

    class Watched(str):
        __slots__ = ()

        def __hash__(self):
            asked.append(self)
            return str.__hash__(self)

    deep: Expr = Read(Watched("x"), (), ex.BOOL)
    for _ in range(50):
        deep = ex.Apply("not", (deep,), ex.BOOL)
    assert hash(deep) == hash(deep)
    assert len(asked) == 1
    fresh = pickle.loads(pickle.dumps(ex.Apply("not", (Read("y", (), ex.BOOL),), ex.BOOL)))
    hash(fresh)
    again = pickle.loads(pickle.dumps(fresh))
    assert not hasattr(again, "_hash")
    assert (again, hash(again), repr(again)) == (fresh, hash(fresh), repr(fresh))
