"""Whether some run of a model explains what processes were observed to do.

Each process has a list of observed steps, in its own order. How the lists interleave was not
observed. So a run is looked for that takes each list in its order. Steps of different processes of
our models commute, but for a message that is sent before it is received: sending one step earlier
forbids no step of another process. So no choice between two possible steps can be a wrong one, and
a run is found without going back, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from streamproof.diagrams.draw import as_words
from streamproof.lang import Disabled
from streamproof.lang.claims import claim_text
from streamproof.lang.model import Call, Model, Move

S = TypeVar("S")

ALLOWED_SHOWN = 6
"""Steps that a report names at most where another one was observed."""


@dataclass(frozen=True, slots=True)
class Observed(Generic[S]):
    """One step that a process was observed to take.

    Attributes
    ----------
    process, where : whose step it is, and where it was written down, such as ``batch 7``
    call : the model's action with its arguments
    differs : says what was observed otherwise than the model's step from one state to the next;
        empty if nothing
    awaits : the process whose message it receives; empty if it receives none
    is_asked : the run is looked for until all such steps are explained
    """

    process: str
    where: str
    call: Call
    differs: Callable[[S, S], str] = field(default=lambda *_: "")
    awaits: str = ""
    is_asked: bool = True


@dataclass(frozen=True, slots=True)
class Violation:
    """An observed step that no run of the model explains.

    Attributes
    ----------
    process, where : whose step, and where it was written down
    reason : what was observed, and what the model says
    allowed : the steps that the model would have allowed the process there
    """

    process: str
    where: str
    reason: str
    allowed: tuple[str, ...] = ()


@dataclass(slots=True)
class Explanation(Generic[S]):
    """A run of a model, as far as it explains what was observed.

    Attributes
    ----------
    actor : gives the process that takes a step of the model
    """

    model: Model[S]
    states: list[S]
    actor: Callable[[Call], str]
    moves: list[Move[S]] = field(default_factory=list)
    violation: Violation | None = None

    @property
    def state(self) -> S:
        """The last state."""
        return self.states[-1]

    def follow(self, steps: Sequence[Sequence[Observed[S]]]) -> None:
        """Take the observed steps, each process's in their order, until all asked ones are taken.

        Parameters
        ----------
        steps : of each process
        """
        heads = {own[0].process: 0 for own in steps if own}
        by_process = {own[0].process: own for own in steps if own}
        open_steps = sum(step.is_asked for own in steps for step in own)
        while open_steps and self.violation is None:
            taken = 0
            for process in list(heads):
                for step in self._run_of(by_process[process], heads):
                    taken += 1
                    open_steps -= step.is_asked
                    if not open_steps:
                        return
            if not taken:
                self.violation = self._stuck([by_process[p][at] for p, at in heads.items()])

    def _run_of(self, own: Sequence[Observed[S]], heads: dict[str, int]) -> Iterator[Observed[S]]:
        """Take a process's steps until one is not possible yet."""
        process = own[0].process
        while process in heads and self.violation is None and self._take(own[heads[process]]):
            step = own[heads[process]]
            heads[process] += 1
            if heads[process] == len(own):
                del heads[process]
            yield step

    def _take(self, step: Observed[S]) -> bool:
        try:
            target: S = getattr(self.model, step.call.name)(self.state, *step.call.arguments)
        except Disabled:
            return False
        except AssertionError as broken:
            self.moves.append(Move(step.call, None, claim_text(broken)))
            self._violated(step, f"a claim of the protocol fails: {claim_text(broken)}")
            return True
        self.moves.append(Move(step.call, target))
        self.states.append(target)
        if differs := step.differs(*self.states[-2:]):
            self._violated(step, differs)
        return True

    def _violated(self, step: Observed[S], reason: str) -> None:
        self.violation = Violation(step.process, step.where, reason)

    def _stuck(self, waiting: Sequence[Observed[S]]) -> Violation:
        """Name the step that is to blame: one that waits for no process that goes on behind it."""
        stuck = {step.process: step for step in waiting}
        step = waiting[0]
        for _ in waiting:
            step = stuck.get(step.awaits, step)
        allowed = [move.call for move in self.model.moves(self.state)]
        own = [as_words(call) for call in allowed if self.actor(call) == step.process]
        return Violation(
            step.process,
            step.where,
            f"{as_words(step.call)} was observed, and the model does not allow it there",
            tuple(own[:ALLOWED_SHOWN]),
        )
