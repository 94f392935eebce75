"""The model of Flux's lanes: its states are counted independently, and its mutants are caught."""

from __future__ import annotations

import pytest

from streamproof.checker.mutation import Fate
from streamproof.models.flux.flux import Flux
from streamproof.models.mutants.flux.flux import MUTANTS
from tests.golden import manifest
from tests.models.independent_flux import NOTES, Setting, count
from tests.models.support.hunt import hunt

NAMED = {
    "flux/no-deduplication": 7,
    "flux/wrong-ack": 7,
    "flux/takeover-from-production": 5,
    "flux/no-takeover": 6,
    "flux/early-fold": 11,
    "flux/early-snapshot": 11,
    "flux/no-retention": 9,
    "flux/stale-ack": 12,
}
"""The mutants of our protocol notes, 2.8, and how long their traces are there."""
FAST = ("small", "two_producer_failures", "no_repair")
"""Sizes that are counted in seconds in plain Python."""


@pytest.mark.parametrize(
    "size",
    [pytest.param(size, marks=[] if size in FAST else [pytest.mark.slow]) for size in Flux.sizes],
)
def test_machines_and_the_text_of_the_notes_give_the_same_states(size):
    assert count(Setting(**Flux.sizes[size])) == manifest.counts("flux", size)


@pytest.mark.slow
def test_the_independent_count_of_two_producer_failures_is_that_of_the_notes():
    assert count(Setting(1, 2, 0, reading=NOTES))[0] == 49_212


def test_every_mutant_of_the_notes_is_there_and_dies_as_early():
    assert {mutant.name for mutant in MUTANTS} == set(NAMED)
    recorded = manifest.read("flux")["mutants"]
    assert {name: entry["fate"] for name, entry in recorded.items()} == dict.fromkeys(
        NAMED, Fate.KILLED.value
    )
    assert all(recorded[name]["steps"] <= steps for name, steps in NAMED.items())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_mutant_dies_by_its_named_property_in_few_steps():
    assert set(hunt("flux")) == {mutant.name for mutant in MUTANTS}
