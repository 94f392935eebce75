"""Goal: whoever profiles a program that traces is not disturbed. Method: Python's own profiler."""

from __future__ import annotations

import cProfile
import pstats
import sys

from streamproof.lang.trace import trace_anew
from tests.lang.support.zoo import Zoo


def test_a_program_that_traces_can_be_profiled() -> None:
    profile = cProfile.Profile()
    profile.enable()
    try:
        traced = trace_anew(Zoo)
        sorted([3, 1, 2])
    finally:
        profile.disable()
    called = {name for _, _, name in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    assert traced.commands
    assert "<built-in method builtins.sorted>" in called


def test_a_profile_function_of_another_goes_on() -> None:
    seen = []

    def observe(frame: object, event: str, argument: object) -> None:
        seen.append(event)

    sys.setprofile(observe)
    try:
        trace_anew(Zoo)
        assert sys.getprofile() is observe
    finally:
        sys.setprofile(None)
