"""The settings of a merge, in the units that its workers reckon with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from streamproof.protocols.dpc import Policy

Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]

MICROSECONDS_MIN = -(2**62)
"""A time before all others, with room to reckon."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What driver and workers must agree on; the state keeps it, so that a restart does too.

    Attributes
    ----------
    streams : names of the inputs, in the order of ties
    time, position : columns that say when a row happened, and where in its stream it is
    bucket_us, lateness_us : width of a bucket, and how far a row may lag, in microseconds
    partition_by : columns whose values choose a serializer; none, if there is only one
    partitions : serializers that share the rows
    columns : names and types of all columns, in order of the names
    wait_ms : how long a bucket waits before it comes out as tentative; None is forever
    policy : what happens then to the rows that follow
    """

    streams: tuple[str, ...]
    time: str
    position: str
    bucket_us: int
    lateness_us: int
    partition_by: tuple[str, ...]
    partitions: int
    columns: tuple[tuple[str, str], ...]
    wait_ms: int | None
    policy: Policy

    @property
    def bucket_min(self) -> int:
        """The number of a bucket before all others."""
        return MICROSECONDS_MIN // self.bucket_us

    @property
    def first_origins(self) -> range:
        """Return, for each stream, the number of its rows that go to the first serializer."""
        return range(0, len(self.streams) * self.partitions, self.partitions)

    def buckets(self, times: Integers) -> Integers:
        """Number the buckets of times: bucket 0 begins with 1970, in UTC."""
        return times // self.bucket_us

    def boundaries(self, times: Integers) -> Integers:
        """Return the first bucket that rows may still be of, behind a row of each time."""
        return (times - self.lateness_us) // self.bucket_us

    def fixed(self) -> dict[str, Any]:
        """Return what may not change in the life of a checkpoint, as JSON has it.

        A changed wait or policy is allowed, and takes effect a batch later (`state.decode`).
        """
        return {
            "streams": list(self.streams),
            "time": self.time,
            "position": self.position,
            "bucket_us": self.bucket_us,
            "lateness_us": self.lateness_us,
            "partition_by": list(self.partition_by),
            "partitions": self.partitions,
            "columns": dict(self.columns),
            "max_delay": "none" if self.wait_ms is None else "given",
        }
