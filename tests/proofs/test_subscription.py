"""The invariant of subscriptions is proven, for any number of tuples, and each part is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.obligations import Kind, Theory, obligations

INVARIANT = find_invariant("subscription")


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


def test_the_properties_of_the_model_are_to_follow():
    """Three of them are steps of one machine, kept by every path of every action."""
    asked = obligations(Theory.of(INVARIANT))
    kinds = (Kind.SAFETY, Kind.STEP)
    assert {part.subject.partition(".")[0] for part in asked if part.kind in kinds} == {
        "the_view_is_right",
        "everybody_can_catch_up",
        "the_stable_prefix_only_grows",
        "the_best_is_asked",
        "what_is_sent_is_kept",
        "an_ack_is_for_good",
    }


def test_the_invariant_says_what_the_notes_say():
    said = " ".join(conjunct.__doc__.partition(":")[0] for conjunct in INVARIANT.conjuncts)
    assert all(f"V{number}" in said for number in range(6))


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("left_out", INVARIANT.conjuncts, ids=lambda conjunct: conjunct.__name__)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept), rlimit=200_000).failed
