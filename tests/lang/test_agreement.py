"""A transition run with plain values and its traced form evaluated give the same, on any state.

For every transition of every protocol, and every action, initial state and property of every model,
Hypothesis makes arbitrary states, reachable or not, and constants. State, effects, whether the step
is possible, and which claims fail must agree; of the paths of one action at most one is possible.
Each case also asserts that something happened, or the agreement would be vacuous, and that a
property answers both ways. Of a few that takes thousands of states: the slow ones see to these.
"""

from __future__ import annotations

import importlib
import pkgutil

import pytest
from hypothesis import given

from streamproof import protocols
from streamproof.lang.evaluate import evaluate, world
from streamproof.lang.model import Call, Role
from streamproof.lang.trace import trace_model, trace_protocol
from streamproof.models.kit import registry
from tests.lang.support.agreement import (
    agree_on_action,
    agree_on_property,
    agree_on_start,
    agree_on_transition,
    tried,
)
from tests.support.strategies import models, states

PROTOCOLS = {
    info.name: importlib.import_module(f"{protocols.__name__}.{info.name}")
    for info in pkgutil.iter_modules(protocols.__path__)
}
MODELS = {
    f"{name}-{model.__name__}" if len(registry.load(name).all) > 1 else name: model
    for name in registry.names()
    for model in registry.load(name).all
}
TRANSITIONS = [
    pytest.param(name, transition, id=f"{name}-{transition.name}")
    for name, module in PROTOCOLS.items()
    for transition in trace_protocol(module)
]
EXAMPLES = {Role.EVERY_STEP: 8}
RARE = {
    # Two arbitrary states are hardly ever the step of which these say something, and they hold of
    # nearly all others: the node is in a certain condition before and after, under a certain policy
    # or with certain buckets complete.
    "a_failure_shows_what_waits": {"dpc", "dpc_crash"},
    "a_suspended_node_is_silent": {"dpc", "dpc_counts", "dpc_crash"},
    "corrections_are_at_hand": {"dpc_counts", "dpc_crash"},
    "a_failure_begins": {"dpc"},
    "guesses_are_new": {"dpc"},
    "who_stabilizes_does_not_fail_at_once": {"dpc_chain"},
    "what_is_complete_is_not_guessed": {"dpc", "dpc_counts", "dpc_crash"},
    # Hardly any arbitrary state is what these look for: many facts must come together.
    "a_node_is_whole_again": {"flux_exchange"},
    "a_token_is_recorded_on_a_channel": {"token_passing"},
    "a_twin_leads": {"merge_order"},
}
"""Properties, and the models in which they answer both ways on thousands of states alone."""
PROPERTY_ROLES = (Role.ALWAYS, Role.EVERY_STEP, Role.SOMETIMES, Role.LEADS_TO, Role.FINAL)


FAST = ("chandy_lamport", "egress", "flux", "sunion")
"""Models that have all of the language between them. The others are compared by `verify`, too."""


def methods(*roles: Role):
    """List methods of models; those of most models are slow."""
    return [
        pytest.param(
            name,
            method,
            id=f"{name}-{method.name}",
            marks=[] if name in FAST else pytest.mark.slow,
        )
        for name, model in MODELS.items()
        for role in roles
        for method in model.methods(role)
    ]


def test_there_is_a_protocol_and_a_model():
    assert TRANSITIONS
    assert MODELS


def test_what_is_rare_are_properties_of_models():
    known = {case.id for case in methods(*PROPERTY_ROLES)}
    rare = {f"{model}-{name}" for name, models_of in RARE.items() for model in models_of}
    assert rare < known


@pytest.mark.parametrize(("name", "transition"), TRANSITIONS)
def test_a_transition_agrees_with_its_traced_form(name, transition):
    agree_on_transition(PROTOCOLS[name], transition, 20)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "transition"), TRANSITIONS)
def test_a_transition_agrees_with_its_traced_form_on_more_states(name, transition):
    agree_on_transition(PROTOCOLS[name], transition, 6_000)


@pytest.mark.parametrize(("name", "method"), methods(Role.ACTION))
def test_an_action_agrees_with_its_traced_form(name, method):
    agree_on_action(MODELS[name], method, 10)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), methods(Role.ACTION))
def test_an_action_agrees_with_its_traced_form_on_more_states(name, method):
    agree_on_action(MODELS[name], method, 1_000)


@pytest.mark.parametrize(("name", "method"), methods(*PROPERTY_ROLES))
def test_a_property_agrees_with_its_traced_form(name, method):
    both_ways = name not in RARE.get(method.name, ())
    agree_on_property(MODELS[name], method, EXAMPLES.get(method.role, 20), both_ways=both_ways)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), methods(*PROPERTY_ROLES))
def test_a_property_agrees_with_its_traced_form_on_more_states(name, method):
    agree_on_property(MODELS[name], method, 400, both_ways=True)


@pytest.mark.parametrize(("name", "method"), methods(Role.INIT))
def test_an_initial_state_agrees_with_its_traced_form(name, method):
    agree_on_start(MODELS[name], method, 20)


@pytest.mark.parametrize(
    "name", [pytest.param(m, marks=[] if m in FAST else pytest.mark.slow) for m in MODELS]
)
def test_an_assumption_agrees_with_its_traced_form(name):
    model_class = MODELS[name]
    traced = trace_model(model_class)
    assumed = model_class.methods(Role.ASSUME)
    assert len(traced.assumptions) == len(assumed)

    @tried(20)
    @given(models(model_class), states(model_class))
    def agree(model, state):
        here = world(model, state)
        for method, form in zip(assumed, traced.assumptions, strict=True):
            assert getattr(model, method.name)() == evaluate(form, here, {})

    if assumed:
        agree()


def test_calls_know_their_parameters():
    model = MODELS["chandy_lamport"].sized()
    for method in model.methods(Role.ACTION):
        for call in model.calls(method):
            assert isinstance(call, Call)
            assert len(call.parameters) == len(call.arguments)
