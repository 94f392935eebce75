"""Whether a run of a model leads to a given state."""

from __future__ import annotations

from typing import Any

from streamproof.checker.counterexample import retrace
from streamproof.checker.exploration import Path
from streamproof.lang.model import Model
from streamproof.models.kit.verdict import Reachable, Reached

STATES_MAX = 100_000
"""States that are searched before nothing is said."""


def reach(model: Model[Any], wanted: Any, *, states_max: int = STATES_MAX) -> Reached:
    """Search for a state, nearest first, whatever properties break on the way."""
    numbers = {call: number for number, (call, _) in enumerate(model.ground_actions)}
    found_from: dict[Any, tuple[Any, int]] = {}  # the state and action before, or None and a start
    for start, state in enumerate(model.initial_states()):
        found_from.setdefault(state, (None, start))
    frontier = list(found_from)
    for state in frontier:  # which grows meanwhile
        if wanted in found_from:
            return Reached(Reachable.YES, retrace(model, _way_to(wanted, found_from)).trace)
        if len(found_from) > states_max:
            return Reached(Reachable.UNKNOWN)
        for move in model.moves(state):
            if move.target is not None and move.target not in found_from:
                found_from[move.target] = state, numbers[move.call]
                frontier.append(move.target)
    return Reached(Reachable.NO)


def _way_to(state: Any, found_from: dict[Any, tuple[Any, int]]) -> Path:
    steps: list[int] = []
    while (before := found_from[state])[0] is not None:
        state = before[0]
        steps.append(before[1])
    return Path(before[1], tuple(reversed(steps)))
