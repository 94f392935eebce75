"""Multipliers: which fields of a model's states, and which actions, make the states so many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.lang.model import Model
from streamproof.models.kit.trace import fields_of


@dataclass(frozen=True, slots=True)
class FieldMultiplier:
    """What one field does to the number of states.

    Attributes
    ----------
    name : with dots where it is a field of a field
    values : how many values it takes
    factor : states for each combination of the other fields, on average: 1 if they determine it
    """

    name: str
    values: int
    factor: float


@dataclass(frozen=True, slots=True)
class Multipliers:
    """What makes the states of a size so many.

    Attributes
    ----------
    size : where it was measured
    fields : the largest factor first
    actions : by action, the share of the states that are first reached by it; the largest first
    """

    size: Mapping[str, Any]
    states: int
    fields: tuple[FieldMultiplier, ...]
    actions: Mapping[str, float]


def multipliers_of(model: Model[Any], size: Mapping[str, Any]) -> Multipliers:
    """Visit all states of a small size, and measure what makes them many."""
    reached_by = _reached_by(model)
    rows = [dict(_scalars(state)) for state in reached_by]
    fields = [_multiplier(name, rows) for name in rows[0]]
    actions = Counter(action for action in reached_by.values() if action is not None)
    return Multipliers(
        size,
        len(rows),
        tuple(sorted(fields, key=lambda field: -field.factor)),
        {action: count / len(rows) for action, count in actions.most_common()},
    )


def _reached_by(model: Model[Any]) -> dict[Any, str | None]:
    """Return all states, each with the action that first leads there; None for an initial one."""
    found: dict[Any, str | None] = dict.fromkeys(model.initial_states())
    waiting = list(found)
    for state in waiting:  # which grows meanwhile
        for move in model.moves(state):
            if move.target is not None and move.target not in found:
                found[move.target] = move.call.name
                waiting.append(move.target)
    return found


def _multiplier(name: str, rows: list[dict[str, Any]]) -> FieldMultiplier:
    others = {tuple(value for key, value in row.items() if key != name) for row in rows}
    return FieldMultiplier(name, len({row[name] for row in rows}), len(rows) / len(others))


def _scalars(state: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List the fields of a record, and of the records among them."""
    for name, value in fields_of(state):
        inner = fields_of(value)
        if inner and inner[0][0]:
            yield from _scalars(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value
