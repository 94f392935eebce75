"""The reference engine: breadth-first search over any hashable states. Simple, and the arbiter.

States are kept whole, so that no two of them are ever taken for one, and are expanded in the order
in which they were found, so that the way to each is a shortest one.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Generic, TypeVar

from streamproof.checker.counterexample import BrokenModel, LeftRange
from streamproof.checker.exploration import INTERRUPTED, Exploration, Path, counts_of
from streamproof.checker.limits import LimitReached, Limits
from streamproof.checker.premises import try_premises
from streamproof.checker.progress import REPORT_EVERY, OnProgress, Progress, ignore
from streamproof.checker.properties import STUCK, Broken, Check, Properties
from streamproof.checker.ranges import find_outside
from streamproof.checker.states import States, acts_in_any_order
from streamproof.lang import Disabled, WrongDefinition
from streamproof.lang.model import Call, Model
from streamproof.models.kit.verdict import CLAIMS, DEADLOCK

S = TypeVar("S")
_START = -1  # stands for an action's number where a state is an initial one


def explore(
    model: Model[S], *, limits: Limits | None = None, on_progress: OnProgress = ignore
) -> Exploration:
    """Visit every reachable state once, nearest first, up to the first that breaks a property.

    Raises
    ------
    BrokenModel : if a method of the model fails, which is never taken for a false guard
    """
    search = _Search(model, limits or Limits(), on_progress)
    stopped = None
    try:
        search.run()
    except (LimitReached, KeyboardInterrupt) as end:
        stopped = str(end) or INTERRUPTED
    except (BrokenModel, WrongDefinition):
        raise
    except Exception as error:
        path = search.path_to(*search.asked) if search.asked else None
        raise BrokenModel.by(model, path, "a property or @init", error) from error
    if stopped is None and not search.broken:
        try_premises(model, search.order)
    counts = counts_of(model, len(search.order), search.starts, search.depth, search.fired)
    found = Exploration(counts, tuple(search.broken), search.path, search.witnesses, stopped)
    return replace(found, level_ends=tuple(search.level_ends), expanded=search.expanded)


class _Search(Generic[S]):
    def __init__(self, model: Model[S], limits: Limits, on_progress: OnProgress) -> None:
        self.model, self.limits, self.on_progress = model, limits, on_progress
        self.properties: Properties[S] = Properties.of(model)
        self.outside = find_outside(model)
        actions = enumerate(acts_in_any_order(model))
        self.actions = [(number, act, call.arguments) for number, (call, act) in actions]
        self.fired = [0] * len(self.actions)
        self.seen: States[S] = States(model)
        self.order: list[S] = []  # the same states, as found: a queue of which nothing is removed
        self.parents, self.taken = array("q"), array("q")  # per state: found from where, by what
        self.starts = self.depth = self.expanded = 0
        self.level_ends: list[int] = []
        self.unmet: list[Check[S]] = list(self.properties.sometimes)
        self.witnesses: dict[Call, Path] = {}
        self.asked: tuple[int, ...] = ()  # arguments of `path_to`: what properties are asked about
        self.broken: list[Broken] = []
        self.path: Path | None = None

    def run(self) -> None:
        for start, state in enumerate(self.model.initial_states()):
            self.starts, self.depth = start + 1, 1
            if self.seen.add(state):
                self.visit(state, start, _START)
            if self.broken:
                return
        ends = self.level_ends
        for index, state in enumerate(self.order):  # which grows meanwhile
            if index == (ends[-1] if ends else 0):
                ends.append(len(self.order))
                self.depth += index > 0
                self.limits.check_depth(self.depth, ends[-1] - index)
            if index % REPORT_EVERY == 0:
                self.limits.check_memory()
                self.on_progress(Progress(index, len(self.order), self.depth, tuple(ends)))
            self.expand(index, state)
            self.expanded = index + 1
            if self.broken:
                return

    def expand(self, index: int, state: S) -> None:
        """Take every step that a state allows."""
        seen, fired, every_step = self.seen, self.fired, self.properties.every_step
        is_stuck = True
        for number, act, arguments in self.actions:
            try:
                target = act(state, *arguments)
                is_new = seen.add(target)
            except Disabled:
                continue
            except AssertionError:
                self.refute((Broken(CLAIMS, "an assert failed"),), index, number)
                return
            except Exception as error:
                path = self.path_to(index)
                raise BrokenModel.by(self.model, path, self.name(number), error) from error
            is_stuck = False
            fired[number] += 1
            if every_step:
                self.asked = (index, number)
                self.refute(self.properties.broken_by(state, target), index, number)
            if is_new:
                self.visit(target, index, number)
            if self.broken:
                return
        self.asked = (index,)
        seen.require_kept(index, state)
        if is_stuck and not self.properties.is_final(state):
            self.refute((Broken(DEADLOCK, STUCK),), index)

    def visit(self, state: S, parent: int, number: int) -> None:
        """Keep a state that is new, and ask what must hold in it."""
        index = len(self.order)
        self.limits.check_states(index)
        self.order.append(state)
        self.parents.append(parent)
        self.taken.append(number)
        self.asked = (index,)
        if self.outside and (found := self.outside(state)):
            raise LeftRange.of(self.model, self.path_to(index), self.name(number), found)
        self.refute(self.properties.broken_in(state), index)
        if met := dict.fromkeys(check.call for check in self.unmet if check.holds(state)):
            self.unmet = [check for check in self.unmet if check.call not in met]
            self.witnesses |= dict.fromkeys(met, self.path_to(index))

    def refute(self, broken: tuple[Broken, ...], index: int, *more: int) -> None:
        if broken:
            self.broken.extend(broken)
            self.path = self.path_to(index, *more)

    def name(self, number: int) -> str:
        return "@init" if number == _START else str(self.model.ground_actions[number][0])

    def path_to(self, index: int, *more: int) -> Path:
        """Go back from a state to the initial state that it was reached from."""
        steps: list[int] = []
        while self.taken[index] != _START:
            steps.append(self.taken[index])
            index = self.parents[index]
        return Path(self.parents[index], (*reversed(steps), *more))
