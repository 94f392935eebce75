"""Counterexamples to induction: why an obligation fails, as small states in the model's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from streamproof.lang import Domain, Map
from streamproof.lang import expr as ex
from streamproof.lang.evaluate import evaluate, world
from streamproof.lang.expr import Expr
from streamproof.lang.model import Model
from streamproof.lang.show import show as show_expr
from streamproof.models.trace import Change, changes, fields_of, show
from streamproof.models.verdict import Json, Reachable
from streamproof.proofs.bounded import Instance, Question, find_instance
from streamproof.proofs.obligations import Kind, Obligation, Theory

SIZES = (2, 3)
"""Elements per domain at which examples are looked for."""


Reach: TypeAlias = Callable[[Model[Any], Any], Reachable]
"""Tells whether a state is reachable in a sized model; an engine of `checker` provides it."""


def not_searched(_model: Model[Any], _state: Any) -> Reachable:
    """Say that no engine was there to search."""
    return Reachable.UNKNOWN


@dataclass(frozen=True, slots=True)
class CounterexampleToInduction:
    """A state with the invariant, and a step from it (or a fact about it) that breaks a conclusion.

    Attributes
    ----------
    size : elements per domain
    step : the action with its arguments, or the parameters of what is not about a step
    constants : the model's constants that are not False or 0, as pairs of place and value
    before : where the state differs from the initial one
    changes : what the step changes
    reachable : whether a run leads to the state: if so, the conclusion is false; if not, the
        invariant is too weak
    """

    size: int
    step: str
    constants: tuple[tuple[str, str], ...]
    before: tuple[Change, ...]
    changes: tuple[Change, ...]
    reachable: Reachable

    def to_json(self) -> Json:
        """Give it as JSON."""
        return {
            "size": self.size,
            "step": self.step,
            "constants": dict(self.constants),
            "before": [change.to_json() for change in self.before],
            "changes": [change.to_json() for change in self.changes],
            "reachable": self.reachable.value,
        }


class EnginesDisagree(AssertionError):
    """Z3 returned a state that plain Python reads differently: a bug in streamproof itself."""


def counterexamples(
    theory: Theory, obligation: Obligation, reach: Reach
) -> tuple[CounterexampleToInduction, ...]:
    """Find an example at each of the sizes, as far as there are any."""
    constraints = (*obligation.premises, ex.negate(obligation.conclusion))
    found = []
    for size in SIZES:
        question = Question(theory.traced, constraints, obligation.parameters, size, plain=True)
        instance = find_instance(question)
        if instance is not None:
            found.append(_example(theory, obligation, instance, size, reach))
    return tuple(found)


def _example(
    theory: Theory, obligation: Obligation, found: Instance, size: int, reach: Reach
) -> CounterexampleToInduction:
    _check_premises(obligation, found)
    start = next(iter(found.model.initial_states()))
    step, after = "", found.state
    if obligation.kind in (Kind.CONSECUTION, Kind.STEP):
        name = obligation.action.partition("/")[0]
        command = theory.traced.commands_of(name)[0]
        call = found.call(name, tuple(parameter.name for parameter in command.parameters))
        # The plain function has the last word on what the step does, not the traced form.
        step, after = str(call), getattr(found.model, name)(found.state, *call.arguments)
        _check_broken(theory, obligation, found, after)
    else:
        step = ", ".join(f"{name}={show(value)}" for name, value in found.arguments.items())
    return CounterexampleToInduction(
        size,
        step,
        tuple(_constants(found.model)),
        tuple(changes(start, found.state)),
        tuple(changes(found.state, after)),
        reach(found.model, found.state),
    )


def _constants(model: Model[Any]) -> Iterator[tuple[str, str]]:
    for name, value in fields_of(model):
        if isinstance(value, Map):
            parts = (
                (key if isinstance(key, tuple) else (key,), part) for key, part in value.items()
            )
            yield from (
                (f"{name}[{', '.join(map(show, key))}]", show(part)) for key, part in parts if part
            )
        elif not isinstance(value, Domain) and value:
            yield name, show(value)


def _check_premises(obligation: Obligation, found: Instance) -> None:
    """Evaluate the premises on the plain values: what Z3 returns is never believed unseen."""
    if obligation.kind is Kind.INITIATION:
        return
    for premise in obligation.premises:
        _agree(premise, obligation, found, found.state, expected=True)


def _check_broken(theory: Theory, obligation: Obligation, found: Instance, after: Any) -> None:
    """Evaluate the conjunct on the state that the plain function gave: it must be broken there."""
    conjunct = theory.conjuncts.get(obligation.subject)
    if obligation.kind is Kind.CONSECUTION and conjunct is not None:
        _agree(conjunct, obligation, found, after, expected=False)


def _agree(
    expr: Expr, obligation: Obligation, found: Instance, state: Any, *, expected: bool
) -> None:
    bound = {parameter: found.arguments[parameter.name] for parameter in obligation.parameters}
    if evaluate(expr, world(found.model, state), bound) is not expected:
        raise EnginesDisagree(
            f"{obligation}: Z3 takes {show_expr(expr)} to be {expected}, plain Python does not, in "
            f"{show(state)} of {show(found.model)}"
        )
