"""Witnesses: points at which one path is taken, or one condition has one outcome, found by Z3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from streamproof.lang import StreamproofError
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.sorts import ElementSort, IntSort, ScalarSort
from streamproof.proofs.bounded import plain_value
from streamproof.proofs.finite import FiniteTranslator
from streamproof.proofs.to_z3 import Term
from streamproof.translation.cells import Domains
from streamproof.translation.points import built
from streamproof.translation.shapes import Point, Shape

SMALL, LARGE = (0, 8), (-(2**40), 2**40)
"""Bounds on all numbers."""
RLIMIT, RLIMIT_LAST = 400_000, 4_000_000
"""Z3's own steps for one question, and when it is asked once more what it gave up on."""
SIZE_MAX = 6
"""Elements of every domain, at most."""
REFUSED_MAX = 8
"""Solutions of one question that the classes of a model may refuse to be built from."""


class TranslationUndecided(StreamproofError):
    """Nobody can tell whether a path is taken anywhere, so it was not compared with the code."""


class Witnesses:
    """Asks for points of one shape at one size, with bounds on all numbers."""

    def __init__(self, shape: Shape, size: int, numbers: tuple[int, int]) -> None:
        self.shape, self.domains, self.size = shape, shape.domains(size), size
        self.translator = FiniteTranslator(dict.fromkeys(self.domains, size))
        self.solver = z3.Solver(ctx=self.translator.context)
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

        None says that there is none, or none that the classes of the model can be built from.

        Raises
        ------
        TranslationUndecided : if Z3 gives up
        """
        free = {variable: self.translator.parameter(variable) for variable in variables}
        self.solver.push()
        try:
            self.solver.add(*(z3.And(term >= 0, term < self.size) for term in free.values()))
            for part in wanted:
                self.solver.add(self._term(part, free))
            for _ in range(REFUSED_MAX):
                if not self._is_possible():
                    return None
                solution = self.solver.model()
                point = self._built(solution)
                if point is not None:
                    return point
                self.solver.add(self._other_than(solution))
            return None
        finally:
            self.solver.pop()

    def _is_possible(self) -> bool:
        for steps in (RLIMIT, RLIMIT_LAST):
            self.solver.set("rlimit", steps)
            answer = self.solver.check()
            if answer != z3.unknown:
                return bool(answer == z3.sat)
        raise TranslationUndecided(f"Z3 gave up: {self.solver.reason_unknown()}")

    def _other_than(self, solution: Any) -> Term:
        cells = [cell for cell, *_ in self._cells()]
        return z3.Or(*(cell != solution.eval(cell, model_completion=True) for cell in cells))

    def _term(self, expr: Expr, free: Mapping[Var, Term]) -> Term:
        return self.translator.lifted(self.translator.term(expr, {**self.bound, **free}))

    def _cell(self, name: str, keys: tuple[int, ...], sort: ScalarSort) -> Term:
        return self.translator.cell(name, keys, sort)

    def _cells(self) -> Iterator[tuple[Term, ScalarSort]]:
        for variable in self.shape.variables:
            for keys in product(range(self.size), repeat=len(variable.keys)):
                yield self._cell(variable.name, keys, variable.sort), variable.sort

    def _bounds(self, low: int, high: int) -> Iterator[Term]:
        for cell, sort in self._cells():
            if isinstance(sort, IntSort):
                yield z3.And(cell >= low, cell <= high)
            elif isinstance(sort, ElementSort):
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


def _counted(expr: Expr) -> int:
    """Say how many elements an expression that counts may ask for: its largest number, and one."""
    parts = _parts(expr)
    if not any(isinstance(part, Quantified) and part.kind == "count" for part in parts):
        return 0
    numbers = [part.value for part in parts if isinstance(part, Const) and type(part.value) is int]
    return 1 + max(numbers, default=2)


def _parts(expr: Expr) -> set[Expr]:
    """Collect an expression and all that it is made of."""
    found: set[Expr] = set()
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        if part in found:
            continue
        found.add(part)
        match part:
            case Read(_, inner, _) | Apply(_, inner, _):
                waiting += inner
            case Quantified():
                waiting.append(part.body)
    return found


class Search:
    """Finds points of a shape, the likeliest sizes first."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._asked: dict[tuple[int, tuple[int, int]], Witnesses] = {}

    def point(self, wish: Wish) -> Point | None:
        """Find a point at which a wish holds; None if there is none at the sizes tried.

        Raises
        ------
        TranslationUndecided : if there is none where Z3 can tell, and it gives up elsewhere
        """
        gave_up = None
        for part, size, numbers in self._tries(wish):
            try:
                found = self._at(size, numbers).point(part, wish.variables)
            except TranslationUndecided as undecided:
                gave_up = undecided
                continue
            if found is not None:
                return found
        if gave_up is not None:
            raise gave_up
        return None

    def _tries(self, wish: Wish) -> Iterator[tuple[tuple[Expr, ...], int, tuple[int, int]]]:
        if wish.alone != wish.plainly:
            yield wish.alone, 2, SMALL
        yield wish.plainly, 1, SMALL
        yield wish.alone, 2, LARGE
        yield wish.plainly, 2, SMALL
        if wish.alone != wish.plainly:
            yield wish.plainly, 2, LARGE
        for size in range(3, self._size_needed(wish) + 1):
            yield wish.plainly, size, SMALL

    def _size_needed(self, wish: Wish) -> int:
        """Say how many elements have to differ, or are counted, at most."""
        own = [variable.sort for variable in self.shape.variables if not variable.keys]
        sorts = [*own, *(variable.sort for variable in wish.variables)]
        counts = Counter(sort for sort in sorts if isinstance(sort, ElementSort))
        return min(SIZE_MAX, max([*counts.values(), *map(_counted, wish.plainly)], default=0))

    def _at(self, size: int, numbers: tuple[int, int]) -> Witnesses:
        if (size, numbers) not in self._asked:
            self._asked[size, numbers] = Witnesses(self.shape, size, numbers)
        return self._asked[size, numbers]
