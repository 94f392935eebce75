"""A transition run with plain values and its traced form evaluated give the same, on any state.

For every transition of every protocol, and every action, initial state and property of every model,
Hypothesis makes arbitrary states, reachable or not, and constants. State, effects, whether the step
is possible, and which claims fail must agree; of the paths of one action at most one is possible.
Each case also asserts that something happened, or the agreement would be vacuous.
"""

from __future__ import annotations

import importlib
import pkgutil
import typing
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streamproof import protocols
from streamproof.lang import Domain
from streamproof.lang.evaluate import World, evaluate, rebuild, world
from streamproof.lang.model import STATES_TAKEN, Call, Role
from streamproof.lang.sorts import sort_of
from streamproof.lang.trace import state_sort_of, trace_model, trace_protocol
from streamproof.models import registry
from tests.lang.agreement import (
    assert_action_agrees,
    assert_property_agrees,
    assert_transition_agrees,
    element_sorts,
)
from tests.strategies import domains_of, models, states, values

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
EXAMPLES = {Role.EVERY_STEP: 40, Role.ALWAYS: 80}
PROPERTY_ROLES = (Role.ALWAYS, Role.EVERY_STEP, Role.SOMETIMES, Role.LEADS_TO, Role.FINAL)


def methods(*roles: Role):
    return [
        pytest.param(name, method, id=f"{name}-{method.name}")
        for name, model in MODELS.items()
        for role in roles
        for method in model.methods(role)
    ]


def tried(examples: int):
    return settings(
        max_examples=examples,
        derandomize=examples < 1_000,  # what is asserted to happen must happen every time
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def test_there_is_a_protocol_and_a_model():
    assert TRANSITIONS
    assert MODELS


@pytest.mark.parametrize(("name", "transition"), TRANSITIONS)
def test_a_transition_agrees_with_its_traced_form(name, transition):
    agree_on_transition(name, transition, 300)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "transition"), TRANSITIONS)
def test_a_transition_agrees_with_its_traced_form_on_more_states(name, transition):
    agree_on_transition(name, transition, 20_000)


def agree_on_transition(name, transition, examples):
    module = PROTOCOLS[name]
    hints = typing.get_type_hints(getattr(module, transition.name), include_extras=True)
    sorts = [sort_of(hint) for part, hint in hints.items() if part != "return"]
    names = sorted(set().union(*map(element_sorts, sorts)))
    domains = {part: Domain.of(part, (f"{part}0", f"{part}1", f"{part}2")) for part in names}
    happened: Counter[str] = Counter()

    @tried(examples)
    @given(st.tuples(*(values(sort, domains) for sort in sorts)))
    def agree(arguments):
        happened[assert_transition_agrees(module, transition, arguments, domains)] += 1

    agree()
    assert happened["taken"] > examples / 20


@pytest.mark.parametrize(("name", "method"), methods(Role.ACTION))
def test_an_action_agrees_with_its_traced_form(name, method):
    agree_on_action(name, method, 80)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), methods(Role.ACTION))
def test_an_action_agrees_with_its_traced_form_on_more_states(name, method):
    agree_on_action(name, method, 3_000)


def agree_on_action(name, method, examples):
    model_class = MODELS[name]
    traced = trace_model(model_class)
    happened: Counter[str] = Counter()

    @tried(examples)
    @given(models(model_class), states(model_class))
    def agree(model, state):
        for call in model.calls(method):
            happened[assert_action_agrees(traced, model, state, call)] += 1

    agree()
    assert happened["taken"] > examples / 20
    assert happened["disabled"] > 0


@pytest.mark.parametrize(("name", "method"), methods(*PROPERTY_ROLES))
def test_a_property_agrees_with_its_traced_form(name, method):
    agree_on_property(name, method, EXAMPLES.get(method.role, 250))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), methods(*PROPERTY_ROLES))
def test_a_property_agrees_with_its_traced_form_on_more_states(name, method):
    agree_on_property(name, method, 1_500)


def agree_on_property(name, method, examples):
    model_class = MODELS[name]
    traced = trace_model(model_class)
    taken = STATES_TAKEN.get(method.role, 1)
    happened: set[tuple[bool, ...]] = set()

    @tried(examples)
    @given(models(model_class), states(model_class), st.data())
    def agree(model, state, data):
        # Some states are walked to, since arbitrary ones break a property almost always.
        before = data.draw(walks(model)) if data.draw(st.integers(0, 3)) == 3 else state
        given_states = (before,)
        if taken == 2:
            given_states = (before, data.draw(st.just(state) | steps(model, before)))
        for call in model.calls(method):
            happened.add(
                assert_property_agrees(traced, method.name, model, given_states, call.arguments)
            )

    agree()
    assert len(happened) > 1, "the property answers alike on all states"


def walks(model):
    """Reach a state in a few steps."""
    state = st.sampled_from(list(model.initial_states()))
    for _ in range(3):
        state = state.flatmap(lambda reached: steps(model, reached))
    return state


def steps(model, state):
    """Take a step, or none if none is possible."""
    targets = [move.target for move in model.moves(state) if move.target is not None]
    return st.sampled_from(targets or [state])


@pytest.mark.parametrize(("name", "method"), methods(Role.INIT))
def test_an_initial_state_agrees_with_its_traced_form(name, method):
    model_class = MODELS[name]
    traced = trace_model(model_class)
    sort = state_sort_of(model_class)

    @tried(200)
    @given(models(model_class))
    def agree(model):
        here = World(domains_of(model_class), {f: getattr(model, f) for f in vars(model)})
        for call in model.calls(method):
            (command,) = (part for part in traced.initial if part.name == method.name)
            bound = dict(zip(command.parameters, call.arguments, strict=True))
            updates = {update.variable: update for update in command.updates}

            def value(name, keys, updates=updates, bound=bound):
                update = updates[name]
                at = dict(zip(update.keys, keys, strict=True))
                return evaluate(update.value, here, {**bound, **at})

            plain = getattr(model, method.name)(*call.arguments)
            assert rebuild(sort, here.domains, value) == plain

    agree()


@pytest.mark.parametrize("name", MODELS)
def test_an_assumption_agrees_with_its_traced_form(name):
    model_class = MODELS[name]
    traced = trace_model(model_class)
    assumed = model_class.methods(Role.ASSUME)
    assert len(traced.assumptions) == len(assumed)

    @tried(50)
    @given(models(model_class), states(model_class))
    def agree(model, state):
        here = world(model, state)
        for method, form in zip(assumed, traced.assumptions, strict=True):
            assert getattr(model, method.name)() == evaluate(form, here, {})

    if assumed:
        agree()


def test_calls_know_their_parameters():
    model = next(iter(MODELS.values())).sized()
    for method in model.methods(Role.ACTION):
        for call in model.calls(method):
            assert isinstance(call, Call)
            assert len(call.parameters) == len(call.arguments)
