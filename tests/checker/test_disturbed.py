"""Side effects are refused at the call that has them, also where they are undone or come late.

A search that compares its surroundings at its end alone does not see what was changed and changed
back. Each model here is broken in a plain run, and was EXHAUSTED.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from streamproof.checker import check, reference
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import Fairness, Model, action, always, eventually, init, require
from streamproof.lang.impure import ImpureModel
from streamproof.lang.side_effects import side_effects_of
from streamproof.models.kit.verdict import Status
from tests.checker.support.effects import BUSY, EFFECTS, PACKED, flip

LATE = 100
"""A state behind those that are asked twice."""


def model_of(effect: Callable[[], None]) -> Model[int]:
    """Make a model that has an effect in one late state."""

    class Late(Model[int]):
        @init
        def zero(self) -> int:
            return 0

        @action
        def add(self, n: int) -> int:
            if n == LATE:
                effect()
            return (n + 1) % (LATE + 20)

        @always
        def is_small(self, n: int) -> bool:
            return n < LATE + 20

    return Late()


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.__name__)
def test_an_effect_in_a_late_state_is_refused_where_it_happens(effect: Any) -> None:
    with pytest.raises(ImpureModel, match=r"add\(\) of Late has changed something beside"):
        check(model_of(effect), engine=reference.explore, validated=False)


@pytest.mark.parametrize("engine", [None, reference.explore], ids=["auto", "reference"])
def test_an_effect_that_the_next_action_undoes_is_refused(engine: Any) -> None:
    class Toggles(Model[int]):
        @init
        def start(self) -> int:
            return 0

        @action
        def back(self, s: int) -> int:
            flip()
            require(s == 9)
            return 0

        @action
        def forth(self, s: int) -> int:
            flip()
            require(s < 9)
            return s + 1

        @always
        def idle_at_five(self, s: int) -> bool:
            return not (s == 5 and BUSY[0])

    named = {} if engine is None else {"engine": engine}
    with pytest.raises(ImpureModel, match="has changed something beside its answer: .*BUSY"):
        check(Toggles(), **named)


def test_an_effect_behind_a_promise_is_refused() -> None:
    class Promises(Model[int]):
        @init
        def start(self) -> int:
            return 0

        @action(fairness=Fairness.WEAK)
        def forth(self, s: int) -> int:
            flip()
            return (s + 1) % 8

        @action
        def rest(self, s: int) -> int:
            flip()
            require(s > 8)
            return s

        def ruled_out(self) -> tuple[str, ...]:
            return ("rest",)

        @eventually
        def done(self, s: int) -> bool:
            return s == 5 and not BUSY[0]

    with pytest.raises(ImpureModel, match="beside its answer"):
        check(Promises())


def test_an_effect_of_a_property_that_a_second_search_undoes_is_refused() -> None:
    """Auto searches some hundred states, and begins again with the other engine."""

    class Twice(Model[int]):
        @init
        def start(self) -> int:
            return 0

        @action
        def add(self, s: int) -> int:
            return (s + 1) % 700

        @always
        def small(self, s: int) -> bool:
            if s == 400:
                flip()
            return not (s == 600 and BUSY[0])

    with pytest.raises(ImpureModel, match="small of Twice has changed something"):
        check(Twice())


def test_walks_refuse_it_too() -> None:
    with pytest.raises(ImpureModel, match="beside its answer"):
        simulate(model_of(flip), plan=Plan(walks=2, length_max=LATE + 5))


@dataclass(frozen=True)
class State:
    n: int
    k: int = field(default=-1, hash=False)
    deep: tuple[Any, ...] = ()

    @functools.cached_property
    def box(self) -> list[int]:
        return [0]


def change_a_field(s: State) -> None:
    object.__setattr__(s, "k", -2)


def change_what_is_kept(s: State) -> None:
    s.box[0] ^= 1


@pytest.mark.parametrize("change", [change_a_field, change_what_is_kept])
def test_a_late_state_that_is_changed_in_place_is_refused(change: Any) -> None:
    """Its hash is the same."""

    class InPlace(Model[State]):
        @init
        def start(self) -> State:
            return State(0)

        @action
        def peek(self, s: State) -> State:
            if s.n == LATE:
                change(s)
            return State(0)

        @action
        def add(self, s: State) -> State:
            return State((s.n + 1) % (LATE + 20))

        @always
        def small(self, s: State) -> bool:
            return s.n < LATE + 20

    with pytest.raises(ImpureModel):
        check(InPlace())


def test_an_object_of_which_nothing_tells_what_it_holds_is_refused() -> None:
    class Uses(Model[int]):
        @init
        def zero(self) -> int:
            return 0

        @action
        def add(self, n: int) -> int:
            return (n + (PACKED is None)) % 3

        @always
        def small(self, n: int) -> bool:
            return n < 3

    with pytest.raises(ImpureModel, match="nothing tells what it holds"):
        check(Uses())


class Local(Model[int]):
    """Makes lists, tables and sets of its own, and changes them."""

    words = ("a", "b")

    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        found: list[int] = []
        table = {}
        groups: defaultdict[int, list[int]] = defaultdict(list)
        total = 0
        for m in range(3):
            found.append(m)
            table[m] = m
            groups[m].append(m)
            total += m
        seen = set(found)
        seen.add(9)
        table.update(x=1)
        del table["x"]
        found[0], found[1] = found[1], found[0]

        def visit(m: int) -> None:
            nonlocal total
            total += m
            found.append(m)

        visit(0)
        return (n + total // 3) % 5

    @always
    def small(self, n: int) -> bool:
        return n < 5


def test_what_a_method_makes_itself_may_be_changed() -> None:
    assert check(Local()).verdict.status is Status.EXHAUSTED


class Quiet(Model[int]):
    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        parts = list(range(3))
        parts.append(n)
        return sum(parts) % 5

    @always
    def small(self, n: int) -> bool:
        return n < 5


def test_a_model_without_effects_is_not_watched() -> None:
    assert not side_effects_of(Quiet)
    assert side_effects_of(type(model_of(flip)))


@dataclass(frozen=True)
class Kept:
    n: int

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.n


def test_what_is_only_remembered_by_python_is_no_effect() -> None:
    @functools.cache
    def slow(n: int) -> tuple[int, ...]:
        return tuple(range(n))

    class Remembers(Model[Kept]):
        @init
        def zero(self) -> Kept:
            return Kept(0)

        @action
        def add(self, s: Kept) -> Kept:
            {}.setdefault("x", []).append(1)
            return Kept((s.n + len(slow(2))) % 9)

        @always
        def small(self, s: Kept) -> bool:
            return s.double < 100

    assert check(Remembers()).verdict.status is Status.EXHAUSTED
