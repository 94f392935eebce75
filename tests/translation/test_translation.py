"""Goal: no traced form that is not the code gives a verdict. Method: code that sees that it is
traced, and right code with every one-place fault in its traced form."""

from __future__ import annotations

import functools
from collections import Counter
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker.engines import explore_natively
from streamproof.lang.trace import trace_anew, trace_model
from streamproof.models.kit import registry
from streamproof.models.kit.places import protocol_names
from streamproof.models.kit.registry import protocol_module
from streamproof.models.kit.sizes import at_size
from streamproof.proofs.find import find_invariant, invariant_names
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant
from streamproof.translation import (
    TracingDisagrees,
    TranslationUndecided,
    validate_invariant,
    validate_model,
    validate_protocol,
)
from streamproof.translation.comparison import Comparison
from streamproof.translation.executed import Executed
from streamproof.translation.units import model_units
from tests.translation.faults import faulty_forms, says_the_same
from tests.translation.support.seeing import SEEING, Cubes, Honest, InStep


def test_a_model_that_is_what_it_was_traced_as_passes() -> None:
    report = validate_model(at_size(Honest, {"ps": 2}))
    assert report.compared > 100
    assert report.impossible == 0


@pytest.mark.parametrize("cls", SEEING, ids=lambda cls: cls.__name__)
def test_code_that_sees_that_it_is_traced_is_told(cls: Any) -> None:
    with pytest.raises(TracingDisagrees, match=cls.__name__):
        validate_model(at_size(cls, {"ps": 2}))


def test_a_condition_that_z3_cannot_decide_is_an_error_and_no_verdict() -> None:
    with pytest.raises(TranslationUndecided, match=r"Cubes.no_sum_is_known .* Z3 gave up"):
        check(at_size(Cubes, {}), engine=explore_natively)


def test_nothing_is_exhausted_by_a_traced_form_that_is_not_the_code() -> None:
    model = at_size(SEEING[0], {"ps": 2})
    with pytest.raises(TracingDisagrees, match="bounded"):
        check(model, engine=explore_natively)


def test_nothing_is_proved_of_a_traced_form_that_is_not_the_code() -> None:
    invariant = Invariant(InStep, (lambda m, s: m.bounded(s),))
    with pytest.raises(TracingDisagrees, match="rises"):
        prove(invariant)


def test_a_conjunct_that_is_not_what_it_was_traced_as_is_told() -> None:
    from tests.translation.support.seeing import is_traced

    invariant = Invariant(Honest, (lambda m, s: m.bounded(s), lambda _, s: is_traced() or s.n > 3))
    with pytest.raises(TracingDisagrees, match="conjunct 2"):
        validate_invariant(invariant)


def test_the_message_names_the_line_that_no_traced_path_executes() -> None:
    from tests.translation.support import seeing

    with pytest.raises(TracingDisagrees, match=r"bounded \(.*seeing\.py:\d+\)"):
        validate_model(at_size(seeing.InProperty, {"ps": 2}))


def test_a_constant_of_the_class_that_changes_after_the_trace_is_told() -> None:
    from tests.translation.support.seeing import Limited

    assert validate_model(Limited.sized(ps=2, limit=3)).compared > 100
    with pytest.raises(TracingDisagrees, match="limit was 3, is 4"):
        validate_model(Limited.sized(ps=2, limit=4))


def test_finalizers_of_others_are_not_taken_for_the_model() -> None:
    class Left:
        def __init__(self) -> None:
            self.itself = self  # which only the collector frees

        def __del__(self) -> None:
            sum(range(3))

    executed = Executed()
    with executed.recording():
        for _ in range(5_000):
            Left()
    assert Left.__del__.__code__ not in executed.offsets


def test_claims_that_pytest_rewrites_are_traced_alike() -> None:
    from tests.translation.support.seeing import Claiming

    assert validate_model(at_size(Claiming, {"ps": 2})).compared > 100


def told(traced: Any, executed: Executed, model: Any) -> bool:
    """Return whether a comparison notices that a traced form is not that of the model."""
    comparison = Comparison("it", model_units(traced), executed)
    try:
        comparison.everywhere(model, traced)
    except TracingDisagrees:
        return True
    return False


@functools.cache
def executed_of(cls: Any) -> Executed:
    executed = Executed()
    with executed.recording():
        trace_anew(cls)
    return executed


def survivors(cls: Any, every: int) -> tuple[Counter[str], list[str]]:
    """Try the faulty forms of a model, one in so many; count them, and list those not noticed.

    Some changes change nothing, such as `a <= b` to `a < b` where `a + 1 <= b` stands beside it.
    """
    model = at_size(cls, next(iter(cls.sizes.values())))
    tried: Counter[str] = Counter()
    missed = []
    right = trace_model(cls)
    for number, (what, wrong) in enumerate(faulty_forms(right)):
        if number % every == 0:
            tried[what.partition(":")[0]] += 1
            if not told(wrong, executed_of(cls), model) and not says_the_same(right, wrong):
                missed.append(f"{number}, {what}")
    return tried, missed


def test_every_fault_in_the_traced_form_of_a_small_model_is_told() -> None:
    tried, missed = survivors(Honest, 1)
    assert sum(tried.values()) > 40
    assert missed == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["chandy_lamport", "egress", "merge_order", "permission"])
def test_faults_in_the_traced_form_of_a_protocols_model_are_told(name: str) -> None:
    tried, missed = survivors(registry.load(name).main, 25)
    assert sum(tried.values()) > 10
    assert len(missed) <= sum(tried.values()) // 20, missed


QUICK = ("egress",)
"""Invariants that are compared in a few seconds."""


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name in invariant_names()
    ],
)
def test_the_traced_form_of_every_invariant_and_its_model_is_the_code(name: str) -> None:
    assert validate_invariant(find_invariant(name)).compared > 500


@pytest.mark.parametrize("name", protocol_names())
def test_the_traced_form_of_every_protocol_is_the_code(name: str) -> None:
    assert validate_protocol(protocol_module(name)).compared > 50
