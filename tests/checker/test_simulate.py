"""Random walks: the same for both engines, uniform, and never taken for more than a sample."""

from __future__ import annotations

import json
from collections import Counter as Counts
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamproof.checker import check
from streamproof.checker.counterexample import BrokenModel, retrace
from streamproof.checker.engines import EngineName
from streamproof.checker.native import walks as native_walks
from streamproof.checker.properties import Properties
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import GAMMA, SEEDS, Plan, Walker, choice, key_of, mix
from streamproof.lang.model import Role, final
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import ExitCode, Status, exit_code
from tests.checker.native.support.random_models import random_models
from tests.checker.support.walks import Node, Sound, Walk, walk
from tests.support.quick import sample_few_states
from tests.support.strategies import SHRINKING, tried

ENGINES = [EngineName.REFERENCE, EngineName.NATIVE]
both_engines = pytest.mark.parametrize("engine", ENGINES, ids=str)
EASY = ("chandy_lamport", "token_passing")
"""Models whose mutants a hundred walks find; others need longer runs, or luck."""

QUICK = ("chandy_lamport", "permission", "egress")
"""Models that are compiled in a second or two."""


def breaks_a_promise(mutant):
    """Tell whether only an infinite run shows what is wrong."""
    roles = (Role.LEADS_TO, Role.EVENTUALLY)
    promises = [method.name for role in roles for method in mutant.model_class.methods(role)]
    return mutant.killed_by in promises


MUTANTS = [
    pytest.param(mutant, id=mutant.name, marks=[] if name in EASY else pytest.mark.slow)
    for name in registry.names()
    for mutant in registry.load(name).mutants
    if not breaks_a_promise(mutant)
]


@pytest.fixture(autouse=True)
def few_states(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        sample_few_states(monkeypatch)


def statuses(report):
    return {part.name: part.verdict.status for part in report.findings}


@both_engines
def test_walks_on_which_all_holds_are_a_sample_and_never_green(engine):
    report = simulate(Sound(3), plan=Plan(20, 30, 7), engine=engine)
    assert set(statuses(report).values()) == {Status.SAMPLED}
    assert exit_code(report.verdict) is ExitCode.UNDETERMINED
    assert report.verdict.to_json() == {"status": "SAMPLED", "runs": 20, "seed": 7, "steps": 600}
    assert report.finding("gets_to_the_top").note == "reached in 3 steps: 0/0/0/0"
    tally = report.sample.tally
    assert (tally.walks, tally.ended, tally.steps, tally.longest) == (20, 0, 600, 30)
    assert [(part.action, part.taken, part.enabled) for part in report.coverage] == [
        ("up", 460, 460),
        ("reset", 140, 140),
    ]


def test_a_report_says_in_json_what_its_attributes_say():
    report = simulate(Sound(3), plan=Plan(20, 30, 7))
    found = json.loads(json.dumps(report.to_json()))
    assert (found["engine"], found["seed"], found["walks"]) == ("native", 7, 20)
    assert found["actions"]["reset"] == {"taken": 140, "enabled": 140}
    assert found["exit_code"] == ExitCode.UNDETERMINED
    assert found["steps_per_second"] == report.rate > 0
    with pytest.raises(KeyError, match="bogus is not among .*in_range"):
        report.finding("bogus")


def test_the_random_numbers_are_those_of_splitmix():
    assert mix(GAMMA) == 0xE220A8397B1DCDAF  # its first two numbers from seed 0
    assert mix(2 * GAMMA) == 0x6E789E6AA1B965F4
    assert key_of(SEEDS - 1, 10**12) < SEEDS
    assert {choice(mix(n), 1, 1) for n in range(50)} == {0}


class Maze(Walk):
    @final
    def anywhere(self, now: Node) -> bool:
        return True


def test_every_choice_is_taken_as_often_as_the_others():
    """A complete graph: where walks start, and each pair of steps, are uniform and independent."""
    size, walks = 4, 3_600
    edges = [(a, b) for a in range(size) for b in range(size) if a != b]
    model = walk(Maze, *edges, starts=tuple(range(size)))
    walker = Walker(model, 1)
    walker.look_at_starts()
    runs = Counts(walker.path_to(number, 2) for number in range(walks))
    assert len(runs) == size * 9
    expected = walks / len(runs)
    squares = sum((count - expected) ** 2 / expected for count in runs.values())
    assert squares < 66  # of 35 degrees of freedom; more once in a thousand seeds


def test_a_seed_gives_the_same_walks_again_and_another_gives_others():
    model = registry.build("chandy_lamport", "small")
    first, again, other = (
        simulate(model, plan=Plan(50, 20, seed), engine=EngineName.REFERENCE) for seed in (3, 3, 4)
    )
    assert first.sample.tally == again.sample.tally != other.sample.tally
    assert first.findings == again.findings
    walker = Walker(model, 3)
    walker.look_at_starts()
    assert len({walker.path_to(number, 6) for number in range(50)}) > 25


def test_walks_take_real_steps_between_reachable_states():
    model = registry.build("chandy_lamport", "small")
    reached = set(model.initial_states())
    waiting = list(reached)
    for state in waiting:
        found = {move.target for move in model.moves(state)} - reached
        reached |= found
        waiting += found
    assert len(reached) == check(model, liveness=False).counts.distinct
    walker = Walker(model, 0)
    walker.look_at_starts()
    for number in range(40):
        states = retrace(model, walker.path_to(number, 6)).states
        assert set(states) <= reached
        assert all(before != after for before, after in pairwise(states))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        pytest.param(
            name, size, marks=[] if size == "small" and name in QUICK else pytest.mark.slow
        )
        for name in registry.names()
        for size in ("small", "default")
    ],
)
def test_both_engines_take_the_same_walks(name, size):
    for model_class in registry.load(name).all:
        if size in model_class.sizes:
            model = registry.build(f"{name}:{model_class.__name__}", size)
            plan = Plan(40, 10, 2)
            ours, theirs = (simulate(model, plan=plan, engine=engine) for engine in ENGINES)
            assert ours.sample.tally == theirs.sample.tally
            assert statuses(ours) == statuses(theirs)
            assert ours.sample.tally.steps > 0


def outcome(model, engine, plan):
    """Give what both engines must agree on, or how walking failed."""
    try:
        report = simulate(model, plan=plan, engine=engine)
    except BrokenModel as error:
        return type(error), str(error), error.trace
    found = report.sample
    if found.broken:
        return found.broken, found.walk, found.path, report.walked, statuses(report)
    reasons = [getattr(part.verdict, "reasons", ()) for part in report.findings]
    return found.tally, statuses(report), reasons


@pytest.mark.parametrize("examples", [8, pytest.param(40, marks=pytest.mark.slow)])
@SHRINKING
def test_both_engines_find_the_same_on_random_models(examples):
    ends = Counts()

    def agree_on(model, seed):
        plan = Plan(30, 12, seed)
        expected = outcome(model, EngineName.REFERENCE, plan)
        assert outcome(model, EngineName.NATIVE, plan) == expected
        ends[type(expected[0])] += 1

    seeds = st.integers(0, 99)
    tried(examples, examples)(given(model=random_models(), seed=seeds)(agree_on))()
    assert len(ends) > 1


@pytest.mark.parametrize("batch", [1, 7])
def test_what_is_found_does_not_depend_on_how_many_walk_at_once(monkeypatch, batch):
    mutant = registry.build("token_passing/log-reversed", "small")
    sound = Sound(5)
    expected = [outcome(model, EngineName.NATIVE, Plan(60, 12, 9)) for model in (mutant, sound)]
    monkeypatch.setattr(native_walks, "BATCH", batch)
    found = [outcome(model, EngineName.NATIVE, Plan(60, 12, 9)) for model in (mutant, sound)]
    assert found == expected


@pytest.mark.parametrize("mutant", MUTANTS)
def test_mutants_that_break_safety_are_refuted(mutant):
    model = at_size(mutant.model_class, mutant.size)
    report = simulate(model, plan=Plan(100), engine=EngineName.REFERENCE)
    if report.verdict.status is not Status.REFUTED and mutant.model_class.protocol_name not in EASY:
        pytest.skip("a hundred walks do not come upon it; that it is killed, others show")
    assert report.verdict.status is Status.REFUTED
    assert_minimal(model, report)
    if mutant.model_class.protocol_name in EASY:
        assert len(report.verdict.trace) <= mutant.steps_max + 2


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS)
def test_both_engines_refute_a_mutant_by_the_same_walk(mutant):
    model = at_size(mutant.model_class, mutant.size)
    plan = Plan(1_000)
    native, reference = (outcome(model, engine, plan) for engine in ENGINES)
    assert native == reference


def assert_minimal(model, report):
    """Leave out every step once: what remains of the run is impossible, or breaks nothing."""
    path, name = report.minimised.path, report.verdict.broken
    for left_out in range(len(path.steps)):
        steps = path.steps[:left_out] + path.steps[left_out + 1 :]
        try:
            run = retrace(model, replace(path, steps=steps))
        except LookupError:
            continue
        properties = Properties.of(model)
        broken = [*properties.broken_in(run.states[-1])]
        if len(run.states) > 1:
            broken += properties.broken_by(*run.states[-2:])
        assert name not in [part.name for part in broken]
        assert not any(move.broken_claim for move in run.moves)
