"""SUNION's invariant is proven, each of its parts is needed, and no mistake can be proven.

The whole proof runs once here, and once for every mutant, with the mutant's text in its place.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.models.kit.verdict import Proved
from streamproof.models.mutants.sunion.sunion import MUTANTS
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.obligations import Kind

INVARIANT = find_invariant("sunion")
PROVABLE = {"sunion/too-strict"}
"""Mutants that emit too little and nothing wrong, so that every invariant survives them."""


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


def subjects(report, *kinds):
    return {part.obligation.subject for part in report.outcomes if part.obligation.kind in kinds}


def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


def test_every_path_and_conjunct_has_its_obligation(report):
    consecution = {
        (part.obligation.subject, part.obligation.action)
        for part in report.outcomes
        if part.obligation.kind is Kind.CONSECUTION
    }
    # A boundary that says more and one that says less, a late tuple and one in time; an emission.
    paths = {*(f"read/{number}" for number in range(4)), "emit/0"}
    conjuncts = {conjunct.__name__ for conjunct in INVARIANT.conjuncts}
    assert consecution == {(conjunct, path) for conjunct in conjuncts for path in paths}


def test_the_invariant_says_what_our_notes_say():
    numbers = {conjunct.__doc__.partition(":")[0] for conjunct in INVARIANT.conjuncts}
    assert numbers >= {f"S{number}" for number in range(1, 5)}


def test_the_properties_of_the_model_follow(report):
    assert subjects(report, Kind.SAFETY, Kind.STEP) == {
        "output_is_a_prefix_of_the_merge",
        "replicas_agree",
        "nothing_is_lost",
        "nothing_comes_twice",
        "output_only_grows",
    }


def test_the_order_is_proven_to_be_total(report):
    assert subjects(report, Kind.LEMMA) == {
        "nothing_precedes_itself",
        "order_is_transitive",
        "order_is_total",
        "earlier_buckets_come_first",
    }


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("left_out", INVARIANT.conjuncts, ids=lambda conjunct: conjunct.__name__)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept)).failed


def test_few_mutants_are_left_to_the_checker():
    assert {mutant.name for mutant in MUTANTS} > PROVABLE


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_cannot_be_proven(mutant):
    found = prove(replace(INVARIANT, model_class=mutant.model_class))
    assert bool(found.failed) == (mutant.name not in PROVABLE)
