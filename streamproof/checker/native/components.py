"""Walking over all the steps of a model, and judging which sets of states fairness allows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

NOWHERE = -1


class Steps(NamedTuple):
    """The steps that change the state: those of state n are `offsets[n]` to `offsets[n + 1]`."""

    offsets: Any
    actions: Any
    targets: Any

    @staticmethod
    def sorted(states: int, sources: Any, actions: Any, targets: Any) -> Steps:
        """Sort steps by the states that they lead from."""
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=states))])
        order = np.argsort(sources, kind="stable")
        return Steps(offsets, actions[order], targets[order])

    def target(self, source: int, action: int) -> int:
        """Tell where an action leads from a state."""
        begin, end = self.offsets[source : source + 2]
        return int(self.targets[begin + np.flatnonzero(self.actions[begin:end] == action)[0]])


class Part(NamedTuple):
    """A set of states among all steps."""

    steps: Steps
    inside: Any

    def of_action(self, action: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Tell in which states of the set an action can happen, and from which it stays inside."""
        which = np.flatnonzero(self.steps.actions == action)
        sources = np.searchsorted(self.steps.offsets, which, side="right") - 1
        mine = self.inside[sources]
        can, stays = np.zeros_like(self.inside), np.zeros_like(self.inside)
        can[sources[mine]] = True
        stays[sources[mine & self.inside[self.steps.targets[which]]]] = True
        return can, stays


@njit(cache=True)
def walk(steps: Any, begun: Any, allowed: Any) -> Any:
    """Go on from some states through allowed ones, nearest first.

    Returns
    -------
    The states found, in order; and for every state the one before it and the action taken there.
    """
    count = len(steps.offsets) - 1
    before = np.full(count, NOWHERE, np.int32)
    by = np.full(count, NOWHERE, np.int32)
    seen = np.zeros(count, np.bool_)
    order = np.empty(count, np.int32)
    size = 0
    for number in begun:
        if not seen[number]:
            seen[number] = True
            order[size] = number
            size += 1
    at = 0
    while at < size:
        number = order[at]
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            target = steps.targets[step]
            if allowed[target] and not seen[target]:
                seen[target] = True
                before[target] = number
                by[target] = steps.actions[step]
                order[size] = target
                size += 1
        at += 1
    return order[:size], before, by


@njit(cache=True)
def rest(steps: Any, order: Any, kinds: Any) -> Any:
    """Give the first state in which no fair action can happen, so that a run may stay there."""
    for number in order:
        may_stay = True
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            may_stay &= kinds[steps.actions[step]] == 0
        if may_stay:
            return number
    return NOWHERE


@njit(cache=True)
def subgraph(steps: Any, region: Any) -> Any:
    """Give the steps within some states, in compressed rows; states are numbered anew."""
    count = len(steps.offsets) - 1
    place = np.full(count, NOWHERE, np.int32)
    place[region] = np.arange(len(region)).astype(np.int32)
    offsets = np.zeros(len(region) + 1, np.int32)
    for row, number in enumerate(region):
        inside = 0
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            inside += place[steps.targets[step]] != NOWHERE
        offsets[row + 1] = offsets[row] + inside
    targets = np.empty(offsets[-1], np.int32)
    at = 0
    for number in region:
        for step in range(steps.offsets[number], steps.offsets[number + 1]):
            target = place[steps.targets[step]]
            if target != NOWHERE:
                targets[at] = target
                at += 1
    return offsets, targets


@njit(cache=True)
def judge_parts(steps: Any, states: Any, starts: Any, kinds: Any) -> Any:
    """Judge which sets of states a run can visit for ever with every fair action served.

    Parameters
    ----------
    steps : all steps
    states, starts : the sets, one after the other, and where each begins; the last start is the end
    kinds : per ground action 0 for no fairness, 1 for weak, 2 for strong fairness

    Returns
    -------
    Per set whether it is allowed; and per state of `states` whether it is left, where strong
    fairness alone forbids a set, once the states that enable the actions in question are gone.
    """
    label = np.full(len(steps.offsets) - 1, NOWHERE, np.int32)
    parts = len(starts) - 1
    for part in range(parts):
        label[states[starts[part] : starts[part + 1]]] = part
    fair = np.zeros(parts, np.bool_)
    left = np.zeros(len(states), np.bool_)
    can = np.zeros(len(kinds), np.int64)
    stays = np.zeros(len(kinds), np.bool_)
    for part in range(parts):
        size = starts[part + 1] - starts[part]
        if size == 1:
            continue  # a single state in which a run may stay has been looked for
        can[:] = 0
        stays[:] = False
        for number in states[starts[part] : starts[part + 1]]:
            for step in range(steps.offsets[number], steps.offsets[number + 1]):
                can[steps.actions[step]] += 1
                stays[steps.actions[step]] |= label[steps.targets[step]] == part
        weak = ((kinds == 1) & (can == size) & ~stays).any()
        strong = (kinds == 2) & (can > 0) & ~stays
        fair[part] = not weak and not strong.any()
        if not weak and strong.any():
            for at in range(starts[part], starts[part + 1]):
                number = states[at]
                is_left = True
                for step in range(steps.offsets[number], steps.offsets[number + 1]):
                    is_left &= not strong[steps.actions[step]]
                left[at] = is_left
    return fair, left
