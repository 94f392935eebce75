"""Grounding: a traced model at one size, as terms over the cells of its states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from streamproof.checker.native.code.cells import Cell, Encoder, Keys
from streamproof.checker.native.code.terms import Term, Terms
from streamproof.checker.native.code.translate import Place, Translator
from streamproof.lang.expr import Expr, Var
from streamproof.lang.form import PropertyForm, TracedModel, Update
from streamproof.lang.model import PROMISES, Role
from streamproof.lang.quantify import Site
from streamproof.lang.sorts import ElementSort


@dataclass(frozen=True, slots=True)
class GroundCommand:
    """One path through a ground action.

    Attributes
    ----------
    action : number in `Model.ground_actions`
    guard : under which the path is taken
    updates : new values of the cells that change
    keeps : true where the step keeps to all properties of steps
    """

    action: int
    guard: Term
    updates: Mapping[int, Term]
    keeps: Term


@dataclass(frozen=True, slots=True)
class GroundClaim:
    """A claim within a ground action, and when it fails."""

    action: int
    broken_if: Term


@dataclass(frozen=True, slots=True)
class GroundModel:
    """A model at a size.

    Attributes
    ----------
    fixed : values of the cells that are the same in every reachable state
    always : true where every invariant holds
    sometimes : per `sometimes` property with its arguments, where it holds
    premises : per premise of a property of states, in the order of `premises_of`, where it holds
    final : true where nothing more needs to happen
    promises : per promise, in the order of `promises_of`, where its premise and its goal hold
    """

    terms: Terms
    cells: tuple[Cell, ...]
    fixed: Mapping[int, int]
    commands: tuple[GroundCommand, ...]
    claims: tuple[GroundClaim, ...]
    always: Term
    sometimes: tuple[Term, ...]
    premises: tuple[Term, ...]
    final: Term
    promises: tuple[Term, ...]


def ground(
    encoder: Encoder,
    cells: Sequence[Cell],
    initial: Sequence[Keys],
    premise: Site | None = None,
) -> GroundModel:
    """Ground the model of an encoder, whose states have the given cells.

    Cells that keep their initial value whatever happens are found first, from the largest guess
    downwards: those that no command changes as long as the others are fixed as well.

    Parameters
    ----------
    initial : the initial states
    premise : if given, steps keep to everything as long as this premise does not hold
    """
    fixed = {
        number: values[0]
        for number, values in enumerate(zip(*initial, strict=True))
        if len(set(values)) == 1
    }
    while True:
        grounder = _Grounder(encoder, cells, fixed)
        commands = tuple(grounder.commands())
        changed = {cell for command in commands for cell in command.updates}
        if not changed & fixed.keys():
            return grounder.model(commands, premise)
        fixed = {number: value for number, value in fixed.items() if number not in changed}


OF_STATES = (Role.ALWAYS, Role.SOMETIMES, *PROMISES, Role.FINAL)
"""Roles whose premises are asked of each state."""


def premises_of(traced: TracedModel, *roles: Role) -> Iterator[tuple[PropertyForm, Site, Expr]]:
    """List the premises of properties of some roles: whose, at which place, when one holds."""
    for role in roles:
        for form in traced.properties_of(role):
            for site, premise in form.premises:
                yield form, site, premise


class _Grounder:
    def __init__(self, encoder: Encoder, cells: Sequence[Cell], fixed: Mapping[int, int]) -> None:
        self.encoder, self.cells, self.fixed = encoder, tuple(cells), fixed
        self.terms = Terms()
        now = {
            (cell.variable, cell.keys): (
                self.terms.constant(fixed[number])
                if number in fixed
                else self.terms.cell(number, cell.low, cell.high)
            )
            for number, cell in enumerate(cells)
        }
        self.numbers: dict[Place, int] = {place: number for number, place in enumerate(now)}
        self.translator = Translator(encoder, self.terms, now)

    def model(self, commands: tuple[GroundCommand, ...], premise: Site | None) -> GroundModel:
        """Add what is asked about states and steps to the commands."""
        judged = tuple(self._with_steps_judged(command, premise) for command in commands)
        return GroundModel(
            self.terms,
            self.cells,
            self.fixed,
            judged,
            tuple(self.claims()),
            self.terms.conjunction(self.holding(Role.ALWAYS)),
            tuple(self.holding(Role.SOMETIMES)),
            tuple(self.premises(OF_STATES)),
            self.terms.disjunction(self.holding(Role.FINAL)),
            tuple(self.promises()),
        )

    def commands(self) -> Iterator[GroundCommand]:
        """Ground every action, leaving out the paths that no state takes."""
        for number, form, bound in self._instances(self.encoder.traced.commands):
            guard = self.translator.all_of(form.guard, bound)
            if guard != self.terms.false:
                updates = dict(self._updates(form.updates, bound))
                yield GroundCommand(number, guard, updates, self.terms.true)

    def claims(self) -> Iterator[GroundClaim]:
        """Ground every claim, leaving out those that hold in every state."""
        for number, form, bound in self._instances(self.encoder.traced.claims):
            broken = self.translator.all_of(form.broken_if, bound)
            if broken != self.terms.false:
                yield GroundClaim(number, broken)

    def holding(self, role: Role) -> Iterator[Term]:
        """Ground the properties of a role, each once for every combination of arguments."""
        for form in self.encoder.traced.properties_of(role):
            for bound in self._bindings(form.parameters):
                yield self.translator.all_of((part for _, part in form.conjuncts), bound)

    def promises(self) -> Iterator[Term]:
        """Ground the two sides of every promise; that of `eventually` is always made."""
        for role in PROMISES:
            for form in self.encoder.traced.properties_of(role):
                for bound in self._bindings(form.parameters):
                    for side in form.sides:
                        yield self.translator.term(side, bound)

    def premises(self, roles: tuple[Role, ...], wanted: Site | None = None) -> Iterator[Term]:
        """Ground premises, all or those of one place: each holds if it does for some arguments."""
        for form, site, premise in premises_of(self.encoder.traced, *roles):
            if wanted in (None, site):
                found = (self.translator.term(premise, b) for b in self._bindings(form.parameters))
                yield self.terms.disjunction(found)

    def _with_steps_judged(self, command: GroundCommand, premise: Site | None) -> GroundCommand:
        places = [(cell.variable, cell.keys) for cell in self.cells]
        self.translator.take_step({places[n]: term for n, term in command.updates.items()})
        if premise is None:
            keeps = self.terms.conjunction(self.holding(Role.EVERY_STEP))
        else:
            held = self.terms.disjunction(self.premises((Role.EVERY_STEP,), premise))
            keeps = self.terms.negate(held)
        return replace(command, keeps=keeps)

    def _updates(
        self, updates: Iterable[Update], bound: Mapping[Var, Term]
    ) -> Iterator[tuple[int, Term]]:
        for update in updates:
            for here in self._bindings(update.keys):
                keys = tuple(self.terms[term].low for term in here.values())
                place = update.variable, keys
                value = self.translator.term(update.value, {**bound, **here})
                if value != self.translator.now[place]:
                    yield self.numbers[place], value

    def _instances(self, forms: Sequence[Any]) -> Iterator[tuple[int, Any, Mapping[Var, Term]]]:
        """List commands or claims for each ground action, in the order of ground actions."""
        number = 0
        for method in self.encoder.model.methods(Role.ACTION):
            sorts = [ElementSort(note.__name__) for _, note in method.parameters]
            mine = [form for form in forms if form.name == method.name]
            for keys in self.encoder.keys_of(sorts):
                arguments = [self.terms.constant(key) for key in keys]
                for form in mine:
                    yield number, form, dict(zip(form.parameters, arguments, strict=True))
                number += 1

    def _bindings(self, variables: Sequence[Var]) -> Iterator[dict[Var, Term]]:
        for keys in self.encoder.keys_of(variable.sort for variable in variables):
            terms = [self.terms.constant(key) for key in keys]
            yield dict(zip(variables, terms, strict=True))
