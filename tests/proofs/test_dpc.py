"""The invariant of a DPC node is proven, and each of its parts is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.obligations import Kind

INVARIANT = find_invariant("dpc")


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


def test_the_properties_of_the_model_follow(report):
    proven = {
        part.obligation.subject
        for part in report.outcomes
        if part.obligation.kind in (Kind.SAFETY, Kind.STEP)
    }
    assert proven == {
        "stable_prefix_grows",
        "stable_is_complete",
        "nothing_is_stable_in_a_failure",
        "operator_is_right.untainted",
        "operator_is_right.checkpoint",
        "counts_agree",
        "rec_done_is_true",
        "what_is_complete_is_not_guessed",
        "a_suspended_node_is_silent",
        "corrections_are_at_hand",
        "who_rebuilds_guesses_nothing",
    }


def test_undo_names_what_is_stable_and_no_bucket_comes_twice(report):
    claims = [part for part in report.outcomes if part.obligation.kind is Kind.CLAIM]
    claimed = {part.obligation.subject.rpartition(": ")[2] for part in claims}
    assert claimed == {
        "assert begin == s.corrected",
        "assert stable == s.stable",
        "assert count >= 0",
        "assert not effects or s.tail > 0",
        "assert self.nothing_is_owed(s)",
    }


@pytest.mark.slow
@pytest.mark.parametrize("left_out", INVARIANT.conjuncts, ids=lambda conjunct: conjunct.__name__)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept)).failed
