"""Planting a fault in the bindings: how it is registered, and put in the place of a function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

from tests.conformance.support.scenario import Scenario

Plant = Callable[[], AbstractContextManager[Any]]
FAULTS: dict[str, tuple[Scenario, Plant]] = {}
"""By name: the run in which a fault shows, and the fault."""


def fault(scenario: Scenario) -> Callable[[Plant], Plant]:
    """Register a fault under its function's name."""

    def registered(plant: Plant) -> Plant:
        FAULTS[plant.__name__] = scenario, plant
        return plant

    return registered


def wrapped(owner: Any, name: str, other: Callable[..., Any]) -> AbstractContextManager[Any]:
    """Put a function in the place of another one, which it gets as its first argument."""
    original = getattr(owner, name)
    return mock.patch.object(
        owner, name, lambda *args, **keywords: other(original, *args, **keywords)
    )
