"""Points of any size: Z3 finds how many elements a path needs, or that no number is enough.

Domains are uninterpreted sorts here, as in a proof. A `count` stands for any number, so that what
is impossible is so whatever is counted; a point that is found has to be looked at.
"""

from __future__ import annotations

from typing import Any

import z3

from streamproof.lang.expr import Expr, Quantified, Var, free_variables
from streamproof.lang.sorts import BoolSort, ElementSort, IntSort, ScalarSort
from streamproof.proofs.to_z3 import Bound, OpenTranslator, Term
from streamproof.translation.points import built
from streamproof.translation.shapes import Point, Shape
from streamproof.translation.undecided import TranslationUndecided

RLIMIT_LAST = 4_000_000
"""Z3's own steps for one question."""


class AnySize:
    """Asks for points of one shape, with as many elements and as large numbers as it takes."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.translator = _Counting()
        self.solver = z3.Solver(ctx=self.translator.context)
        self.solver.set("ctrl_c", False)
        self.solver.set("rlimit", RLIMIT_LAST)
        self.bound = {
            Var(variable.name, variable.sort): self.translator.read(
                variable.name, [], (), variable.sort
            )
            for variable in shape.variables
            if not variable.keys
        }
        self.solver.add(*(self.translator.term(part, self.bound) for part in shape.assumptions))

    def point(self, wanted: tuple[Expr, ...]) -> Point | None:
        """Find a point at which all of something holds, but for what is counted.

        None says that there is none of any size, or that the classes of the model refuse it.

        Raises
        ------
        TranslationUndecided : if Z3 gives up
        """
        solution = self._solved(wanted)
        return None if solution is None else self._built(solution)

    def _solved(self, wanted: tuple[Expr, ...]) -> Any:
        self.solver.push()
        try:
            self.solver.add(*(self.translator.term(part, self.bound) for part in wanted))
            answer = self.solver.check()
            if answer == z3.unknown:
                raise TranslationUndecided(f"Z3 gave up: {self.solver.reason_unknown()}")
            return self.solver.model() if answer == z3.sat else None
        finally:
            self.solver.pop()

    def _built(self, solution: Any) -> Point | None:
        names = self.shape.domains(1)
        universes = {name: self._universe(solution, name) for name in names}
        domains = self.shape.domains({name: len(found) for name, found in universes.items()})
        variables = {variable.name: variable for variable in self.shape.variables}

        def value(name: str, keys: tuple[Any, ...]) -> Any:
            variable = variables[name]
            pairs = zip(keys, variable.keys, strict=True)
            terms = [universes[sort.name][key.index] for key, sort in pairs]
            own = tuple(Var("", sort) for sort in variable.keys)
            term = self.translator.read(name, terms, own, variable.sort)
            found = solution.eval(term, model_completion=True)
            if isinstance(variable.sort, ElementSort):
                universe = universes[variable.sort.name]
                index = next((n for n, one in enumerate(universe) if one.eq(found)), 0)
                return domains[variable.sort.name].elements[index]
            return self._scalar(found, variable.sort)

        return built(self.shape, domains, value)

    def _universe(self, solution: Any, name: str) -> list[Term]:
        """List the elements that a domain has in a solution; at least one."""
        sort = self.translator.element_sort(name)
        return list(solution.get_universe(sort) or ()) or [z3.FreshConst(sort)]

    def _scalar(self, term: Term, sort: ScalarSort) -> Any:
        if isinstance(sort, IntSort):
            return term.as_long()
        return z3.is_true(term) if isinstance(sort, BoolSort) else self.translator.member(term)


class _Counting(OpenTranslator):
    """Translate for any size; what is counted is any number, the same where the same is counted."""

    def __init__(self) -> None:
        super().__init__()
        self._counts: dict[Expr, Any] = {}

    def quantified(self, kind: str, variables: tuple[Var, ...], body: Expr, bound: Bound) -> Term:
        """Translate a quantifier."""
        if kind != "count":
            return super().quantified(kind, variables, body, bound)
        whole = Quantified(kind, variables, body, IntSort())
        free = free_variables(whole)
        if whole not in self._counts:
            sorts = [self.sort(variable.sort) for variable in free]
            name = f"count {len(self._counts)}"
            self._counts[whole] = z3.Function(name, *sorts, z3.IntSort(self.context))
        number = self._counts[whole](*(self.term(variable, bound) for variable in free))
        return z3.If(number >= 0, number, -number)
