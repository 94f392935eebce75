"""Comparing the traced form of a model, an invariant or a protocol with the code."""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from types import ModuleType
from typing import Any

from streamproof.lang.form import TracedModel
from streamproof.lang.model import Model
from streamproof.lang.trace import trace_anew, trace_answers, trace_model, trace_protocol
from streamproof.models.kit.sizes import at_size
from streamproof.proofs.invariant import Invariant, open_conjuncts, traced_lemmas
from streamproof.translation.comparison import FURTHER_WALKS, Comparison, TracingDisagrees
from streamproof.translation.executed import Executed
from streamproof.translation.invariant_units import invariant_units
from streamproof.translation.points import is_walkable
from streamproof.translation.report import Compared, TranslationReport
from streamproof.translation.units import model_units, protocol_units


def validate_model(model: Model[Any]) -> TranslationReport:
    """Compare the traced form of a model's class with its methods, on runs of this size, too.

    Raises
    ------
    TracingDisagrees : if they differ
    Untraceable : if it cannot be traced
    """
    cls: Any = type(model)
    began, traced = time.perf_counter(), trace_model(cls)
    report, comparison = _validated_class(cls), _comparison(cls)
    _require_same_constants(cls)
    if model != _sized(cls) and is_walkable(model, traced):
        before = comparison.compared
        comparison.along_runs(model, traced, FURTHER_WALKS)
        walked = {repr(model): Compared(comparison.compared - before, 0, 0)}
        report = report + TranslationReport(walked, 0.0)
    return replace(report, seconds=time.perf_counter() - began)


def validate_invariant(invariant: Invariant) -> TranslationReport:
    """Compare the traced form of an invariant and of its model with the code.

    Raises
    ------
    TracingDisagrees : if they differ
    """
    cls: Any = invariant.model_class
    began, traced, executed = time.perf_counter(), trace_model(cls), Executed()
    with executed.recording():
        conjuncts, lemmas = open_conjuncts(invariant), traced_lemmas(invariant)
    units = invariant_units(invariant, traced, conjuncts, lemmas)
    comparison = Comparison(f"the invariant of {cls.__name__}", units, executed)
    found = _validated_class(cls) + _reported(comparison, _sized(cls), traced)
    return replace(found, seconds=time.perf_counter() - began)


def validate_protocol(module: ModuleType) -> TranslationReport:
    """Compare the traced form of a protocol with its public functions.

    Raises
    ------
    TracingDisagrees : if they differ
    """
    executed = Executed()
    with executed.recording():
        forms = (*trace_protocol.__wrapped__(module), *trace_answers.__wrapped__(module))
    units = protocol_units(module, forms)
    return _reported(Comparison(module.__name__.rpartition(".")[2], units, executed), None, None)


@functools.cache
def _comparison(cls: Any) -> Comparison:
    executed, traced = Executed(), trace_model(cls)
    with executed.recording():
        again = trace_anew(cls)
    if _untold(again) != _untold(traced):
        raise TracingDisagrees(
            f"{cls.__name__} was traced twice, and the two traced forms differ: a method depends "
            "on more than its arguments and the model's fields, such as a counter. Nothing "
            "that rests on a traced form would hold. Let methods depend on these alone"
        )
    return Comparison(cls.__name__, model_units(traced), executed)


def _untold(traced: TracedModel) -> TracedModel:
    """Leave out the texts of claims: pytest puts values into them, under new names."""
    return replace(traced, claims=tuple(replace(claim, text="") for claim in traced.claims))


@functools.cache
def _constants_of(cls: Any) -> dict[str, Any]:
    """Keep the constants of a class as they were when it was compared for the first time."""
    return _comparison(cls).executed.constants(cls)


def _require_same_constants(cls: Any) -> None:
    before, now = _constants_of(cls), _comparison(cls).executed.constants(cls)
    changed = [name for name in before if now.get(name) != before[name]]
    if changed:
        values = ", ".join(f"{name} was {before[name]!r}, is {now.get(name)!r}" for name in changed)
        raise TracingDisagrees(
            f"what {cls.__name__} reads has changed since it was traced: {values}. The traced form "
            "has the old value. Make it a field of the model, or check each value in a process of "
            "its own"
        )


@functools.cache
def _validated_class(cls: Any) -> TranslationReport:
    return _reported(_comparison(cls), _sized(cls), trace_model(cls))


def _sized(cls: type[Model[Any]]) -> Model[Any] | None:
    """Build the first size that a model names; None if it names none."""
    for size in cls.sizes.values():
        return at_size(cls, size)
    return None


def _reported(
    comparison: Comparison, model: Model[Any] | None, traced: TracedModel | None
) -> TranslationReport:
    began = time.perf_counter()
    comparison.everywhere(model, traced)
    compared = Compared(comparison.compared, comparison.outcomes, comparison.impossible)
    return TranslationReport({comparison.what: compared}, time.perf_counter() - began)
