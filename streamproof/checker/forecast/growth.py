"""Growth: how large a number of states becomes at a size, from what it is at smaller ones.

A size is a point with a whole number for each axis; what grows is kept as its logarithm. A step on
an axis multiplies the states by about as much wherever it is taken, and that factor changes
smoothly. So an unknown point takes its growth from the same step elsewhere, or, with less trust,
from earlier steps on the axis. Step by step this is carried up to the wanted size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from itertools import pairwise
from typing import TypeAlias

import numpy as np

Point: TypeAlias = tuple[int, ...]
"""A size: a whole number for each axis."""

SIDEWAYS, ACROSS, AHEAD = (0.25, 0.12, 0.08), (0.8, 0.4, 0.25), (1.0, 0.4, 0.12)
"""How far off a next growth is taken to be, as a logarithm, by the number of growths before it.

They are those of the same step elsewhere along an axis of the same kind, or of the other kind, and
those of earlier steps on the same axis.
"""
SECOND = 0.65
"""What the second growth along a number is of the first, of which nothing else is known."""
MISSES_LEAST = 3
"""Known counts that must have been estimated before deviations may be taken to be too large."""
MISS_LEAST = 0.3
"""How much too large they may be taken to be."""
TOO_SURE = 1.3
"""By how much the deviation of two estimates together was found to be too small."""
SPREAD = 2.0
"""Standard deviations on each side that an interval spans."""
FACTOR_LEAST = 1.05
"""The least factor on each side of an interval."""


class Tail(Enum):
    """How a sequence of growths goes on."""

    GEOMETRIC = "geometric"
    """Its differences shrink by the same factor: growth settles, as when a domain grows."""
    HARMONIC = "harmonic"
    """It goes on as 1/n does: the states are a power of n, as when a counter's bound grows."""


class Kind(IntEnum):
    """What of a setting becomes smaller. Those that come first are raised first."""

    SIZE = 0
    """A domain's elements, or the length of a tuple."""
    NUMBER = 1
    """A number, or one number of a tuple."""


@dataclass(frozen=True, slots=True)
class Axis:
    """What can be made smaller about a size.

    Attributes
    ----------
    entry : which number of a tuple; None for the setting itself, or a tuple's length
    least, wanted : between what it lies
    """

    setting: str
    kind: Kind
    least: int
    wanted: int
    entry: int | None = None

    def is_like(self, other: Axis) -> bool:
        """Return whether both are numbers of one tuple, so that steps along them may be alike."""
        return self.setting == other.setting and None not in (self.entry, other.entry)

    def __str__(self) -> str:
        return self.setting if self.entry is None else f"{self.setting}[{self.entry}]"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number that is not known.

    Attributes
    ----------
    logarithm : of the number
    deviation : how far the logarithm may be off: a standard deviation
    least : what the number is known not to lie below
    """

    logarithm: float
    deviation: float
    least: int = 0

    @property
    def value(self) -> float:
        """The number."""
        return math.exp(self.logarithm)

    @property
    def factor(self) -> float:
        """By how much the number may be too large or too small: 1 if it is known."""
        return 1.0 if self.deviation == 0 else max(FACTOR_LEAST, math.exp(SPREAD * self.deviation))

    @property
    def low(self) -> float:
        """What the number hardly lies below."""
        return max(self.value / self.factor, self.least)

    @property
    def high(self) -> float:
        """What the number hardly lies above."""
        return max(self.value * self.factor, self.least)

    def times(self, factor: float) -> Estimate:
        """Multiply the number by what is known exactly."""
        return Estimate(self.logarithm + math.log(factor), self.deviation)

    def at_least(self, count: int) -> Estimate:
        """Raise an estimate to what is known to be there, and trust it the less for that."""
        lacking = max(0.0, math.log(count) - self.logarithm)
        return Estimate(self.logarithm + lacking, self.deviation + lacking, count)


def estimate(
    counts: Mapping[Point, int], points: Sequence[Point], axes: Sequence[Axis]
) -> Estimate | None:
    """Estimate the count of the last point; None if the others do not determine it.

    Each known count is also estimated from the smaller ones. How well that goes chooses the tail,
    and how wide the interval is.

    Parameters
    ----------
    counts : what is known, at least 1 each
    points : all points up to the wanted one, smaller ones first
    axes : what the numbers of a point are
    """
    known = {point: math.log(count) for point, count in counts.items()}
    wanted = points[-1]
    misses = {tail: _misses(known, points, axes, tail) for tail in Tail}
    best = min(Tail, key=lambda tail: _mean(misses[tail]))
    found = _filled(known, points, axes, best).get(wanted)
    if found is None:
        return None
    return Estimate(found.logarithm, found.deviation * _scale(misses[best]))


def together(smaller: Estimate | None, levels: Estimate | None, least: int) -> Estimate | None:
    """Put two estimates of one number together, each weighed by how far it may be off.

    Parameters
    ----------
    smaller : from smaller sizes; if more was found already, it is trusted the less
    levels : from the levels of a search that goes on
    least : what the number is known not to lie below
    """
    if smaller is None or levels is None or smaller.deviation == 0:
        one = smaller or levels
        return one and one.at_least(least)
    if smaller.value < least:
        away = abs(smaller.logarithm - levels.logarithm)
        smaller = replace(smaller, deviation=smaller.deviation + away / 2)
    found = [one.at_least(least) for one in (smaller, levels)]
    weights = [one.deviation**-2 for one in found]
    mean = float(np.average([one.logarithm for one in found], weights=weights))
    squares = [(one.logarithm - mean) ** 2 for one in found]
    variance = 1 / sum(weights) + float(np.average(squares, weights=weights))
    return Estimate(mean, TOO_SURE * math.sqrt(variance), least)


def next_of(values: Sequence[float], tail: Tail) -> float:
    """Continue a sequence of at least one growth."""
    if len(values) == 1:
        return values[0]
    if len(values) == 2:
        return values[1] + (values[1] - values[0]) / 2
    earlier, later = (after - before for before, after in pairwise(values[-3:]))
    ratio = later / earlier if earlier else 0.0
    if tail is Tail.HARMONIC and 0 < ratio < 1:
        # a + b/x, a + b/(x + 1), a + b/(x + 2): the ratio is x / (x + 2)
        start = 2 * ratio / (1 - ratio)
        return values[-1] + later * (start + 1) / (start + 3)
    return values[-1] + later * min(max(ratio, 0.0), 1.0)


def down(point: Point, axis: int, steps: int = 1) -> Point:
    """Return the point so many steps lower on an axis."""
    return (*point[:axis], point[axis] - steps, *point[axis + 1 :])


def is_below(point: Point, other: Point) -> bool:
    """Return whether a point is another or a smaller one."""
    return all(low <= high for low, high in zip(point, other, strict=True))


def _misses(
    known: Mapping[Point, float], points: Sequence[Point], axes: Sequence[Axis], tail: Tail
) -> list[float]:
    """Return how far off known points would have been estimated, in the deviations foretold."""
    errors = []
    for point, truth in known.items():
        below = [other for other in points if is_below(other, point)]
        smaller = {other: known[other] for other in below if other in known and other != point}
        found = _filled(smaller, below, axes, tail).get(point) if len(smaller) > 2 else None
        if found is not None:
            errors.append(abs(found.logarithm - truth) / found.deviation)
    return errors


def _mean(misses: Sequence[float]) -> float:
    """Return the root of the mean square; 0 if there are none."""
    return float(np.sqrt(np.mean(np.square(misses)))) if misses else 0.0


def _scale(misses: Sequence[float]) -> float:
    """Return the factor for deviations, from misses that are measured in multiples of them."""
    if len(misses) < MISSES_LEAST:
        return max(1.0, *misses, 0.0)
    return max(MISS_LEAST, _mean(misses))


def _filled(
    known: Mapping[Point, float], points: Iterable[Point], axes: Sequence[Axis], tail: Tail
) -> dict[Point, Estimate]:
    """Estimate every point that is not known, smaller ones first."""
    table: dict[Point, Estimate] = {}
    for point in points:
        if point in known:
            table[point] = Estimate(known[point], 0.0)
            continue
        found = list(_steps_to(table, point, axes, tail))
        if found:
            # A power of the deviations in which the best one counts by far the most.
            weights = [one.deviation**-4 for one in found]
            mean = float(np.average([one.logarithm for one in found], weights=weights))
            table[point] = Estimate(mean, min(one.deviation for one in found))
    return table


def _steps_to(
    table: Mapping[Point, Estimate], point: Point, axes: Sequence[Axis], tail: Tail
) -> Iterator[Estimate]:
    """Estimate a point in every way by its last step on some axis."""
    for axis, about in enumerate(axes):
        before = down(point, axis)
        if before not in table:
            continue
        for along, other in enumerate(axes):
            if axis == along:
                if growths := _growths(table, point, axis, axis):
                    yield _step(table[before], growths, AHEAD, about.kind, tail)
                continue
            if growths := _growths(table, point, axis, along):
                trust = SIDEWAYS if about.kind is other.kind else ACROSS
                yield _step(table[before], growths, trust, Kind.SIZE, tail)
            alike = about.is_like(other) and point[along] == point[axis]
            if alike and down(before, along) in table:
                growth = _growth(table, before, along)
                yield _step(table[before], [growth], SIDEWAYS, Kind.SIZE, tail)


def _step(
    before: Estimate,
    growths: Sequence[Estimate],
    trust: Sequence[float],
    kind: Kind,
    tail: Tail,
) -> Estimate:
    """Add to what is before a step the growth that follows on some others."""
    values = [growth.logarithm for growth in growths]
    if len(values) == 1 and kind is Kind.NUMBER:
        values = [values[0] * SECOND]
    own = trust[len(values) - 1] + growths[-1].deviation
    return Estimate(before.logarithm + next_of(values, tail), own + before.deviation)


def _growths(
    table: Mapping[Point, Estimate], point: Point, axis: int, along: int
) -> list[Estimate]:
    """Return the growth in steps on one axis at up to three points before a point on another."""
    found: list[Estimate] = []
    for steps in range(1, 4):
        at = down(point, along, steps)
        if at not in table or down(at, axis) not in table:
            break
        growth = _growth(table, at, axis)
        newly = table[at].deviation - table[down(at, axis)].deviation
        if axis == along and newly >= 0:  # an estimate from the one below it shares its mistakes
            growth = Estimate(growth.logarithm, newly)
        if found and growth.deviation > found[-1].deviation:
            break
        found.insert(0, growth)
    return found


def _growth(table: Mapping[Point, Estimate], point: Point, axis: int) -> Estimate:
    """Return the growth in the last step on an axis up to a point."""
    high, low = table[point], table[down(point, axis)]
    return Estimate(high.logarithm - low.logarithm, high.deviation + low.deviation)
