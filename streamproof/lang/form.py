"""The traced form: a protocol or a model as guarded commands, printable and hashable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamproof.lang.expr import TRUE, Expr, Var, conjunction
from streamproof.lang.model import Fairness, Role
from streamproof.lang.quantify import Site
from streamproof.lang.sorts import ElementSort, ScalarSort, Sort


@dataclass(frozen=True, slots=True)
class Variable:
    """A state variable or a constant: a total function from its keys to a scalar.

    Records and maps are flattened: ``recorders: Map[P, Recorder]`` gives ``recorders.recorded``
    over P and, if ``closed`` is a map over C, ``recorders.closed`` over P and C.
    """

    name: str
    keys: tuple[ElementSort, ...]
    sort: ScalarSort


@dataclass(frozen=True, slots=True)
class Update:
    """A variable's new value at every key: ``name[keys] := value``."""

    variable: str
    keys: tuple[Var, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class EffectForm:
    """An effect that a transition asks for, with its fields."""

    name: str
    fields: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class Command:
    """One path through an action: where the guard holds, all updates happen at once.

    Attributes
    ----------
    guard : conjuncts, over the parameters and the state before the step
    """

    name: str
    parameters: tuple[Var, ...]
    guard: tuple[Expr, ...]
    updates: tuple[Update, ...]
    effects: tuple[EffectForm, ...] = ()
    fairness: Fairness = Fairness.NONE


@dataclass(frozen=True, slots=True)
class ClaimForm:
    """An `assert` on the way through an action.

    Attributes
    ----------
    broken_if : conjuncts under which it fails
    text : function, line and source of the claim
    """

    name: str
    parameters: tuple[Var, ...]
    broken_if: tuple[Expr, ...]
    text: str


@dataclass(frozen=True, slots=True)
class PropertyForm:
    """A property as named conjuncts; for `leads_to`, the two conjuncts are `when` and `then`.

    Attributes
    ----------
    premises : per `implies` in it, when its premise holds for something
    """

    name: str
    role: Role
    parameters: tuple[Var, ...]
    conjuncts: tuple[tuple[str, Expr], ...]
    premises: tuple[tuple[Site, Expr], ...] = ()

    @property
    def sides(self) -> tuple[Expr, Expr]:
        """Premise and goal of a promise; that of `eventually` is always made."""
        parts = [part for _, part in self.conjuncts]
        if self.role is Role.LEADS_TO:
            when, then = parts
            return when, then
        return TRUE, conjunction(*parts)

    @property
    def takes_a_step(self) -> bool:
        """Whether it is about the two states of a step."""
        return self.role is Role.EVERY_STEP


@dataclass(frozen=True)
class TracedTransition:
    """A protocol's transition as guarded commands, or another function of it.

    Attributes
    ----------
    is_step : whether it gives the next state; else it gives a result
    """

    name: str
    parameters: tuple[Variable, ...]
    commands: tuple[Command, ...]
    claims: tuple[ClaimForm, ...]
    is_step: bool = True


@dataclass(frozen=True)
class TracedModel:
    """A model as guarded commands, for any size.

    Attributes
    ----------
    state_sort : the sort of the state record
    constants, variables : what a size fixes, and what steps change
    """

    name: str
    model_class: type[Any]
    state_sort: Sort
    constants: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    initial: tuple[Command, ...]
    commands: tuple[Command, ...]
    claims: tuple[ClaimForm, ...]
    properties: tuple[PropertyForm, ...]
    assumptions: tuple[Expr, ...]

    def properties_of(self, role: Role) -> tuple[PropertyForm, ...]:
        """List the properties of a role."""
        return tuple(form for form in self.properties if form.role is role)

    def commands_of(self, action: str) -> tuple[Command, ...]:
        """List one action's paths."""
        return tuple(command for command in self.commands if command.name == action)
