"""What an engine hands back, whichever engine it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamproof.checker.properties import Broken
from streamproof.lang.model import Call, Model, Role
from streamproof.models.verdict import Counts

INTERRUPTED = "the search was interrupted: let it run to its end"
"""Why a search ended that was stopped by hand."""


@dataclass(frozen=True, slots=True)
class Path:
    """A way to a state.

    Attributes
    ----------
    start : index of the initial state
    steps : for each step, the index of its ground action in `Model.ground_actions`
    """

    start: int
    steps: tuple[int, ...] = ()


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
    """

    counts: Counts
    broken: tuple[Broken, ...] = ()
    path: Path | None = None
    witnesses: Mapping[Call, Path] = field(default_factory=dict)
    stopped: str | None = None
    engine: str = "reference"


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
