"""Liveness: what is asked of infinite runs, and what every engine answers.

A run may stay in a state forever, as long as no fair action could change it: an action without
fairness may be postponed forever. So a run refutes `leads_to` if it leads into a state or a set of
states that

* are reached from where the premise holds, with the goal holding nowhere on the way or there, and
* can be visited again and again while every fair action gets its due: a weakly fair one is taken
  there or somewhere cannot change the state, a strongly fair one is taken there or can nowhere
  change the state.

Each ground action is fair by itself. A step that changes nothing is no step, as in TLA.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from streamproof.checker.disturbed import Watch, watch_of
from streamproof.checker.properties import judge
from streamproof.lang import Disabled
from streamproof.lang.model import PROMISES, Call, Fairness, Model, Role, promised


@dataclass(frozen=True, slots=True)
class Path:
    """A way to a state.

    Attributes
    ----------
    start : index of the initial state
    steps : for each step, the index of its ground action in `Model.ground_actions`
    """

    start: int
    steps: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Lasso:
    """An infinite run: a way to a state, and then a way back to it, taken forever.

    Attributes
    ----------
    cycle : ground actions that lead back; empty for a run that stays where it is
    """

    path: Path
    cycle: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Liveness:
    """What is known of the promises of a model, all of whose states were visited.

    Attributes
    ----------
    lassos : per promise, a fair run that breaks it; None if there is none
    unasked : promises whose premise holds in no state
    unneeded : actions without whose fairness, one at a time, every promise is kept all the same
    """

    lassos: Mapping[Call, Lasso | None]
    unasked: frozenset[Call]
    unneeded: frozenset[str]


Fair: TypeAlias = Mapping[int, Fairness]
"""The fairness of the ground actions that have any."""


@dataclass(frozen=True, slots=True)
class Promise:
    """A `leads_to` or `eventually` property with its arguments.

    Attributes
    ----------
    ask : gives for a state whether the premise and whether the goal holds there
    from_start : whether the premise holds in initial states alone, as for `eventually`
    """

    call: Call
    ask: Callable[[Any], tuple[bool, bool]]
    from_start: bool


def promise_names(model: Model[Any]) -> tuple[str, ...]:
    """List the names of a model's promises."""
    return tuple(method.name for role in PROMISES for method in model.methods(role))


def promises_of(model: Model[Any]) -> tuple[Promise, ...]:
    """List a model's promises."""
    watch = watch_of(model) if promise_names(model) else None
    return tuple(
        Promise(call, _asker(model, call, role, watch), role is Role.EVENTUALLY)
        for role in PROMISES
        for method in model.methods(role)
        for call in model.calls(method)
    )


def _asker(
    model: Model[Any], call: Call, role: Role, watch: Watch | None
) -> Callable[[Any], tuple[bool, bool]]:
    method = getattr(model, call.name)
    if watch is not None:
        method = watch.over(call.name, method)

    def is_kept(state: Any) -> tuple[bool, bool]:
        return True, judge(call, method(state, *call.arguments)) is None

    def is_made_and_kept(state: Any) -> tuple[bool, bool]:
        made, kept = promised(str(call), method(state, *call.arguments))
        return judge(call, made) is None, judge(call, kept) is None

    return is_kept if role is Role.EVENTUALLY else is_made_and_kept


def never_comes_about(call: Call) -> str:
    """Describe what is wrong with a run that breaks a promise."""
    return f"{call} never comes about on this run"


def fair_actions(model: Model[Any]) -> Fair:
    """Return the fairness of ground actions, leaving out those that have none."""
    fairness = {method.name: method.fairness for method in model.methods(Role.ACTION)}
    found = {n: fairness[call.name] for n, (call, _) in enumerate(model.ground_actions)}
    return {number: kind for number, kind in found.items() if kind is not Fairness.NONE}


def liveness_of(
    model: Model[Any],
    find_lasso: Callable[[Promise, Fair], Lasso | None],
    is_asked: Callable[[Promise], bool],
) -> Liveness:
    """Decide all promises of a model, by an engine's functions for one.

    Parameters
    ----------
    find_lasso : finds a run that breaks a promise and is fair
    is_asked : tells whether a promise's premise holds in some state
    """
    promises, fair = promises_of(model), fair_actions(model)
    lassos = {promise.call: find_lasso(promise, fair) for promise in promises}
    unasked = frozenset(promise.call for promise in promises if not is_asked(promise))
    unneeded: set[str] = set()
    if promises and not any(lassos.values()):
        for name in {model.ground_actions[number][0].name for number in fair}:
            others = {
                number: kind
                for number, kind in fair.items()
                if model.ground_actions[number][0].name != name
            }
            if not any(find_lasso(promise, others) for promise in promises):
                unneeded.add(name)
    return Liveness(lassos, unasked, frozenset(unneeded))


def broken_promises(
    model: Model[Any], states: Sequence[Any], taken: Sequence[Call], repeats: int
) -> list[Promise]:
    """List the promises of a model that an infinite run breaks; none if it is not fair.

    Parameters
    ----------
    states, taken : the run up to where it repeats itself: one state more than actions
    repeats : how many of the last actions are taken forever
    """
    first = len(taken) - repeats
    cycle = states[first:]
    changing = {call for call, (a, b) in zip(taken[first:], pairwise(cycle), strict=True) if a != b}
    for number, kind in fair_actions(model).items():
        call, act = model.ground_actions[number]
        can = [_changes(act, state, call) for state in cycle]
        if call not in changing and (any if kind is Fairness.STRONG else all)(can):
            return []
    found = []
    for promise in promises_of(model):
        answers = [promise.ask(state) for state in states]
        waiting = False
        for place, (made, kept) in enumerate(answers):
            waiting = not kept and (waiting or (made and not (promise.from_start and place)))
        if waiting and not any(kept for _, kept in answers[first:]):
            found.append(promise)
    return found


def _changes(act: Callable[..., Any], state: Any, call: Call) -> bool:
    try:
        return bool(act(state, *call.arguments) != state)
    except Disabled:
        return False
