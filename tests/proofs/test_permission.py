"""Permission's invariant is proven, for any number of replicas, and each of its parts is needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.obligations import Kind

INVARIANT = find_invariant("permission")


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


@pytest.mark.slow
def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


@pytest.mark.slow
def test_that_one_stabilizes_and_that_none_waits_in_a_circle_is_proven(report):
    proven = {
        part.obligation.subject
        for part in report.outcomes
        if part.obligation.kind in (Kind.SAFETY, Kind.LEMMA)
    }
    lemmas = {
        "who_asks_lacks_something",
        "who_waits_waits_for_a_holder",
        "who_holds_waits_farther_on",
    }
    assert proven == {"one_stabilizes", *lemmas}


def test_the_invariant_says_what_the_notes_say():
    numbers = {conjunct.__doc__.partition(":")[0][:2] for conjunct in INVARIANT.conjuncts}
    assert numbers >= {f"D{number}" for number in range(1, 6)}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("left_out", INVARIANT.conjuncts, ids=lambda conjunct: conjunct.__name__)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept), rlimit=200_000).failed
