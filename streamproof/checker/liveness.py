"""Liveness by the reference engine: strongly connected components of the graph of all states."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import networkx as nx

from streamproof.checker.exploration import Path
from streamproof.checker.lasso import Fair, Lasso, Liveness, Promise, liveness_of
from streamproof.checker.limits import Limits
from streamproof.checker.progress import REPORT_EVERY, OnProgress, Progress, ignore
from streamproof.lang import Disabled
from streamproof.lang.model import Fairness, Model


def decide_liveness(
    model: Model[Any], limits: Limits | None = None, on_progress: OnProgress = ignore
) -> Liveness:
    """Decide every promise of a model, whose actions and claims are known not to fail.

    Raises
    ------
    LimitReached : if all states and steps take more memory than allowed
    """
    graph = _Graph.of(model, limits or Limits(), on_progress)
    return liveness_of(model, graph.find_lasso, lambda promise: bool(graph.starts(promise)))


@dataclass
class _Graph:
    """All states, by number in the order of discovery, and the steps that change the state.

    Attributes
    ----------
    steps : per state, where each ground action that changes it leads
    found_from : per state, the state and action that it was found by; None for initial states
    initial : the place of each initial state among all that the model gives, repeated ones too
    """

    states: list[Any]
    initial: list[int]
    steps: list[dict[int, int]]
    found_from: list[tuple[int, int] | None]

    @classmethod
    def of(cls, model: Model[Any], limits: Limits, on_progress: OnProgress) -> _Graph:
        """Visit every state."""
        numbers: dict[Any, int] = {}
        found_from: list[tuple[int, int] | None] = []
        initial: list[int] = []
        for place, state in enumerate(model.initial_states()):
            if numbers.setdefault(state, len(numbers)) == len(found_from):
                found_from.append(None)
                initial.append(place)
        states = list(numbers)
        steps: list[dict[int, int]] = []
        for number, state in enumerate(states):  # which grows meanwhile
            if number % REPORT_EVERY == 0:
                limits.check_memory()
                deciding = f"promises, {number:,} states taken up"
                on_progress(Progress(number, len(states), 0, deciding=deciding))
            steps.append({})
            for action, (call, act) in enumerate(model.ground_actions):
                try:
                    target = act(state, *call.arguments)
                except Disabled:
                    continue
                if target not in numbers:
                    numbers[target] = len(states)
                    states.append(target)
                    found_from.append((number, action))
                if numbers[target] != number:
                    steps[-1][action] = numbers[target]
        return cls(states, initial, steps, found_from)

    def starts(self, promise: Promise) -> list[int]:
        """List the states in which a promise is made."""
        among = range(len(self.initial) if promise.from_start else len(self.states))
        return [number for number in among if promise.ask(self.states[number])[0]]

    def find_lasso(self, promise: Promise, fair: Fair) -> Lasso | None:
        """Find a fair run on which a promise is made and not kept."""
        open_ = {n for n, state in enumerate(self.states) if not promise.ask(state)[1]}
        begun = [number for number in self.starts(promise) if number in open_]
        ways = self._ways(begun, open_.__contains__)
        resting: list[AbstractSet[int]] = [
            {n} for n in ways if not fair.keys() & self.steps[n].keys()
        ]
        fair_parts = resting or list(self._fair_parts(ways.keys(), fair))
        if not fair_parts:
            return None
        order = {number: place for place, number in enumerate(ways)}
        part = min(fair_parts, key=lambda part: min(order[number] for number in part))
        entry = min(part, key=order.__getitem__)
        first, steps = _back(ways, entry)
        start, before = _back(self.found_from, first)
        return Lasso(Path(self.initial[start], (*before, *steps)), self._cycle(entry, part, fair))

    def _fair_parts(self, region: AbstractSet[int], fair: Fair) -> Iterator[AbstractSet[int]]:
        """List the largest sets of states that a run can visit forever, fair actions served.

        Strong fairness alone may forbid a set. A part of the set may still be allowed: the states
        that do not enable the unserved actions.
        """
        waiting = [set(region)]
        while waiting:
            here = waiting.pop()
            graph: nx.DiGraph[int] = nx.DiGraph()
            graph.add_nodes_from(here)
            graph.add_edges_from(
                (n, to) for n in here for to in self.steps[n].values() if to in here
            )
            for part in nx.strongly_connected_components(graph):
                unfair = {action for action in fair if not self._is_served(action, part, fair)}
                if not unfair:
                    yield part
                elif all(fair[action] is Fairness.STRONG for action in unfair):
                    waiting.append({n for n in part if not unfair & self.steps[n].keys()})

    def _is_served(self, action: int, part: AbstractSet[int], fair: Fair) -> bool:
        """Return whether a fair action gets its due if a run visits a set of states forever."""
        if any(self.steps[number].get(action) in part for number in part):
            return True
        can = any if fair[action] is Fairness.STRONG else all
        return not can(action in self.steps[number] for number in part)

    def _ways(
        self, begun: Iterable[int], is_allowed: Callable[[int], bool]
    ) -> dict[int, tuple[int, int] | None]:
        """Search from some states, nearest first; return the state and action before each."""
        ways: dict[int, tuple[int, int] | None] = dict.fromkeys(begun)
        waiting = deque(ways)
        while waiting:
            number = waiting.popleft()
            for action, target in self.steps[number].items():
                if target not in ways and is_allowed(target):
                    ways[target] = number, action
                    waiting.append(target)
        return ways

    def _cycle(self, entry: int, part: AbstractSet[int], fair: Fair) -> tuple[int, ...]:
        """Return a short cycle through a set of states that serves every fair action."""
        steps: list[int] = []
        here = entry
        for action, kind in fair.items():
            idle = {n for n in part if action not in self.steps[n]}
            takers = {n for n in part if self.steps[n].get(action) in part}
            if idle != part:
                wanted = takers if kind is Fairness.STRONG else takers | idle
                here, way = self._way(here, wanted, part)
                steps += way
                if here in takers:
                    steps.append(action)
                    here = self.steps[here][action]
        return (*steps, *self._way(here, {entry}, part)[1])

    def _way(
        self, here: int, wanted: AbstractSet[int], part: AbstractSet[int]
    ) -> tuple[int, tuple[int, ...]]:
        """Return the nearest of the wanted states, and the way to it inside of a set."""
        ways = self._ways([here], part.__contains__)
        number = next(number for number in ways if number in wanted)
        return number, _back(ways, number)[1]


def _back(ways: Any, number: int) -> tuple[int, tuple[int, ...]]:
    """Follow the steps back from a state: where they begin, and the steps in order."""
    steps = []
    while (way := ways[number]) is not None:
        number = way[0]
        steps.append(way[1])
    return number, tuple(reversed(steps))
