"""What asks for classes, catches errors or computes with containers is followed as it runs."""

from __future__ import annotations

import inspect

import pytest

from streamproof.lang.model import Role
from tests.lang import followed, followed_records
from tests.lang.support.agreement import agree_on_action
from tests.lang.support.refused import model_with

FOLLOWED = [
    part
    for module in (followed, followed_records)
    for part in vars(module).values()
    if inspect.isfunction(part) and [*inspect.signature(part).parameters][:2] == ["model", "s"]
]


@pytest.mark.parametrize("function", FOLLOWED, ids=lambda function: function.__name__)
def test_it_agrees_with_its_traced_form(function):
    made = model_with(function)
    (method,) = made.methods(Role.ACTION)
    agree_on_action(made, method, 25)
