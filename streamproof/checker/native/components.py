"""Walking over all the steps of a model, and judging which sets of states fairness allows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.kernels.kernel import Halves, Kernel, Kinds, Marks, Numbers

NOWHERE = -1


class Steps(NamedTuple):
    """The steps that change the state: those of state n are `offsets[n]` to `offsets[n + 1]`."""

    offsets: Numbers
    actions: Halves
    targets: Halves

    @staticmethod
    def sorted(states: int, sources: Any, actions: Any, targets: Any) -> Steps:
        """Sort steps by the states that they lead from."""
        offsets = np.concatenate([[0], np.cumsum(np.bincount(sources, minlength=states))])
        order = np.argsort(sources, kind="stable")
        return Steps(offsets, actions[order], targets[order])

    def target(self, source: int, action: int) -> int:
        """Return where an action leads from a state."""
        begin, end = self.offsets[source : source + 2]
        return int(self.targets[begin + np.flatnonzero(self.actions[begin:end] == action)[0]])


class Part(NamedTuple):
    """A set of states among all steps."""

    steps: Steps
    inside: Any

    def of_action(self, action: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the states with an action enabled, and those from which it stays in the set."""
        which = np.flatnonzero(self.steps.actions == action)
        sources = np.searchsorted(self.steps.offsets, which, side="right") - 1
        mine = self.inside[sources]
        can, stays = np.zeros_like(self.inside), np.zeros_like(self.inside)
        can[sources[mine]] = True
        stays[sources[mine & self.inside[self.steps.targets[which]]]] = True
        return can, stays


class Walked(NamedTuple):
    """States found, in order; and for every state the one before it and the action taken there."""

    order: Halves
    before: Halves
    by: Halves


class _Parts(NamedTuple):
    states: Halves
    starts: Numbers


class _Search(NamedTuple):
    number: Halves
    root: Halves
    step: Halves
    path: Halves
    waiting: Halves


class _Scratch(NamedTuple):
    label: Halves
    can: Numbers
    stays: Marks
    strong: Marks


_walk = Kernel("components", "walk", Steps, Numbers, Marks, Walked, Marks, result=np.int64)
_rest = Kernel("components", "rest", Steps, Halves, Kinds, result=np.int64)
_subgraph = Kernel("components", "subgraph", Steps, Halves, Halves, Halves, Halves)
_label = Kernel("components", "label_components", Halves, Halves, Halves, _Search, result=np.int64)
_judge_parts = Kernel("components", "judge_parts", Steps, _Parts, Kinds, _Scratch, Marks, Marks)


def walk(steps: Steps, begun: NDArray[Any], allowed: NDArray[np.bool_]) -> Walked:
    """Go on from some states through allowed ones, nearest first."""
    count = len(steps.offsets) - 1
    before, by = np.full(count, NOWHERE, np.int32), np.full(count, NOWHERE, np.int32)
    found = Walked(np.empty(count, np.int32), before, by)
    size = _walk(steps, begun, allowed, found, np.zeros(count, np.bool_))
    return found._replace(order=found.order[:size])


def rest(steps: Steps, order: NDArray[Any], kinds: NDArray[Any]) -> int:
    """Return the first state where a run may stay, since no fair action can happen."""
    return _rest(steps, order, kinds)


def subgraph(steps: Steps, region: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the steps within some states, in compressed rows; states are numbered anew."""
    place = np.full(len(steps.offsets) - 1, NOWHERE, np.int32)
    offsets = np.zeros(len(region) + 1, np.int32)
    most = int((steps.offsets[region + 1] - steps.offsets[region]).sum())
    targets = np.empty(most, np.int32)
    _subgraph(steps, region, place, offsets, targets)
    return offsets, targets[: offsets[-1]]


def components(offsets: NDArray[Any], targets: NDArray[Any]) -> NDArray[np.int32]:
    """Number the strongly connected components of a graph in compressed rows, state by state.

    SciPy can do so too, but takes half a second to load.
    """
    labels = np.full(len(offsets) - 1, NOWHERE, np.int32)
    _label(offsets, targets, labels, _Search(*np.zeros((5, len(labels)), np.int32)))
    return labels


def judge_parts(
    steps: Steps, states: NDArray[Any], starts: NDArray[Any], kinds: NDArray[Any]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Judge which sets of states a run can visit forever with every fair action served.

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
    actions = len(kinds)
    can, stays, strong = (np.zeros(actions, kind) for kind in (np.int64, np.bool_, np.bool_))
    fair, left = np.zeros(len(starts) - 1, np.bool_), np.zeros(len(states), np.bool_)
    scratch = _Scratch(label, can, stays, strong)
    _judge_parts(steps, _Parts(states, starts), kinds, scratch, fair, left)
    return fair, left
