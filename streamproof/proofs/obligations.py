"""Proof obligations: the single questions whose answers make an invariant a proof."""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from streamproof.lang import Domain, WrongDefinition
from streamproof.lang import expr as ex
from streamproof.lang.expr import Expr, Var
from streamproof.lang.form import Command, TracedModel
from streamproof.lang.model import Model, Role
from streamproof.lang.trace import trace_model
from streamproof.proofs.invariant import (
    Invariant,
    across_step,
    after_step,
    traced_conjuncts,
    traced_lemmas,
)

RLIMIT = 5_000_000
"""Z3's own steps for one question: a count, so that a slow machine cannot change an answer."""


class Kind(Enum):
    """What an obligation is about."""

    INITIATION = "initiation"
    """The invariant holds at the start."""
    CONSECUTION = "consecution"
    """Every step keeps it."""
    SAFETY = "safety"
    """It implies the model's `always` properties."""
    STEP = "every step"
    """With it, every step has the model's `every_step` properties."""
    CLAIM = "claim"
    """With it, no `assert` in an action fails."""
    LEMMA = "lemma"
    """It implies the lemmas."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """The premises imply the conclusion, for every size and all parameters.

    Attributes
    ----------
    subject : the conjunct, property, claim or lemma that it is about
    action : the action and the number of its path, like `receive_marker/1`; empty if there is none
    """

    kind: Kind
    subject: str
    action: str
    premises: tuple[Expr, ...]
    conclusion: Expr
    parameters: tuple[Var, ...] = ()

    def __str__(self) -> str:
        where = f" by {self.action}" if self.action else ""
        return f"{self.kind.value}: {self.subject}{where}"


@dataclass(frozen=True, slots=True)
class Theory:
    """A model and its invariant in traced form, from which every question is built."""

    invariant: Invariant
    traced: TracedModel
    conjuncts: dict[str, Expr]

    @classmethod
    def of(cls, invariant: Invariant) -> Theory:
        """Trace a model and its invariant."""
        _require_names_apart(invariant.model_class)
        return cls(invariant, trace_model(invariant.model_class), traced_conjuncts(invariant))

    @property
    def assumed(self) -> tuple[Expr, ...]:
        """What every question may assume: the model's assumptions and the whole invariant."""
        return (*self.traced.assumptions, *self.conjuncts.values())

    def paths(self) -> Iterator[tuple[str, Command]]:
        """List the actions' paths with their names."""
        for command in self.traced.commands:
            number = self.traced.commands_of(command.name).index(command)
            yield f"{command.name}/{number}", command


def _require_names_apart(model_class: type[Model[Any]]) -> None:
    """Refuse two domains of different classes with one name, which a proof would take for one."""
    known: dict[str, Any] = {}
    for hint in typing.get_type_hints(model_class, include_extras=True).values():
        if typing.get_origin(hint) is Domain:
            (element,) = typing.get_args(hint)
            name = getattr(element, "__name__", str(element))
            if known.setdefault(name, element) is not element:
                raise WrongDefinition(
                    f"{model_class.__name__} has domains of two classes named {name}, whose "
                    "elements a proof would take for each other. Rename one of the classes"
                )


def obligations(theory: Theory) -> tuple[Obligation, ...]:
    """List all obligations: one for each action path and conjunct, and those that follow."""
    return (
        *_initiation(theory),
        *_consecution(theory),
        *_properties(theory),
        *_claims(theory),
        *_lemmas(theory),
    )


def _initiation(theory: Theory) -> Iterator[Obligation]:
    for command in theory.traced.initial:
        premises = (*theory.traced.assumptions, *command.guard)
        for name, conjunct in theory.conjuncts.items():
            holds = after_step(conjunct, command)
            yield Obligation(
                Kind.INITIATION, name, command.name, premises, holds, command.parameters
            )


def _consecution(theory: Theory) -> Iterator[Obligation]:
    for path, command in theory.paths():
        premises = (*theory.assumed, *command.guard)
        for name, conjunct in theory.conjuncts.items():
            yield Obligation(
                Kind.CONSECUTION,
                name,
                path,
                premises,
                after_step(conjunct, command),
                command.parameters,
            )


def _properties(theory: Theory) -> Iterator[Obligation]:
    for form in theory.traced.properties:
        for part, conjunct in form.conjuncts:
            name = f"{form.name}.{part}" if part else form.name
            if form.role is Role.ALWAYS:
                yield Obligation(Kind.SAFETY, name, "", theory.assumed, conjunct, form.parameters)
            elif form.role is Role.EVERY_STEP:
                # A parameter of the property is not the action's of the same name.
                names = own_names(form.name, (variable.name for variable in form.parameters))
                own = tuple(Var(names[part.name], part.sort) for part in form.parameters)
                asked = ex.substitute(conjunct, dict(zip(form.parameters, own, strict=True)))
                for path, command in theory.paths():
                    yield Obligation(
                        Kind.STEP,
                        name,
                        path,
                        (*theory.assumed, *command.guard),
                        across_step(asked, command),
                        (*own, *command.parameters),
                    )


def own_names(name: str, parameters: Iterable[str]) -> dict[str, str]:
    """Name a property's parameters so that no source text can hold the same name."""
    return {parameter: f"{parameter} of {name}" for parameter in parameters}


def _claims(theory: Theory) -> Iterator[Obligation]:
    for claim in theory.traced.claims:
        never = ex.negate(ex.conjunction(*claim.broken_if))
        yield Obligation(
            Kind.CLAIM, claim.text, claim.name, theory.assumed, never, claim.parameters
        )


def _lemmas(theory: Theory) -> Iterator[Obligation]:
    for lemma in traced_lemmas(theory.invariant):
        premises = (*theory.assumed, *lemma.premises)
        yield Obligation(Kind.LEMMA, lemma.name, "", premises, lemma.conclusion, lemma.parameters)
