"""Adapters: how a test carries the actions of a model out on a real system, and what it sees."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar, Final

from streamproof.lang import StreamproofError
from streamproof.lang.model import Call, Model, Role


class _Answer(Enum):
    """The answers of an adapter that are neither None nor steps."""

    REFUSED = "refused"
    UNKNOWN = "unknown"

    def __repr__(self) -> str:
        return self.name


REFUSED: Final = _Answer.REFUSED
"""The system has refused the action: nothing has happened."""
UNKNOWN: Final = _Answer.UNKNOWN
"""The action may have happened or not: after a timeout, say. Both are followed from here."""


class Happened:
    """One step that the system has taken, which may be another one than it was asked for.

    Parameters
    ----------
    name : the action's name
    arguments : the action's arguments

    Examples
    --------
    >>> Happened("take", 3)
    Happened('take', 3)
    """

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name, self.arguments = name, arguments

    def __repr__(self) -> str:
        return f"Happened({', '.join(map(repr, (self.name, *self.arguments)))})"


class Adapter:
    """Carries the actions of a model out on a real system. One is made for each run.

    A subclass has a method for each action of the model, by its name and with its parameters. The
    method carries the action out, and returns what happened:

    * None: the action happened;
    * REFUSED: nothing happened;
    * UNKNOWN: it is not known whether the action happened;
    * a `Happened`, or a list of them: these steps happened, in this order.

    Attributes
    ----------
    unseen : names of actions that the system takes by itself, between those that it is asked for;
        no method carries them out
    also_impossible : names of actions that are also asked for where the model does not allow them;
        the method then has to return REFUSED

    Examples
    --------
    >>> class Switch(Adapter):
    ...     def __init__(self):
    ...         self.is_lit = False
    ...
    ...     def toggle(self):
    ...         self.is_lit = not self.is_lit
    ...
    ...     def observe(self):
    ...         return self.is_lit
    ...
    ...     def expected(self, state):
    ...         return state
    >>> Switch().unseen
    ()
    """

    unseen: ClassVar[tuple[str, ...]] = ()
    also_impossible: ClassVar[tuple[str, ...]] = ()

    def start(self, state: Any) -> None:
        """Bring the system into an initial state of the model. Nothing is done unless overridden.

        Where it is not overridden, and the model has several initial states, each is possible.
        """

    def observe(self) -> Any:
        """Return what can be seen of the system now; asked after each step."""
        return None

    def expected(self, state: Any) -> Any:  # noqa: ARG002 - subclasses take it
        """Return what `observe` returns of a system in a state of the model."""
        return None

    def close(self) -> None:
        """Stop the system, and give back what it holds."""


class WrongAdapter(StreamproofError, TypeError):
    """An adapter does not fit its model."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """An adapter's class that fits a model.

    Attributes
    ----------
    asked : names of the actions that the adapter carries out
    """

    adapter: type[Adapter]
    asked: tuple[str, ...]

    @property
    def chooses_start(self) -> bool:
        """Whether the adapter brings the system into an initial state."""
        return self.adapter.start is not Adapter.start


def fitted(model: Model[Any], adapter: type[Adapter]) -> Fitted:
    """Check that an adapter has a method for each action of a model.

    Raises
    ------
    WrongAdapter : if an action has none, or a name is no action's
    """
    if not (isinstance(adapter, type) and issubclass(adapter, Adapter)):
        raise WrongAdapter(
            f"the adapter is {adapter!r}, so nothing carries out the actions of "
            f"{type(model).__name__}. Give a subclass of streamproof.testing.Adapter"
        )
    actions = [method.name for method in model.methods(Role.ACTION)]
    named = {*adapter.unseen, *adapter.also_impossible}
    if unknown := sorted(named - {*actions}):
        raise WrongAdapter(
            f"{adapter.__name__} names {', '.join(unknown)}, no action of {type(model).__name__}, "
            f"so nothing would be tried. Name some of {', '.join(actions)}"
        )
    asked = tuple(name for name in actions if name not in adapter.unseen)
    missing = [name for name in asked if not callable(getattr(adapter, name, None))]
    if missing or not asked:
        raise WrongAdapter(
            f"{adapter.__name__} has no method {', '.join(missing) or 'at all'}, so actions of "
            f"{type(model).__name__} would never be tried. Write one for each, or name in `unseen` "
            "those that the system takes by itself"
        )
    if hidden := sorted({*adapter.unseen} & {*adapter.also_impossible}):
        raise WrongAdapter(
            f"{adapter.__name__} names {', '.join(hidden)} in unseen and in also_impossible, so "
            "whether to ask for it is open. Leave it in one of them"
        )
    return Fitted(adapter, asked)


def steps_of(call: Call, answer: object) -> list[Happened] | _Answer:
    """Read what an adapter's method returned.

    Raises
    ------
    WrongAdapter : if it is none of what a method may return
    """
    match answer:
        case None:
            return [Happened(call.name, *call.arguments)]
        case _Answer():
            return answer
        case Happened():
            return [answer]
        case [*parts] if len(steps := [p for p in parts if isinstance(p, Happened)]) == len(parts):
            return steps
        case _:
            raise WrongAdapter(
                f"the adapter returned {answer!r} for {call}, so it is not known what the system "
                "did. Return None if the action happened, REFUSED, UNKNOWN, Happened(name, ...), "
                "or a list of these"
            )
