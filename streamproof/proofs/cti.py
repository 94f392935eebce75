"""Counterexamples to induction: why an obligation fails, as small states in the model's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from streamproof.lang import Domain, Map
from streamproof.lang import expr as ex
from streamproof.lang.evaluate import evaluate, world
from streamproof.lang.expr import Expr
from streamproof.lang.model import Call, Model, Role
from streamproof.lang.show import show as show_expr
from streamproof.lang.sorts import IntSort
from streamproof.models.kit.trace import Change, Trace, TraceStep, changes, fields_of, show
from streamproof.models.kit.verdict import Json, Reachable, Reached
from streamproof.proofs.bounded import Instance, Question, find_instance
from streamproof.proofs.obligations import RLIMIT, Kind, Obligation, Theory, own_names

SIZES = (2, 3)
"""Elements per domain at which examples are looked for."""


Reach: TypeAlias = Callable[[Model[Any], Any], Reached]
"""Tells whether a state is reachable in a sized model; an engine of `checker` provides it."""


def not_searched(_model: Model[Any], _state: Any) -> Reached:
    """Return the note of a search without an engine."""
    return Reached(Reachable.UNKNOWN)


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
    trace : where a run leads to the state, that run, with the step that breaks the conclusion
    """

    size: int
    step: str
    constants: tuple[tuple[str, str], ...]
    before: tuple[Change, ...]
    changes: tuple[Change, ...]
    reachable: Reachable
    trace: Trace | None = None

    def to_json(self) -> Json:
        """Return it as JSON."""
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
    theory: Theory, obligation: Obligation, reach: Reach, rlimit: int = RLIMIT
) -> tuple[CounterexampleToInduction, ...]:
    """Find an example at each of the sizes, as far as there are any.

    Parameters
    ----------
    theory, obligation, reach : what is not discharged, and what tells whether a state is reachable
    rlimit : Z3's own steps for each question to it; where they are too few, there is no example
    """
    constraints = (*obligation.premises, ex.negate(obligation.conclusion))
    asked = Question(
        theory.traced, constraints, obligation.parameters, SIZES[0], plain=True, rlimit=rlimit
    )
    found = []
    for size in SIZES:
        instance = find_instance(replace(asked, size=size))
        if instance is not None:
            found.append(_example(theory, obligation, instance, size, reach))
    return tuple(found)


def _example(
    theory: Theory, obligation: Obligation, found: Instance, size: int, reach: Reach
) -> CounterexampleToInduction:
    _check_premises(obligation, found)
    call = _call(theory, obligation, found)
    start = next(iter(found.model.initial_states()))
    before = after = found.state
    step = ", ".join(f"{name}={show(value)}" for name, value in found.arguments.items())
    claim_fails = obligation.kind is Kind.CLAIM
    # The plain function has the last word on what a step does, not the traced form.
    if obligation.kind is Kind.INITIATION and call is not None:
        before = after = getattr(found.model, call.name)(*call.arguments)
    elif call is not None:
        step = str(call)
        try:
            after = getattr(found.model, call.name)(before, *call.arguments)
        except AssertionError:  # which is an obligation of its own
            claim_fails = True
    if not claim_fails:
        _check_broken(theory, obligation, found, (before, after))
    reached = reach(found.model, before)
    trace = reached.trace
    if trace is not None and call is not None and obligation.kind is not Kind.INITIATION:
        trace = _with_step(trace, found.model, before, call)
    return CounterexampleToInduction(
        size,
        step,
        tuple(_constants(found.model)),
        tuple(changes(start, before)),
        tuple(changes(before, after)),
        reached.answer,
        trace,
    )


def _call(theory: Theory, obligation: Obligation, found: Instance) -> Call | None:
    """Return the action or initial state that an obligation is about, with its arguments."""
    name = obligation.action.partition("/")[0]
    cls = theory.invariant.model_class
    declared = (*cls.methods(Role.ACTION), *cls.methods(Role.INIT))
    for method in declared:
        if method.name == name:
            return found.call(name, tuple(parameter for parameter, _ in method.parameters))
    return None


def _with_step(trace: Trace, model: Model[Any], state: Any, call: Call) -> Trace:
    """Go on from the end of a run by one step."""
    for index, move in enumerate(model.moves(state)):
        if move.call == call:
            changed = () if move.target is None else tuple(changes(state, move.target))
            step = TraceStep(str(call), changed, move.broken_claim)
            return replace(trace, key=f"{trace.key}/{index}", steps=(*trace.steps, step))
    raise EnginesDisagree(f"Z3 takes {call} to be possible, plain Python does not, in {state}")


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


def _check_broken(
    theory: Theory, obligation: Obligation, found: Instance, step: tuple[Any, Any]
) -> None:
    """Ask plain Python about what Z3 says is broken.

    A conjunct is evaluated on the state that the plain function gave; a property of the model is
    asked by its own method. A step is the states before and after it; for what is not about a step,
    the same state twice.
    """
    conjunct = theory.conjuncts.get(obligation.subject)
    if obligation.kind in (Kind.INITIATION, Kind.CONSECUTION) and conjunct is not None:
        _agree(conjunct, obligation, found, step[1], expected=False)
    if obligation.kind in (Kind.SAFETY, Kind.STEP):
        name, _, part = obligation.subject.partition(".")
        states = step if obligation.kind is Kind.STEP else step[:1]
        method = next(m for m in _said(theory) if m.name == name)
        renamed = own_names(method.name, (parameter for parameter, _ in method.parameters))
        names = renamed.values() if obligation.kind is Kind.STEP else renamed
        answer = getattr(found.model, name)(*states, *(found.arguments[each] for each in names))
        if (answer[part] if part and isinstance(answer, Mapping) else answer) is True:
            raise EnginesDisagree(
                f"{obligation}: Z3 takes {name} to be broken, plain Python does not, in "
                f"{show(step[0])} of {show(found.model)}"
            )


def _said(theory: Theory) -> Iterator[Any]:
    for role in (Role.ALWAYS, Role.EVERY_STEP):
        yield from theory.invariant.model_class.methods(role)


def _agree(
    expr: Expr, obligation: Obligation, found: Instance, state: Any, *, expected: bool
) -> None:
    if _ranges_over_numbers(expr):
        return  # plain Python cannot go through them all
    bound = {parameter: found.arguments[parameter.name] for parameter in obligation.parameters}
    if evaluate(expr, world(found.model, state), bound) is not expected:
        raise EnginesDisagree(
            f"{obligation}: Z3 takes {show_expr(expr)} to be {expected}, plain Python does not, in "
            f"{show(state)} of {show(found.model)}"
        )


def _ranges_over_numbers(expr: Expr) -> bool:
    match expr:
        case ex.Quantified(_, variables, body, _):
            numbers = any(isinstance(variable.sort, IntSort) for variable in variables)
            return numbers or _ranges_over_numbers(body)
        case ex.Apply(_, arguments, _):
            return any(map(_ranges_over_numbers, arguments))
        case _:
            return False
