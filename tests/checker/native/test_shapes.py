"""Odd shapes: very deep, very many initial states, very many actions; counted, not timed."""

from __future__ import annotations

import pytest

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.native import engine, narrow, search
from streamproof.checker.native.checkpoint.resume import take_over
from streamproof.checker.native.code import alike
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.worker import Worker
from streamproof.lang import always
from streamproof.models import registry
from streamproof.models.verdict import Status
from tests.checker.native.keeping import lights
from tests.checker.native.shapes import Deep, Started


class Stops(Deep):
    @always
    def within(self, s):
        return s.n < 7_000


@pytest.fixture
def calls(monkeypatch):
    """Count the calls of compiled code that search narrow levels."""
    made, taken = Worker.expand_narrow, []

    def counted(worker, bounds):
        taken.append(bounds)
        return made(worker, bounds)

    monkeypatch.setattr(Worker, "expand_narrow", counted)
    return taken


def test_many_levels_take_few_calls(calls):
    found = native(Deep(20_000), threads=1)
    assert found.counts.distinct == found.counts.depth == 20_001
    assert found.level_ends[:3] == (1, 2, 3)
    assert len(found.level_ends) == 20_002
    assert len(calls) <= 20_000 // narrow.LEVELS + 2


@pytest.mark.parametrize("levels", [1, 7, 4096])
@pytest.mark.parametrize("wide", [1, 5, 1000])
def test_narrow_levels_are_searched_as_others_are(levels, wide, monkeypatch):
    """Whatever the share of the levels is that one call takes."""
    monkeypatch.setattr(narrow, "LEVELS", levels)
    monkeypatch.setattr(search, "LEVELS", levels)
    monkeypatch.setattr(search, "TEAM_FROM", wide)
    model = registry.build("chandy_lamport", "small")
    for limits in (Limits(), Limits(depth_max=5), Limits(states_max=40)):
        found, wanted = (
            explore(model, limits=limits, **more)
            for explore, more in ((native, {"threads": 1}), (reference, {}))
        )
        assert (found.counts.distinct, found.counts.depth) == (
            wanted.counts.distinct,
            wanted.counts.depth,
        )
        if limits.states_max is None:  # the steps of a few states more were taken then
            assert found.counts == wanted.counts
        assert found.stopped == wanted.stopped
        assert found.level_ends[: len(wanted.level_ends)] == wanted.level_ends
        assert found.witnesses == wanted.witnesses


def test_what_breaks_far_down_is_found_where_the_reference_engine_finds_it():
    found, wanted = (explore(Stops(10_000)) for explore in (native, reference))
    assert (found.counts, found.path, found.broken) == (wanted.counts, wanted.path, wanted.broken)
    assert len(found.path.steps) == 7_000


def test_many_starts(monkeypatch):
    """Elements that differ in a constant are not compared, so that 10^5 of them take seconds."""
    compared, is_alike = [], alike._Comparison._is_alike

    def counted(self, one, other):
        compared.append((one, other))
        return is_alike(self, one, other)

    monkeypatch.setattr(alike._Comparison, "_is_alike", counted)
    report = check(Started.sized(1_000), engine=native_with_symmetry)
    assert report.verdict.status is Status.EXHAUSTED
    assert report.counts.distinct == 1_001
    assert compared == []


def native_with_symmetry(model, **options):
    return native(model, symmetry=True, **options)


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("wide", [2, 30])
def test_threads_that_come_in_later_go_on_where_one_has_come(wide, symmetry, monkeypatch):
    monkeypatch.setattr(search, "TEAM_FROM", wide)
    monkeypatch.setattr(engine, "threads_useful", lambda: 4)
    made = []
    monkeypatch.setattr(engine, "take_over", lambda *both: (made.append(both), take_over(*both)))
    for target, size in (("chandy_lamport", "small"), ("token_passing", "default")):
        model = registry.build(target, size)
        found, wanted = native(model, symmetry=symmetry), native(model, threads=1)
        assert found.counts == wanted.counts
        assert set(found.witnesses) == set(wanted.witnesses)
        assert found.level_ends == wanted.level_ends or symmetry
        if not symmetry:
            assert found.decide_liveness() == wanted.decide_liveness()
    assert made


def test_a_fault_that_several_threads_find_later_is_told_as_one_finds_it(monkeypatch):
    monkeypatch.setattr(search, "TEAM_FROM", 3)
    monkeypatch.setattr(engine, "threads_useful", lambda: 2)
    found, wanted = (explore(lights(6, most=3)) for explore in (native, reference))
    assert (found.broken, found.path) == (wanted.broken, wanted.path)
    assert found.counts == wanted.counts
