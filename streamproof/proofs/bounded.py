"""Finite instances: what Z3 finds at a given size, handed back as plain Python values."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from streamproof.lang.domain import Domain
from streamproof.lang.evaluate import rebuild, world
from streamproof.lang.expr import Expr, Var
from streamproof.lang.form import Command, TracedModel, Variable
from streamproof.lang.model import Call, Model
from streamproof.lang.sorts import (
    BoolSort,
    DomainSort,
    ElementSort,
    IntSort,
    ScalarSort,
    sort_of,
)
from streamproof.lang.trace import AFTER
from streamproof.proofs.to_z3 import FiniteTranslator, Term

RLIMIT = 5_000_000
"""Z3's own steps for one question: a count, so that a slow machine cannot change an answer."""
NUMBERS_MOST = (1, 2, 4, 8)
"""Bounds on all numbers, tried in turn, so that an example is as small as can be."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A sized model, one of its states, and values for parameters.

    Attributes
    ----------
    state : any state of the right shape, reachable or not
    arguments : by parameter name
    """

    model: Model[Any]
    state: Any
    arguments: dict[str, Any]

    def call(self, name: str, parameters: tuple[str, ...]) -> Call:
        """Give the action with this instance's arguments."""
        return Call(name, tuple(self.arguments[part] for part in parameters), parameters)


def find_instance(
    traced: TracedModel,
    constraints: Iterable[Expr],
    parameters: tuple[Var, ...],
    size: int,
    *,
    plain: bool = False,
) -> Instance | None:
    """Find an instance with `size` elements in every domain that meets all constraints.

    Numbers are kept as small as can be. With `plain`, so is everything else: the constants are
    False and 0, and the state is the initial one, wherever the constraints allow it. None says that there is none with numbers up to the last of
    `NUMBERS_MOST`, or that the solver gave up.
    """
    constraints = tuple(constraints)
    for most in NUMBERS_MOST:
        found = _find(traced, constraints, parameters, size, most, plain)
        if found is not None:
            return found
    return None


def _find(
    traced: TracedModel,
    constraints: tuple[Expr, ...],
    parameters: tuple[Var, ...],
    size: int,
    most: int,
    plain: bool,
) -> Instance | None:
    translator = FiniteTranslator(dict.fromkeys(domain_classes(traced), size))
    solver = z3.Solver(ctx=translator.context)
    solver.set("rlimit", RLIMIT)
    terms = {p: z3.Const(p.name, translator.sort(p.sort)) for p in parameters}
    solver.add(*(translator.term(constraint, terms) for constraint in constraints))
    for variable in (*traced.constants, *traced.variables):
        for keys in _indices(variable, size):
            translator.cell(variable.name, keys, variable.sort)
    solver.add(*translator.in_range())
    for term, sort in [*translator.cells.values(), *((t, p.sort) for p, t in terms.items())]:
        if isinstance(sort, IntSort):
            solver.add(term >= 0, term <= most)
        elif isinstance(sort, ElementSort):
            solver.add(term >= 0, term < size)
    if solver.check() != z3.sat:
        return None
    solution = solver.model()
    for wish in _wishes(traced, translator, size) if plain else ():
        if z3.is_true(solution.eval(wish, model_completion=True)):
            solver.add(wish)
        elif solver.check(wish) == z3.sat:
            solution = solver.model()
            solver.add(wish)
    return _read_back(traced, translator, solution, terms, size)


def _wishes(traced: TracedModel, translator: FiniteTranslator, size: int) -> Iterator[Term]:
    """Say of each cell that it is as plain as can be, the state's cells first."""
    initial = {update.variable: update for update in traced.initial[0].updates}
    for variable in traced.variables:
        update = initial[variable.name]
        for keys in _indices(variable, size):
            here = dict(zip(update.keys, map(translator.element, keys), strict=True))
            cell = translator.cell(variable.name, keys, variable.sort)
            yield cell == translator.term(update.value, here)
    for constant in traced.constants:
        for keys in _indices(constant, size):
            if isinstance(constant.sort, BoolSort | IntSort):
                zero = translator.constant(
                    False if isinstance(constant.sort, BoolSort) else 0, constant.sort
                )
                yield translator.cell(constant.name, keys, constant.sort) == zero


def _indices(variable: Variable, size: int) -> Iterator[tuple[int, ...]]:
    return product(range(size), repeat=len(variable.keys))


def _read_back(
    traced: TracedModel,
    translator: FiniteTranslator,
    solution: Any,
    terms: Mapping[Var, Term],
    size: int,
) -> Instance:
    domains = {name: Domain(cls, size) for name, cls in domain_classes(traced).items()}

    def plain(term: Term, sort: ScalarSort) -> Any:
        return _plain(translator, solution.eval(term, model_completion=True), sort, domains)

    cells = {variable.name: variable.sort for variable in (*traced.constants, *traced.variables)}

    def value(variable: str, keys: tuple[Any, ...]) -> Any:
        sort = cells[variable]
        indices = tuple(key.index for key in keys)
        return plain(translator.cell(variable, indices, sort), sort)

    arguments = {variable.name: plain(term, variable.sort) for variable, term in terms.items()}
    model = build_model(traced.model_class, domains, value)
    return Instance(model, rebuild(traced.state_sort, domains, value), arguments)


def _plain(
    translator: FiniteTranslator, term: Term, sort: ScalarSort, domains: Mapping[str, Domain[Any]]
) -> Any:
    match sort:
        case IntSort():
            return term.as_long()
        case ElementSort(name):
            return domains[name].elements[term.as_long()]
        case _ if z3.is_bool(term):
            return z3.is_true(term)
        case _:
            return translator.member(term)


def domain_classes(traced: TracedModel) -> dict[str, Any]:
    """Find the element classes of a model's domains, by name."""
    hints = typing.get_type_hints(traced.model_class, include_extras=True)
    arguments = (
        typing.get_args(hints[field.name])
        for field in dataclasses.fields(traced.model_class)
        if typing.get_origin(hints[field.name]) is Domain
    )
    return {cls.__name__: cls for (cls,) in arguments}


def build_model(
    cls: type[Model[Any]], domains: Mapping[str, Domain[Any]], value: Any
) -> Model[Any]:
    """Build a sized model from the values of its constants."""
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = {}
    for field in dataclasses.fields(cls):
        sort = sort_of(hints[field.name])
        if isinstance(sort, DomainSort):
            fields[field.name] = domains[sort.element.name]
        else:
            fields[field.name] = rebuild(sort, domains, value, field.name)
    return cls(**fields)


# --------------------------------------------------------------------------- the relation itself


class Relation:
    """The transition relation of a sized model in Z3, for the gate that engines agree."""

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
            yield dict(zip(command.parameters, map(self.translator.element, one), strict=True))

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
                here = dict(zip(update.keys, map(self.translator.element, keys), strict=True))
                parts.append(later == self.translator.term(update.value, {**bound, **here}))
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
                    value = self.domains[variable.sort.name].elements.index(value)
                    term = self.translator.element(value)
                else:
                    term = self.translator.constant(value, variable.sort)
                yield self.translator.cell(variable.name, keys, variable.sort) == term

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
                return _plain(self.translator, term, sorts[variable], self.domains)

            yield rebuild(self.traced.state_sort, self.domains, value)
            solver.add(z3.Or([term != values[v.name, keys] for v, keys, term in cells]))
