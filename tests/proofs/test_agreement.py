"""The agreement gate: engines that read one text must read it alike.

For every traced model there is, at a small size: the states that the reference engine reaches by
running plain Python are exactly those reached through Z3 with the relation of the traced form.
Where that is too many, some of them are drawn, and have the same successors both ways. The models
come from the registry, so a new one is gated without being asked.
"""

from __future__ import annotations

import random

import pytest

from streamproof.checker.reach import reach
from streamproof.lang.trace import trace_model
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import Reachable
from streamproof.proofs.relation import Relation
from tests.golden import manifest

STATES_MOST = 150
"""Above that it takes more than some seconds: Z3 is asked once for each state and action."""
STATES_MAX = 4_000
"""Above that so many are drawn as are asked in some minutes."""
DRAWN = 300


def states_at_small_size(name):
    return manifest.read(name)["sizes"]["small"]["distinct"]


CASES = [
    pytest.param(
        model_class,
        model_class.sizes["small"],
        id=f"{name}-{model_class.__name__}",
        marks=[pytest.mark.slow] if states_at_small_size(name) > STATES_MOST else [],
    )
    for name in registry.names()
    for model_class in registry.load(name).all
]


def test_every_model_is_gated():
    assert len(CASES) >= len(registry.names()) > 0


def plain_successors(model, state):
    return {move.target for move in model.moves(state) if move.target is not None}


def plainly_reached(model):
    seen = set(model.initial_states())
    frontier = list(seen)
    while frontier:
        for target in plain_successors(model, frontier.pop()) - seen:
            seen.add(target)
            frontier.append(target)
    return seen


def reached_through_z3(relation):
    seen = relation.initial_states()
    frontier = list(seen)
    while frontier:
        for state in relation.successors(frontier.pop()) - seen:
            seen.add(state)
            frontier.append(state)
    return seen


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("model_class", "size"), CASES)
def test_z3_reaches_the_states_that_plain_python_reaches(model_class, size):
    model = at_size(model_class, size)
    relation, reached = Relation(trace_model(model_class), model), plainly_reached(model)
    if len(reached) <= STATES_MAX:
        assert reached_through_z3(relation) == reached
        return
    for state in random.Random(0).sample(sorted(reached, key=repr), DRAWN):
        assert relation.successors(state) == plain_successors(model, state)


def test_a_relation_that_misses_an_action_is_noticed():
    model_class = registry.find("chandy_lamport")
    model = at_size(model_class, model_class.sizes["small"])
    relation = Relation(trace_model(model_class), model)
    fewer = [state for state in plainly_reached(model) if not relation.successors(state)]
    traced = trace_model(model_class)
    crippled = type(traced)(
        **{
            **{name: getattr(traced, name) for name in traced.__dataclass_fields__},
            "commands": traced.commands[:-1],
        }
    )
    assert fewer  # quiet states have no successor, so there is something to tell apart
    assert reached_through_z3(Relation(crippled, model)) < plainly_reached(model)


def test_reach_tells_reachable_states_from_others_and_admits_its_limit():
    model_class = registry.find("chandy_lamport")
    model = at_size(model_class, model_class.sizes["small"])
    larger = at_size(model_class, {"messages": (2, 2)})
    last = max(plainly_reached(model), key=repr)
    foreign = next(iter(larger.initial_states()))
    assert reach(model, last).answer is Reachable.YES
    assert reach(model, foreign).answer is Reachable.NO
    assert reach(model, foreign, states_max=10).answer is Reachable.UNKNOWN
