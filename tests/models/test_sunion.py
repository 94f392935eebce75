"""The model of SUNION counts what real lists count, and its properties catch what they should.

The other side is an explorer of our own on lists, sets and sorting, which shares no code with the
model and compares each output with a plain merge on the way.
"""

from __future__ import annotations

import pytest

from streamproof.checker.mutation import Fate, run_mutants
from streamproof.models import registry
from streamproof.models.mutants.sunion import MUTANTS
from streamproof.models.sizes import at_size
from streamproof.models.sunion import Sunion
from tests.golden import manifest
from tests.models.independent_sunion import Setting, count

ON_LISTS = {
    "small": Setting((2, 1), 1, 1),
    "default": Setting((2, 2), 2, 1),
    "large": Setting((3, 2), 2, 2),
    "three_streams": Setting((2, 2, 1), 1, 2),
    "three_replicas": Setting((2, 2), 1, 2, replicas=3),
}


# --------------------------------------------------------------------------- counts


@pytest.mark.parametrize(
    "size",
    [pytest.param(size, marks=[] if size == "small" else [pytest.mark.slow]) for size in ON_LISTS],
)
@pytest.mark.timeout(900)
def test_relations_and_lists_give_the_same_states(size):
    golden = manifest.read("sunion")["sizes"][size]
    assert count(ON_LISTS[size]) == (golden["distinct"], golden["generated"], golden["depth"])


def test_every_size_is_counted_on_lists():
    assert set(ON_LISTS) == set(Sunion.sizes)


def test_a_model_without_streams_has_bounds_all_the_same():
    model = Sunion.sized(lengths=(), buckets=0)
    assert (model.length_most, model.buckets_most, model.times_most) == (0, 0, 0)


# --------------------------------------------------------------------------- mutants

NAMED = {
    "SU-existsB",
    "SU-nobnd",
    "SU-offbyone",
    "SU-undisciplined",
    "DPC-arrival",
}
"""The mutants of our protocol notes, 3.2 and 3.5."""


def test_every_mutant_of_the_notes_is_there():
    assert {mutant.name for mutant in MUTANTS} >= NAMED


@pytest.mark.slow
def test_every_mutant_dies_by_its_named_property_in_few_steps():
    file = registry.load("sunion")
    results = list(
        run_mutants(
            file.mutants,
            original_of=lambda mutant: registry.original_of(mutant, file),
            build=at_size,
        )
    )
    assert {result.mutant.name: result.fate for result in results} == {
        mutant.name: Fate.KILLED for mutant in MUTANTS
    }
