"""The invariant of egress is proven, for any number of outputs, and each part is needed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.obligations import Kind

INVARIANT = find_invariant("egress")


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


def test_the_properties_of_the_model_follow(report):
    kinds = (Kind.SAFETY, Kind.STEP)
    proven = {part.obligation.subject for part in report.outcomes if part.obligation.kind in kinds}
    assert proven == {"each_output_is_seen_once", "nothing_is_lost"}


def test_the_invariant_says_what_the_notes_say():
    said = " ".join(conjunct.__doc__.partition(":")[0] for conjunct in INVARIANT.conjuncts)
    assert set(re.findall(r"[A-Z]\d+", said)) >= {"E1", "E2", "E3"}


@pytest.mark.parametrize("left_out", INVARIANT.conjuncts, ids=lambda conjunct: conjunct.__name__)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept), rlimit=200_000).failed
