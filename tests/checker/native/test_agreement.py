"""The agreement gate: the native engine finds what the reference engine finds, on every model."""

from __future__ import annotations

import functools
from collections import Counter
from dataclasses import replace

import pytest

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.counterexample import BrokenModel
from streamproof.checker.native.code import program
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.search import Search
from streamproof.checker.progress import ignore
from streamproof.lang import always, every_step, require
from streamproof.lang.model import action
from streamproof.models import registry
from streamproof.models.sizes import at_size
from streamproof.models.verdict import Refuted
from tests.checker.native.random_models import random_model
from tests.checker.walks import Count
from tests.checker.walks import Counter as Counting

STATES_MAX = 3_000
SMALL = [
    pytest.param(
        model,
        size,
        id=f"{model.__name__}-{name}",
        marks=[] if name == "small" else pytest.mark.slow,
    )
    for file in registry.names()
    for model in registry.load(file).all
    for name, size in model.sizes.items()
    if name in ("small", "default", "dag", "ring", "overlapping")
]


def outcome(model, engine, limits=None):
    """Give everything that a check says, or how it failed."""
    try:
        report = check(model, engine=engine, liveness=False, limits=limits)
    except BrokenModel as error:
        return type(error), str(error), error.trace
    return {part.name: part for part in report.findings}, report.counts


def one_thread(model, **options):
    return native(model, threads=1, **options)


def two_threads(model, **options):
    return native(model, threads=2, **options)


def with_symmetry(model, **options):
    return native(model, threads=1, symmetry=True, **options)


def up_to_symmetry(result):
    """Leave out which of several shortest counterexamples is found, and how far the search was."""
    if not isinstance(result[0], dict):
        return result[0], len(result[2].steps)
    lengths = {len(part.verdict.trace) for part in result[0].values() if is_refuted(part)}
    return lengths or up_to_order(result)


def is_refuted(finding):
    return isinstance(finding.verdict, Refuted)


def agree(model):
    """Compare the engines on a model; tell what kind of outcome it has."""
    expected = outcome(model, reference, Limits(states_max=STATES_MAX))
    if isinstance(expected[0], dict):
        reasons = [getattr(part.verdict, "reasons", ("",))[0] for part in expected[0].values()]
        if any("raise --states-max" in reason for reason in reasons):
            return "too large"
    assert outcome(model, one_thread) == expected
    assert up_to_order(outcome(model, two_threads)) == up_to_order(expected)
    assert up_to_symmetry(outcome(model, with_symmetry)) == up_to_symmetry(expected)
    if not isinstance(expected[0], dict):
        return expected[0].__name__
    broken = [part.verdict for part in expected[0].values() if is_refuted(part)]
    return broken[0].broken if broken else "whole"


def up_to_order(result):
    """Leave out which of several shortest ways to a `sometimes` was found."""
    if not isinstance(result[0], dict):
        return result
    found = {
        name: replace(part, note=part.note.partition(":")[0]) for name, part in result[0].items()
    }
    return found, *result[1:]


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


def states_of(model):
    """Search natively, and give the set of states as Python values."""
    search = Search(Program(model, {}), Limits(), ignore, 2)
    search.run()
    layout, encoder = search.program.layout, search.program.encoder
    return [
        encoder.decode(layout.unpack(part.state(number)))
        for part in search.partitions
        for number in range(part.count)
    ]


def reachable(model):
    seen = set(model.initial_states())
    waiting = list(seen)
    for state in waiting:
        for move in model.moves(state):
            if move.target not in seen:
                seen.add(move.target)
                waiting.append(move.target)
    return seen


@pytest.mark.parametrize(("model_class", "size"), SMALL)
def test_a_model_of_streamproof_is_searched_alike(model_class, size):
    model = at_size(model_class, size)
    kinds = {functools.partial(agree, model)()} - {"too large"}
    assert kinds <= {"whole"}


def test_the_same_states_are_found():
    model = registry.build("chandy_lamport", "small")
    found = states_of(model)
    assert len(found) == len(set(found))
    assert set(found) == reachable(model)


@pytest.mark.parametrize("block", range(2))
def test_random_models_are_searched_alike(block):
    kinds = Counter(agree(random_model(seed)) for seed in range(block * 10, block * 10 + 10))
    assert sum(kinds.values()) == 10


@pytest.mark.slow
@pytest.mark.parametrize("block", range(2, 30))
def test_more_random_models_are_searched_alike(block):
    test_random_models_are_searched_alike(block)
