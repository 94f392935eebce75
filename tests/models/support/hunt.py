"""The hunt for the mutants of a model, none of which may be left."""

from __future__ import annotations

from streamproof.checker.mutation import Fate
from streamproof.models.kit import registry
from streamproof.verification import mutants_of


def hunt(name: str) -> dict[str, int | None]:
    """Check that each mutant of a model is killed by its property; give in how many steps."""
    file = registry.load(name)
    results = mutants_of(file, limits=None)
    fates = {result.mutant.name: result.fate for result in results}
    assert fates == {mutant.name: Fate.KILLED for mutant in file.mutants}, fates
    assert fates, f"{name} has no mutants"
    return {result.mutant.name: result.steps for result in results}
