"""The states of a model in which a system may be, and what the model allows there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NoReturn, TypeVar

from streamproof.checker.properties import Broken, judge
from streamproof.lang import StreamproofError
from streamproof.lang.model import Call, Model, Move, Role
from streamproof.models.kit.verdict import CLAIMS

S = TypeVar("S")

POSSIBLE_MAX = 10_000
"""States that may explain a run at once. Beyond them a test would only wait."""


class PropertyBroken(StreamproofError, AssertionError):
    """The model allows a run that breaks a property of its own."""


class TooManyExplanations(StreamproofError, RuntimeError):
    """More states explain a run than are followed, so nothing is known."""


@dataclass(frozen=True)
class Oracle(Generic[S]):
    """A model whose steps are followed.

    Attributes
    ----------
    unseen : names of actions that a system takes by itself
    is_asked : whether the model's own properties are asked of each state and step on the way
    """

    model: Model[S]
    unseen: tuple[str, ...] = ()
    is_asked: bool = True

    @cached_property
    def starts(self) -> tuple[S, ...]:
        """The initial states."""
        return tuple(self.model.initial_states())

    @cached_property
    def calls(self) -> dict[str, Call]:
        """The actions with their arguments, by their text."""
        return {str(call): call for call, _ in self.model.ground_actions}

    @cached_property
    def _always(self) -> list[Call]:
        return self._asked_in(Role.ALWAYS)

    @cached_property
    def _every_step(self) -> list[Call]:
        return self._asked_in(Role.EVERY_STEP)

    def _asked_in(self, role: Role) -> list[Call]:
        methods = self.model.methods(role) if self.is_asked else ()
        return [call for method in methods for call in self.model.calls(method)]

    def begin(self, states: Iterable[S]) -> Possible[S]:
        """Begin in one of some initial states.

        Raises
        ------
        PropertyBroken, TooManyExplanations : as `Possible.after` does
        """
        found = tuple(dict.fromkeys(states))
        for state in found:
            self._ask(state, "in an initial state")
        return self.settled(found)

    def settled(self, states: Sequence[S]) -> Possible[S]:
        """Add the states to which unseen steps lead."""
        found = dict.fromkeys(states)
        waiting = list(found) if self.unseen else []
        while waiting:
            state = waiting.pop()
            for move in self.model.moves(state):
                if move.call.name in self.unseen:
                    target = self.taken(state, move)
                    if target not in found:
                        found[target] = None
                        waiting.append(target)
            if len(found) > POSSIBLE_MAX:
                raise TooManyExplanations(
                    f"more than {POSSIBLE_MAX:,} states of {type(self.model).__name__} explain the "
                    "run, so following them would take too long. Choose a smaller size, or let the "
                    "adapter see more of the system: write `observe` and `expected`"
                )
        return Possible(self, tuple(found))

    def taken(self, state: S, move: Move[S]) -> S:
        """Take a step, and ask the model's own properties about it.

        Raises
        ------
        PropertyBroken : if a claim fails in it, or it breaks a property
        """
        if move.target is None:
            self._refuse(Broken(CLAIMS, move.broken_claim or ""), f"in {move.call}")
        self._ask(move.target, f"after {move.call}")
        if move.target != state:
            for call in self._every_step:
                self._judge(call, f"by {move.call}", state, move.target)
        return move.target

    def _ask(self, state: S, where: str) -> None:
        for call in self._always:
            self._judge(call, where, state)

    def _judge(self, call: Call, where: str, *states: S) -> None:
        answer = getattr(self.model, call.name)(*states, *call.arguments)
        if answer is not True and (broken := judge(call, answer)):
            self._refuse(broken, where)

    def _refuse(self, broken: Broken, where: str) -> NoReturn:
        raise PropertyBroken(
            f"the model is wrong, whatever the system does: {where}, {broken.name} is broken "
            f"({broken.reason}). A test against it says nothing. Run: streamproof check"
        )


@dataclass(frozen=True)
class Possible(Generic[S]):
    """The states that explain what a system was seen to do, with those that unseen steps reach."""

    oracle: Oracle[S]
    states: tuple[S, ...]

    @cached_property
    def allowed(self) -> dict[Call, dict[S, Move[S]]]:
        """By each step that some state allows: the states that do."""
        found: dict[Call, dict[S, Move[S]]] = {}
        for state in self.states:
            for move in self.oracle.model.moves(state):
                found.setdefault(move.call, {})[state] = move
        return found

    def after(self, call: Call) -> Possible[S]:
        """Follow a step; nothing is possible any more if no state allows it.

        Raises
        ------
        PropertyBroken : if it breaks a property of the model
        TooManyExplanations : if unseen steps lead to too many states
        """
        taken = (self.oracle.taken(*step) for step in self.allowed.get(call, {}).items())
        return self.oracle.settled(tuple(dict.fromkeys(taken)))

    def after_or_before(self, call: Call) -> Possible[S]:
        """Follow a step of which it is not known whether it was taken."""
        return Possible(self.oracle, tuple(dict.fromkeys((*self.states, *self.after(call).states))))

    def refusing(self, call: Call) -> Possible[S]:
        """Keep the states that do not allow a step."""
        allowing = self.allowed.get(call, {})
        return self.oracle.settled(tuple(s for s in self.states if s not in allowing))

    def showing(self, seen: Any, expected: Any) -> Possible[S]:
        """Keep the states in which a system would look as it does.

        Parameters
        ----------
        seen : what was observed
        expected : gives what would be observed in a state
        """
        return Possible(self.oracle, tuple(s for s in self.states if expected(s) == seen))
