"""Golden counts: what the engines must find, as a file for each model.

A manifest holds, per named size, the counts and a tier: `fast` sizes run in every test run, `slow`
ones under `make test-slow`, and those for `native` are too large for the reference engine. Per
mutant it holds who kills it in how many steps. `make golden` alone writes manifests.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from streamproof.checker import check, explore
from streamproof.checker.mutation import MutantResult
from streamproof.models.kit import registry
from streamproof.verification import mutants_of

HERE = Path(__file__).parent
EXAMPLES = ("examples/lease.py", "examples/two_phase_commit.py")
TIERS = ("fast", "slow", "native")
COUNTS = {"distinct": int, "generated": int, "depth": int, "firings": dict}
MUTANT = {"fate": str, "killer": str, "steps": int, "distinct": int}


def targets() -> tuple[str, ...]:
    """List every model that must have a manifest."""
    return (*registry.names(), *EXAMPLES)


def path_of(target: str) -> Path:
    """Name the manifest of a model."""
    return HERE / f"{Path(target).stem}.json"


def read(target: str) -> dict[str, Any]:
    """Read a manifest; an empty one if there is none yet."""
    path = path_of(target)
    if not path.exists():
        return {"target": target, "sizes": {}, "mutants": {}}
    return dict(json.loads(path.read_text(encoding="utf-8")))


def cases(tier: str) -> list[tuple[str, str]]:
    """List the sizes of a tier, over all models."""
    return [
        (target, size)
        for target in targets()
        for size, entry in read(target)["sizes"].items()
        if entry["tier"] == tier
    ]


def known(target: str, size: str) -> dict[str, Any]:
    """Return the counts that a size is known to have."""
    return {key: count for key, count in read(target)["sizes"][size].items() if key != "tier"}


def counts(target: str, size: str) -> tuple[int, int, int]:
    """Return how many distinct and generated states a size has, and its depth."""
    found = known(target, size)
    return found["distinct"], found["generated"], found["depth"]


def measured(target: str, size: str) -> dict[str, Any]:
    """Count with the reference engine."""
    model = registry.build(target, size)
    return check(model, liveness=False, engine=explore).counts.to_json()


def measured_mutants(target: str) -> dict[str, Any]:
    """Run a model's mutants."""
    results = mutants_of(registry.load(target), limits=None)
    return {result.mutant.name: _mutant_entry(result) for result in results}


def problems(manifest: dict[str, Any]) -> list[str]:
    """List what is wrong with a manifest's form."""
    found = []
    if set(manifest) != {"target", "sizes", "mutants"}:
        found.append(f"keys are {sorted(manifest)}")
    for size, entry in manifest.get("sizes", {}).items():
        found += [f"{size}: {wrong}" for wrong in _misfits(entry, COUNTS | {"tier": str})]
        if entry.get("tier") not in TIERS:
            found.append(f"{size}: tier is none of {TIERS}")
    for name, entry in manifest.get("mutants", {}).items():
        found += [f"{name}: {wrong}" for wrong in _misfits(entry, MUTANT)]
    return found


def _misfits(entry: dict[str, Any], schema: dict[str, type]) -> list[str]:
    found = [f"{key} is missing or unknown" for key in sorted(set(entry) ^ set(schema))]
    known = [(key, entry[key], schema[key]) for key in schema if entry.get(key) is not None]
    return found + [f"{key} is {value!r}" for key, value, of in known if not isinstance(value, of)]


def _mutant_entry(result: MutantResult) -> dict[str, Any]:
    return {
        "fate": result.fate.value,
        "killer": result.killer,
        "steps": result.steps,
        "distinct": result.distinct,
    }
