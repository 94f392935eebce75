"""Liveness by the native engine: all steps as arrays, walked by kernels.

States are numbered through all partitions, one partition after the other. Steps that change nothing
are left out. `streamproof.checker.liveness` says the same in a simpler way.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.lasso import Fair, Lasso, Liveness, Path, Promise, liveness_of, promises_of
from streamproof.checker.limits import LimitReached
from streamproof.checker.native.components import (
    NOWHERE,
    Part,
    Steps,
    components,
    judge_parts,
    rest,
    subgraph,
    walk,
)
from streamproof.checker.native.partition import NO_LINK
from streamproof.checker.native.search import Search
from streamproof.checker.progress import Progress
from streamproof.lang.model import Fairness, Model

STEP_BYTES = 30
"""What each step takes while all of them are sorted."""
STEPS_MOST = 2**31 - 1
"""States and steps that have a number while promises are decided."""


def decide_liveness(model: Model[Any], search: Search) -> Liveness:
    """Decide every promise of a model, all of whose states a search has found.

    Raises
    ------
    LimitReached : if all steps take more memory than the search may hold, or have no numbers
    """
    steps = sum(search.fired)
    if max(steps, search.kept) > STEPS_MOST:
        raise LimitReached(
            f"there are {search.kept:,} states and {steps:,} steps, and promises are decided on at "
            f"most {STEPS_MOST:,}: choose a smaller size, or leave the promises out with --safety"
        )
    purpose = f"deciding the promises on {steps:,} steps"
    search.limits.check_memory(steps * STEP_BYTES >> 20, purpose)
    graph = _Graph(model, search)
    return liveness_of(model, graph.find_lasso, graph.is_asked)


class _Graph:
    def __init__(self, model: Model[Any], search: Search) -> None:
        self.search = search
        self.first = np.cumsum([0, *(part.count for part in search.partitions)])
        self.steps = _steps(search, self.first)
        self.actions = len(model.ground_actions)
        self.place = {promise.call: number for number, promise in enumerate(promises_of(model))}

    def is_asked(self, promise: Promise) -> bool:
        """Return whether a promise's premise holds in some state."""
        return bool(self._begun(promise).any())

    def find_lasso(self, promise: Promise, fair: Fair) -> Lasso | None:
        """Find a fair run on which a promise is made and not kept."""
        _tell(self.search, promise.call.name)
        open_ = self._marks(2 * self.place[promise.call] + 1) == 0
        begun = self._nearest_first(np.flatnonzero(self._begun(promise) & open_))
        kinds = np.zeros(self.actions, np.int8)
        for action, kind in fair.items():
            kinds[action] = 1 if kind is Fairness.WEAK else 2
        order, before, by = walk(self.steps, begun, open_)
        resting = rest(self.steps, order, kinds)
        if resting != NOWHERE:
            return self._lasso(resting, before, by, ())
        place = np.full(len(open_), len(order))
        place[order] = np.arange(len(order))
        parts = list(_fair_parts(self.steps, np.sort(order), kinds))
        if not parts:
            return None
        part = min(parts, key=lambda part: place[part].min())
        entry = int(part[place[part].argmin()])
        return self._lasso(entry, before, by, self._cycle(entry, part, fair))

    def _nearest_first(self, states: NDArray[Any]) -> NDArray[Any]:
        """Sort states by their distance from the start, as the reference engine finds them."""
        depths = []
        for part, low in zip(self.search.partitions, self.first, strict=False):
            mine = states[(states >= low) & (states < low + part.count)]
            depths.append(np.searchsorted(part.level_ends, mine - low, side="right"))
        return states[np.argsort(np.concatenate(depths), kind="stable")]

    def _begun(self, promise: Promise) -> NDArray[np.bool_]:
        begun: NDArray[np.bool_] = self._marks(2 * self.place[promise.call]) == 1
        if promise.from_start:
            for part, first in zip(self.search.partitions, self.first, strict=False):
                begun[first + part.level_ends[0] : first + part.count] = False
        return begun

    def _marks(self, number: int) -> NDArray[np.uint8]:
        ask = partial(self.search.program.marks, number)
        marks = [part.ask(ask) for part in self.search.partitions]
        return np.concatenate(marks)

    def _lasso(
        self, entry: int, before: NDArray[Any], by: NDArray[Any], cycle: tuple[int, ...]
    ) -> Lasso:
        """Lead from an initial state to where the promise is made, and from there to the cycle."""
        start, steps = _back(entry, before, by)
        owner = int(np.searchsorted(self.first, start, side="right")) - 1
        part = self.search.partitions[owner]
        path = self.search.path_to(part.reference(start - int(self.first[owner])))
        return Lasso(Path(path.start, (*path.steps, *steps)), cycle)

    def _cycle(self, entry: int, part: NDArray[Any], fair: Fair) -> tuple[int, ...]:
        """Return a short cycle through a set of states that serves every fair action."""
        inside = np.zeros(len(self.steps.offsets) - 1, np.bool_)
        inside[part] = True
        around = Part(self.steps, inside)
        steps: list[int] = []
        here = entry
        for action, kind in fair.items():
            can, takers = around.of_action(action)
            if can.any():
                wanted = takers if kind is Fairness.STRONG else takers | (inside & ~can)
                here, way = self._way(here, wanted, inside)
                steps += way
                if takers[here]:
                    steps.append(action)
                    here = self.steps.target(here, action)
        entrance = np.zeros_like(inside)
        entrance[entry] = True
        return (*steps, *self._way(here, entrance, inside)[1])

    def _way(
        self, here: int, wanted: NDArray[np.bool_], inside: NDArray[np.bool_]
    ) -> tuple[int, tuple[int, ...]]:
        """Return the nearest of the wanted states, and the way to it inside of a set."""
        order, before, by = walk(self.steps, np.array([here]), inside)
        number = int(order[wanted[order].argmax()])
        return number, _back(number, before, by)[1]


def _tell(search: Search, deciding: str) -> None:
    """Look at memory, and tell what is being done."""
    search.limits.check_memory()
    search.on_progress(Progress(search.kept, search.kept, search.depth, deciding=deciding))


def _steps(search: Search, first: NDArray[Any]) -> Steps:
    """Take every step once more and sort them by the state that they lead from."""
    nothing = np.empty(0, np.int32)
    sources, actions, targets = [nothing], [nothing], [nothing]
    for worker, offset in zip(search.workers, first, strict=False):
        begin = 0
        while begin < worker.part.count:
            _tell(search, f"promises, {int(offset) + begin:,} states taken up")
            end = worker.expand_again(begin)
            for owner, base in zip(search.partitions, first, strict=False):
                place = worker.written_for(owner)
                origins = worker.out.origins[slice(*place)]
                parents = (origins & np.uint64(NO_LINK)).astype(np.int64)
                source = parents // worker.part.of + offset
                target = owner.locate(worker.out, *place) + base
                moves = source != target
                sources.append(source[moves].astype(np.int32))
                actions.append((origins >> np.uint64(32))[moves].astype(np.int32))
                targets.append(target[moves].astype(np.int32))
            begin = end
    return Steps.sorted(
        int(first[-1]), np.concatenate(sources), np.concatenate(actions), np.concatenate(targets)
    )


def _fair_parts(steps: Steps, region: NDArray[Any], kinds: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """List the largest sets of states that a run can visit forever, every fair action served.

    Strong fairness alone may forbid a set. A part of the set may still be allowed: the states that
    do not enable the unserved actions.
    """
    while len(region) > 0:
        labels = components(*subgraph(steps, region))
        by_label = np.argsort(labels, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
        fair, left = judge_parts(steps, region[by_label], starts, kinds)
        for number in np.flatnonzero(fair):
            yield region[by_label[starts[number] : starts[number + 1]]]
        region = np.sort(region[by_label][left])


def _back(number: int, before: NDArray[Any], by: NDArray[Any]) -> tuple[int, tuple[int, ...]]:
    """Follow the steps back from a state: where they begin, and the steps in order."""
    steps = []
    while before[number] != NOWHERE:
        steps.append(int(by[number]))
        number = int(before[number])
    return number, tuple(reversed(steps))
