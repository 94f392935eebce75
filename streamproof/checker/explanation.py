"""Explanations: which part of a property fails in a state, for models that can be traced."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from streamproof.lang import expr as ex
from streamproof.lang.evaluate import evaluate, world
from streamproof.lang.explain import explain
from streamproof.lang.form import TracedModel
from streamproof.lang.model import Model
from streamproof.lang.trace import AFTER, trace_model

TEXT_MAX = 200
"""Characters of an explanation that is still read."""


def failing_part(model: Model[Any], name: str, states: Sequence[Any]) -> str | None:
    """Print the conjunct of a property that is false, with its elements filled in.

    Parameters
    ----------
    name : of an `always` or `every_step` property that is broken at the end of a run
    states : the run's states, the last of which breaks it

    Returns
    -------
    None if the model cannot be traced, if its traced form sees nothing wrong, or if the part is
    too long to be an explanation
    """
    try:
        return _failing_part(trace_model(type(model)), model, name, states)
    except Exception:  # noqa: BLE001 - an explanation must not hide its verdict
        return None


def _failing_part(
    traced: TracedModel, model: Model[Any], name: str, states: Sequence[Any]
) -> str | None:
    form = next((part for part in traced.properties if part.name == name), None)
    if form is None or not dataclasses.is_dataclass(states[-1]):
        return None
    before, after = states[max(len(states) - 2, 0)], states[-1]
    place = world(model, before, **{AFTER: after}) if form.takes_a_step else world(model, after)
    whole = ex.conjunction(*(conjunct for _, conjunct in form.conjuncts))
    if form.parameters:
        whole = ex.quantify("forall", form.parameters, whole)
    if evaluate(whole, place, {}):
        return None
    part = explain(whole, place)
    return part if len(part) <= TEXT_MAX else None
