"""The models of a DPC node count what an explorer on lists counts, and catch every mistake.

The explorer shares no code with the models. What the models promise besides (that everything is
corrected in the end) is decided with fairness, for each size.
"""

from __future__ import annotations

from functools import partial

import pytest

from streamproof.checker import check
from streamproof.models.kit import registry
from streamproof.protocols.dpc import Policy
from tests.golden import manifest
from tests.models.independent_dpc import count
from tests.models.independent_dpc_chain import Size as Chain
from tests.models.independent_dpc_chain import count as count_chain
from tests.models.support.hunt import hunt

ON_LISTS = {
    ("dpc", "small"): partial(count, streams=2, buckets=1, failures=1),
    ("dpc", "default"): partial(count, streams=2, buckets=2, failures=2),
    ("dpc", "undo"): partial(count, streams=2, buckets=2, failures=2, undo=True),
    ("dpc_crash", "small"): partial(count, streams=1, buckets=2, failures=2, crashes=True),
    ("dpc_crash", "default"): partial(count, streams=2, buckets=2, failures=2, crashes=True),
    ("dpc_chain", "small"): partial(count_chain, Chain()),
    ("dpc_chain", "default"): partial(count_chain, Chain(stalls=2)),
    ("dpc_chain", "long"): partial(count_chain, Chain(hops=3)),
}
FILES = ("dpc", "dpc_chain", "dpc_crash")
LONG = ("dpc", "dpc_chain", "dpc_crash")
"""Those whose mutants take long to be found."""
MODELS = (*FILES, "dpc_counts")
NAMED = {
    "dpc/mislabel",
    "dpc/no-undo",
    "dpc/undo-stable",
    "dpc/late-checkpoint",
    "dpc/one-boundary",
    "dpc/arrival-order",
    "dpc/no-reconcile",
    "dpc/rec-done-early",
    "dpc_chain/timer-restart",
}
"""The mutants of our protocol notes, 3.2 and 3.5."""


@pytest.mark.parametrize(("name", "size"), ON_LISTS)
def test_the_model_and_lists_give_the_same_states(name, size):
    assert ON_LISTS[name, size]() == manifest.counts(name, size)


@pytest.mark.parametrize("name", FILES)
def test_every_size_is_counted_on_lists(name):
    assert {size for of, size in ON_LISTS if of == name} == set(registry.find(name).sizes)


@pytest.mark.parametrize("name", MODELS)
def test_every_policy_is_checked(name):
    for size in registry.find(name).sizes:
        starts = registry.build(name, size).initial_states()
        assert {start.policy for start in starts} == set(Policy)


@pytest.mark.parametrize(
    "name",
    [pytest.param(m, marks=pytest.mark.slow) if m == "dpc_chain" else m for m in MODELS],
)
def test_a_model_is_exhausted_with_its_promises(name):
    report = check(registry.build(name, "small"))
    assert report.verdict.status.value == "EXHAUSTED"


def test_the_mutants_of_the_notes_are_there():
    assert {mutant.name for name in FILES for mutant in registry.load(name).mutants} >= NAMED


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in FILES],
)
def test_every_mutant_dies_by_its_property(name):
    assert hunt(name) == {mutant.name: mutant.steps_max for mutant in registry.load(name).mutants}
