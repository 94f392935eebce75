"""Translating to Z3 for one size: elements are numbers, quantifiers and reads are written out.

What is known already, such as whether two elements are the same, is computed here and not given to
Z3: a term is a plain bool or int as long as it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any

import z3

from streamproof.lang.expr import Apply, Expr, Quantified, Var, free_variables
from streamproof.lang.sorts import BoolSort, EnumSort, IntSort, ScalarSort
from streamproof.proofs.to_z3 import OPERATORS, Bound, OpenTranslator, Term


class FiniteTranslator(OpenTranslator):
    """Translate for one size.

    Parameters
    ----------
    sizes : number of elements by domain name
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.sizes = sizes
        self.cells: dict[tuple[str, tuple[int, ...]], tuple[Term, ScalarSort]] = {}
        self._terms: dict[tuple[Expr, tuple[Any, ...]], Term] = {}
        self._reads: dict[tuple[Any, ...], Term] = {}
        self._equal: dict[tuple[Any, int], Term] = {}

    def term(self, expr: Expr, bound: Bound | None = None) -> Term:
        """Translate an expression, once for the same values of its free variables."""
        if not isinstance(expr, Apply | Quantified):
            return super().term(expr, bound)
        bound = bound or {}
        values = tuple(_key(bound.get(variable)) for variable in free_variables(expr))
        if (expr, values) not in self._terms:
            self._terms[expr, values] = super().term(expr, bound)
        return self._terms[expr, values]

    def element_sort(self, name: str) -> Any:  # noqa: ARG002 - all are numbers here
        """Translate a domain: its elements are numbers."""
        return z3.IntSort(self.context)

    def constant(self, value: Any, sort: ScalarSort) -> Term:
        """Translate a literal: a bool or int stays plain."""
        if isinstance(sort, BoolSort | IntSort):
            return value
        return super().constant(value, sort)

    def cell(self, variable: str, keys: tuple[int, ...], sort: ScalarSort) -> Term:
        """Return the constant that holds a variable at concrete keys."""
        if (variable, keys) not in self.cells:
            name = variable + (f"[{','.join(map(str, keys))}]" if keys else "")
            self.cells[variable, keys] = (z3.Const(name, self.sort(sort)), sort)
        return self.cells[variable, keys][0]

    def read(
        self, variable: str, terms: list[Term], keys: tuple[Expr, ...], sort: ScalarSort
    ) -> Term:
        """Translate a variable at its keys: a cell, or a choice among cells."""
        place = (variable, *map(_key, terms))
        if place not in self._reads:
            self._reads[place] = self._read(variable, terms, keys, sort)
        return self._reads[place]

    def _read(
        self, variable: str, terms: list[Term], keys: tuple[Expr, ...], sort: ScalarSort
    ) -> Term:
        choices = [
            [term] if isinstance(term, int) else range(self.sizes[str(key.sort)])
            for term, key in zip(terms, keys, strict=True)
        ]
        *others, last = list(product(*choices))
        result = self.cell(variable, last, sort)
        for indices in others:
            pairs = zip(terms, indices, strict=True)
            here = self.conjunction(self._is(term, index) for term, index in pairs)
            result = z3.If(here, self.cell(variable, indices, sort), result)
        return result

    def _is(self, term: Term, index: int) -> Term:
        """Ask whether a key is an element."""
        if isinstance(term, int):
            return term == index
        if (_key(term), index) not in self._equal:
            self._equal[_key(term), index] = term == index
        return self._equal[_key(term), index]

    def quantified(self, kind: str, variables: tuple[Var, ...], body: Expr, bound: Bound) -> Term:
        """Write a quantifier out over its elements, and leave it to Z3 over numbers."""
        numbers = {
            variable: z3.FreshConst(self.sort(variable.sort), variable.name)
            for variable in variables
            if isinstance(variable.sort, IntSort)
        }
        finite = [variable for variable in variables if variable not in numbers]
        terms = [
            self.term(body, {**bound, **numbers, **dict(zip(finite, one, strict=True))})
            for one in product(*(self._values(variable.sort) for variable in finite))
        ]
        if kind == "count":
            return sum((self._choice(term, 1, 0) for term in terms), start=0)
        every = kind == "forall"
        joined = self.conjunction(terms) if every else self.disjunction(terms)
        if not numbers or isinstance(joined, bool):
            return joined
        return (z3.ForAll if every else z3.Exists)(list(numbers.values()), joined)

    def _values(self, sort: ScalarSort) -> Iterable[Term]:
        """List all values of a sort that has finitely many."""
        match sort:
            case BoolSort():
                return (False, True)
            case EnumSort(cls):
                return [self.constant(member, sort) for member in cls]
            case _:
                return range(self.sizes[str(sort)])

    def conjunction(self, terms: Iterable[Term]) -> Term:
        """Join terms by and."""
        open_terms = [term for term in terms if term is not True]
        if any(term is False for term in open_terms):
            return False
        return self._joined(z3.Z3_mk_and, open_terms) if open_terms else True

    def disjunction(self, terms: Iterable[Term]) -> Term:
        """Join terms by or."""
        open_terms = [term for term in terms if term is not False]
        if any(term is True for term in open_terms):
            return True
        return self._joined(z3.Z3_mk_or, open_terms) if open_terms else False

    def _joined(self, join: Callable[..., Any], terms: list[Term]) -> Term:
        """Join terms without asking each again what it is, as `z3.And` and `z3.Or` do."""
        if len(terms) == 1:
            return terms[0]
        array = (z3.Ast * len(terms))(*(term.as_ast() for term in terms))
        return z3.BoolRef(join(self.context.ref(), len(terms), array), self.context)

    def lifted(self, term: Term) -> Term:
        """Return Z3's own term for a plain value."""
        if isinstance(term, bool):
            return z3.BoolVal(term, self.context)
        return z3.IntVal(term, self.context) if isinstance(term, int) else term

    def _apply(self, operator: str, terms: list[Term]) -> Term:
        match operator, terms:
            case "and", _:
                return self.conjunction(terms)
            case "or", _:
                return self.disjunction(terms)
            case "not", [term]:
                return not term if isinstance(term, bool) else z3.Not(term)
            case "ite", [condition, then, otherwise]:
                return self._choice(condition, then, otherwise)
            case "eq", [left, right] if isinstance(left, bool) or isinstance(right, bool):
                return self.lifted(left) == self.lifted(right)
            case _:
                return OPERATORS[operator](*terms)

    def _choice(self, condition: Term, then: Term, otherwise: Term) -> Term:
        if isinstance(condition, bool):
            return then if condition else otherwise
        return z3.If(condition, self.lifted(then), self.lifted(otherwise))


def _key(value: Term) -> Any:
    """Return a term's identity: Z3 has one of each in a context."""
    return (value.get_id(), "") if isinstance(value, z3.AstRef) else value
