"""Golden counts: each model, at each of its sizes, has exactly the states that it is known to have.

Those of two-phase commit come from elsewhere: TLC, Spin, stateright and Rumur agree on them.
"""

from __future__ import annotations

import pytest

from streamproof.checker.engines import explore_natively
from streamproof.checker.packable import is_packable
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Counts
from tests.golden import manifest
from tests.support.quick import sample_few_states

TWO_PHASE_COMMIT = {
    "small": Counts(288, 1_146, 11),
    "default": Counts(8_832, 58_146, 17),
    "large": Counts(296_448, 2_744_706, 23),
}


@pytest.fixture(autouse=True)
def few_states(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        sample_few_states(monkeypatch)


def test_every_model_has_a_manifest_for_every_size_and_mutant():
    written = {path.name for path in manifest.HERE.glob("*.json")}
    assert written == {manifest.path_of(target).name for target in manifest.targets()}
    for target in manifest.targets():
        found = manifest.read(target)
        assert list(found["sizes"]) == list(registry.find(target).sizes)
        assert list(found["mutants"]) == [mutant.name for mutant in registry.load(target).mutants]


@pytest.mark.parametrize("target", manifest.targets())
def test_a_manifest_has_the_form_of_one(target):
    assert manifest.problems(manifest.read(target)) == []


def test_a_malformed_manifest_is_found_out():
    bad = {"target": "x", "sizes": {"s": {"distinct": "3", "tier": "quick"}}, "mutants": {}}
    assert manifest.problems(bad | {"extra": 1}) == [
        "keys are ['extra', 'mutants', 'sizes', 'target']",
        "s: depth is missing or unknown",
        "s: firings is missing or unknown",
        "s: generated is missing or unknown",
        "s: distinct is '3'",
        "s: tier is none of ('fast', 'slow', 'native')",
    ]


def test_two_phase_commit_has_the_counts_of_other_checkers():
    for size, counts in TWO_PHASE_COMMIT.items():
        found = manifest.counts("examples/two_phase_commit.py", size)
        assert found == (counts.distinct, counts.generated, counts.depth)


def test_some_sizes_are_fast():
    assert manifest.cases("fast")


@pytest.mark.parametrize(("target", "size"), manifest.cases("fast"))
def test_a_fast_size_has_its_golden_counts(target, size):
    assert manifest.measured(target, size) == manifest.known(target, size)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("target", "size"), manifest.cases("slow"))
def test_a_slow_size_has_its_golden_counts(target, size):
    assert manifest.measured(target, size) == manifest.known(target, size)


@pytest.mark.parametrize(
    ("target", "size", "symmetry"),
    [
        pytest.param(
            target,
            size,
            symmetry,
            marks=[] if symmetry and target == "chandy_lamport" else pytest.mark.slow,
        )
        for tier in manifest.TIERS
        for target, size in manifest.cases(tier)
        for symmetry in (False, True)
    ],
)
def test_the_native_engine_counts_the_same(target, size, symmetry):
    model = registry.build(target, size)
    if not is_packable(model):
        pytest.skip("only the reference engine reads it")
    found = explore_natively(model, symmetry=symmetry).counts.to_json()
    wanted = {
        key: value for key, value in manifest.known(target, size).items() if value is not None
    }
    assert wanted.items() <= found.items()


@pytest.mark.slow  # that they die by their properties is in tests/models, and fast
@pytest.mark.parametrize(
    "target", [target for target in manifest.targets() if registry.load(target).mutants]
)
def test_mutants_die_as_recorded(target):
    assert manifest.measured_mutants(target) == manifest.read(target)["mutants"]
