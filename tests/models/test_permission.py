"""The model of permission: its states are counted on real queues, and its mutants are caught."""

from __future__ import annotations

import pytest

from streamproof.checker import check
from streamproof.models.mutants.permission import MUTANTS, TieBreak
from streamproof.models.permission import PermissionModel
from tests.golden import manifest
from tests.models.independent_permission import count
from tests.models.support.hunt import hunt

NAMED = {"permission/no-grant", "permission/both-yield", "permission/request-after-grant"}
"""The mutants of our protocol notes, 3.5."""


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(size, marks=[pytest.mark.slow] if size == "three" else [])
        for size in ("small", "default", "three")
    ],
)
def test_facts_and_queues_give_the_same_states(size):
    assert count(**PermissionModel.sizes[size]) == manifest.counts("permission", size)


@pytest.mark.slow
def test_three_replicas_that_do_not_crash_have_the_states_that_queues_give():
    counts = check(PermissionModel.sized(replicas=3), liveness=False).counts
    assert (counts.distinct, counts.generated, counts.depth) == count(3, 0) == (3_856, 13_945, 34)


def test_every_mutant_of_the_notes_is_there():
    assert {mutant.name for mutant in MUTANTS} >= NAMED


@pytest.mark.slow
def test_every_mutant_dies_by_its_named_property_in_few_steps():
    assert set(hunt("permission")) == {mutant.name for mutant in MUTANTS}


def test_a_tie_break_is_enough_for_two_replicas_and_not_for_three():
    found = check(TieBreak.sized(replicas=2), liveness=False)
    assert not [part for part in found.findings if part.verdict.status.value == "REFUTED"]
    found = check(TieBreak.sized(replicas=3), liveness=False)
    assert [part.name for part in found.findings if part.verdict.status.value == "REFUTED"] == [
        "deadlock"
    ]
