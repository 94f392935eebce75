"""What an engine hands back, whichever engine it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamproof.checker.lasso import Liveness, Path
from streamproof.checker.properties import Broken
from streamproof.lang.model import Call, Model, Role
from streamproof.models.kit.verdict import Counts, Json

__all__ = ["INTERRUPTED", "Exploration", "Path", "counts_of"]

INTERRUPTED = "the search was interrupted: let it run to its end"
"""Why a search ended that was stopped by hand."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """What symmetry saved: one state was kept for all that differ in the order of like elements.

    Attributes
    ----------
    kept : how many states were kept
    alike : sets of elements that nothing tells apart: the domain, and how many they are
    resumed : how many of the kept states an earlier process had found
    """

    kept: int
    alike: tuple[tuple[str, int], ...]
    resumed: int = 0

    def to_json(self) -> Json:
        """Return the reduction as JSON."""
        alike = [{"domain": domain, "elements": count} for domain, count in self.alike]
        return {"kept": self.kept, "alike": alike}


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a search found.

    Attributes
    ----------
    broken : the properties that fail at the end of `path`; empty if none was seen to fail
    path : a shortest way to where they fail
    witnesses : per `sometimes` property (with its arguments) that was reached, a shortest way there
    stopped : why the search ended before all states were visited, other than a broken property
    engine : which engine searched
    why : why this engine did, if it was left to choose; empty if it was named
    decide_liveness : decides the promises on the states that were found, all of them, within the
        limits of the search; None for an engine that leaves it to `liveness.decide_liveness`
    reduction : what symmetry saved, if it was made use of; promises are not decided then
    resumed : how many of the distinct states an earlier process had found
    level_ends : per level that is complete, how many states were kept up to it
    expanded : how many states' steps were taken
    """

    counts: Counts
    broken: tuple[Broken, ...] = ()
    path: Path | None = None
    witnesses: Mapping[Call, Path] = field(default_factory=dict)
    stopped: str | None = None
    engine: str = "reference"
    decide_liveness: Callable[[], Liveness] | None = None
    reduction: Reduction | None = None
    resumed: int = 0
    level_ends: tuple[int, ...] = ()
    expanded: int = 0
    why: str = ""

    @property
    def kept(self) -> int:
        """How many states were kept: all that were found, or those that stand for them."""
        return self.reduction.kept if self.reduction else self.counts.distinct

    @property
    def unfinished(self) -> str | None:
        """Why not all states were visited; None if they were."""
        if self.stopped is None and self.broken:
            names = ", ".join(broken.name for broken in self.broken)
            return f"the search ended at the counterexample to {names}"
        return self.stopped


def counts_of(
    model: Model[Any], distinct: int, starts: int, depth: int, fired: Sequence[int]
) -> Counts:
    """Add up what a search of a model did.

    Parameters
    ----------
    distinct, depth : as in `Counts`
    starts : initial states, repeated ones too
    fired : per ground action, how often it was taken
    """
    firings = dict.fromkeys((method.name for method in model.methods(Role.ACTION)), 0)
    for (call, _), count in zip(model.ground_actions, fired, strict=True):
        firings[call.name] = firings.get(call.name, 0) + count
    return Counts(distinct, starts + sum(fired), depth, tuple(firings.items()))
