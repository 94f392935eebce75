"""Traces: a run told as what changed in each step, and how a state's values are written."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import Enum
from typing import Any

from streamproof.lang import Map


@dataclass(frozen=True, slots=True)
class Change:
    """One part of a state that a step changed.

    Attributes
    ----------
    field : its path, like `recorders[process1].recorded`; empty if the state is a single value
    before, after : the values as text; None before for what was added to a set, None after for what
        was removed from one
    """

    field: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        name = f"{self.field}: " if self.field else ""
        if self.before is None:
            return f"{name}+ {self.after}"
        if self.after is None:
            return f"{name}- {self.before}"
        return f"{name}{self.before} -> {self.after}"

    def to_json(self) -> dict[str, str | None]:
        """Return the change as JSON."""
        return {"field": self.field, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a trace.

    Attributes
    ----------
    action : the action with its arguments
    changes : what it changed; empty for a step that leaves the state as it is
    broken_claim : the `assert` that failed in it, in which case there is no next state
    """

    action: str
    changes: tuple[Change, ...]
    broken_claim: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the step as JSON."""
        changes = [change.to_json() for change in self.changes]
        return {"action": self.action, "changes": changes, "broken_claim": self.broken_claim}


@dataclass(frozen=True, slots=True)
class Trace:
    """A run from an initial state.

    Attributes
    ----------
    key : how to run it again: index of the initial state, then of each step among those allowed
    start : the initial state, as pairs of field and value
    repeats : of an infinite run, how many of the last steps are repeated forever, 0 if nothing
        more happens; None for a finite run
    """

    key: str
    start: tuple[tuple[str, str], ...]
    steps: tuple[TraceStep, ...]
    repeats: int | None = None

    def __len__(self) -> int:
        """Count the steps."""
        return len(self.steps)

    def lines(self) -> Iterator[str]:
        """List the lines that show the run: the first state whole, then what each step changes."""
        yield "  start"
        yield from (
            f"      {name} = {value}" if name else f"      {value}" for name, value in self.start
        )
        for number, step in enumerate(self.steps, start=1):
            yield f"  {number}. {step.action}"
            yield from (f"      {change}" for change in step.changes)
            if step.broken_claim is not None:
                yield f"      a claim fails: {step.broken_claim}"
            elif not step.changes:
                yield "      changes nothing"
        if self.repeats is not None:
            yield f"  {self.continuation}"

    @property
    def continuation(self) -> str:
        """How an infinite run goes on behind its last step; empty for a finite one."""
        match self.repeats:
            case None:
                return ""
            case 0:
                return "and there it stays: what is possible there is owed nothing"
            case 1:
                return f"and so on: step {len(self)} is repeated forever"
            case repeats:
                first = len(self) - repeats + 1
                return f"and so on: steps {first} to {len(self)} are repeated forever"

    def to_json(self) -> dict[str, Any]:
        """Return the trace as JSON."""
        steps = [step.to_json() for step in self.steps]
        start = dict(self.start)
        return {"key": self.key, "start": start, "steps": steps, "repeats": self.repeats}


def show(value: object) -> str:
    """Write a value of a state as text, the same in every run: sets are sorted."""
    match value:
        case Enum():
            return value.name
        case Map():
            return _braces(f"{show(key)}: {show(part)}" for key, part in value.items())
        case Mapping():
            return _braces(sorted(f"{show(key)}: {show(value[key])}" for key in value))
        case AbstractSet():
            return _braces(sorted(map(show, value)))
        case tuple():
            inside = ", ".join(map(show, value))
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        case _ if _is_record(value):
            inside = ", ".join(f"{name}={show(part)}" for name, part in fields_of(value))
            return f"{type(value).__name__}({inside})"
        case _:
            return repr(value)


def fields_of(state: object) -> tuple[tuple[str, Any], ...]:
    """List a record's fields with their values; a state that is no record is one nameless field."""
    if not _is_record(state):
        return (("", state),)
    fields = dataclasses.fields(state)  # type: ignore[arg-type]
    return tuple((field.name, getattr(state, field.name)) for field in fields)


def changes(before: object, after: object, field: str = "") -> Iterator[Change]:
    """List what differs between two values, as deep as their shapes agree.

    Parameters
    ----------
    before, after : any two values of a state
    field : the path of the values, as the changes should show it
    """
    if before == after:
        return
    parts = _common_parts(before, after)
    if parts is not None:
        for name, old, new in parts:
            yield from changes(old, new, f"{field}{name}" if field else name.removeprefix("."))
    elif isinstance(before, AbstractSet) and isinstance(after, AbstractSet):
        if removed := before - after:
            yield Change(field, show(removed), None)
        if added := after - before:
            yield Change(field, None, show(added))
    else:
        yield Change(field, show(before), show(after))


def _common_parts(before: object, after: object) -> list[tuple[str, Any, Any]] | None:
    """Pair the parts of two values of one shape; None if they have no parts or differ in shape."""
    if type(before) is not type(after):
        return None
    if _is_record(before):
        pairs = zip(fields_of(before), fields_of(after), strict=True)
        return [(f".{name}", old, new) for (name, old), (_, new) in pairs]
    if isinstance(before, Map) and isinstance(after, Map):
        if before.domains != after.domains:
            return None
        return [(f"[{_key(key)}]", old, after[key]) for key, old in before.items()]
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        if before.keys() != after.keys():
            return None
        return [(f"[{_key(key)}]", before[key], after[key]) for key in before]
    if isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        return _numbered(before, after)
    return None


def _numbered(before: Sequence[Any], after: Sequence[Any]) -> list[tuple[str, Any, Any]]:
    pairs = zip(before, after, strict=True)
    return [(f"[{index}]", old, new) for index, (old, new) in enumerate(pairs)]


def _key(key: object) -> str:
    return ", ".join(map(show, key)) if isinstance(key, tuple) else show(key)


def _is_record(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _braces(parts: Iterator[str] | list[str]) -> str:
    return "{" + ", ".join(parts) + "}"
