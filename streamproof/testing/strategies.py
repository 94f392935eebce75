"""Strategies of Hypothesis: runs of a model, the states that they reach, and consistent cuts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hypothesis import strategies as st

from streamproof.lang import StreamproofError
from streamproof.lang.model import Call, Model, Move
from streamproof.models.kit.trace import Trace, TraceStep, changes, fields_of, show
from streamproof.testing.assertions import Size, sized

S = TypeVar("S")

STEPS_MAX = 50
"""Steps of a run that is drawn, unless told otherwise."""
_STOPS_ONE_IN = 16


@dataclass(frozen=True)
class Walk(Generic[S]):
    """A run of a model.

    Attributes
    ----------
    states : one more than calls
    calls : the action of each step
    """

    states: tuple[S, ...]
    calls: tuple[Call, ...] = ()

    def __len__(self) -> int:
        """Count the steps."""
        return len(self.calls)

    @property
    def last(self) -> S:
        """The state that it ends in."""
        return self.states[-1]

    def __repr__(self) -> str:
        start = tuple((name, show(value)) for name, value in fields_of(self.states[0]))
        steps = [
            TraceStep(str(call), tuple(changes(before, after)))
            for call, before, after in zip(self.calls, self.states, self.states[1:], strict=False)
        ]
        return "\n".join(["Walk:", *Trace("", start, tuple(steps)).lines()])


@st.composite
def _walks(draw: st.DrawFn, model: Model[Any], steps_max: int) -> Walk[Any]:
    calls: list[Call] = []
    states = [draw(st.sampled_from(list(model.initial_states())))]
    while len(calls) < steps_max:
        behind: dict[str, dict[str, Move[Any]]] = {}
        for move in model.moves(states[-1]):
            if move.target is not None:
                behind.setdefault(move.call.name, {})[str(move.call)] = move
        if not behind or not draw(st.integers(0, _STOPS_ONE_IN - 1)):
            break
        # The action first, or one with many arguments would push the others aside.
        named = behind[draw(st.sampled_from(list(behind)))]
        move = named[draw(st.sampled_from(list(named)))]
        calls.append(move.call)
        states.append(move.target)
    return Walk(tuple(states), tuple(calls))


def walks(
    model: Model[Any] | type[Model[Any]], size: Size = "", *, steps_max: int = STEPS_MAX
) -> st.SearchStrategy[Walk[Any]]:
    """Draw runs of a model. They shrink to a run of which no step can be left out.

    Parameters
    ----------
    model, size : as `assert_exhausted` takes them
    steps_max : steps of the longest run

    Raises
    ------
    UnknownSize : if the model has no such size

    Examples
    --------
    >>> from hypothesis import find
    >>> from streamproof.lang import Model, action, init
    >>> class Counter(Model[int]):
    ...     @init
    ...     def zero(self) -> int:
    ...         return 0
    ...
    ...     @action
    ...     def add(self, n: int) -> int:
    ...         return n + 1
    >>> find(walks(Counter), lambda walk: walk.last > 1).states
    (0, 1, 2)
    """
    return _walks(sized(model, size), steps_max)


def states(
    model: Model[Any] | type[Model[Any]], size: Size = "", *, steps_max: int = STEPS_MAX
) -> st.SearchStrategy[Any]:
    """Draw states that a run of a model reaches; they shrink towards an initial one.

    Parameters
    ----------
    model, size, steps_max : as `walks` takes them
    """
    return walks(model, size, steps_max=steps_max).map(lambda walk: walk.last)


class WrongEvents(StreamproofError, ValueError):
    """Events of which no order is possible."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a process does.

    Attributes
    ----------
    process : who does it
    sends, receives : the messages that it sends and receives in it, by any names
    """

    process: Hashable
    sends: frozenset[Hashable] = frozenset()
    receives: frozenset[Hashable] = frozenset()


def cuts(events: Sequence[Event]) -> st.SearchStrategy[Mapping[Hashable, int]]:
    """Draw consistent cuts of a run: how many of its events each process has had.

    A cut is consistent if every message that was received in it was also sent in it (Chandy and
    Lamport 1985). Every consistent cut may be drawn. They shrink towards the cut before all events.

    Parameters
    ----------
    events : of all processes; those of one process in their order

    Raises
    ------
    WrongEvents : if a message is received that no event sends, or is sent twice

    Examples
    --------
    >>> from hypothesis import find
    >>> events = [Event("a", sends=frozenset({1})), Event("b", receives=frozenset({1}))]
    >>> find(cuts(events), lambda cut: cut["b"] == 1)
    {'a': 1, 'b': 1}
    """
    sent = [message for event in events for message in event.sends]
    received = {message for event in events for message in event.receives}
    if twice := sorted({repr(message) for message in sent if sent.count(message) > 1}):
        raise WrongEvents(
            f"{', '.join(twice)} is sent by more than one event, so which of them a cut needs is "
            "open. Give each message a name of its own"
        )
    if unsent := sorted(map(repr, received - {*sent})):
        raise WrongEvents(
            f"{', '.join(unsent)} is received, and no event sends it, so no cut with it is "
            "consistent. Add the event that sends it"
        )
    by_process: dict[Hashable, list[Event]] = {}
    for event in events:
        by_process.setdefault(event.process, []).append(event)
    ends = {process: st.integers(0, len(own)) for process, own in by_process.items()}
    return st.fixed_dictionaries(ends).map(lambda cut: _consistent(by_process, cut))


def _consistent(
    events: Mapping[Hashable, Sequence[Event]], cut: Mapping[Hashable, int]
) -> Mapping[Hashable, int]:
    """Return the largest consistent cut below a cut."""
    cut = dict(cut)
    while True:
        sent = {m for p, count in cut.items() for e in events[p][:count] for m in e.sends}
        early = {
            p: next((i for i, e in enumerate(events[p][:count]) if e.receives - sent), count)
            for p, count in cut.items()
        }
        if early == cut:
            return cut
        cut = early
