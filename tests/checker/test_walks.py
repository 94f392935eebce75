"""What a walk can come upon: each kind of mistake, its end, what never happens, an interrupt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest

from streamproof.checker.counterexample import BrokenModel, LeftRange
from streamproof.checker.engines import EngineName
from streamproof.checker.exploration import INTERRUPTED
from streamproof.checker.native import walks as native_walks
from streamproof.checker.native.kernels import walks as kernels
from streamproof.checker.native.paths import EnginesDisagree
from streamproof.checker.properties import BrokenAssumption
from streamproof.checker.purity import ImpureModel
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import SEEDS, Plan, Walker, choice
from streamproof.lang import Domain, Element, Map, WrongDefinition, implies, require
from streamproof.lang.model import (
    Model,
    action,
    always,
    assume,
    every_step,
    final,
    init,
    leads_to,
    sometimes,
)
from streamproof.models.kit.verdict import Refuted, Status, Undetermined
from tests.checker.support.walks import Count, Counter, Node, Walk, walk

both_engines = pytest.mark.parametrize("engine", [EngineName.REFERENCE, EngineName.NATIVE], ids=str)
PLAN = Plan(50, 30, 1)


def refuted(model, engine, plan=PLAN):
    """Give the one verdict that refutes; all others must wait for more walks."""
    report = simulate(model, plan=plan, engine=engine)
    verdict = report.verdict
    assert isinstance(verdict, Refuted)
    others = [part.verdict for part in report.findings if part.verdict is not verdict]
    ended = (f"the walks ended at the counterexample to {verdict.broken}",)
    assert others == [Undetermined(ended)] * len(others)
    return verdict


def reason(report, name):
    (only,) = report.finding(name).verdict.reasons
    return only


class Small(Counter):
    @always
    def is_small(self, now: Count) -> bool:
        return now.value < 3


class Climbs(Counter):
    @every_step
    def climbs(self, before: Count, after: Count) -> bool:
        return after.value > before.value


class Claims(Counter):
    @action
    def up(self, now: Count) -> Count:
        assert now.value < 2
        return super().up(now)


class Stuck(Counter):
    @action
    def reset(self, now: Count) -> Count:
        require(now.value > self.most)
        return now


@both_engines
@pytest.mark.parametrize(
    ("kind", "name", "steps"),
    [(Small, "is_small", 3), (Climbs, "climbs", 5), (Claims, "claims", 3), (Stuck, "deadlock", 4)],
    ids=["always", "every_step", "claims", "deadlock"],
)
def test_each_kind_of_mistake_is_found_and_told_in_few_steps(engine, kind, name, steps):
    verdict = refuted(kind(4), engine)
    assert verdict.broken == name
    assert len(verdict.trace) == steps
    assert verdict.trace.key == "/".join(["0"] * (steps + 1))


@both_engines
def test_an_initial_state_that_breaks_an_invariant_takes_no_walk(engine):
    class Odd(Counter):
        @always
        def is_odd(self, now: Count) -> bool:
            return now.value > 0

    report = simulate(Odd(3), engine=engine)
    assert report.verdict.broken == "is_odd"
    assert (report.sample.walk, report.sample.tally.walks, len(report.verdict.trace)) == (
        None,
        0,
        0,
    )


@both_engines
def test_a_number_outside_of_its_range_is_a_bug_of_the_model(engine):
    class Leaves(Counter):
        @action
        def reset(self, now: Count) -> Count:
            require(now.value == self.most)
            return replace(now, value=self.most + 1)

    with pytest.raises(LeftRange, match=r"value is 4, outside its range 0\.\.3") as left:
        simulate(Leaves(3), plan=PLAN, engine=engine)
    assert len(left.value.trace) == 4


class Lamp(Element):
    """A place in a row."""


@dataclass(frozen=True)
class Row:
    lit: Map[Lamp, bool]
    count: int


@dataclass(frozen=True)
class Lamps(Model[Row]):
    """As many bits as there are lamps, and a number without a declared range."""

    lamps: Domain[Lamp]
    most: int

    @init
    def start(self) -> Row:
        return Row(Map.fill(self.lamps, False), 0)

    @action
    def blink(self, s: Row) -> Row:
        require(s.count < self.most)
        return Row(s.lit.map(lambda on: not on), s.count + 1)

    @always
    def has_not_blinked_ninety_times(self, s: Row) -> bool:
        return s.count != 90

    @final
    def anywhere(self, s: Row) -> bool:
        return True


@both_engines
def test_states_of_several_words_whose_numbers_need_more_room_than_was_guessed(engine):
    report = simulate(Lamps(Domain(Lamp, 140), 89), plan=Plan(6, 200, 0), engine=engine)
    tally = report.sample.tally
    assert report.finding("has_not_blinked_ninety_times").verdict.status is Status.SAMPLED
    assert (tally.taken, tally.ended, tally.longest) == ([6 * 89], 6, 89)
    verdict = refuted(Lamps(Domain(Lamp, 140), 100), engine, Plan(6, 200, 0))
    assert len(verdict.trace) == 90


@both_engines
def test_a_step_that_changes_nothing_is_looked_at_and_ends_a_walk_alone(engine):
    class Rests(Counter):
        @action
        def reset(self, now: Count) -> Count:
            require(now.value == self.most)
            return now

    tally = simulate(Rests(4), plan=PLAN, engine=engine).sample.tally
    assert (tally.ended, tally.longest, tally.taken, tally.enabled) == (50, 4, [200, 0], [200, 50])


@both_engines
def test_a_walk_is_cut_at_its_length_and_says_nothing_of_what_comes_after(engine):
    assert refuted(Small(4), engine, Plan(50, 3, 1)).broken == "is_small"
    report = simulate(Small(4), plan=Plan(50, 2, 1), engine=engine)
    assert report.finding("is_small").verdict.status is Status.SAMPLED
    assert (report.sample.tally.ended, report.sample.tally.longest) == (0, 2)


@both_engines
def test_walks_start_in_every_initial_state(engine):
    class Chosen(Lamps):
        @init
        def start(self, lamp: Lamp) -> Row:
            return Row(Map.build(self.lamps, lambda other: other == lamp), 0)

        @action
        def put_out(self, s: Row, lamp: Lamp) -> Row:
            require(s.lit[lamp])
            return replace(s, lit=s.lit.set(lamp, False))

    model = Chosen(Domain(Lamp, 4), 0)
    tally = simulate(model, plan=Plan(400, 5, 0), engine=engine).sample.tally
    assert sum(tally.taken) == 400
    assert all(70 < count < 130 for count in tally.taken[1:])


class Idle(Counter):
    @action
    def rest(self, now: Count) -> Count:
        require(now.value > self.most)
        return now

    @sometimes
    def is_beyond(self, now: Count) -> bool:
        return now.value > self.most

    @always
    def odd_beyond(self, now: Count) -> bool:
        return implies(now.value > self.most, now.parity)

    @always
    def above_two(self, now: Count) -> bool:
        return implies(now.value > 2, now.value > 1)

    @every_step
    def from_beyond(self, before: Count, after: Count) -> bool:
        return implies(before.value > self.most, after.parity)

    @leads_to
    def comes_back(self, now: Count) -> tuple[bool, bool]:
        return now.value > 0, now.value == 0


@both_engines
def test_what_never_happens_on_any_walk_is_undetermined(engine):
    report = simulate(Idle(4), plan=PLAN, engine=engine)
    assert reason(report, "actions").startswith("rest never happened in any of 1,500 steps that")
    assert "is_beyond() is not reached" in reason(report, "is_beyond")
    for name in ("odd_beyond", "from_beyond"):
        assert f"the premise of an implies in {name}" in reason(report, name)
        assert "Take more walks, or longer ones, or choose a larger size" in reason(report, name)
    assert report.finding("above_two").verdict.status is Status.SAMPLED
    assert report.not_asked == ("comes_back",)
    assert report.verdict.status is Status.UNDETERMINED


class Restless(Counter):
    @action
    def reset(self, now: Count) -> Count:
        require(now.value > 0)
        return Count(0)

    @every_step
    def from_high_up(self, before: Count, after: Count) -> bool:
        return implies(before.value == 10, after.value != 10)


@both_engines
def test_a_premise_that_few_walks_come_to_has_held(engine):
    """One walk in hundreds goes up ten times in a row: none of those that are looked at first."""
    few, many = (
        simulate(Restless(12), plan=Plan(walks, 12, 1), engine=engine) for walks in (60, 2_000)
    )
    assert few.finding("from_high_up").verdict.status is Status.UNDETERMINED
    assert many.finding("from_high_up").verdict.status is Status.SAMPLED


@both_engines
def test_an_interrupt_gives_what_was_done_so_far(engine):
    def interrupt(tally):
        if tally.steps:
            raise KeyboardInterrupt

    report = simulate(Counter(3), plan=Plan(20_000, 100, 0), engine=engine, on_walks=interrupt)
    assert report.interrupted
    assert reason(report, "deadlock") == INTERRUPTED
    assert 0 < report.sample.tally.steps < 2_000_000


def test_a_model_that_cannot_be_traced_is_walked_by_its_own_methods():
    model = walk(Walk, (0, 1), (1, 2), (2, 0))
    assert simulate(model, plan=PLAN).sample.engine == "reference"
    assert simulate(Counter(3), plan=PLAN).sample.engine == "native"
    with pytest.raises(WrongDefinition, match="frozenset is not a sort"):
        simulate(model, plan=PLAN, engine=EngineName.NATIVE)


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ({"walks": 0}, "walks is 0"),
        ({"length_max": -1}, "length_max is -1"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": SEEDS}, "Give one from 0"),
    ],
    ids=str,
)
def test_a_plan_for_nothing_is_refused(plan, told):
    with pytest.raises(ValueError, match=told):
        Plan(**plan)


class Fails(Walk):
    @action
    def divide(self, now: Node) -> Node:
        return Node(1 // (now.index - 2))

    @always
    def fails_too(self, now: Node) -> bool:
        return 1 // (now.index - 1) < 9


@pytest.mark.parametrize(
    ("starts", "told"),
    [((2,), r"divide\(\) failed"), ((1,), "a property or @init failed"), ((0,), "failed")],
)
def test_a_method_that_fails_is_a_bug_of_the_model(starts, told):
    model = walk(Fails, (0, 2), size=3, starts=starts)
    with pytest.raises(BrokenModel, match=told):
        simulate(model, plan=PLAN)


def test_what_would_mean_nothing_is_refused_as_in_a_check():
    draws = iter(range(10**6))

    class Impure(Walk):
        @always
        def even(self, now: Node) -> bool:
            return next(draws) % 2 == 0

    class Assumes(Counter):
        @assume
        def is_long(self) -> bool:
            return self.most > 5

    with pytest.raises(ImpureModel):
        simulate(walk(Impure, (0, 0)))
    with pytest.raises(BrokenAssumption):
        simulate(Assumes(3))


def test_a_fault_that_the_models_own_methods_do_not_see_is_streamproofs(monkeypatch):
    monkeypatch.setattr(Walker, "_refute", lambda *_: None)
    with pytest.raises(EnginesDisagree, match="finds a fault on walk 0, and .* find none"):
        native_walks.walk(Small(4), PLAN, lambda _: None)


def test_compiled_walks_choose_as_plain_ones_do():
    """Random numbers of both, one by one: a walk is taken again by the other engine."""
    chance = Random(5)
    for _ in range(300):
        key, number, among = chance.getrandbits(64), chance.randrange(90), chance.randint(1, 50)
        found = kernels.chosen(np.uint64(key), np.uint64(number), np.uint64(among))
        assert int(found) == choice(key, number, among)
