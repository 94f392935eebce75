"""The reference engine: breadth-first search over any hashable states. Simple, and the arbiter.

States are kept whole, so that no two of them are ever taken for one, and are expanded in the order
in which they were found, so that the way to each is a shortest one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Generic, NoReturn, TypeVar

from streamproof.checker.counterexample import BrokenModel, LeftRange, retrace
from streamproof.checker.exploration import Exploration, Path
from streamproof.checker.limits import LimitReached, Limits
from streamproof.checker.progress import REPORT_EVERY, OnProgress, Progress, ignore
from streamproof.checker.properties import Broken, Check, Properties
from streamproof.checker.ranges import find_outside
from streamproof.lang import Disabled, WrongDefinition
from streamproof.lang.model import Call, Model, Role
from streamproof.models.verdict import CLAIMS, DEADLOCK, Counts

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
    except LimitReached as limit:
        stopped = str(limit)
    except KeyboardInterrupt:
        stopped = "the search was interrupted: let it run to its end"
    return search.result(stopped)


class _Search(Generic[S]):
    def __init__(self, model: Model[S], limits: Limits, on_progress: OnProgress) -> None:
        self.model, self.limits, self.on_progress = model, limits, on_progress
        self.properties: Properties[S] = Properties.of(model)
        self.outside = find_outside(model)
        actions = enumerate(model.ground_actions)
        self.actions = [(number, act, call.arguments) for number, (call, act) in actions]
        self.fired = [0] * len(self.actions)
        self.seen: set[S] = set()
        self.order: list[S] = []  # the same states, as found: a queue of which nothing is removed
        self.parents = array("q")  # per state, the index of the state that it was found from
        self.taken = array("q")  # per state, the number of the action that found it
        self.starts = self.depth = 0
        self.unmet: list[Check[S]] = list(self.properties.sometimes)
        self.witnesses: dict[Call, Path] = {}
        self.broken: list[Broken] = []
        self.path: Path | None = None

    def run(self) -> None:
        for start, state in enumerate(self.model.initial_states()):
            self.starts, self.depth = start + 1, 1
            if state not in self.seen:
                self.seen.add(state)
                self.visit(state, start, _START)
            if self.broken:
                return
        level_end = 0
        for index, state in enumerate(self.order):  # which grows meanwhile
            if index == level_end:
                level_end = len(self.order)
                self.depth += index > 0
                self.limits.check_depth(self.depth, level_end - index)
            if index % REPORT_EVERY == 0:
                self.limits.check_memory()
                self.on_progress(Progress(index, len(self.order), self.depth))
            self.expand(index, state)
            if self.broken:
                return

    def expand(self, index: int, state: S) -> None:
        """Take every step that a state allows."""
        seen, fired, every_step = self.seen, self.fired, self.properties.every_step
        is_stuck = True
        for number, act, arguments in self.actions:
            try:
                target = act(state, *arguments)
                known = len(seen)
                seen.add(target)  # a test before it would hash the state twice
            except Disabled:
                continue
            except AssertionError:
                self.refute(self.path_to(index, number), (Broken(CLAIMS, "an assert failed"),))
                return
            except Exception as error:  # noqa: BLE001  whatever it is, it is shown with its trace
                self.fail(self.path_to(index), f"{self.name(number)} failed", error)
            is_stuck = False
            fired[number] += 1
            if every_step:
                self.judge_step(index, number, target)
            if len(seen) > known:
                self.visit(target, index, number)
            if self.broken:
                return
        if is_stuck and not self.properties.is_final(state):
            self.refute(self.path_to(index), (Broken(DEADLOCK, "no action is possible"),))

    def visit(self, state: S, parent: int, number: int) -> None:
        """Keep a state that is new, and ask what must hold in it."""
        if state is None:
            raise WrongDefinition(f"{self.name(number)} gave no state: does it lack a `return`?")
        index = len(self.order)
        self.limits.check_states(index)
        self.order.append(state)
        self.parents.append(parent)
        self.taken.append(number)
        if self.outside and (found := self.outside(state)):
            run = retrace(self.model, self.path_to(index))
            raise LeftRange.of(self.name(number), found, run.trace)
        try:
            if broken := self.properties.broken_in(state):
                self.refute(self.path_to(index), broken)
            for check in [check for check in self.unmet if check.holds(state)]:
                self.unmet.remove(check)
                self.witnesses[check.call] = self.path_to(index)
        except Exception as error:  # noqa: BLE001  as above
            self.fail(self.path_to(index), "a property failed", error)

    def judge_step(self, index: int, number: int, target: S) -> None:
        """Ask what must hold of a step, whether or not its target is new."""
        try:
            if broken := self.properties.broken_by(self.order[index], target):
                self.refute(self.path_to(index, number), broken)
        except Exception as error:  # noqa: BLE001  as above
            self.fail(self.path_to(index, number), "a property failed", error)

    def refute(self, path: Path, broken: Iterable[Broken]) -> None:
        self.path = path
        self.broken.extend(broken)

    def fail(self, path: Path, what: str, error: Exception) -> NoReturn:
        run = retrace(self.model, path)
        raise BrokenModel.by(what, error, run.trace) from error

    def name(self, number: int) -> str:
        return "@init" if number == _START else str(self.model.ground_actions[number][0])

    def path_to(self, index: int, *more: int) -> Path:
        """Go back from a state to the initial state that it was reached from."""
        steps: list[int] = []
        while self.taken[index] != _START:
            steps.append(self.taken[index])
            index = self.parents[index]
        return Path(self.parents[index], (*reversed(steps), *more))

    def result(self, stopped: str | None) -> Exploration:
        firings = dict.fromkeys((method.name for method in self.model.methods(Role.ACTION)), 0)
        for (call, _), count in zip(self.model.ground_actions, self.fired, strict=True):
            firings[call.name] = firings.get(call.name, 0) + count
        generated = self.starts + sum(self.fired)
        counts = Counts(len(self.order), generated, self.depth, tuple(firings.items()))
        return Exploration(counts, tuple(self.broken), self.path, self.witnesses, stopped)
