"""Flux's invariant is proven, for any number of lanes and tuples, and each part is needed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.invariants.flux import ALSO_TRUE
from streamproof.proofs.obligations import Kind, Theory, obligations

INVARIANT = find_invariant("flux")


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


def test_the_properties_of_the_model_are_to_follow():
    kinds = (Kind.SAFETY, Kind.STEP)
    asked = obligations(Theory.of(INVARIANT))
    proven = {part.subject for part in asked if part.kind in kinds}
    assert proven == {"copies_agree", "nothing_is_lost"}


def test_the_invariant_says_what_the_notes_say():
    conjuncts = (*INVARIANT.conjuncts, *ALSO_TRUE)
    said = " ".join(conjunct.__doc__.partition(":")[0] for conjunct in conjuncts)
    assert set(re.findall(r"[A-Z]\d+", said)) >= {
        "F0",
        "F1",
        "F2",
        "F3",
        "F4",
        "F5",
        "F6",
        "F7",
        "F10",
    }


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("left_out", INVARIANT.conjuncts, ids=lambda conjunct: conjunct.__name__)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept), rlimit=200_000).failed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_what_nothing_rests_on_is_true_as_well():
    whole = replace(INVARIANT, conjuncts=(*INVARIANT.conjuncts, *ALSO_TRUE))
    assert isinstance(prove(whole).verdict, Proved)
