"""What mutants of the language survived: names, memories of a run, maps that are asked too much."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import z3

from streamproof.lang import Domain, Element, Map, Model, Untraceable, WrongDefinition, forall
from streamproof.lang import expr as ex
from streamproof.lang.expr import BOOL, Var
from streamproof.lang.fork import observing_paths
from streamproof.lang.memory import Memory
from streamproof.lang.model import Role, action, always, init
from streamproof.lang.named import Named
from streamproof.lang.reached import package_of
from streamproof.lang.runs import Run
from streamproof.lang.show import show
from streamproof.lang.source_text import source_digest
from streamproof.lang.trace import refuse_twin_domains, trace_model

A, B = Var("a", BOOL), Var("b", BOOL)


class P(Element): ...


@dataclass(frozen=True)
class Levels:
    level: Map[P, int]
    top: int


@dataclass(frozen=True)
class Stepped(Model[Levels]):
    """Levels that rise by steps, of which one is never taken."""

    ps: Domain[P]

    @init
    def start(self) -> Levels:
        return Levels(Map.fill(self.ps, 0), 0)

    @action
    def rise(self, s: Levels) -> Levels:
        return Levels(s.level.map(self.after), s.top)

    @action
    def step__(self, s: Levels) -> Levels:
        return Levels(s.level, s.top + 1)

    @staticmethod
    def after(level: int) -> int:
        if level == 0:
            return 1
        if level == 1:
            raise AssertionError("never")
        return 5 if level == 2 else 6

    @always
    def is_low(self, s: Levels) -> Any:
        return s.top < 9 or f"the top of {s} is {s.top}"


def test_a_name_that_ends_in_underscores_may_be_that_of_an_action() -> None:
    assert [method.name for method in Stepped.methods(Role.ACTION)] == ["rise", "step__"]


def test_what_comes_after_a_broken_claim_is_traced_in_a_map() -> None:
    (rise,) = trace_model(Stepped).commands_of("rise")
    (update,) = rise.updates
    five, six = ex.literal(5), ex.literal(6)
    values = set(_leaves(update.value))
    assert {five, six, ex.literal(1)} <= values


def _leaves(expr: ex.Expr) -> list[ex.Expr]:
    if isinstance(expr, ex.Apply) and expr.operator == "ite":
        return [leaf for part in expr.arguments[1:] for leaf in _leaves(part)]
    return [expr]


def test_a_reason_may_tell_the_text_of_a_whole_state() -> None:
    (form,) = trace_model(Stepped).properties
    assert form.conjuncts[0][1] == ex.less(ex.Read("top", (), ex.INT), ex.literal(9))


@pytest.mark.parametrize("answer", [True, False])
def test_an_answer_is_learned_with_what_follows_from_it(answer: bool) -> None:
    held = ex.conjunction(A, B)
    condition = held if answer else ex.negate(held)
    run = Run((), None)
    run.learn(condition, answer)
    for part in (A, B, held):
        assert run.known(part) is True
        assert run.known(ex.negate(part)) is False
    assert run.known(Var("c", BOOL)) is None


def _joined(*parts: ast.expr) -> str:
    text = ast.fix_missing_locations(
        ast.Module([ast.Expr(ast.JoinedStr(list(parts)))], type_ignores=[])
    )
    return source_digest(text, docstrings=True)


def test_a_string_that_is_cut_in_an_f_string_is_the_same_source() -> None:
    a, b, c, d = (ast.Constant(text) for text in "abcd")
    value = ast.FormattedValue(ast.Name("x"), -1)
    assert _joined(a, value, b, c) == _joined(a, value, ast.Constant("bc"))
    assert _joined(a, value, b, c) != _joined(ast.Constant("ac"), value, b)
    assert _joined(a, value, b, c, d) == _joined(a, value, ast.Constant("bcd"))


@dataclass(frozen=True)
class Asking(Stepped):
    """A model that asks a map for what a map has not, and would get its class for it."""

    @always
    def is_asked(self, s: Levels) -> bool:
        return bool(s.level.OWN == 3)  # type: ignore[attr-defined]


def test_a_map_is_asked_for_nothing_that_it_has_not() -> None:
    with pytest.raises(Untraceable, match="the attribute OWN of a symbolic map"):
        trace_model(Asking)


def test_a_function_whose_variable_has_no_value_yet_can_be_watched() -> None:
    memory = Memory()

    def reader() -> Callable[[], int]:
        def read() -> int:
            return value

        memory.watch(read)
        assert memory.changed() is None
        value = 3
        return read

    reader()
    found = memory.changed()
    assert found is not None
    assert found[0] == "changes a cell outside of it"


def test_an_equality_is_the_same_either_way_round() -> None:
    read = ex.Read("n", (), ex.INT)
    total = ex.Apply("add", (read, read), ex.INT)
    assert ex.equal(ex.literal(1), total) == ex.equal(total, ex.literal(1))


@dataclass(frozen=True)
class NamingClass(Stepped):
    """A model that asks for the class of a number by its name."""

    @always
    def is_named(self, s: Levels) -> bool:
        return bool(getattr(s.top, "__class__") == int)  # noqa: B009, E721 - what is refused


def test_a_refusal_names_what_is_refused() -> None:
    with pytest.raises(Untraceable, match="it names __class__"):
        trace_model(NamingClass)


@dataclass(frozen=True)
class Twins(Stepped):
    """A model with two domains of one class."""

    qs: Domain[P]


def test_only_two_domains_of_one_class_are_twins() -> None:
    refuse_twin_domains(Stepped)
    with pytest.raises(WrongDefinition, match="two domains of P, ps and qs"):
        refuse_twin_domains(Twins)


@dataclass(frozen=True)
class Asked(Stepped):
    """A model whose lambda is traced where a condition does not hold."""

    @always
    def is_low(self, s: Levels) -> bool:
        if s.top > 1:
            return True
        return forall(self.ps, lambda p: bool(s.level[p] == 0) or bool(s.level[p] == 1))


def test_the_paths_of_a_lambda_are_noted_with_what_holds_around_it() -> None:
    with observing_paths() as noted:
        trace_model(Asked)
    paths = [[show(part) for part in path] for found in noted for path in found]
    assert [len(path) for path in paths if path[:1] == ["top <= 1"]] == [2, 3, 3, 1]
    assert [len(path) for path in paths if path[:1] == ["1 < top"]] == [1]


def test_python_has_no_package_and_a_library_has_its_directory() -> None:
    assert [package_of(name) for name in ("random", "collections.abc", "streamproof.lang.map")] == [
        None,
        None,
        None,
    ]
    assert package_of("z3.z3") == str(Path(z3.__file__).parent)
    assert package_of("__main__") is not None


@dataclass(frozen=True)
class Long(Stepped):
    """A model that adds up many terms."""

    @always
    def is_low(self, s: Levels) -> bool:
        total = s.top
        for _ in range(300):
            total = total + s.top
        return total >= 0


def test_an_expression_that_is_too_deep_is_refused_and_runs_plainly() -> None:
    with pytest.raises(Untraceable, match="201 operators in one another, of 200 at most"):
        trace_model(Long)
    assert Long(Domain(P, 1)).is_low(Levels(Map.fill(Domain(P, 1), 0), 1))


def test_what_a_module_or_a_table_has_not_stands_for_nothing() -> None:
    named = Named({"math": math, "table": {"a": 1}}, Stepped)
    for text in ("math.no_such", "table['b']", "table.get('b')"):
        assert list(named.values(ast.parse(text, mode="eval").body)) == []
    assert list(named.values(ast.parse("table['a']", mode="eval").body)) == [1]
