"""The model of egress: its states are counted on real queues, and its mutants are caught."""

from __future__ import annotations

import pytest

from streamproof.models.egress import EgressPair
from streamproof.models.mutants.egress import MUTANTS
from tests.golden import manifest
from tests.models.independent_egress import Setting, count
from tests.models.support.hunt import hunt

NAMED = {"egress/no-deduplication": 7, "egress/tell-first": 5}
"""The mutants of our protocol notes, 2.6, and how long their traces are there."""


@pytest.mark.parametrize("size", EgressPair.sizes)
def test_maps_and_plain_tuples_give_the_same_states(size):
    assert count(Setting(**EgressPair.sizes[size])) == manifest.counts("egress", size)


def test_every_mutant_dies_by_its_named_property_in_few_steps():
    steps = hunt("egress")
    assert set(steps) == {mutant.name for mutant in MUTANTS}
    assert all(steps[name] <= most for name, most in NAMED.items())
