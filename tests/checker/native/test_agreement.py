"""The agreement gate: the native engine finds what the reference engine finds, on every model."""

from __future__ import annotations

import pytest

from streamproof.checker import Limits
from streamproof.checker import explore as reference
from streamproof.checker.native.code import program
from streamproof.checker.packable import is_packable
from streamproof.lang import always, every_step, require
from streamproof.lang.model import action
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status
from tests.checker.native.support.agreement import (
    KINDS,
    agree,
    agree_at_random,
    compare,
    kind_of,
    one_thread,
    outcome,
    reachable,
    states_of,
)
from tests.checker.native.support.random_models import random_models
from tests.checker.support.walks import Count
from tests.checker.support.walks import Counter as Counting
from tests.golden import manifest
from tests.support.quick import sample_few_states
from tests.support.strategies import SHRINKING

COUNTED = [*manifest.cases("fast"), *manifest.cases("slow")]
"""Sizes that the reference engine can count.

Those of the tier `native` are compared with their golden counts in tests/test_golden.py.
"""
QUICK = (
    "chandy_lamport",
    "merge_order",
    "egress",
    "permission",
    "examples/lease.py",
)
"""Models whose code is compiled in a second or two; the first size of each is fast."""
UNTRACED = {"examples/two_phase_commit.py"}
"""What has no traced form. To trace all models, so as to find out, takes ten seconds."""
SIZES = [
    pytest.param(
        target,
        size,
        id=f"{registry.find(target).__name__}-{size}",
        marks=[] if target in QUICK and number == 0 else pytest.mark.slow,
    )
    for target in manifest.targets()
    if target not in UNTRACED
    for number, size in enumerate(registry.find(target).sizes)
    if (target, size) in COUNTED
]


@pytest.fixture(autouse=True)
def few_states(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        sample_few_states(monkeypatch)


class Leaps(Counting):
    """A counter that leaps: over a number, which breaks what is said of steps and of states."""

    @action
    def leap(self, now: Count) -> Count:
        require(now.value == 1)
        return Count(now.value + 2)

    @every_step
    def by_one(self, before: Count, after: Count) -> bool:
        return after.value <= before.value + 1


class Odd(Leaps):
    @always
    def is_below_three(self, now: Count) -> bool:
        return now.value != 3


class Back(Leaps):
    """The step that breaks a property leads to a state that is known."""

    @action
    def leap(self, now: Count) -> Count:
        require(now.value == 2)
        return Count(0)

    @every_step
    def by_one(self, before: Count, after: Count) -> bool:
        return after.value >= before.value


class Early(Counting):
    """The step that breaks something is the last one neither of its state nor of its level."""

    @action
    def skip(self, now: Count) -> Count:
        require(now.value != 1)
        return Count(2)

    @action
    def jump(self, now: Count) -> Count:
        require(now.value == 0)
        return Count(self.most)

    @always
    def is_below_three(self, now: Count) -> bool:
        return now.value != 3


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("model_class", [Leaps, Odd, Back, Early])
def test_a_step_that_breaks_something_is_counted_alike(model_class, loops, monkeypatch):
    monkeypatch.setattr(program, "is_large", lambda encoder: loops)
    assert agree(model_class(4)) == ("is_below_three" if model_class in (Odd, Early) else "by_one")


class Crowded(Early):
    """What is broken is found before the limit, and more states than it allows come behind."""

    @action
    def pass_by(self, now: Count) -> Count:
        require(now.value == 2)
        return Count(4)

    @action
    def jump(self, now: Count) -> Count:
        require(now.value == 4)
        return Count(0)


@pytest.mark.parametrize(("states_max", "kind"), [(3, "cut short"), (4, "is_below_three")])
def test_what_is_broken_before_a_limit_is_told(states_max, kind):
    limits = Limits(states_max=states_max)
    known, found = (outcome(Crowded(4), engine, limits) for engine in (reference, one_thread))
    assert kind_of(known) == kind_of(found) == kind
    assert kind == "cut short" or found == known


def test_no_size_is_left_out_but_what_the_reference_engine_cannot_count():
    every = {(target, s) for target in manifest.targets() for s in registry.find(target).sizes}
    assert every == {*COUNTED, *manifest.cases("native")}
    left_out = every - {case.values for case in SIZES} - {*manifest.cases("native")}
    assert {target for target, _ in left_out} == UNTRACED
    assert not any(is_packable(registry.build(*case)) for case in left_out)


@pytest.mark.parametrize(("target", "size"), SIZES)
@pytest.mark.timeout(1800)
def test_a_model_of_streamproof_is_searched_alike(target, size):
    model = registry.build(target, size)
    expected = outcome(model, reference)
    compare(model, expected)
    findings, counts = expected
    assert {part.verdict.status for part in findings.values()} == {Status.EXHAUSTED}
    assert counts.to_json() == manifest.known(target, size)


def test_the_same_states_are_found():
    model = registry.build("chandy_lamport", "small")
    found = states_of(model)
    assert len(found) == len(set(found))
    assert set(found) == reachable(model)


@SHRINKING
def test_random_models_are_searched_alike():
    assert len(agree_at_random(random_models(), 12)) > 2


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_three_hundred_random_models_are_searched_alike():
    kinds = agree_at_random(random_models(), 300, attempt=1)
    assert set(kinds) == KINDS
