"""The model of subscriptions: its states are counted on real queues, and its mutants are caught."""

from __future__ import annotations

import pytest

from streamproof.models.mutants.subscription.subscription import MUTANTS
from streamproof.models.subscription.subscription import SubscriptionModel
from tests.golden import manifest
from tests.models.independent_subscription import Setting, count
from tests.models.support.hunt import hunt

NAMED = {
    "subscription/count-tentative",
    "subscription/from-current",
    "subscription/no-undo",
    "subscription/no-deduplication",
    "subscription/truncate-connected",
}
"""The mutants of our protocol notes, 3.5."""


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(size, marks=[pytest.mark.slow] if size == "default" else [])
        for size in SubscriptionModel.sizes
    ],
)
def test_places_and_queues_give_the_same_states(size):
    assert count(Setting(**SubscriptionModel.sizes[size])) == manifest.counts("subscription", size)


def test_every_mutant_of_the_notes_is_there():
    assert {mutant.name for mutant in MUTANTS} >= NAMED


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_mutant_dies_by_its_named_property_in_few_steps():
    assert set(hunt("subscription")) == {mutant.name for mutant in MUTANTS}
