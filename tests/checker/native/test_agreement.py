"""The agreement gate: the native engine finds what the reference engine finds, on every model."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.counterexample import BrokenModel
from streamproof.checker.native.code import program
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.search import Search, widened
from streamproof.checker.packable import is_packable
from streamproof.checker.progress import ignore
from streamproof.lang import always, every_step, require
from streamproof.lang.model import action
from streamproof.models import registry
from streamproof.models.verdict import CLAIMS, DEADLOCK, Refuted, Status
from tests.checker.native.random_models import random_models
from tests.checker.walks import Count
from tests.checker.walks import Counter as Counting
from tests.golden import manifest
from tests.quick import sample_few_states
from tests.strategies import SHRINKING, tried

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
STATES_MAX = 3_000
"""States up to which the engines are compared on a random model."""
STATES_MIN = 5
"""States without which nothing much happens in a random model."""
KINDS = {"whole", "invariant", "keeps", DEADLOCK, CLAIMS, "LeftRange"}
"""How searches of random models end."""


@pytest.fixture(autouse=True)
def few_states(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        sample_few_states(monkeypatch)


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


def kind_of(result):
    """Tell how a search ended: by an error, cut short, by a counterexample, or whole."""
    if not isinstance(result[0], dict):
        return result[0].__name__
    verdicts = [part.verdict for part in result[0].values()]
    if any("raise --" in reason for part in verdicts for reason in getattr(part, "reasons", ())):
        return "cut short"
    broken = [part.verdict.broken for part in result[0].values() if is_refuted(part)]
    return broken[0] if broken else "whole"


def compare(model, expected):
    """Compare the native engine with what the reference engine found."""
    assert kind_of(expected) != "cut short"  # which would say nothing
    assert outcome(model, one_thread) == expected
    assert up_to_order(outcome(model, two_threads)) == up_to_order(expected)
    assert up_to_symmetry(outcome(model, with_symmetry)) == up_to_symmetry(expected)


def agree(model):
    """Compare the engines on a model; tell how the search ended."""
    expected = outcome(model, reference)
    compare(model, expected)
    return kind_of(expected)


def states_of(model):
    """Search natively, and give the set of states as Python values."""
    ranges = {}
    while True:
        search = Search(Program(model, ranges), Limits(), ignore, 2)
        search.run()
        if search.found is None:
            break
        ranges |= widened(search, search.found)
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


def agree_at_random(models, examples, attempt=0):
    """Compare the engines on so many different random models; count how the searches ended."""
    kinds, unfit = {}, set()

    def is_fit(expected):
        kind = kind_of(expected)
        is_idle = kind in ("whole", DEADLOCK) and expected[1].distinct < STATES_MIN
        return kind != "cut short" and not is_idle

    def agree_on(model):
        # Hypothesis runs some once more, and must be told the same of them.
        assume(repr(model) not in unfit)
        if repr(model) in kinds or len(kinds) == examples:
            return
        expected = outcome(model, reference, Limits(states_max=STATES_MAX))
        if not is_fit(expected):
            unfit.add(repr(model))
        assume(repr(model) not in unfit)
        compare(model, expected)
        kinds[repr(model)] = kind_of(expected)
        if kinds[repr(model)] == "whole":
            assert set(states_of(model)) == reachable(model)

    tried(2 * examples, attempt)(given(model=models)(agree_on))()
    assert len(kinds) == examples
    return Counter(kinds.values())


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
