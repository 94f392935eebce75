"""The search of the explorers that count independently; like them it imports nothing of ours."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

State = TypeVar("State", bound=Hashable)


class Counts(NamedTuple):
    """Distinct states, generated states, and states on the longest shortest path."""

    distinct: int
    generated: int
    depth: int


def explore(starts: Iterable[State], successors: Callable[[State], Iterable[State]]) -> Counts:
    """Visit every reachable state once, nearest first, and count."""
    depth_of = dict.fromkeys(starts, 1)
    generated = len(depth_of)
    pending = deque(depth_of)
    while pending:
        state = pending.popleft()
        for target in successors(state):
            generated += 1
            if target not in depth_of:
                depth_of[target] = depth_of[state] + 1
                pending.append(target)
    return Counts(len(depth_of), generated, max(depth_of.values()))
