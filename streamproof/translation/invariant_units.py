"""Units of an invariant: its conjuncts and lemmas, with their traced forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from streamproof.lang import expr as ex
from streamproof.lang.expr import Expr, Var
from streamproof.lang.form import TracedModel
from streamproof.lang.model import Role
from streamproof.proofs.invariant import (
    Implication,
    Invariant,
    named,
    parameters_taken,
)
from streamproof.translation.reading import Conditions, Reading
from streamproof.translation.shapes import MethodShape, Point
from streamproof.translation.units import (
    Alternative,
    Kind,
    Outcome,
    Unit,
    claim_alternative,
    truth_unit,
    truths,
)


def invariant_units(
    invariant: Invariant,
    traced: TracedModel,
    conjuncts: Mapping[str, tuple[tuple[Var, ...], Expr]],
    implications: Sequence[Implication],
) -> list[Unit]:
    """List an invariant's conjuncts and lemmas with their traced forms."""
    functions = dict(named(invariant.conjuncts, "conjunct"))
    units = []
    for name, (parameters, form) in conjuncts.items():
        run, read = _conjunct_runner(functions[name]), _conjunct_reader(name)
        units.append(truth_unit(name, _own_shape(traced, parameters), run, (("", form),), read))
    for name, function in named(invariant.lemmas, "lemma"):
        own = [part for part in implications if part.name == name]
        units.append(_lemma_unit(name, function, traced, own))
    return units


def _own_shape(traced: TracedModel, parameters: tuple[Var, ...]) -> MethodShape:
    return MethodShape(traced, 1, tuple((part.name, part.sort) for part in parameters))  # type: ignore[misc] # or numbers


def _lemma_unit(
    name: str, function: Callable[..., Any], traced: TracedModel, paths: list[Implication]
) -> Unit:
    conditions, read = Conditions(), _conjunct_reader(name)
    return Unit(
        name,
        _own_shape(traced, parameters_taken(function)),
        _conjunct_runner(function),
        lambda answer: Outcome(Kind.VALUE, {("", ()): read(answer)[""]}),
        tuple(_implied(path, conditions) for path in paths),
        conditions,
    )


def _implied(path: Implication, conditions: Conditions) -> Alternative:
    premise = ex.conjunction(*path.premises)
    if path.is_claim:
        return claim_alternative(premise, conditions)
    reading = Reading(conditions)
    held = reading.within(premise).of(path.conclusion)
    return Alternative(
        premise,
        reading.of(premise),
        lambda place: Outcome(Kind.VALUE, {("", ()): held(place)}),
    )


def _conjunct_runner(function: Callable[..., Any]) -> Callable[[Point], Any]:
    return lambda point: function(point.model, *point.values)


def _conjunct_reader(name: str) -> Callable[[Any], Mapping[str, bool]]:
    return lambda answer: truths(name, Role.ALWAYS, answer)
