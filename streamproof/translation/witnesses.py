"""Witnesses: points at which one path is taken, or one condition has one outcome, found by Z3."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

import z3

from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.sorts import ElementSort, IntSort, ScalarSort
from streamproof.proofs.bounded import plain_value
from streamproof.proofs.finite import FiniteTranslator
from streamproof.proofs.to_z3 import Term
from streamproof.translation.any_size import RLIMIT_LAST, AnySize
from streamproof.translation.cells import Domains
from streamproof.translation.points import built
from streamproof.translation.shapes import Point, Shape
from streamproof.translation.undecided import TranslationUndecided

SMALL, LARGE = (0, 8), 2**40
"""Bounds on all numbers; the large ones are wider where the code has larger constants."""
RLIMIT = 400_000
"""Z3's own steps for one question, before it is asked once more with `RLIMIT_LAST`."""
SIZE_MAX, COUNTED_MAX = 6, 64
"""Elements of every domain, at most; and where as many are counted."""
CELLS_MAX, MISSED_CELLS_MAX = 1_000, 20_000
"""Variables where many elements are counted; and those of all tries there that found nothing, after
which there are no more: code that asks whether `x != x` has conditions that hold nowhere."""
REFUSED_MAX = 8
"""Solutions of one question that the classes of a model may refuse to be built from."""


class Witnesses:
    """Asks for points of one shape at one size, with bounds on all numbers."""

    def __init__(
        self, shape: Shape, size: int | Mapping[str, int], numbers: tuple[int, int]
    ) -> None:
        self.shape, self.domains = shape, shape.domains(size)
        self.translator = FiniteTranslator({n: len(d) for n, d in self.domains.items()})
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
            self.solver.add(*(self._is_element(term, v.sort) for v, term in free.items()))
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
            for keys in product(*(range(len(self.domains[key.name])) for key in variable.keys)):
                yield self._cell(variable.name, keys, variable.sort), variable.sort

    def _bounds(self, low: int, high: int) -> Iterator[Term]:
        for cell, sort in self._cells():
            if isinstance(sort, IntSort):
                yield z3.And(cell >= low, cell <= high)
            elif isinstance(sort, ElementSort):
                yield self._is_element(cell, sort)

    def _is_element(self, term: Term, sort: ScalarSort) -> Term:
        assert isinstance(sort, ElementSort), f"{term} is no element"
        return z3.And(term >= 0, term < len(self.domains[sort.name]))

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
    """Return the number of an element of a domain that was made for a size."""
    index: int = element.index
    return index


_Try: TypeAlias = tuple[tuple[Expr, ...], int | Mapping[str, int], tuple[int, int]]
"""What is to hold, at what size, with numbers within what bounds."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a point is wanted for.

    Attributes
    ----------
    plainly, alone : what must hold; the second adds that nothing else hides it
    variables : elements that it is about, other than the parameters
    """

    plainly: tuple[Expr, ...]
    alone: tuple[Expr, ...]
    variables: tuple[Var, ...] = ()


def _counted(exprs: Iterable[Expr]) -> dict[str, int]:
    """Return how many elements may be counted of each domain: as a comparison asks for, and one."""
    found: dict[str, int] = {}
    for part in {part for expr in exprs for part in _parts(expr)}:
        if not (isinstance(part, Apply) and part.operator in ("eq", "lt", "le")):
            continue
        beside = list(_beside_counts(part))
        names = {n.sort.name for c in beside if isinstance(c, Quantified) for n in _elements(c)}
        numbers = [c.value for c in beside if isinstance(c, Const) and type(c.value) is int]
        for name in names:
            found[name] = max(found.get(name, 3), 1 + sum(map(abs, numbers)))
    return found


def _wide(exprs: Iterable[Expr]) -> tuple[int, int]:
    """Return bounds that leave room on both sides of every constant of some conditions."""
    parts = (part for expr in exprs for part in _parts(expr))
    numbers = [abs(p.value) for p in parts if isinstance(p, Const) and type(p.value) is int]
    largest = max(LARGE, 2 * max(numbers, default=0))
    return -largest, largest


def _beside_counts(expr: Expr) -> Iterator[Expr]:
    """List what a comparison is made of, with each count as one part."""
    if isinstance(expr, Apply):
        for part in expr.arguments:
            yield from _beside_counts(part)
    else:
        yield expr


def _elements(count: Quantified) -> Iterator[Any]:
    if count.kind == "count":
        yield from (v for v in count.variables if isinstance(v.sort, ElementSort))


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
    """Finds points of a shape: small ones first, then of any size."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._asked: dict[Any, Witnesses] = {}
        self._missed_cells = 0

    @functools.cached_property
    def _any_size(self) -> AnySize:
        return AnySize(self.shape)

    def points(self, wish: Wish) -> Iterator[tuple[Point, bool]]:
        """Find points at which a wish holds, the best last; none if it holds nowhere.

        Where something is counted, a point may miss it, and no other one may follow: then it holds
        at no size up to the largest number that is counted.

        Returns
        -------
        Points, and whether the wish holds there for sure.

        Raises
        ------
        TranslationUndecided : if Z3 gives up on what could have told
        """
        tried = _Tried(self)
        yield from tried.first(_small(wish), wish)
        if tried.is_found:
            return
        counted = _counted(wish.plainly)
        try:
            point = self._any_size.point(wish.plainly)
        except TranslationUndecided as undecided:
            tried.gave_up = undecided
        else:
            if point is None:
                return
            yield point, not counted
            if not counted:
                return
            yield from self._counting(tried, wish, point, counted)
        if not tried.is_found:
            yield from tried.first(self._large(wish), wish)
        if tried.is_found:
            return
        if tried.gave_up is not None:
            raise tried.gave_up

    def _counting(
        self, tried: _Tried, wish: Wish, point: Point, counted: Mapping[str, int]
    ) -> Iterator[tuple[Point, bool]]:
        """Try as many elements as are counted, unless that was in vain too often."""
        if self._missed_cells < MISSED_CELLS_MAX:
            tries = list(_many(self.shape, wish, point, counted))
            yield from tried.first(tries, wish)
            if not tried.is_found:
                self._missed_cells += sum(_cells_at(self.shape, size) for _, size, _ in tries)

    def _large(self, wish: Wish) -> Iterator[_Try]:
        """List what is tried where numbers are large, or more elements differ."""
        numbers = _wide(wish.plainly)
        yield wish.alone, 2, numbers
        if wish.alone != wish.plainly:
            yield wish.plainly, 2, numbers
        own = [variable.sort for variable in self.shape.variables if not variable.keys]
        sorts = [*own, *(variable.sort for variable in wish.variables)]
        counts = Counter(sort for sort in sorts if isinstance(sort, ElementSort))
        for size in range(3, min(SIZE_MAX, max(counts.values(), default=0)) + 1):
            yield wish.plainly, size, SMALL

    def at(self, size: int | Mapping[str, int], numbers: tuple[int, int]) -> Witnesses:
        """Ask at a size of all domains, or of each."""
        key = (size if isinstance(size, int) else tuple(sorted(size.items())), numbers)
        if key not in self._asked:
            self._asked[key] = Witnesses(self.shape, size, numbers)
        return self._asked[key]


def _many(shape: Shape, wish: Wish, point: Point, counted: Mapping[str, int]) -> Iterator[_Try]:
    """List sizes up to the largest count, at least as large as a point needs otherwise."""
    sizes = {name: len(domain) for name, domain in point.place.domains.items()}
    sorts = [*(v.sort for v in shape.variables), *(v.sort for v in wish.variables)]
    held = {sort.name for sort in sorts if isinstance(sort, ElementSort)}
    empty = {name: 0 for name in counted if name not in held}
    if empty:
        yield wish.plainly, {**sizes, **empty}, SMALL

    def with_many(size: int) -> dict[str, int]:
        return {n: max(size, number) if n in counted else number for n, number in sizes.items()}

    needed = min(COUNTED_MAX, max(counted.values()))
    while needed > SIZE_MAX and _cells_at(shape, with_many(needed)) > CELLS_MAX:
        needed -= 1
    for size in dict.fromkeys((*range(3, min(SIZE_MAX, needed) + 1), needed)):
        yield wish.plainly, with_many(size), SMALL


def _cells_at(shape: Shape, size: int | Mapping[str, int]) -> int:
    """Count the variables of a shape at a size, one for each combination of its keys."""
    domains = shape.domains(size)
    return sum(prod(len(domains[key.name]) for key in v.keys) for v in shape.variables)


class _Tried:
    """What became of tries.

    Attributes
    ----------
    gave_up : what Z3 could not tell
    """

    def __init__(self, search: Search) -> None:
        self._search = search
        self.is_found = False
        self.gave_up: TranslationUndecided | None = None

    def first(self, tries: Iterable[_Try], wish: Wish) -> Iterator[tuple[Point, bool]]:
        """Yield the first point that there is."""
        for part, size, numbers in tries:
            try:
                found = self._search.at(size, numbers).point(part, wish.variables)
            except TranslationUndecided as undecided:
                self.gave_up = undecided
                continue
            if found is not None:
                self.is_found = True
                yield found, True
                return


def _small(wish: Wish) -> Iterator[_Try]:
    """List what is tried first: few elements and small numbers."""
    if wish.alone != wish.plainly:
        yield wish.alone, 2, SMALL
    yield wish.plainly, 2, SMALL
    yield wish.plainly, 1, SMALL
