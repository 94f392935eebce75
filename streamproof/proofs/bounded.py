"""Finite instances: what Z3 finds at a given size, handed back as plain Python values."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import z3

from streamproof.lang.domain import Domain
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.evaluate import rebuild
from streamproof.lang.expr import Expr, Var
from streamproof.lang.form import TracedModel, Variable
from streamproof.lang.model import Call, Model
from streamproof.lang.sorts import (
    BoolSort,
    DomainSort,
    ElementSort,
    IntSort,
    ScalarSort,
    sort_of,
)
from streamproof.proofs.finite import FiniteTranslator
from streamproof.proofs.obligations import RLIMIT
from streamproof.proofs.to_z3 import Term

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
        """Return the action with this instance's arguments."""
        return Call(name, tuple(self.arguments[part] for part in parameters), parameters)


@dataclass(frozen=True, slots=True)
class Question:
    """What an instance is looked for.

    Attributes
    ----------
    constraints : all that must hold, over the state, the constants and the parameters
    size : elements in every domain
    plain : ask for an instance whose constants are False and 0 and whose state is the initial one,
        wherever the constraints allow it
    rlimit : Z3's own steps for each question to the solver
    """

    traced: TracedModel
    constraints: tuple[Expr, ...]
    parameters: tuple[Var, ...]
    size: int
    plain: bool = False
    rlimit: int = RLIMIT


def find_instance(question: Question) -> Instance | None:
    """Find an instance, with numbers as small as can be.

    None says that there is none with numbers up to the last of `NUMBERS_MOST`, or that the solver
    gave up.
    """
    search = _Search(question)
    # Small and natural numbers first; negative ones are rarely what an example is about.
    ranges = [*((0, most) for most in NUMBERS_MOST), (-NUMBERS_MOST[-1], NUMBERS_MOST[-1])]
    return next(filter(None, (search.within(*bounds) for bounds in ranges)), None)


class _Search:
    """One question in a solver, asked with growing bounds on all numbers."""

    def __init__(self, asked: Question) -> None:
        self.asked = asked
        names = domain_classes(asked.traced)
        self.translator = FiniteTranslator(dict.fromkeys(names, asked.size))
        self.solver = z3.Solver(ctx=self.translator.context)
        self.solver.set("rlimit", asked.rlimit)
        self.terms = {p: self.translator.parameter(p) for p in asked.parameters}
        for constraint in asked.constraints:
            term = self.translator.term(constraint, self.terms)
            self.solver.add(self.translator.lifted(term))
        for variable in (*asked.traced.constants, *asked.traced.variables):
            for keys in _indices(variable, asked.size):
                self.translator.cell(variable.name, keys, variable.sort)

    def within(self, least: int, most: int) -> Instance | None:
        """Look for an instance whose numbers lie in a range."""
        self.solver.push()
        self.solver.add(*self._ranges(least, most))
        found = self._solution() if self.solver.check() == z3.sat else None
        self.solver.pop()
        return found

    def _ranges(self, least: int, most: int) -> Iterator[Term]:
        parameters = ((term, parameter.sort) for parameter, term in self.terms.items())
        for term, sort in (*self.translator.cells.values(), *parameters):
            if isinstance(sort, IntSort):
                yield z3.And(term >= least, term <= most)
            elif isinstance(sort, ElementSort):
                yield z3.And(term >= 0, term < self.asked.size)

    def _solution(self) -> Instance:
        solution = self.solver.model()
        wishes = _wishes(self.asked.traced, self.translator, self.asked.size)
        for wish in wishes if self.asked.plain else ():
            if z3.is_true(solution.eval(wish, model_completion=True)):
                self.solver.add(wish)
            elif self.solver.check(wish) == z3.sat:
                solution = self.solver.model()
                self.solver.add(wish)
        asked = self.asked
        return _read_back(asked.traced, self.translator, solution, self.terms, asked.size)


def _wishes(traced: TracedModel, translator: FiniteTranslator, size: int) -> Iterator[Term]:
    """Yield for each cell the wish for its plainest value, the state's cells first."""
    initial = {update.variable: update for update in traced.initial[0].updates}
    for variable in traced.variables:
        update = initial[variable.name]
        for keys in _indices(variable, size):
            here = dict(zip(update.keys, keys, strict=True))
            cell = translator.cell(variable.name, keys, variable.sort)
            yield cell == translator.lifted(translator.term(update.value, here))
    for constant in traced.constants:
        for keys in _indices(constant, size):
            if isinstance(constant.sort, BoolSort | IntSort):
                zero = translator.lifted(0 if isinstance(constant.sort, IntSort) else False)
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
        return plain_value(translator, solution.eval(term, model_completion=True), sort, domains)

    cells = {variable.name: variable.sort for variable in (*traced.constants, *traced.variables)}

    def value(variable: str, keys: tuple[Any, ...]) -> Any:
        sort = cells[variable]
        indices = tuple(key.index for key in keys)
        return plain(translator.cell(variable, indices, sort), sort)

    arguments = {variable.name: plain(term, variable.sort) for variable, term in terms.items()}
    model = build_model(traced.model_class, domains, value)
    return Instance(model, rebuild(traced.state_sort, domains, value), arguments)


def plain_value(
    translator: FiniteTranslator, term: Term, sort: ScalarSort, domains: Mapping[str, Domain[Any]]
) -> Any:
    """Turn a term of a solution into a plain value of the sort."""
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
    """Build a sized model from the values of its constants.

    Raises
    ------
    WrongDefinition : if the model's class changes them
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = {}
    for field in dataclasses.fields(cls):
        sort = sort_of(hints[field.name])
        if isinstance(sort, DomainSort):
            fields[field.name] = domains[sort.element.name]
        else:
            fields[field.name] = rebuild(sort, domains, value, field.name)
    model = cls(**fields)
    changed = [name for name, value in fields.items() if getattr(model, name) != value]
    if changed or type(model) is not cls:
        raise WrongDefinition(
            f"{cls.__name__} was made with {fields}, and is {model}: its own code changes what it "
            "is given, and a proof is about any constants. State with @assume what constants may "
            "be, and compute them in `sized`"
        )
    return model
