"""The transition relation of a sized model in Z3, for the gate that all engines agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any

import z3

from streamproof.lang.evaluate import rebuild, world
from streamproof.lang.expr import Var
from streamproof.lang.form import Command, TracedModel, Variable
from streamproof.lang.model import Model
from streamproof.lang.sorts import ElementSort
from streamproof.lang.trace import AFTER
from streamproof.proofs.bounded import plain_value
from streamproof.proofs.finite import FiniteTranslator
from streamproof.proofs.to_z3 import Term


class Relation:
    """Initial states and successors as Z3 finds them in the traced form."""

    def __init__(self, traced: TracedModel, model: Model[Any]) -> None:
        start = next(iter(model.initial_states()))
        self.traced, self.model = traced, model
        self.domains = dict(world(model, start).domains)
        sizes = {name: len(domain) for name, domain in self.domains.items()}
        self.translator = FiniteTranslator(sizes)
        self.solver = z3.Solver(ctx=self.translator.context)
        steps = [self._step(c, bound) for c in traced.commands for bound in self._bindings(c)]
        self.solver.add(self.translator.disjunction(steps))

    def initial_states(self) -> set[Any]:
        """Find the initial states through Z3."""
        steps = [self._step(c, b) for c in self.traced.initial for b in self._bindings(c)]
        solver = z3.Solver(ctx=self.translator.context)
        solver.add(self.translator.disjunction(steps), *self._fixed(self.traced.constants, None))
        return set(self._solutions(solver))

    def successors(self, state: Any) -> set[Any]:
        """Find all states that one step leads to."""
        self.solver.push()
        known = (*self.traced.constants, *self.traced.variables)
        self.solver.add(*self._fixed(known, state))
        found = set(self._solutions(self.solver))
        self.solver.pop()
        return found

    def _bindings(self, command: Command) -> Iterator[dict[Var, Term]]:
        ranges = [range(len(self.domains[str(p.sort)])) for p in command.parameters]
        for one in product(*ranges):
            yield dict(zip(command.parameters, one, strict=True))

    def _step(self, command: Command, bound: Mapping[Var, Term]) -> Term:
        updates = {update.variable: update for update in command.updates}
        parts = [self.translator.term(part, bound) for part in command.guard]
        for variable in self.traced.variables:
            for keys in self._keys(variable):
                later = self._later(variable, keys)
                update = updates.get(variable.name)
                if update is None:
                    parts.append(later == self.translator.cell(variable.name, keys, variable.sort))
                    continue
                here = dict(zip(update.keys, keys, strict=True))
                value = self.translator.term(update.value, {**bound, **here})
                parts.append(later == self.translator.lifted(value))
        return self.translator.conjunction(parts)

    def _keys(self, variable: Variable) -> Iterator[tuple[int, ...]]:
        return product(*(range(len(self.domains[key.name])) for key in variable.keys))

    def _later(self, variable: Variable, keys: tuple[int, ...]) -> Term:
        return self.translator.cell(f"{AFTER}.{variable.name}", keys, variable.sort)

    def _fixed(self, variables: Iterable[Variable], state: Any) -> Iterator[Term]:
        here = state if state is not None else next(iter(self.model.initial_states()))
        place = world(self.model, here)
        for variable in variables:
            for keys in self._keys(variable):
                elements = tuple(
                    self.domains[key.name].elements[index]
                    for key, index in zip(variable.keys, keys, strict=True)
                )
                value = place.read(variable.name, elements)
                if isinstance(variable.sort, ElementSort):
                    term: Term = self.domains[variable.sort.name].elements.index(value)
                else:
                    term = self.translator.constant(value, variable.sort)
                cell = self.translator.cell(variable.name, keys, variable.sort)
                yield cell == self.translator.lifted(term)

    def _solutions(self, solver: Any) -> Iterator[Any]:
        cells = [
            (v, keys, self._later(v, keys)) for v in self.traced.variables for keys in self._keys(v)
        ]
        sorts = {variable.name: variable.sort for variable in self.traced.variables}
        while solver.check() == z3.sat:
            solution = solver.model()
            values = {
                (v.name, keys): solution.eval(term, model_completion=True)
                for v, keys, term in cells
            }

            def value(variable: str, keys: tuple[Any, ...], values: Any = values) -> Any:
                term = values[variable, tuple(key.index for key in keys)]
                return plain_value(self.translator, term, sorts[variable], self.domains)

            yield rebuild(self.traced.state_sort, self.domains, value)
            solver.add(z3.Or([term != values[v.name, keys] for v, keys, term in cells]))
