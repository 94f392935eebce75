"""Ladders: the sizes of a model below a wanted one, as points with a number for each axis."""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from streamproof.checker.forecast.growth import Axis, Kind, Point
from streamproof.lang import Domain
from streamproof.lang.model import Model
from streamproof.models.kit.sizes import settings

POINTS_MAX = 2_000
"""Smaller sizes beyond which a size is too far away to be forecast."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """All sizes up to a wanted one.

    Attributes
    ----------
    size : the wanted size
    """

    size: Mapping[str, Any]
    axes: tuple[Axis, ...]

    @staticmethod
    def to(
        model_class: type[Model[Any]], size: Mapping[str, Any], names: Collection[str], least: int
    ) -> Ladder:
        """Find what can be made smaller: numbers, domains, lengths of tuples, numbers in these.

        Parameters
        ----------
        model_class, size : what is to be searched, with every setting, those with a default too
        names : the settings that count
        least : the least that a number is made; 0 may stand for no bound at all
        """
        kinds = settings(model_class)
        axes = [axis for name in names for axis in _axes(name, size[name], kinds[name], least)]
        axes = [axis for axis in axes if axis.wanted > axis.least]
        return Ladder(size, tuple(sorted(axes, key=lambda axis: axis.kind)))

    def without(self, number: int, level: int) -> Ladder:
        """Take a level of an axis, and what lies below, out of the ladder.

        What the axis is about is left as it is wanted if nothing of the axis remains.
        """
        axis = replace(self.axes[number], least=level + 1)
        kept = (axis,) if axis.wanted > axis.least else ()
        return Ladder(self.size, (*self.axes[:number], *kept, *self.axes[number + 1 :]))

    @property
    def bottom(self) -> Point:
        """The smallest size."""
        return tuple(axis.least for axis in self.axes)

    @property
    def top(self) -> Point:
        """The wanted size."""
        return tuple(axis.wanted for axis in self.axes)

    @property
    def is_too_long(self) -> bool:
        """Whether the wanted size is too far from the smallest."""
        return math.prod(axis.wanted - axis.least + 1 for axis in self.axes) > POINTS_MAX

    def points(self) -> list[Point]:
        """List the sizes, smaller ones before larger ones; of too many, the wanted one alone."""
        if self.is_too_long:
            return [self.top]
        spans = (range(axis.least, axis.wanted + 1) for axis in self.axes)
        return [point for point in itertools.product(*spans) if self.has(point)]

    def has(self, point: Point) -> bool:
        """Return whether a point is a size: what a shorter tuple has no room for must be least."""
        lengths = self._lengths(point)
        return all(
            axis.least <= value <= axis.wanted
            and (
                axis.entry is None
                or value == axis.least
                or axis.entry < lengths.get(axis.setting, axis.entry + 1)
            )
            for axis, value in zip(self.axes, point, strict=True)
        )

    def size_at(self, point: Point) -> dict[str, Any]:
        """Return the settings of a point."""
        made = dict(self.size)
        for axis, value in zip(self.axes, point, strict=True):
            if axis.entry is not None:
                entries = made[axis.setting]
                made[axis.setting] = (*entries[: axis.entry], value, *entries[axis.entry + 1 :])
            elif not isinstance(self.size[axis.setting], tuple):
                made[axis.setting] = value
        for setting, length in self._lengths(point).items():
            made[setting] = made[setting][:length]
        return made

    def _lengths(self, point: Point) -> dict[str, int]:
        return {
            axis.setting: value
            for axis, value in zip(self.axes, point, strict=True)
            if axis.entry is None and isinstance(self.size[axis.setting], tuple)
        }


def _axes(name: str, value: Any, annotation: Any, least: int) -> list[Axis]:
    match value:
        case bool():
            return []
        case int():
            if typing.get_origin(annotation) is Domain:
                return [Axis(name, Kind.SIZE, 1, value)]
            return [Axis(name, Kind.NUMBER, least, value)]
        case Domain():
            return [Axis(name, Kind.SIZE, 1, len(value))]
        case tuple():
            length = Axis(name, Kind.SIZE, 1, len(value))
            numbers = [(n, part) for n, part in enumerate(value) if type(part) is int]
            return [length, *(Axis(name, Kind.NUMBER, 0, part, n) for n, part in numbers)]
        case _:
            return []
