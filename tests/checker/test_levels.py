"""Levels of an unfinished search: how many states they point to, and when they do not tell."""

from __future__ import annotations

from itertools import accumulate
from math import comb

import pytest

from streamproof.checker.forecast.levels import estimate_from_levels


def ends_up_to(share: float, sizes: list[int]) -> list[int]:
    """Return the ends of the levels that lie within a share of all states."""
    return [end for end in accumulate(sizes) if end <= share * sum(sizes)]


@pytest.mark.parametrize(("share", "off"), [(0.5, 1.2), (0.25, 1.6), (0.1, 2.7)])
@pytest.mark.parametrize("bits", [12, 24, 40])
def test_levels_that_rise_and_fall_evenly_are_carried_on(bits, share, off):
    """Switches that are turned on one after the other: as many levels as there are subsets."""
    found = estimate_from_levels(ends_up_to(share, [comb(bits, on) for on in range(bits + 1)]))
    assert found is not None
    assert 1 / off < found.value / 2**bits < off
    assert found.low <= 2**bits <= found.high


def test_the_less_is_known_the_less_certain_it_is():
    sizes = [comb(40, on) for on in range(41)]
    factors = [estimate_from_levels(ends_up_to(share, sizes)).factor for share in (0.5, 0.25, 0.1)]
    assert factors == sorted(factors)
    assert factors[0] < factors[2] / 2


@pytest.mark.parametrize("ends", [(), (1,), (1, 4), (1, 3, 7, 15, 31, 63), (4, 8, 12, 16, 20)])
def test_few_levels_and_levels_that_never_end_tell_nothing(ends):
    assert estimate_from_levels(ends) is None
