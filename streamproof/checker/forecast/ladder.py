"""Ladders: the sizes of a model below a wanted one, as points with a number for each axis."""

from __future__ import annotations

import itertools
import math
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.checker.forecast.growth import Axis, Kind, Point
from streamproof.lang import Domain
from streamproof.lang.model import Model
from streamproof.models.sizes import settings

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
    def to(model_class: type[Model[Any]], size: Mapping[str, Any]) -> Ladder:
        """Find what can be made smaller: numbers, domains, tuples of numbers and these."""
        kinds = settings(model_class)
        axes = [axis for name, value in size.items() for axis in _axes(name, value, kinds[name])]
        axes = [axis for axis in axes if axis.wanted > axis.least]
        return Ladder(size, tuple(sorted(axes, key=lambda axis: axis.kind)))

    def without(self, number: int) -> Ladder:
        """Leave what one axis is about as it is wanted."""
        return Ladder(self.size, (*self.axes[:number], *self.axes[number + 1 :]))

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
        """List the sizes, smaller ones before larger ones."""
        spans = (range(axis.least, axis.wanted + 1) for axis in self.axes)
        return [point for point in itertools.product(*spans) if self.has(point)]

    def has(self, point: Point) -> bool:
        """Tell whether a point is a size: what a shorter tuple has no room for must be least."""
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
        """Give the settings of a point."""
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


def _axes(name: str, value: Any, annotation: Any) -> list[Axis]:
    match value:
        case bool():
            return []
        case int():  # not down to 0, which may stand for no bound at all
            is_domain = typing.get_origin(annotation) is Domain
            return [Axis(name, Kind.SIZE if is_domain else Kind.NUMBER, 1, value)]
        case Domain():
            return [Axis(name, Kind.SIZE, 1, len(value))]
        case tuple() if all(type(part) is int for part in value):
            length = Axis(name, Kind.SIZE, 1, len(value))
            entries = [Axis(name, Kind.NUMBER, 0, part, n) for n, part in enumerate(value)]
            return [length, *entries]
        case _:
            return []
