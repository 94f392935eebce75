"""Whether the steps that a copy has logged are steps of its machine.

A life of a copy begins with a state of each machine. From there each logged step is taken again, by
the function of the protocol that is checked and proven, and its effects are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from streamproof.conformance.explain import ALLOWED_SHOWN, Violation
from streamproof.lang import Disabled
from streamproof.spark_bindings.layout.events import Event, LoggedStep, as_json, described

BEGIN, GOES_ON = "begin", "goes_on"


@dataclass(frozen=True, slots=True)
class Machine:
    """How steps of a protocol are replayed.

    Attributes
    ----------
    protocol : its module
    state : makes the state of its machine from what `begin` says
    candidates : the steps that are named where another one was logged: per function, the arguments
        that it would take in a state
    """

    protocol: ModuleType
    state: Callable[..., Any]
    candidates: Mapping[str, Callable[[Any], Sequence[Any]]]

    @property
    def name(self) -> str:
        """The name of the protocol."""
        return self.protocol.__name__.rpartition(".")[2]


@dataclass(slots=True)
class Life:
    """What one copy did from a start to its end.

    Attributes
    ----------
    number : the n-th of the copy, from 1
    events : with the number of the turn at which they were written
    """

    number: int
    events: list[tuple[int, Event]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Taken:
    """A step that was taken again.

    Attributes
    ----------
    turn : at which it was written
    before, after : the states of all machines around it
    """

    turn: int
    event: Event
    before: Mapping[str, Any]
    after: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A step that could not be taken again.

    Attributes
    ----------
    machine : the name of its protocol
    """

    machine: str
    violation: Violation


def lives_of(steps: Iterable[LoggedStep]) -> list[Life]:
    """Divide a log where the copy was started; of the first life, the start may be gone."""
    lives: list[Life] = []
    for step in steps:
        for event in step.events:
            is_first = event["event"] == GOES_ON and not lives
            if is_first or (event["event"] == BEGIN and not _is_beginning(lives)):
                lives.append(Life(len(lives) + 1))
            if lives:
                lives[-1].events.append((step.number, event))
    return lives


def _is_beginning(lives: Sequence[Life]) -> bool:
    return bool(lives) and all(event["event"] == BEGIN for _, event in lives[-1].events)


def replay(life: Life, machines: Mapping[str, Machine], copy: str) -> Iterator[Taken | NotTaken]:
    """Take the steps of a life again; end at the first that its machine does not allow.

    Parameters
    ----------
    life, copy : what was done, and whose life it is
    machines : by the names of their protocols
    """
    states: dict[str, Any] = {}
    for turn, event in life.events:
        machine = machines[event["machine"]]
        if event["event"] in (BEGIN, GOES_ON):
            state = machine.state(**event["state"])
            if states.setdefault(machine.name, state) != state:
                reason = f"it goes on in {state}, and its steps led to {states[machine.name]}"
                yield NotTaken(machine.name, Violation(copy, f"turn {turn}", reason))
                return
            yield Taken(turn, event, dict(states), dict(states))
            continue
        before = dict(states)
        reason = _step(machine, states, event)
        if reason:
            allowed = tuple(_allowed(machine, before[machine.name]))
            violation = Violation(copy, f"turn {turn}, {event['event']}", reason, allowed)
            yield NotTaken(machine.name, violation)
            return
        yield Taken(turn, event, before, dict(states))


def _step(machine: Machine, states: dict[str, Any], event: Event) -> str:
    """Take a step; say what is wrong with it."""
    transition = getattr(machine.protocol, event["event"])
    try:
        states[machine.name], effects = transition(states[machine.name], *event["arguments"])
    except Disabled:
        return f"{_said(event)} was logged, and {states[machine.name]} does not allow it"
    except AssertionError as broken:
        return f"{_said(event)} was logged, and a claim of the protocol fails: {broken}"
    state = as_json(states[machine.name])
    if event["state"] != state:
        return f"{_said(event)} led to {event['state']}, and the machine goes to {state}"
    expected = [described(effect) for effect in effects]
    if event["effects"] != expected:
        return f"{_said(event)} answered {event['effects']}, and the machine answers {expected}"
    done = [each[: len(effect)] for each, effect in zip(event["done"], expected, strict=False)]
    if done != expected or len(event["done"]) != len(expected):
        return f"{_said(event)} answered {expected}, and {event['done']} was done"
    return ""


def _said(event: Event) -> str:
    return f"{event['event']}({', '.join(map(str, event['arguments']))})"


def _allowed(machine: Machine, state: Any) -> list[str]:
    found = []
    for name, arguments_of in machine.candidates.items():
        arguments = arguments_of(state)
        try:
            getattr(machine.protocol, name)(state, *arguments)
        except (Disabled, AssertionError):
            continue
        found.append(f"{name}({', '.join(map(str, arguments))})")
    return found[:ALLOWED_SHOWN]
