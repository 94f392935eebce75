"""Levels: how many states a search will find, from the sizes of the levels that it has found.

Each level's size has a ratio to that of the one before. Its logarithm falls from level to level,
about evenly, so a straight line through the last ones is carried on until a level is empty. Lines
through the last few and through many differ; the middle of what they say is taken, and the less it
is trusted the further they differ, and the more of the states are still to come.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.forecast.growth import Estimate
from streamproof.checker.progress import LEVELS_AHEAD_MAX

RATIOS = (2, 3, 4, 5, 6, 8, 10, 14)
"""Through how many of the last ratios lines are drawn."""
DECAY = 0.8
"""The weight of a ratio, of that of the next one."""
STATES_MAX = 1e15
"""States beyond which it says nothing either."""
MEDIAN_TO_DEVIATION = 1.5
"""A standard deviation, of the median distance from the middle, which some far away do not move."""
DOUBT = 0.45
"""How far off the estimate is taken to be, of how many times the states are to multiply.

Both are logarithms. It is about what was measured on the models of streamproof, a quarter of whose
states were known.
"""


def estimate_from_levels(level_ends: Sequence[int]) -> Estimate | None:
    """Estimate how many states a search finds in all; None if its levels do not tell.

    Parameters
    ----------
    level_ends : for each level that is complete, how many states there were at its end
    """
    sizes = [end - begin for begin, end in pairwise((0, *level_ends))]
    if len(sizes) < 3:
        return None
    ratios = np.diff(np.log(sizes))
    totals = {_continued(sizes[-1], ratios[-most:]) for most in RATIOS}
    logarithms = [math.log(level_ends[-1] + more) for more in totals if more is not None]
    if not logarithms:
        return None
    middle = float(np.median(logarithms))
    apart = MEDIAN_TO_DEVIATION * float(np.median(np.abs(np.array(logarithms) - middle)))
    ahead = DOUBT * (middle - math.log(level_ends[-1]))
    return Estimate(middle, math.hypot(apart, ahead), level_ends[-1])


def _continued(size: float, ratios: NDArray[Any]) -> float | None:
    """Add up the levels that follow one of a size, if a line through ratios is carried on."""
    if len(ratios) < 2:
        return None
    places = np.arange(len(ratios)) - len(ratios)
    fall, ratio = np.polyfit(places, ratios, 1, w=DECAY ** (-places / 2))
    total = 0.0
    for _ in range(LEVELS_AHEAD_MAX):
        size *= math.exp(ratio)
        ratio += fall
        total += size
        if size < 1:
            return total
        if total > STATES_MAX:
            return None
    return None
