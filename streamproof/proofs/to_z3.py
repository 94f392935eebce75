"""Translating the intermediate representation to Z3, with the sizes of domains left open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
        self._sorts: dict[Any, Any] = {}
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
        """Return the constant that stands for an action's parameter.

        A field of the state may have the same name, and Z3 knows constants by their names.
        """
        return z3.Const(f"parameter {variable.name}", self.sort(variable.sort))

    def constant(self, value: Any, sort: ScalarSort) -> Term:
        """Translate a literal."""
        if isinstance(sort, BoolSort):
            return z3.BoolVal(value, self.context)
        if isinstance(sort, IntSort):
            return z3.IntVal(value, self.context)
        self.sort(sort)
        return self._members[type(value), value._name_]

    def member(self, term: Term) -> Any:
        """Return the `Enum` member that a term stands for."""
        cls, name = next(key for key, known in self._members.items() if known.eq(term))
        return cls[name]

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
        if cls not in self._sorts:
            # Two classes, or a class and a domain, may have one name; Z3 must not take one for two.
            name = f"{cls.__name__} {len(self._sorts)}"
            members = list(cls)
            names = [f"{name}.{member.name}" for member in members]
            self._sorts[cls], terms = z3.EnumSort(name, names, self.context)
            keys = ((cls, member._name_) for member in members)
            self._members.update(zip(keys, terms, strict=True))
        return self._sorts[cls]

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
        return OPERATORS[operator](*terms)


OPERATORS: dict[str, Callable[..., Term]] = {
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
