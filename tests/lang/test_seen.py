"""Code that could see that a value is symbolic is refused, whatever it does with the refusal."""

from __future__ import annotations

import inspect

import pytest

from streamproof.lang import Untraceable
from streamproof.lang.trace import trace_model
from tests.lang import seen_caught, seen_compiled, seen_otherwise, seen_text, seen_values
from tests.lang.support.refused import model_with

SEEN = [
    part
    for module in (seen_values, seen_otherwise, seen_text, seen_caught, seen_compiled)
    for part in vars(module).values()
    if inspect.isfunction(part)
    and part.__module__ == module.__name__
    and list(inspect.signature(part).parameters)[:3] == ["model", "s", "p"]
]

OF_THE_ACTION = (
    "state_changed_in_place",
    "default_list",
    "function_attribute",
    "object_by_default",
)
"""Where what changes is an argument of the action, or of a function that it calls."""
OF_A_HELPER = ("type_by_default", "list_around_a_property", "looked_at_by_exit")
"""Where a function that it calls is to blame."""


@pytest.mark.parametrize("function", SEEN, ids=lambda function: function.__name__)
def test_what_could_see_a_symbolic_value_is_refused_with_the_place(function):
    with pytest.raises(Untraceable) as caught:
        trace_model(model_with(function))
    place, _, line = caught.value.location.rpartition(":")
    assert caught.value.remedy
    if function.__name__ in OF_THE_ACTION:
        assert place == model_with.__code__.co_filename
        return
    assert place == function.__code__.co_filename
    if function.__name__ in OF_A_HELPER:
        return
    first = function.__code__.co_firstlineno
    last = max(line for *_, line in function.__code__.co_lines() if line)
    assert first <= int(line) <= last
