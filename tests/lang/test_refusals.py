"""What cannot be traced is refused, with the function, the line and what to write instead.

`refused.py` has one small function for each refusal. The line that must be named is marked there,
so that the test breaks if the message points elsewhere.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from streamproof.lang import Untraceable, refusals
from streamproof.lang import expr as ex
from streamproof.lang.step import Step
from streamproof.lang.trace import trace_model, trace_protocol
from tests.lang.support import refused
from tests.lang.support.refused import ANYWHERE, REFUSED, Small, model_with


@pytest.mark.parametrize("function", ANYWHERE, ids=lambda function: function.__name__)
def test_a_function_that_is_wrong_as_a_whole_is_named(function):
    what, remedy = ANYWHERE[function]
    model_class = model_with(function)
    with pytest.raises(Untraceable) as caught:
        trace_model(model_class)
    error = caught.value
    assert what in error.what
    assert remedy in error.remedy
    assert error.function == "act"
    assert error.location == f"{refused.__file__}:{first_line(model_class.act)}"


def first_line(function: Callable[..., Any]) -> int:
    return inspect.unwrap(function).__code__.co_firstlineno


def test_recursion_on_a_symbolic_value_is_refused():
    with pytest.raises(Untraceable, match="down .*more than 256 questions on one path"):
        trace_model(model_with(refused.recursion))


def marked_line(function: Callable[..., Any]) -> int:
    lines, first = inspect.getsourcelines(function)
    (marked,) = (
        first + index for index, line in enumerate(lines) if line.rstrip().endswith("# here")
    )
    return marked


@pytest.mark.parametrize("function", REFUSED, ids=lambda function: function.__name__)
def test_what_cannot_be_traced_is_refused_with_function_line_and_remedy(function):
    what, remedy = REFUSED[function]
    with pytest.raises(Untraceable) as caught:
        trace_model(model_with(function))
    error = caught.value
    assert what in error.what
    assert remedy in error.what + error.remedy
    assert error.location == f"{refused.__file__}:{marked_line(function)}"
    assert error.function in (function.__name__, "<genexpr>", "<lambda>")
    assert str(error).startswith(f"{error.function} ({error.location}) cannot be traced: ")


def summed_domain(model, s, p):
    return replace(s, n=sum(s.m[q] for q in model.ps))


def assigned_key(model, s, p):
    s.m[p] += 1
    return s


def test_a_sum_over_a_domain_and_an_assigned_key_are_refused_with_what_stands_for_them():
    with pytest.raises(Untraceable, match="no sum over a domain .*: keep the total in a field"):
        trace_model(model_with(summed_domain))
    with pytest.raises(Untraceable, match=r"assigns to a key .* Write m\.set\(key, value\), which"):
        trace_model(model_with(assigned_key))


def test_a_refusal_without_a_function_of_the_user_says_so(monkeypatch):
    monkeypatch.setattr(refusals, "users_frame", lambda _: None)
    error = refusals.untraceable("it does something", "Do not")
    assert str(error) == "a function (unknown place) cannot be traced: it does something. Do not"


# --------------------------------------------------------------------------- protocols


def module_with(result):
    """Make a protocol of one transition."""

    def on_event(flag: bool) -> Step[bool, Small]:
        return result(flag)

    module = ModuleType("made_protocol")
    on_event.__module__ = "made_protocol"
    module.on_event = on_event  # type: ignore[attr-defined]
    return module


@pytest.mark.parametrize("result", [lambda flag: flag, lambda flag: (flag, [Small(True)])])
def test_a_transition_gives_a_state_and_a_tuple_of_effects(result):
    with pytest.raises(Untraceable, match="on_event .* which is no step. Return the new state"):
        trace_protocol(module_with(result))


def test_an_effects_fields_may_be_plain_or_symbolic():
    (transition,) = trace_protocol(module_with(lambda flag: (flag, (Small(flag), Small(True)))))
    (command,) = transition.commands
    assert [str(effect.fields[0][1]) for effect in command.effects] == [
        str(command.parameters[0]),
        str(ex.TRUE),
    ]
