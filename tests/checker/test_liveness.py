"""Liveness: both engines against the definition on random automata, and what is told of it."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass

import pytest
from hypothesis import assume, given

from streamproof.checker import Limits, check
from streamproof.checker.counterexample import (
    UnknownStep,
    broken_in_run,
    lasso_trace,
    replay,
)
from streamproof.checker.lasso import promises_of
from streamproof.checker.liveness import decide_liveness
from streamproof.checker.native.engine import explore as native
from streamproof.checker.reference import explore as reference
from streamproof.lang import Domain, Element, Model, Untraceable, WrongDefinition, require
from streamproof.lang.model import Fairness, action, eventually, final, init, leads_to
from streamproof.lang.trace import trace_model
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status
from tests.checker.automata import (
    KINDS,
    breaks_as_told,
    breaks_by_definition,
    random_automata,
)
from tests.support.strategies import SHRINKING, tried


def natively(model, threads):
    return native(model, threads=threads).decide_liveness()


def broken_again(model, lasso):
    """Name what breaks if a lasso is run again from its key."""
    run = replay(model, lasso_trace(model, lasso).key)
    return [part.name for part in broken_in_run(model, run)]


def agree_at_random(examples, attempt=0):
    """Ask engines and definition about so many different automata; count what is true of them."""
    judged, seen = {}, Tally()

    def agree_on(model):
        assume(repr(model) not in judged)
        known = decide_liveness(model)
        others = [natively(model, 1), natively(model, 2)]
        broken = {}
        for promise in promises_of(model):
            name = promise.call.name
            broken[name] = breaks_by_definition(model, name)
            for answer in (known, *others):
                lasso = answer.lassos[promise.call]
                assert (lasso is not None) == broken[name], name
                assert lasso is None or breaks_as_told(model, lasso, name), name
                assert lasso is None or name in broken_again(model, lasso)
                assert (answer.unasked, answer.unneeded) == (known.unasked, known.unneeded)
        judged[repr(model)] = type(model)
        seen.update(broken.items())

    tried(examples, attempt)(given(model=random_automata())(agree_on))()
    assert len(judged) == examples
    assert len(seen) == 4  # each of two promises was kept, and was broken
    assert min(seen.values()) >= examples // 20
    return set(judged.values())


@SHRINKING
def test_engines_and_definition_agree_on_random_automata():
    assert len(agree_at_random(40)) > 5


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_engines_and_definition_agree_on_hundreds_of_automata():
    assert agree_at_random(400, attempt=1) == set(KINDS.values())
    assert any(Fairness.STRONG in kinds for kinds in KINDS)


@SHRINKING
@pytest.mark.slow
def test_runs_that_break_a_promise_are_as_short_whichever_engine_finds_them():
    """States of two partitions are numbered in another order than that of their discovery."""
    lengths = set()

    def agree_on(model):
        known = decide_liveness(model).lassos
        for threads in (1, 2, 4):
            found = natively(model, threads).lassos
            for call, lasso in known.items():
                other = found[call]
                assert (lasso is None) == (other is None)
                if lasso is not None and other is not None:
                    assert len(other.path.steps) == len(lasso.path.steps), threads
                    lengths.add(len(lasso.path.steps))

    tried(25)(given(model=random_automata(size=60))(agree_on))()
    assert len(lengths) > 4


def test_a_snapshot_completes_and_needs_both_fair_actions():
    report = check(registry.build("chandy_lamport", "small"))
    finding = report.finding("every_snapshot_completes")
    assert finding.verdict.status is Status.EXHAUSTED
    assert finding.note == ""
    assert report.liveness.status is Status.EXHAUSTED


def test_promises_are_unknown_if_not_all_states_were_visited():
    report = check(registry.build("chandy_lamport", "small"), limits=Limits(states_max=50))
    (reason,) = report.finding("every_snapshot_completes").verdict.reasons
    assert "raise --states-max" in reason


class Lamp(Element): ...


@dataclass(frozen=True)
class Lit:
    on: bool
    flickers: bool = False


@dataclass(frozen=True)
class Lamps(Model[Lit]):
    """Initial states are given twice, the last of them apart: lamps that are on, and one not."""

    lamps: Domain[Lamp]

    @init
    def lit(self, lamp: Lamp) -> Lit:
        return Lit(on=True)

    @init
    def dark(self) -> Lit:
        return Lit(on=False)

    @action(fairness=Fairness.WEAK)
    def light(self, s: Lit) -> Lit:
        return Lit(on=True, flickers=s.flickers)

    @action
    def flicker(self, s: Lit) -> Lit:
        return Lit(s.on, not s.flickers)

    @eventually
    def it_is_lit(self, s: Lit) -> bool:
        return s.on


class Broken(Lamps):
    @action
    def light(self, s: Lit) -> Lit:
        return Lit(on=True, flickers=s.flickers)


LAMPS = {"lamps": Domain(Lamp, 3)}


@pytest.mark.parametrize("engine", [reference, native])
def test_a_run_from_an_initial_state_that_others_repeat_is_told_by_its_place(engine):
    report = check(Broken(**LAMPS), engine=engine)
    assert report.verdict.status is Status.REFUTED
    assert report.verdict.trace.key == "3~0"
    assert [part.name for part in broken_in_run(Broken(**LAMPS), replay(Broken(**LAMPS), "3~0"))]


@pytest.mark.parametrize("key", ["3~0", "3/1/1~2"])
def test_a_run_that_is_not_fair_breaks_no_promise(key):
    assert broken_in_run(Broken(**LAMPS), replay(Broken(**LAMPS), key)) != ()
    assert broken_in_run(Lamps(**LAMPS), replay(Lamps(**LAMPS), key)) == ()


@pytest.mark.parametrize("key", ["3/1~1", "3/0~1", "3~1", "3~", "3~x"])
def test_what_does_not_lead_back_is_not_repeated(key):
    with pytest.raises(UnknownStep, match="lead back|no replay key"):
        replay(Lamps(**LAMPS), key)


@pytest.mark.parametrize("fairness", ["strong", None, True])
def test_a_fairness_that_is_none_is_refused(fairness):
    with pytest.raises(WrongDefinition, match="Write: @action"):
        action(fairness=fairness)


class NoPair(Lamps):
    @leads_to
    def nothing_to_anything(self, s: Lit) -> bool:
        return s.on


class Triple(Lamps):
    @leads_to
    def too_much(self, s: Lit) -> tuple[bool, bool, bool]:
        return s.on, s.on, s.on


class Pair(Lamps):
    @eventually
    def two(self, s: Lit) -> tuple[bool, bool]:
        return False, False


@pytest.mark.parametrize(
    ("model", "told"),
    [(NoPair, "no pair"), (Triple, "no pair"), (Pair, "neither")],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_an_answer_that_is_no_promise_is_refused(model, told):
    with pytest.raises(WrongDefinition, match=told):
        check(model(**LAMPS))
    with pytest.raises(WrongDefinition, match=told):
        decide_liveness(model(**LAMPS))
    with pytest.raises((WrongDefinition, Untraceable)):
        trace_model(model)


@dataclass(frozen=True)
class Floor:
    number: int
    lit: bool


@dataclass(frozen=True)
class Stairs(Model[Floor]):
    """Floors, on each of which a light goes on and off for ever, unless who is there climbs."""

    floors: int

    @init
    def start(self) -> Floor:
        return Floor(0, False)

    @action
    def switch(self, s: Floor) -> Floor:
        require(s.number < self.floors)
        return Floor(s.number, not s.lit)

    @action(fairness=Fairness.WEAK)
    def climb(self, s: Floor) -> Floor:
        require(s.number < self.floors)
        return Floor(s.number + 1, False)

    @eventually
    def is_up(self, s: Floor) -> bool:
        return s.number == self.floors

    @final
    def may_stay(self, s: Floor) -> bool:
        return s.number == self.floors


class InTheDark(Stairs):
    """One climbs in the dark alone, which weak fairness does not promise, and strong does."""

    @action(fairness=Fairness.WEAK)
    def climb(self, s: Floor) -> Floor:
        require(s.number < self.floors and not s.lit)
        return Floor(s.number + 1, False)


class Patient(InTheDark):
    @action(fairness=Fairness.WEAK)
    def switch(self, s: Floor) -> Floor:
        require(s.number < self.floors)
        return Floor(s.number, not s.lit)

    @action(fairness=Fairness.STRONG)
    def climb(self, s: Floor) -> Floor:
        require(s.number < self.floors and not s.lit)
        return Floor(s.number + 1, False)


@pytest.mark.parametrize(("cls", "is_kept"), [(Stairs, True), (InTheDark, False), (Patient, True)])
def test_each_component_is_judged_by_its_own_states(cls, is_kept):
    """Fairness says of each floor, wherever its states stand among all, whether one may stay."""
    for floors in (1, 2, 5, 9):
        answers = [decide_liveness(cls(floors)), natively(cls(floors), 1), natively(cls(floors), 2)]
        for answer in answers:
            (lasso,) = answer.lassos.values()
            assert (lasso is None) == is_kept
