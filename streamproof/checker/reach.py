"""Whether a run of a model leads to a given state."""

from __future__ import annotations

from collections import deque
from typing import Any

from streamproof.lang.model import Model
from streamproof.models.verdict import Reachable

STATES_MAX = 100_000
"""States that are searched before nothing is said."""


def reach(model: Model[Any], wanted: Any, *, states_max: int = STATES_MAX) -> Reachable:
    """Search for a state, whatever properties break on the way."""
    seen = set(model.initial_states())
    frontier = deque(seen)
    while frontier:
        if wanted in seen:
            return Reachable.YES
        if len(seen) > states_max:
            return Reachable.UNKNOWN
        for move in model.moves(frontier.popleft()):
            if move.target is not None and move.target not in seen:
                seen.add(move.target)
                frontier.append(move.target)
    return Reachable.YES if wanted in seen else Reachable.NO
