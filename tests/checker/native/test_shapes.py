"""Odd shapes: very deep, very many initial states, very many actions; counted, not timed."""

from __future__ import annotations

from math import inf

import pytest

from streamproof.checker import Limits, check, engines, purity
from streamproof.checker import explore as reference
from streamproof.checker.native import engine, narrow, search
from streamproof.checker.native.checkpoint.resume import take_over
from streamproof.checker.native.code import alike, machine_code, program
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.worker import Worker
from streamproof.checker.packable import NotCompiled
from streamproof.checker.progress import states_to_find
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import Domain, action, always, require, sometimes
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status
from tests.checker.native.support.keeping import lights
from tests.checker.native.support.shapes import Deep, Number, One, Started, Stepped


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


# --- which engine is used, and what is said of it -------------------------------------------------


@pytest.mark.parametrize(
    ("target", "size", "engine_used"),
    [
        ("chandy_lamport", "small", "reference"),  # 141 states
        ("chandy_lamport", "ring", "reference"),  # 1,651 states
        ("chandy_lamport", "default", "native"),  # 21,385 states
    ],
)
def test_code_is_compiled_for_models_that_seem_to_have_many_states(target, size, engine_used):
    model = registry.build(target, size)
    found = engines.explore(model)
    assert (found.engine, found.stopped) == (engine_used, None)
    wanted = {
        "reference": f"{found.counts.distinct:,} states were visited before code would be compiled",
        "native": "there are more than 500 states",
    }
    assert found.why == wanted[engine_used]


@pytest.mark.parametrize(
    ("ends", "least", "most"),
    [
        ([1, 11, 66, 236], 0, inf),  # grows less and less
        ([1, 3, 9, 27, 81, 243], inf, inf),  # grows as it did
        ([100, 200, 300, 400, 500], 400, 500),  # does not grow
        ([200, 340, 430, 480, 495], -20, 20),  # comes to its end
        ([500], inf, inf),
    ],
)
def test_what_remains_is_estimated_from_the_growth_of_the_levels(ends, least, most):
    assert least <= states_to_find(max(500, ends[-1]), ends) <= most


class Untraced(Started):
    """An action that looks at what only a plain value has."""

    @action
    def up(self, s: Number) -> Number:
        require(s.n < self.top)
        return Number(int(str(s.n)) + 1)


class TooLarge(Deep):
    @action
    def up(self, s: Number) -> Number:
        require(s.n < self.top and s.n * 2**60 >= 0)
        return Number(s.n + 1)


@pytest.mark.parametrize(
    ("model", "reason"),
    [(Untraced.sized(600), "cannot be traced"), (TooLarge(6_000), "anything from 0")],
)
def test_a_model_that_is_not_compiled_is_told_why(model, reason):
    """The report says it, its JSON says it, and simulations do."""
    report = check(model)
    assert (report.engine, report.verdict.status) == ("reference", Status.EXHAUSTED)
    assert report.why_engine.startswith("the native engine cannot take the model: ")
    assert reason in report.why_engine
    assert report.to_json()["why_engine"] == report.why_engine
    walked = simulate(model, plan=Plan(walks=2, length_max=3))
    assert walked.sample.engine == "reference"
    assert reason in walked.to_json()["why_engine"]


def test_an_engine_that_was_named_needs_no_reason():
    assert check(Deep(3), engine=reference).why_engine == ""
    assert check(Deep(3), engine=native).to_json()["why_engine"] == ""


def test_code_that_llvm_refuses_is_a_refusal_and_auto_goes_on_without_it(monkeypatch):
    def refused(text):
        raise RuntimeError("LLVM IR parsing error")

    monkeypatch.setattr(machine_code.llvm, "parse_assembly", refused)
    monkeypatch.setattr(program, "kept", lambda key: None)
    with pytest.raises(NotCompiled, match="LLVM .* refuses.*parsing error.*--engine reference"):
        native(Deep(5_000))
    report = check(Deep(5_000))
    assert (report.engine, report.counts.distinct) == ("reference", 5_001)
    assert "parsing error" in report.why_engine


def test_of_very_many_actions_few_states_are_asked_twice(monkeypatch):
    """64 states of 100,000 actions would take minutes before the search."""
    targets, asked = purity._targets, []
    monkeypatch.setattr(purity, "CALLS_SAMPLED", 1_000)
    monkeypatch.setattr(purity, "_targets", lambda *of: (asked.append(of), targets(*of))[1])
    purity.check_purity(Stepped(Domain(One, 100)))
    assert len(asked) == 10
    asked.clear()
    purity.check_purity(Stepped(Domain(One, 5_000)))
    assert len(asked) == 2


def test_many_properties_that_are_reached_at_once_are_noted_at_once():
    found = reference(Seen(Domain(One, 500), 3))
    assert len(found.witnesses) == 500
    assert [call.arguments[0].index for call in found.witnesses] == list(range(500))
    assert {len(path.steps) for path in found.witnesses.values()} == {3}


class Seen(Stepped):
    @sometimes
    def top_is_seen(self, s: Number, one: One) -> bool:
        del one
        return s.n == self.top
