"""The tracer follows ordinary Python: branches, matches, loops, lambdas, records and maps.

The zoo has one action for each; on arbitrary states its plain run and its traced form agree. A few
forms are also compared word by word, since they are what a reader is shown.
"""

from __future__ import annotations

import pytest

from streamproof.lang.model import Role
from tests.lang.support.agreement import agree_on_action, agree_on_property, agree_on_start
from tests.lang.support.zoo import QuietZoo, Zoo

PROPERTY_ROLES = (Role.ALWAYS, Role.EVERY_STEP, Role.SOMETIMES, Role.LEADS_TO, Role.FINAL)


def methods(model_class, *roles):
    return [
        pytest.param(model_class, method, id=f"{model_class.__name__}-{method.name}")
        for role in roles
        for method in model_class.methods(role)
    ]


CHANGED = [part for part in methods(QuietZoo, Role.ACTION) if part.values[1].name == "nothing"]


@pytest.mark.parametrize(("model_class", "method"), methods(Zoo, Role.ACTION) + CHANGED)
def test_an_action_is_followed(model_class, method):
    agree_on_action(model_class, method, 40)


@pytest.mark.parametrize(("model_class", "method"), methods(Zoo, *PROPERTY_ROLES))
def test_a_property_is_followed(model_class, method):
    agree_on_property(model_class, method, 40, both_ways=True)


def test_a_property_with_another_role_is_followed():
    (method,) = (m for m in QuietZoo.methods(Role.SOMETIMES) if m.name == "time_passes")
    assert "time_passes" not in {m.name for m in QuietZoo.methods(Role.EVERY_STEP)}
    agree_on_property(QuietZoo, method, 40, both_ways=True)


def test_an_initial_state_is_followed():
    (method,) = Zoo.methods(Role.INIT)
    agree_on_start(Zoo, method, 40)
