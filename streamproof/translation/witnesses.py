"""Witnesses: points at which one path is taken, or one condition has one outcome, found by Z3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from streamproof.lang.expr import Expr, Var
from streamproof.lang.sorts import ElementSort, IntSort, ScalarSort
from streamproof.proofs.bounded import plain_value
from streamproof.proofs.finite import FiniteTranslator
from streamproof.proofs.to_z3 import Term
from streamproof.translation.cells import Domains
from streamproof.translation.points import built
from streamproof.translation.shapes import Point, Shape

SMALL, LARGE = (0, 8), (-(2**40), 2**40)
"""Bounds on all numbers."""
RLIMIT = 400_000
"""Z3's own steps for one question."""


class Witnesses:
    """Asks for points of one shape at one size, with bounds on all numbers."""

    def __init__(self, shape: Shape, size: int, numbers: tuple[int, int]) -> None:
        self.shape, self.domains, self.size = shape, shape.domains(size), size
        self.gave_up = False
        self.translator = FiniteTranslator(dict.fromkeys(self.domains, size))
        self.solver = z3.Solver(ctx=self.translator.context)
        self.solver.set("rlimit", RLIMIT)
        self.solver.set("ctrl_c", False)
        self.bound = {
            Var(variable.name, variable.sort): self._cell(variable.name, (), variable.sort)
            for variable in shape.variables
            if not variable.keys
        }
        self.solver.add(*self._bounds(*numbers))
        self.solver.add(*(self._term(assumption, {}) for assumption in shape.assumptions))

    def point(self, wanted: tuple[Expr, ...], variables: tuple[Var, ...]) -> Point | None:
        """Find a point at which all of something holds, for some values of its variables.

        None says that there is none, or that Z3 gives up.
        """
        free = {v: z3.FreshConst(self.translator.sort(v.sort), v.name) for v in variables}
        self.solver.push()
        try:
            self.solver.add(*(z3.And(term >= 0, term < self.size) for term in free.values()))
            for part in wanted:
                self.solver.add(self._term(part, free))
            answer = self.solver.check()
            self.gave_up |= answer == z3.unknown
            if answer != z3.sat:
                return None
            return self._built(self.solver.model())
        finally:
            self.solver.pop()

    def _term(self, expr: Expr, free: Mapping[Var, Term]) -> Term:
        return self.translator.lifted(self.translator.term(expr, {**self.bound, **free}))

    def _cell(self, name: str, keys: tuple[int, ...], sort: ScalarSort) -> Term:
        return self.translator.cell(name, keys, sort)

    def _bounds(self, low: int, high: int) -> Iterator[Term]:
        for variable in self.shape.variables:
            for keys in product(range(self.size), repeat=len(variable.keys)):
                cell = self._cell(variable.name, keys, variable.sort)
                if isinstance(variable.sort, IntSort):
                    yield z3.And(cell >= low, cell <= high)
                elif isinstance(variable.sort, ElementSort):
                    yield z3.And(cell >= 0, cell < self.size)

    def _built(self, solution: Any) -> Point | None:
        sorts: Mapping[str, ScalarSort] = {v.name: v.sort for v in self.shape.variables}
        domains: Domains = self.domains

        def value(name: str, keys: tuple[Any, ...]) -> Any:
            indices = tuple(domains_index(key) for key in keys)
            cell = self._cell(name, indices, sorts[name])
            term = solution.eval(cell, model_completion=True)
            return plain_value(self.translator, term, sorts[name], domains)

        return built(self.shape, domains, value)


def domains_index(element: Any) -> int:
    """Give the number of an element of a domain that was made for a size."""
    index: int = element.index
    return index


@dataclass(frozen=True, slots=True)
class Wish:
    """What a point is wanted for.

    Attributes
    ----------
    plainly, alone : what must hold; the second says as well that nothing else hides it
    variables : elements that it is about, besides the parameters
    """

    plainly: tuple[Expr, ...]
    alone: tuple[Expr, ...]
    variables: tuple[Var, ...] = ()


class Search:
    """Finds points of a shape, the likeliest sizes first."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._asked: dict[tuple[int, tuple[int, int]], Witnesses] = {}

    def point(self, wish: Wish) -> Point | None:
        """Find a point at which a wish holds; None if none is found."""
        tries = [(wish.alone, 2, SMALL)] * (wish.alone != wish.plainly)
        tries += [(wish.plainly, 1, SMALL), (wish.alone, 2, LARGE), (wish.plainly, 2, SMALL)]
        tries += [(wish.plainly, 2, LARGE)] * (wish.alone != wish.plainly)
        if self._needs_three(wish):
            tries.append((wish.plainly, 3, SMALL))
        found = (
            self._at(size, numbers).point(part, wish.variables) for part, size, numbers in tries
        )
        return next(filter(None, found), None)

    def _needs_three(self, wish: Wish) -> bool:
        """Tell whether it speaks of three elements of a sort, which may have to differ."""
        own = (variable.sort for variable in self.shape.variables if not variable.keys)
        sorts = [*own, *(variable.sort for variable in wish.variables)]
        return any(
            count > 2 and isinstance(sort, ElementSort) for sort, count in Counter(sorts).items()
        )

    def _at(self, size: int, numbers: tuple[int, int]) -> Witnesses:
        if (size, numbers) not in self._asked:
            self._asked[size, numbers] = Witnesses(self.shape, size, numbers)
        return self._asked[size, numbers]
