"""Translation: expressions of the traced form as ground terms, quantifiers written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, assert_never

from streamproof.checker.native.code.cells import Encoder, Keys
from streamproof.checker.native.code.terms import Term, Terms
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.trace import AFTER

Bound: TypeAlias = Mapping[Var, Term]
"""What the free variables of an expression stand for."""
Place: TypeAlias = tuple[str, Keys]
"""A variable at concrete keys."""


class Translator:
    """Translates expressions over a state, or over the two states of a step.

    Parameters
    ----------
    now : the term of each cell in the state
    """

    def __init__(self, encoder: Encoder, terms: Terms, now: Mapping[Place, Term]) -> None:
        self.encoder, self.terms, self.now = encoder, terms, now
        self._after: Mapping[Place, Term] = {}
        self._known: dict[tuple[int, tuple[Term, ...]], Term] = {}
        self._known_after: dict[tuple[int, tuple[Term, ...]], Term] = {}
        self._free: dict[int, tuple[tuple[Var, ...], bool]] = {}
        self._kept: list[Expr] = []  # an address is given again once its object is gone

    def take_step(self, changed: Mapping[Place, Term]) -> None:
        """Return the later state of a step, by its differences."""
        self._after = {**self.now, **changed}
        self._known_after = {}

    def all_of(self, parts: Iterable[Expr], bound: Bound) -> Term:
        """Translate a conjunction, up to the first part that is false."""
        return self._until(self.terms.false, self.terms.conjunction, parts, bound)

    def term(self, expr: Expr, bound: Bound) -> Term:
        """Translate an expression; what was translated before is looked up."""
        match expr:
            case Const(value, sort):
                return self.terms.constant(self.encoder.number(value, sort))
            case Var():
                return bound[expr]
        free, reads_after = self._free_in(expr)
        known = self._known_after if reads_after else self._known
        key = id(expr), tuple(bound[variable] for variable in free)
        if key not in known:
            known[key] = self._translate(expr, bound)
        return known[key]

    def _translate(self, expr: Expr, bound: Bound) -> Term:
        match expr:
            case Read(_, keys, _):
                return self._read(expr, [self.term(key, bound) for key in keys])
            case Quantified():
                return self._quantified(expr, bound)
            case Apply("and", arguments, _):
                return self.all_of(arguments, bound)
            case Apply("or", arguments, _):
                return self._until(self.terms.true, self.terms.disjunction, arguments, bound)
            case Apply("ite", (condition, then, otherwise), _):
                asked = self.term(condition, bound)
                chosen = self.terms.value(asked)
                if chosen is not None:
                    return self.term(then if chosen else otherwise, bound)
                both = self.term(then, bound), self.term(otherwise, bound)
                return self.terms.choose(asked, *both)
            case Apply(operator, arguments, _):
                parts = (self.term(part, bound) for part in arguments)
                return _BUILDERS[operator](self.terms, *parts)
            case Const() | Var():
                raise AssertionError(expr)  # `term` has dealt with it
            case _:
                assert_never(expr)

    def _until(
        self,
        decisive: Term,
        join: Callable[[Iterable[Term]], Term],
        parts: Iterable[Expr],
        bound: Bound,
    ) -> Term:
        found = []
        for part in parts:
            found.append(self.term(part, bound))
            if found[-1] == decisive:
                return decisive
        return join(found)

    def _read(self, read: Read, keys: list[Term]) -> Term:
        """Translate a variable at its keys: a cell, or a choice among cells."""
        return self._read_below(read, keys, ())

    def _read_below(self, read: Read, keys: list[Term], known: Keys) -> Term:
        """Choose by one key after the other: as deep as keys have elements, not their product."""
        if len(known) == len(keys):
            return self._at(read, known)
        key, sort = keys[len(known)], read.keys[len(known)].sort
        value = self.terms.value(key)
        indices = range(self.encoder.size(sort)) if value is None else (value,)
        *others, last = (self._read_below(read, keys, (*known, index)) for index in indices)
        for index, other in enumerate(others):
            here = self.terms.equal(key, self.terms.constant(index))
            last = self.terms.choose(here, other, last)
        return last

    def _at(self, read: Read, keys: Keys) -> Term:
        """Read at concrete keys: this state, the later one, or the model's constants."""
        first, _, rest = read.variable.partition(".")
        if first == AFTER:
            return self._after[rest, keys]
        if first in self.encoder.constants:
            return self.terms.constant(self.encoder.constant_at(read, keys))
        return self.now[read.variable, keys]

    def _quantified(self, expr: Quantified, bound: Bound) -> Term:
        """Write a quantifier out, up to the first element that decides it."""
        decisive = {"forall": self.terms.false, "exists": self.terms.true}.get(expr.kind)
        parts: list[Term] = []
        for keys in self.encoder.keys_of(variable.sort for variable in expr.variables):
            pairs = zip(expr.variables, keys, strict=True)
            here = {variable: self.terms.constant(key) for variable, key in pairs}
            parts.append(self.term(expr.body, {**bound, **here}))
            if parts[-1] == decisive:
                return parts[-1]
        if expr.kind == "forall":
            return self.terms.conjunction(parts)
        if expr.kind == "exists":
            return self.terms.disjunction(parts)
        total = self.terms.constant(0)
        for part in parts:
            total = self.terms.add(total, part)
        return total

    def _free_in(self, expr: Expr) -> tuple[tuple[Var, ...], bool]:
        """List an expression's free variables, and say whether it reads the later state."""
        if id(expr) not in self._free:
            self._kept.append(expr)
            self._free[id(expr)] = self._find_free(expr)
        return self._free[id(expr)]

    def _find_free(self, expr: Expr) -> tuple[tuple[Var, ...], bool]:
        match expr:
            case Const():
                return (), False
            case Var():
                return (expr,), False
            case Read(variable, parts, _):
                found = [self._free_in(part) for part in parts]
                found.append(((), variable.partition(".")[0] == AFTER))
            case Apply(_, parts, _):
                found = [self._free_in(part) for part in parts]
            case Quantified(_, variables, body, _):
                inner, reads_after = self._free_in(body)
                return tuple(var for var in inner if var not in variables), reads_after
            case _:
                assert_never(expr)
        free = dict.fromkeys(var for names, _ in found for var in names)
        return tuple(free), any(reads_after for _, reads_after in found)


def _less_equal(terms: Terms, left: Term, right: Term) -> Term:
    return terms.negate(terms.less(right, left))


_BUILDERS: dict[str, Callable[..., Term]] = {
    "not": Terms.negate,
    "eq": Terms.equal,
    "lt": Terms.less,
    "le": _less_equal,
    "add": Terms.add,
    "sub": Terms.subtract,
    "mul": Terms.multiply,
}
