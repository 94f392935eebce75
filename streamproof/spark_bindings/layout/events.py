"""What the machines were told in a run, written down for `streamproof conform`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from streamproof.disk import explained
from streamproof.lang import Map
from streamproof.spark_bindings.names import ChannelName, Position
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.local_files import append_line, is_switched_off
from streamproof.spark_bindings.storage.place import AnyPlace, Place
from streamproof.spark_bindings.storage.store import store_at

Event = Mapping[str, Any]
"""One call of a transition: its name and arguments, the effects that the machine answered, and
those that were carried out, in their order."""
SWITCH = "STREAMPROOF_EVENT_LOG"
"""Environment variable; ``off`` switches the events off: no run can be compared with a model."""

LINES_PER_STATE = 200
"""Lines of a `MachineLog` from one note of all states to the next."""
BYTES_MAX = 4_000_000
"""A longer file is put aside, in the place of what was put aside before."""


@dataclass(frozen=True, slots=True)
class LoggedStep:
    """One line of an event log.

    Attributes
    ----------
    number : of the batch, or of what else the process counts
    after, received : per input channel, the positions from which and up to which it has read; None
        if an earlier version wrote the line, or the process reads nothing
    """

    number: int
    events: tuple[Event, ...]
    after: Mapping[ChannelName, Position] | None
    received: Mapping[ChannelName, Position] | None


class EventLog:
    """The events of one process, one line a step. An aid, not a durable record: never synced.

    Parameters
    ----------
    place : the file; one with earlier events is beside it once it has become long, and only one
    bytes_max : how long it becomes
    """

    def __init__(self, place: AnyPlace, *, bytes_max: int = BYTES_MAX) -> None:
        self._place, self._bytes_max = Place.of(place), bytes_max
        self._earlier = self._place.beside(f"earlier-{self._place.name}")

    @property
    def has_lost_some(self) -> bool:
        """Whether there may have been earlier events, which are gone since the file was long."""
        return store_at(self._earlier).has()

    def write(
        self,
        step: int,
        events: Sequence[Event],
        *,
        after: Mapping[ChannelName, Position] | None = None,
        received: Mapping[ChannelName, Position] | None = None,
    ) -> None:
        """Append one step's events, in their order. A repeated step is written again.

        Parameters
        ----------
        after, received : per input channel, the positions from which and up to which it has read;
            a step without events is written if it has read something, or is the first
        """
        says_nothing = not events and after == received
        if is_switched_off(SWITCH) or (says_nothing and store_at(self._place).has()):
            return
        # The line begins with its end, too: a crash may have cut off the one before.
        said = {FORMAT_KEY: FORMAT, "step": step, "events": list(events)}
        if after is not None and received is not None:
            said |= {"after": dict(after), "received": dict(received)}
        line = f"\n{json.dumps(said)}\n"
        with explained(self._place, "The step is not told"):
            append_line(self._place, line, self._earlier, self._bytes_max)

    def read(self) -> dict[int, list[Event]]:
        """Return the events of each step. Of a repeated step the last run counts.

        Raises
        ------
        UnknownFormat : if a later version of streamproof wrote some of it
        """
        return {step.number: list(step.events) for step in sorted(self.steps(), key=_number)}

    def steps(self) -> Iterator[LoggedStep]:
        """Yield the steps as they were written, repeated ones too.

        A last line that a crash cut short is left out: its step will be repeated.

        Raises
        ------
        UnknownFormat : if a later version of streamproof wrote some of it
        """
        for file in (self._earlier, self._place):
            if not store_at(file).has():
                continue
            for line in store_at(file).get().decode().splitlines():
                try:
                    parsed = json.loads(line)
                except json.JSONDecodeError:
                    continue
                format_of(parsed, file)
                yield LoggedStep(
                    parsed["step"],
                    tuple(parsed["events"]),
                    parsed.get("after"),
                    parsed.get("received"),
                )


def _number(step: LoggedStep) -> int:
    return step.number


class MachineLog:
    """The steps of the machines of one copy, in the order in which they were taken.

    They are kept until `flush`: of a process that is killed, the last ones are missing.

    Parameters
    ----------
    place : the file, as of an `EventLog`; None keeps nothing
    """

    def __init__(self, place: AnyPlace | None) -> None:
        self._log = None if place is None else EventLog(place)
        self._events: list[Event] = []
        self._states: dict[str, Any] = {}
        self._lines = 0

    def begin(self, machine: str, state: Any, **facts: Any) -> None:
        """Note the state in which a machine begins: a copy was started."""
        self._states[machine] = as_json(state)
        event = {"machine": machine, "event": "begin", "state": self._states[machine]}
        self._events.append({**event, **facts})

    def step(
        self,
        machine: str,
        transition: Callable[..., Any],
        arguments: Sequence[Any],
        step: tuple[Any, Iterable[Any]],
        done: Sequence[Sequence[Any]],
        **facts: Any,
    ) -> None:
        """Note a step.

        Parameters
        ----------
        machine, transition, arguments : the protocol, the function, and its arguments behind the
            state
        step : the next state and the effects that it answered
        done : what was done, each effect as its name and its values
        facts : what else was seen
        """
        self._states[machine] = as_json(step[0])
        self._events.append(
            {
                "machine": machine,
                "event": transition.__name__,
                "arguments": list(arguments),
                "state": self._states[machine],
                "effects": [described(effect) for effect in step[1]],
                "done": [list(each) for each in done],
                **facts,
            }
        )

    def end(self, **facts: Any) -> None:
        """Note what came of the steps since `begin`."""
        self._events.append({"machine": "", "event": "end", **facts})

    def flush(self, number: int) -> None:
        """Write what was noted since the last time, as one step."""
        if self._log is None or not self._events:
            self._events = []
            return
        self._lines += 1
        if self._lines % LINES_PER_STATE == 0:  # the first ones of a long file are lost
            self._events += [
                {"machine": machine, "event": "goes_on", "state": state}
                for machine, state in self._states.items()
            ]
        self._log.write(number, self._events)
        self._events = []


def described(effect: Any) -> list[Any]:
    """Describe an effect: its name and its values."""
    return [type(effect).__name__, *as_json(effect).values()]


def as_json(value: Any) -> Any:
    """Describe a state of a machine: records and maps by the names in them."""
    if is_dataclass(value):
        return {each.name: as_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Map):
        return {str(key): as_json(part) for key, part in value.items()}
    return value
