"""Minimising: a run that breaks something, without the steps that it does not need.

First the run's cycles are cut out, then steps in ever smaller pieces, as long as what remains still
breaks the same property [ZH02]. A step that is no longer possible is left out with those that made
it so. The result has no step that can be left out alone, but need not be a shortest run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

from streamproof.checker.exploration import Path
from streamproof.checker.properties import STUCK, Broken, Properties
from streamproof.checker.ranges import find_outside
from streamproof.lang import Disabled
from streamproof.lang.model import Model
from streamproof.models.kit.verdict import CLAIMS, DEADLOCK

S = TypeVar("S")
_CLAIM = Broken(CLAIMS, "an assert failed")


@dataclass(frozen=True, slots=True)
class Minimised:
    """A run of which little can be left out.

    Attributes
    ----------
    broken : what is wrong at its end
    is_minimal : whether none of its steps can be left out alone; if not, it was interrupted by hand
    """

    path: Path
    broken: Broken
    is_minimal: bool


def minimise(model: Model[Any], path: Path, name: str) -> Minimised:
    """Leave out steps of a model's path as long as the property of a name is broken at its end.

    Parameters
    ----------
    path : at whose end the property is broken
    """
    runner: _Runner[Any] = _Runner(model, path.start, name)
    run = runner.run(path.steps)
    assert run is not None  # the path breaks the property
    size, before, is_minimal = len(run.steps), None, False
    try:
        while size > 1 or run != before:
            before = run
            size = max(1, size // 2)
            run = _without_pieces(_without_cycles(run, runner), size, runner)
            run = _beginning(run, runner) if size == 1 else run
        is_minimal = True
    except KeyboardInterrupt:
        pass  # what is left by then breaks the property too
    return Minimised(Path(path.start, run.steps), run.broken, is_minimal)


@dataclass(frozen=True, slots=True)
class _Run(Generic[S]):
    """A run at whose end the property is broken.

    Attributes
    ----------
    states : one more than steps, unless the last step breaks a claim
    steps : ground actions
    """

    states: tuple[S, ...]
    steps: tuple[int, ...]
    broken: Broken


def _without_pieces(run: _Run[S], size: int, runner: _Runner[S]) -> _Run[S]:
    """Leave out every piece of a size that the run does not need to break the property.

    Pieces are tried from the end, where most steps of a walk are that a mistake has no need of.
    """
    end = len(run.steps)
    while end > 0:
        begin = max(0, end - size)
        shorter = runner.run((*run.steps[:begin], *run.steps[end:]))
        run, end = shorter or run, begin
    return run


def _beginning(run: _Run[S], runner: _Runner[S]) -> _Run[S]:
    """Return the shortest beginning of a run that breaks the property already."""
    begun = (runner.run(run.steps[:end]) for end in range(len(run.steps)))
    return next((shorter for shorter in begun if shorter is not None), run)


def _without_cycles(run: _Run[S], runner: _Runner[S]) -> _Run[S]:
    """Leave out whatever leads back to a state where the run has been, except at its very end."""
    last = {state: place for place, state in enumerate(run.states[: len(run.steps)])}
    steps, place = list[int](), 0
    while place < len(run.steps):
        place = last[run.states[place]]
        steps.append(run.steps[place])
        place += 1
    return runner.run(steps) or run


class _Runner(Generic[S]):
    """Runs what is left of a path, and asks about its end."""

    def __init__(self, model: Model[S], start: int, name: str) -> None:
        self.name = name
        self.start = next(islice(model.initial_states(), start, None))
        self.actions = [(act, call.arguments) for call, act in model.ground_actions]
        self.outside = find_outside(model)
        self.properties: Properties[S] = Properties.of(model)

    def run(self, steps: Sequence[int]) -> _Run[S] | None:
        """Take those of the steps that are possible; None if the property holds at their end."""
        try:
            return self._take(steps)
        except Exception:  # noqa: BLE001 - another mistake than the one that is looked for
            return None

    def _take(self, steps: Sequence[int]) -> _Run[S] | None:
        states, taken = [self.start], list[int]()
        for number in steps:
            act, arguments = self.actions[number]
            try:
                target = act(states[-1], *arguments)
            except Disabled:
                continue
            except AssertionError:
                run = tuple(states), (*taken, number)
                return _Run(*run, _CLAIM) if self.name == CLAIMS else None
            if self.outside and self.outside(target):
                return None  # from where no engine goes on
            states.append(target)
            taken.append(number)
        broken = next((part for part in self._broken(states) if part.name == self.name), None)
        return _Run(tuple(states), tuple(taken), broken) if broken else None

    def _broken(self, states: Sequence[S]) -> Iterator[Broken]:
        """List what is wrong at the end of a run."""
        if self.name == DEADLOCK and self._is_stuck(states[-1]):
            yield Broken(DEADLOCK, STUCK)
        yield from self.properties.broken_in(states[-1])
        if len(states) > 1:
            yield from self.properties.broken_by(*states[-2:])

    def _is_stuck(self, state: S) -> bool:
        for act, arguments in self.actions:
            with suppress(Disabled):
                act(state, *arguments)
                return False
        return not self.properties.is_final(state)
