"""Counterexamples: runs that can be shown, run again from their key, and kept as a test."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from streamproof.checker.exploration import Path
from streamproof.checker.lasso import Lasso, broken_promises, never_comes_about
from streamproof.checker.properties import STUCK, Broken, Properties
from streamproof.checker.states import UnfitState
from streamproof.lang import Disabled, OutOfRange, StreamproofError
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import Call, Model, Move
from streamproof.models.kit.trace import Trace, TraceStep, changes, fields_of, show
from streamproof.models.kit.verdict import CLAIMS, DEADLOCK

S = TypeVar("S")
_REPEATS = "~"


class UnknownStep(StreamproofError, LookupError):
    """A key or a list of actions asks for a step that the model does not allow there."""


_NO_ASSIGNMENT = "'Map' object does not support item assignment"
"""What Python says of it."""


class BrokenModel(StreamproofError, RuntimeError):
    """A method of the model failed. This is a bug of the model, and never a false guard.

    Attributes
    ----------
    trace : the way to the state in which it failed
    """

    def __init__(self, message: str, trace: Trace) -> None:
        super().__init__(message)
        self.trace = trace

    @classmethod
    def by(cls, model: Model[Any], path: Path | None, what: str, error: Exception) -> BrokenModel:
        """Return what failed, its file and line, and the path to it; None before any state."""
        frames = traceback.extract_tb(error.__traceback__)
        if isinstance(error, Disabled):
            frames.pop()  # that of `require` itself
        place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
        remedy = "Fix it, or state a guard"
        if isinstance(error, TypeError) and "unhashable type" in str(error):
            remedy = "A state is looked up by its hash: write a tuple for a list, a Map for a dict"
        if isinstance(error, TypeError) and _NO_ASSIGNMENT in str(error):
            remedy = (
                "Nothing changes a map: write m.set(key, value) for m[key] = value, which gives a "
                "changed copy, and return a state that has it"
            )
        message = (
            f"{what} failed with {type(error).__name__}: {error}{place}. Only `require` makes a "
            f"step impossible; anything else is a bug of the model. {remedy}"
        )
        if isinstance(error, Disabled):
            message = (
                f"{what} failed, since a `require` in it does not hold{place}. Only a step can be "
                "refused. Write implies(...) in a property; an @init gives a state for each of its "
                "parameters"
            )
        if isinstance(error, UnfitState):
            is_start = what.endswith("@init")  # before any step
            message = f"after {'@init' if is_start else what}, {error}"
            if is_start:
                return WrongState(message, Trace("", (), ()))
        if isinstance(error, ImpureModel):
            return ImpureStep.told(model, path, str(error))
        if path is None:
            return cls(message, Trace("", (), ()))
        trace = retrace(model, path).trace
        kind = WrongState if isinstance(error, UnfitState) else cls
        return kind(f"{message}. The state is the last of the run with key {trace.key}", trace)


class WrongState(BrokenModel, UnfitState):
    """An action or @init gave a state by which a search could be misled."""


class ImpureStep(BrokenModel, ImpureModel):
    """A method gave two answers to one question, in a state that a search came to."""

    @classmethod
    def told(cls, model: Model[Any], path: Path | None, message: str) -> ImpureStep:
        """Show the way there, if it can still be run."""
        try:
            trace = retrace(model, path).trace if path else Trace("", (), ())
        except StreamproofError:
            trace = Trace("", (), ())
        return cls(message, trace)


class LeftRange(BrokenModel, OutOfRange):
    """An action gave a bounded integer a value outside its declared range."""

    @classmethod
    def of(cls, model: Model[Any], path: Path, action: str, found: str) -> LeftRange:
        """Return which action, field and value."""
        return cls(
            f"after {action}, {found.removeprefix('.')}. An engine that packs states would mistake "
            "it for another value. Guard the action with `require`, or widen the Range",
            retrace(model, path).trace,
        )


@dataclass(frozen=True, slots=True)
class Run(Generic[S]):
    """A run, state by state.

    Attributes
    ----------
    start : index of the initial state
    states : one more than moves, unless the last move broke a claim
    picks : index of each move among those that its state allows
    repeats : of an infinite run, how many of the last moves are repeated forever
    """

    start: int
    states: tuple[S, ...]
    moves: tuple[Move[S], ...]
    picks: tuple[int, ...]
    repeats: int | None = None

    @property
    def key(self) -> str:
        """How to run it again."""
        again = "" if self.repeats is None else f"{_REPEATS}{self.repeats}"
        return "/".join(map(str, (self.start, *self.picks))) + again

    @property
    def trace(self) -> Trace:
        """The run as text."""
        start = tuple((name, show(value)) for name, value in fields_of(self.states[0]))
        steps = []
        for before, move in zip(self.states, self.moves, strict=False):
            changed = () if move.target is None else tuple(changes(before, move.target))
            steps.append(TraceStep(str(move.call), changed, move.broken_claim))
        return Trace(self.key, start, tuple(steps), self.repeats)


def retrace(model: Model[S], path: Path) -> Run[S]:
    """Run a path that an engine found again, through the model's own methods.

    Raises
    ------
    UnknownStep : if the model no longer allows it, so that it is no pure function of its states
    """
    actions = model.ground_actions
    try:
        return _walk(model, path.start, [actions[number][0] for number in path.steps])
    except UnknownStep as unknown:
        raise UnknownStep(
            f"{unknown}. The search took this step, so {type(model).__name__} answers differently "
            "when it is asked again: an action uses a clock, a random number or something mutable. "
            "Make it a parameter of the action"
        ) from None


def lasso_trace(model: Model[Any], lasso: Lasso) -> Trace:
    """Return an infinite run: the way to its cycle, and the cycle once."""
    run = retrace(model, Path(lasso.path.start, (*lasso.path.steps, *lasso.cycle)))
    return replace(run, repeats=len(lasso.cycle)).trace


def replay(model: Model[S], key: str) -> Run[S]:
    """Run a replay key, like `0/3/1`: the first initial state, its fourth move, then the second.

    An infinite run ends in, say, `~2`: its last two moves lead back, and are repeated forever.

    Raises
    ------
    UnknownStep : if the key is malformed, asks for a move that there is not, or repeats what does
        not lead back
    """
    steps, repeated, again = key.partition(_REPEATS)
    parts = steps.split("/")
    if not all(part.isdecimal() for part in (*parts, again if repeated else "0")):
        raise UnknownStep(
            f"{key!r} is no replay key, so there is nothing to run. Give the index of the initial "
            "state and of each move, like 0/3/1 or 0/3/1~2, as a counterexample prints it"
        )
    start, *picks = map(int, parts)
    run = _walk(model, start, picks)
    if not repeated:
        return run
    repeats = int(again)
    if len(run.states) <= max(repeats, len(picks)) or run.states[-1] != run.states[-1 - repeats]:
        raise UnknownStep(
            f"the last {repeats} moves of {key} do not lead back to where they began, so they "
            "cannot be repeated forever. Is the key from another version of the model?"
        )
    return replace(run, repeats=repeats)


def broken_in_run(model: Model[S], run: Run[S]) -> tuple[Broken, ...]:
    """List the properties that a run breaks: in a state, by a step, or by getting stuck at its end.

    Of an infinite run also the promises, if every fair action gets its due on it.

    Raises
    ------
    Exception : whatever a property raises
    """
    properties: Properties[S] = Properties.of(model)
    found = [broken for state in run.states for broken in properties.broken_in(state)]
    for before, after in itertools.pairwise(run.states):
        found += properties.broken_by(before, after)
    last = run.moves[-1] if run.moves else None
    if last is not None and last.broken_claim is not None:
        found.append(Broken(CLAIMS, last.broken_claim))
    elif run.repeats is not None:
        taken = [move.call for move in run.moves]
        for promise in broken_promises(model, run.states, taken, run.repeats):
            found.append(Broken(promise.call.name, never_comes_about(promise.call)))
    elif _is_stuck(model, run.states[-1]) and not properties.is_final(run.states[-1]):
        found.append(Broken(DEADLOCK, STUCK))
    return tuple(dict.fromkeys(found))


def broken_along(model: Model[Any], start: int, actions: Iterable[str]) -> tuple[str, ...]:
    """Name the properties that break along actions given as text; kept counterexamples call it.

    The run ends where an action is no longer possible: that, too, may fix a mistake.
    """
    taken: list[str] = []
    for action in actions:
        try:
            _walk(model, start, [*taken, action])
        except UnknownStep:
            break
        taken.append(action)
    broken = broken_in_run(model, _walk(model, start, taken))
    return tuple(dict.fromkeys(part.name for part in broken))


def as_pytest(trace: Trace, broken: str, build: str) -> str:
    """Write a counterexample as a test, which fails until the mistake is fixed.

    Parameters
    ----------
    trace : the counterexample
    broken : name of the property that it breaks
    build : Python text that builds the model from `registry`, like `registry.build("x", {})`
    """
    imports = "from pathlib import Path\n\n" if "Path(__file__)" in build else ""
    if trace.repeats is not None:
        return _promise_as_pytest(trace, broken, build, imports)
    actions = "".join(f"        {step.action!r},\n" for step in trace.steps)
    start = trace.key.partition("/")[0]
    return f'''"""A counterexample to `{broken}`, found by streamproof, key {trace.key}."""

{imports}from streamproof.checker.counterexample import broken_along
from streamproof.models.kit import registry


def test_{broken}_holds_along_a_run_that_once_broke_it() -> None:
    model = {build}
    actions = [
{actions}    ]
    assert {broken!r} not in broken_along(model, {start}, actions)
'''


def _promise_as_pytest(trace: Trace, broken: str, build: str, imports: str) -> str:
    """Write a test of a promise: a finite run cannot break one, so the model is checked again."""
    return f'''"""`{broken}` was not kept on a run found by streamproof check, key {trace.key}."""

{imports}from streamproof.checker import check
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status


def test_{broken}_is_not_broken_any_more() -> None:
    report = check({build})
    assert report.finding({broken!r}).verdict.status is not Status.REFUTED
'''


def _walk(model: Model[S], start: int, wanted: Sequence[int | str | Call]) -> Run[S]:
    """Run moves that are given by index among the possible ones, by action, or by its text."""
    state = next(itertools.islice(model.initial_states(), start, None), None)
    if state is None:
        count = sum(1 for _ in model.initial_states())
        raise UnknownStep(
            f"there is no initial state {start}: {type(model).__name__} has {count} at this size, "
            "counted from 0. Is the key from another size or another version of the model?"
        )
    states, moves, picks = [state], [], []
    for number, pick in enumerate(wanted, start=1):
        found = _find(model, states[-1], pick)
        if found is None or len(states) < number:
            raise UnknownStep(_no_such_step(model, states[-1], number, pick))
        index, move = found
        moves.append(move)
        picks.append(index)
        if move.target is not None:
            states.append(move.target)
    return Run(start, tuple(states), tuple(moves), tuple(picks))


def _is_stuck(model: Model[S], state: S) -> bool:
    return next(model.moves(state), None) is None


def _find(model: Model[S], state: S, pick: int | str | Call) -> tuple[int, Move[S]] | None:
    for index, move in enumerate(model.moves(state)):
        known = {int: index, str: str(move.call)}.get(type(pick), move.call)
        if pick == known:
            return index, move
    return None


def _no_such_step(model: Model[S], state: S, number: int, pick: int | str | Call) -> str:
    allowed = [str(move.call) for move in model.moves(state)]
    listed = ", ".join(f"{index}: {name}" for index, name in enumerate(allowed)) or "none"
    return f"step {number} cannot be {pick}, since the moves that are possible there are {listed}"
