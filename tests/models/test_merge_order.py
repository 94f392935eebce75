"""The model of merge order: its states are counted on real logs, and its mutants are caught."""

from __future__ import annotations

import pytest

from streamproof.models.merge_order import MergeOrder
from streamproof.models.mutants.merge_order import MUTANTS
from tests.golden import manifest
from tests.models.independent_merge_order import Setting, count
from tests.models.support.hunt import hunt

NAMED = {"merge_order/no-order": 6, "merge_order/emit-first": 6}
"""The mutants of our protocol notes, 2.5, and how long their traces are there."""


@pytest.mark.parametrize("size", MergeOrder.sizes)
def test_maps_and_plain_tuples_give_the_same_states(size):
    assert count(Setting(**MergeOrder.sizes[size])) == manifest.counts("merge_order", size)


def test_every_mutant_dies_by_its_named_property_in_few_steps():
    steps = hunt("merge_order")
    assert set(steps) == {mutant.name for mutant in MUTANTS}
    assert all(steps[name] <= most for name, most in NAMED.items())
