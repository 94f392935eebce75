"""For testers: verdicts as assertions, and models as the oracles of tests by Hypothesis.

Names are imported when they are first used: pytest loads the plugin of this package in every run.

PYTEST_DONT_REWRITE: code is certified as it stands in its file.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.testing.adapter import REFUSED, UNKNOWN, Adapter, Happened
    from streamproof.testing.assertions import (
        NotGreen,
        assert_exhausted,
        assert_killed,
        assert_proved,
        assert_sampled,
    )
    from streamproof.testing.follow import Unexplained, replay
    from streamproof.testing.stateful import state_machine
    from streamproof.testing.strategies import Event, Walk, cuts, states, walks

__all__ = [
    "REFUSED",
    "UNKNOWN",
    "Adapter",
    "Event",
    "Happened",
    "NotGreen",
    "Unexplained",
    "Walk",
    "assert_exhausted",
    "assert_killed",
    "assert_proved",
    "assert_sampled",
    "cuts",
    "replay",
    "state_machine",
    "states",
    "walks",
]

_HOMES = {
    "REFUSED": "adapter",
    "UNKNOWN": "adapter",
    "Adapter": "adapter",
    "Event": "strategies",
    "Happened": "adapter",
    "NotGreen": "assertions",
    "Unexplained": "follow",
    "Walk": "strategies",
    "assert_exhausted": "assertions",
    "assert_killed": "assertions",
    "assert_proved": "assertions",
    "assert_sampled": "assertions",
    "cuts": "strategies",
    "replay": "follow",
    "state_machine": "stateful",
    "states": "strategies",
    "walks": "strategies",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module, on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List public names too that nothing has imported yet."""
    return sorted({*globals(), *__all__})
