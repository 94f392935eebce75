"""Following a real system step by step, and telling the run in the model's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from streamproof.lang import StreamproofError
from streamproof.lang.model import Call, Model
from streamproof.models.kit.trace import changes, fields_of, show
from streamproof.testing.adapter import (
    REFUSED,
    UNKNOWN,
    Adapter,
    Fitted,
    Happened,
    fitted,
    steps_of,
)
from streamproof.testing.assertions import Size, sized
from streamproof.testing.possible import Oracle, Possible

EXPECTED_SHOWN = 5
"""Observations of the model that are shown where the system shows another one."""


class Unexplained(StreamproofError, AssertionError):
    """No state of the model explains what the system did; the text has the run, and it as code.

    Attributes
    ----------
    run : what the system was asked for, as text; the last step is not explained
    """

    def __init__(self, message: str, run: Sequence[str]) -> None:
        super().__init__(message)
        self.run = tuple(run)


class UnknownRun(StreamproofError, LookupError):
    """A run to be replayed has a step that is no action of the model."""


@dataclass
class Told:
    """One step as a report shows it.

    Attributes
    ----------
    call : what the system was asked for
    did : what it did, if that is not the call; empty if it is
    lines : what changed in the model, or how many states explain the run now
    """

    call: Call
    did: str = ""
    lines: tuple[str, ...] = ()


class Follower:
    """A system that is asked for actions, and the states of the model that explain what it does.

    Parameters
    ----------
    oracle : the model
    size : as the user gave it, for the code of a failure
    fit : the adapter's class
    """

    def __init__(self, oracle: Oracle[Any], size: Size, fit: Fitted) -> None:
        self.oracle, self.size, self.fit = oracle, size, fit
        self.model, self.calls, self.starts = oracle.model, oracle.calls, oracle.starts
        self.start = 0
        self.told: list[Told] = []
        self.adapter: Adapter | None = None
        self.possible: Possible[Any] = oracle.begin(self.starts)

    def begin(self, start: int) -> None:
        """Make the system, in the initial state of an index if the adapter can choose it.

        Raises
        ------
        Unexplained : if the system does not look as the model says
        """
        self.start = start
        self.adapter = self.fit.adapter()
        if self.fit.chooses_start:
            self.adapter.start(self.starts[start])
            self.possible = self.oracle.begin([self.starts[start]])
        self._look()

    def close(self) -> None:
        """Stop the system, if it was made."""
        if self.adapter is not None:
            self.adapter.close()

    def askable(self) -> dict[str, list[str]]:
        """List what may be asked for now: by an action's name, with its arguments as text."""
        found: dict[str, list[str]] = {}
        for text, call in self.calls.items():
            if self.may_ask(text):
                found.setdefault(call.name, []).append(text)
        return found

    def may_ask(self, text: str) -> bool:
        """Return whether an action may be asked for now."""
        call = self.calls[text]
        if call.name in self.fit.adapter.also_impossible:
            return True
        return call.name in self.fit.asked and call in self.possible.allowed

    def ask(self, text: str) -> None:
        """Have the system carry out an action, given with its arguments as text, and follow it.

        Raises
        ------
        Unexplained : if no state of the model explains what it does
        WrongAdapter : if the adapter's answer says nothing
        """
        call, before = self.calls[text], self.possible
        self.told.append(Told(call))
        answer = steps_of(call, getattr(self.adapter, call.name)(*call.arguments))
        if answer is REFUSED:
            self._refused(call)
        elif answer is UNKNOWN:
            self.told[-1].did = "whether it happened is not known"
            self.possible = before.after_or_before(call)
        else:
            assert isinstance(answer, list)  # of the three that there are
            self._happened(call, answer)
        self._look()
        self.told[-1].lines = self._changed(before)

    def _refused(self, call: Call) -> None:
        self.told[-1].did = "the system refused it"
        after = self.possible.refusing(call)
        if not after.states:
            self._fail(f"the system refused {call}, which the model allows there")
        self.possible = after

    def _happened(self, call: Call, steps: Sequence[Happened]) -> None:
        taken = [self._call_of(step) for step in steps]
        if taken != [call]:
            self.told[-1].did = f"the system did {', then '.join(map(str, taken)) or 'nothing'}"
        for step in taken:
            after = self.possible.after(step)
            if not after.states:
                self._fail(f"the system did {step}, which the model does not allow there")
            self.possible = after

    def _call_of(self, step: Happened) -> Call:
        for call, _ in self.model.ground_actions:
            if call.name == step.name and call.arguments == step.arguments:
                return call
        return self._fail(f"the system did {step!r}, which is no action of the model at this size")

    def _look(self) -> None:
        """Keep the states that look as the system does."""
        assert self.adapter is not None  # made by begin
        seen = self.adapter.observe()
        after = self.possible.showing(seen, self.adapter.expected)
        if not after.states:
            expected = map(self.adapter.expected, self.possible.states)
            told = list(dict.fromkeys(map(show, expected)))
            more = " or others" if len(told) > EXPECTED_SHOWN else ""
            wanted = f"{' or '.join(told[:EXPECTED_SHOWN])}{more}"
            self._fail(f"the system shows {show(seen)}, and the model expects {wanted}")
        self.possible = after

    def _changed(self, before: Possible[Any]) -> tuple[str, ...]:
        after = self.possible.states
        if len(before.states) == len(after) == 1:
            return tuple(map(str, changes(before.states[0], after[0]))) or ("changes nothing",)
        return (f"{len(after):,} states explain the run so far",)

    @property
    def run(self) -> list[str]:
        """What the system was asked for so far."""
        return [str(step.call) for step in self.told]

    def _fail(self, reason: str) -> NoReturn:
        lines = [f"{reason}. The run:", *self._told(), "", *self._code()]
        raise Unexplained("\n".join(lines), self.run)

    def _told(self) -> list[str]:
        lines = ["  start"]
        if self.fit.chooses_start or len(self.starts) == 1:
            named = fields_of(self.starts[self.start])
            lines += [f"      {f'{n} = ' if n else ''}{show(value)}" for n, value in named]
        else:
            lines.append(f"      one of {len(self.starts):,} initial states")
        for number, step in enumerate(self.told, start=1):
            lines.append(f"  {number}. {step.call}{f': {step.did}' if step.did else ''}")
            lines += [f"      {line}" for line in step.lines]
        allowed = ", ".join(map(str, self.possible.allowed)) or "no step"
        return [*lines, f"  The model allows there: {allowed}"]

    def _code(self) -> list[str]:
        """Write the run as a test to paste."""
        model, adapter = type(self.model), self.fit.adapter
        size = f", {self.size!r}" if self.size else ""
        start = f", start={self.start}" if self.start else ""
        called = f"{model.__name__}{size}, adapter={adapter.__name__}, run=run{start}"
        return [
            "As a test:",
            "",
            "    from streamproof.testing import replay",
            f"    from {model.__module__} import {model.__name__}",
            f"    from {adapter.__module__} import {adapter.__name__}",
            "",
            "",
            f"    def test_{self.told[-1].call.name if self.told else 'start'}() -> None:",
            "        run = [",
            *(f"            {call!r}," for call in self.run),
            "        ]",
            f"        replay({called})",
        ]


def replay(  # noqa: PLR0913 - all that can be asked, by name
    model: Model[Any] | type[Model[Any]],
    size: Size = "",
    *,
    adapter: type[Adapter],
    run: Sequence[str],
    start: int = 0,
    properties: bool = True,
) -> None:
    """Have a system take the steps of a run, and follow it with the model.

    Parameters
    ----------
    model, size : the oracle, as `assert_exhausted` takes them
    adapter : carries out the actions
    run : actions with their arguments as text, as a failure of `state_machine` prints them
    start : index of the initial state
    properties : whether the model's own properties are asked on the way

    Raises
    ------
    Unexplained : if no state of the model explains what the system does
    UnknownRun : if a step is no action of the model
    WrongAdapter : if the adapter does not fit the model
    """
    built = sized(model, size)
    fit = fitted(built, adapter)
    follower = Follower(Oracle(built, adapter.unseen, properties), size, fit)
    known = follower.calls
    for text in run:
        if text not in known:
            raise UnknownRun(
                f"{text} is no action of {type(built).__name__} at this size, so the run cannot be "
                f"taken. It has {', '.join(list(known)[:8])}{' and more' if len(known) > 8 else ''}"
            )
    try:
        follower.begin(start)
        for text in run:
            follower.ask(text)
    finally:
        follower.close()
