"""How far a stream has come: a step function of the position, exact however the rows arrive.

A row's lateness depends on the rows before it *in its stream*, whatever task or serializer they
went to. So each task tells where in the stream the boundary rose, and a serializer puts the steps
of all tasks in order before it asks for the boundary at a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from streamproof.spark_bindings.sunion.settings import Integers


@dataclass(frozen=True, slots=True)
class Progress:
    """The rises of one stream's boundary, in the order of positions.

    Attributes
    ----------
    positions : rows behind which the boundary is higher than before, rising
    boundaries : the boundary behind each of them, a bucket number, rising
    """

    positions: Integers
    boundaries: Integers

    @staticmethod
    def of(positions: Integers, boundaries: Integers) -> Progress:
        """Find the rises among rows, whose own times alone would give these boundaries."""
        if np.any(positions[1:] < positions[:-1]):
            order = np.argsort(positions, kind="stable")
            positions, boundaries = positions[order], boundaries[order]
        highest = np.maximum.accumulate(boundaries)
        rises = np.flatnonzero(highest[1:] > highest[:-1]) + 1
        if len(highest):
            rises = np.concatenate(([0], rises))
        return Progress(positions[rises], highest[rises])

    @staticmethod
    def join(parts: Iterable[Progress]) -> Progress:
        """Put together what several tasks saw of one stream."""
        known = list(parts)
        if not known:
            return Progress(np.empty(0, np.int64), np.empty(0, np.int64))
        return Progress.of(
            np.concatenate([part.positions for part in known]),
            np.concatenate([part.boundaries for part in known]),
        )

    def before(self, positions: Integers, start: int) -> Integers:
        """Return the boundary ahead of each row.

        Parameters
        ----------
        positions : of the rows
        start : the boundary before the first step
        """
        steps = np.concatenate(([start], np.maximum(self.boundaries, start)))
        found: Integers = steps[np.searchsorted(self.positions, positions, side="left")]
        return found

    def end(self, start: int) -> int:
        """Return the boundary behind all steps."""
        return max(start, int(self.boundaries[-1])) if len(self.boundaries) else start

    def to_bytes(self) -> bytes:
        """Write the steps for a column of a row."""
        return np.stack((self.positions, self.boundaries)).tobytes()

    @staticmethod
    def from_bytes(stored: bytes) -> Progress:
        """Read what `to_bytes` wrote."""
        positions, boundaries = np.frombuffer(stored, np.int64).reshape(2, -1)
        return Progress(positions, boundaries)
