"""Chandy-Lamport's invariant is proven, and each of its parts is needed.

The whole proof runs once here; leaving out what says that a marker is not overtaken must fail, with
an example in which a message passes a marker.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.checker.reach import reach
from streamproof.models.kit.places import protocol_names
from streamproof.models.kit.verdict import Proved, Reachable
from streamproof.proofs.find import UnknownInvariant, find_invariant, invariant_names
from streamproof.proofs.induction import prove
from streamproof.proofs.obligations import Kind

INVARIANT = find_invariant("chandy_lamport")


@pytest.fixture(scope="module")
def report():
    return prove(INVARIANT)


def test_every_protocol_has_an_invariant():
    assert invariant_names() == protocol_names()


def test_every_obligation_is_unsat_and_none_is_vacuous(report):
    assert report.verdict == Proved(len(report.outcomes))
    assert report.vacuous == ()


def test_every_path_and_conjunct_has_its_obligation(report):
    consecution = {
        (part.obligation.subject, part.obligation.action)
        for part in report.outcomes
        if part.obligation.kind is Kind.CONSECUTION
    }
    paths = {"send/0", "receive/0", "initiate/0", "receive_marker/0", "receive_marker/1"}
    conjuncts = {conjunct.__name__ for conjunct in INVARIANT.conjuncts}
    assert consecution == {(conjunct, path) for conjunct in conjuncts for path in paths}


def test_the_invariant_says_what_the_literature_says():
    numbers = {conjunct.__doc__.partition(":")[0] for conjunct in INVARIANT.conjuncts}
    assert numbers >= {f"I{number}" for number in range(1, 8)}


def test_both_lemmas_of_reachable_between_are_proven(report):
    lemmas = {
        part.obligation.subject for part in report.outcomes if part.obligation.kind is Kind.LEMMA
    }
    assert {name for name in lemmas if name.startswith("shadow_of")} == {
        "shadow_of_a_send",
        "shadow_of_a_receive",
        "shadow_of_a_marker",
        "shadow_of_an_initiation",
    }
    assert len([name for name in lemmas if "_moves_behind_" in name]) == 4


def test_the_properties_of_the_model_follow(report):
    proven = {
        part.obligation.subject
        for part in report.outcomes
        if part.obligation.kind in (Kind.SAFETY, Kind.STEP)
    }
    assert proven == {"consistent_cut", "channel_exact", "non_interference", "shadow_simulation"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "left_out",
    INVARIANT.conjuncts,
    ids=lambda conjunct: conjunct.__name__,
)
def test_no_conjunct_can_be_left_out(left_out):
    kept = tuple(part for part in INVARIANT.conjuncts if part is not left_out)
    assert prove(replace(INVARIANT, conjuncts=kept)).failed


@pytest.mark.slow
def test_without_fifo_a_message_passes_a_marker():
    kept = [part for part in INVARIANT.conjuncts if part.__name__ != "marker_is_not_overtaken"]
    failed = prove(replace(INVARIANT, conjuncts=tuple(kept)), reach=reach).failed
    receive = next(part for part in failed if part.obligation.action == "receive/0")
    assert [example.size for example in receive.examples] == [2, 3]
    assert {example.reachable for example in receive.examples} == {Reachable.NO}
    assert all("receive(" in example.step for example in receive.examples)


def test_an_unknown_invariant_is_refused_with_those_that_there_are(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("INVARIANT = None\n", encoding="utf-8")
    with pytest.raises(UnknownInvariant, match="chandy_lamport"):
        find_invariant(str(mine))
