"""Translating the intermediate representation to Z3, for open and for finite domains.

This is the one place that touches Z3's untyped interface.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any, TypeAlias

import z3

from streamproof.lang.errors import StreamproofError
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.sorts import BoolSort, ElementSort, EnumSort, IntSort, ScalarSort

Term: TypeAlias = Any
"""A Z3 expression."""

Bound: TypeAlias = Mapping[Var, Term]


class NotProvable(StreamproofError, TypeError):
    """An expression has no meaning while the size of a domain is open, as a count has none."""


class OpenTranslator:
    """Translate for any size: domains become uninterpreted sorts, variables functions."""

    def __init__(self) -> None:
        # A context of its own: names and learned facts of one obligation cannot reach another.
        self.context = z3.Context()
        self._sorts: dict[str, Any] = {}
        self._members: dict[Any, Any] = {}
        self._functions: dict[str, Any] = {}

    def term(self, expr: Expr, bound: Bound | None = None) -> Term:
        """Translate an expression; `bound` gives the terms of its free variables."""
        bound = bound or {}
        match expr:
            case Const(value, sort):
                return self.constant(value, sort)
            case Var():
                return bound[expr] if expr in bound else self.parameter(expr)
            case Read(variable, keys, sort):
                return self.read(variable, [self.term(key, bound) for key in keys], keys, sort)
            case Apply(operator, arguments, _):
                return self._apply(operator, [self.term(part, bound) for part in arguments])
            case Quantified(kind, variables, body, _):
                return self.quantified(kind, variables, body, bound)

    def parameter(self, variable: Var) -> Term:
        """Give the constant that stands for an action's parameter."""
        return z3.Const(variable.name, self.sort(variable.sort))

    def constant(self, value: Any, sort: ScalarSort) -> Term:
        """Translate a literal."""
        if isinstance(sort, BoolSort):
            return z3.BoolVal(value, self.context)
        if isinstance(sort, IntSort):
            return z3.IntVal(value, self.context)
        self.sort(sort)
        return self._members[value]

    def sort(self, sort: ScalarSort) -> Any:
        """Translate a sort."""
        match sort:
            case BoolSort():
                return z3.BoolSort(self.context)
            case IntSort():
                return z3.IntSort(self.context)
            case ElementSort(name):
                return self.element_sort(name)
            case EnumSort(cls):
                return self._enumeration(cls)

    def element_sort(self, name: str) -> Any:
        """Translate a domain."""
        if name not in self._sorts:
            self._sorts[name] = z3.DeclareSort(name, self.context)
        return self._sorts[name]

    def _enumeration(self, cls: Any) -> Any:
        if cls.__name__ not in self._sorts:
            members = list(cls)
            names = [f"{cls.__name__}.{member.name}" for member in members]
            self._sorts[cls.__name__], terms = z3.EnumSort(cls.__name__, names, self.context)
            self._members.update(zip(members, terms, strict=True))
        return self._sorts[cls.__name__]

    def read(
        self, variable: str, terms: list[Term], keys: tuple[Expr, ...], sort: ScalarSort
    ) -> Term:
        """Translate a variable at its keys."""
        if variable not in self._functions:
            domains = [self.sort(key.sort) for key in keys]
            self._functions[variable] = z3.Function(variable, *domains, self.sort(sort))
        return self._functions[variable](*terms)

    def quantified(self, kind: str, variables: tuple[Var, ...], body: Expr, bound: Bound) -> Term:
        """Translate a quantifier."""
        if kind == "count":
            raise NotProvable(
                "count(...) has no meaning while the size of the domain is open, so nothing can be "
                "proven about it for any N. State the property with forall and exists"
            )
        terms = [z3.FreshConst(self.sort(variable.sort), variable.name) for variable in variables]
        inner = self.term(body, {**bound, **dict(zip(variables, terms, strict=True))})
        return (z3.ForAll if kind == "forall" else z3.Exists)(terms, inner)

    def _apply(self, operator: str, terms: list[Term]) -> Term:
        return _OPERATORS[operator](*terms)


class FiniteTranslator(OpenTranslator):
    """Translate for one size: elements are numbers, quantifiers and reads are written out.

    Parameters
    ----------
    sizes : number of elements by domain name
    prefix : put before the names of variables, so that two states can stand side by side
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.sizes = sizes
        self.cells: dict[tuple[str, tuple[int, ...]], tuple[Term, ScalarSort]] = {}

    def element_sort(self, name: str) -> Any:  # noqa: ARG002 - all are numbers here
        """Translate a domain: its elements are numbers."""
        return z3.IntSort(self.context)

    def element(self, index: int) -> Term:
        """Give the term of a domain's element."""
        return z3.IntVal(index, self.context)

    def cell(self, variable: str, keys: tuple[int, ...], sort: ScalarSort) -> Term:
        """Give the constant that holds a variable at concrete keys."""
        if (variable, keys) not in self.cells:
            name = variable + (f"[{','.join(map(str, keys))}]" if keys else "")
            self.cells[variable, keys] = (z3.Const(name, self.sort(sort)), sort)
        return self.cells[variable, keys][0]

    def read(
        self, variable: str, terms: list[Term], keys: tuple[Expr, ...], sort: ScalarSort
    ) -> Term:
        """Translate a variable at its keys: a cell, or a choice among cells."""
        simple = [z3.simplify(term) for term in terms]
        choices = [
            [term.as_long()] if z3.is_int_value(term) else range(self.sizes[str(key.sort)])
            for term, key in zip(simple, keys, strict=True)
        ]
        *others, last = list(product(*choices))
        result = self.cell(variable, last, sort)
        for indices in others:
            here = self.conjunction(
                term == index for term, index in zip(simple, indices, strict=True)
            )
            result = z3.If(here, self.cell(variable, indices, sort), result)
        return result

    def quantified(self, kind: str, variables: tuple[Var, ...], body: Expr, bound: Bound) -> Term:
        """Write a quantifier out over its elements."""
        ranges = [range(self.sizes[str(variable.sort)]) for variable in variables]
        terms = [
            self.term(body, {**bound, **dict(zip(variables, map(self.element, one), strict=True))})
            for one in product(*ranges)
        ]
        if kind == "count":
            one, zero = self.element(1), self.element(0)
            return z3.Sum([zero, *(z3.If(term, one, zero) for term in terms)])
        return self.conjunction(terms) if kind == "forall" else self.disjunction(terms)

    def conjunction(self, terms: Iterable[Term]) -> Term:
        """Join terms by and."""
        return z3.And([z3.BoolVal(True, self.context), *terms])

    def disjunction(self, terms: Iterable[Term]) -> Term:
        """Join terms by or."""
        return z3.Or([z3.BoolVal(False, self.context), *terms])

    def in_range(self) -> list[Term]:
        """Say that every element-valued cell used so far holds an element of its domain."""
        return [
            z3.And(term >= 0, term < self.sizes[sort.name])
            for term, sort in self.cells.values()
            if isinstance(sort, ElementSort)
        ]

    def member(self, term: Term) -> Any:
        """Give the `Enum` member that a term stands for."""
        return next(member for member, known in self._members.items() if known.eq(term))


_OPERATORS: dict[str, Callable[..., Term]] = {
    "not": z3.Not,
    "and": z3.And,
    "or": z3.Or,
    "eq": lambda left, right: left == right,
    "lt": lambda left, right: left < right,
    "le": lambda left, right: left <= right,
    "add": lambda left, right: left + right,
    "sub": lambda left, right: left - right,
    "mul": lambda left, right: left * right,
    "ite": z3.If,
}
