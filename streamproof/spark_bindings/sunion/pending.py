"""The rows that wait for their bucket to be complete: blobs, in the state that Spark keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa

from streamproof.spark_bindings.sunion.rows import from_blob, integers, stream_numbers, to_blob
from streamproof.spark_bindings.sunion.settings import Integers, Settings

_NO_POSITION = -(2**63)
"""Below all others, or equal to the first one: then that row is looked for where there is none."""


class BlobStore(Protocol):
    """What holds the blobs, by bucket and number; `SerializerState` in Spark."""

    def get(self, bucket: int, number: int) -> bytes:
        """Read a blob that is there."""

    def put(self, bucket: int, number: int, blob: bytes) -> None:
        """Write a blob."""

    def remove(self, bucket: int, number: int) -> None:
        """Delete a blob that is there."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What of one bucket waits.

    Attributes
    ----------
    blobs, rows : how many there are
    shown_blobs, shown_rows : how many of them, from the first on, have been emitted as tentative
    since_ms : when the first of them came, by the clock of Spark's batches
    """

    blobs: int
    rows: int
    shown_blobs: int
    shown_rows: int
    since_ms: int


@dataclass(frozen=True, slots=True)
class Index:
    """What is known of the rows without opening a blob.

    Attributes
    ----------
    waiting : per bucket, what of it waits
    highest : per stream, in the order of `Settings.streams`, the highest position that ever came
    """

    waiting: Mapping[int, Waiting]
    highest: tuple[int, ...]

    @staticmethod
    def before_the_first_row(settings: Settings) -> Index:
        """Return the state of no rows."""
        return Index({}, (_NO_POSITION,) * len(settings.streams))


class Pending:
    """Rows by bucket. A batch adds one blob a bucket, and rewrites none.

    Parameters
    ----------
    store : where the blobs are
    index : of them; whoever keeps the machine's state keeps it too
    """

    def __init__(self, store: BlobStore, index: Index) -> None:
        self._store, self.waiting = store, dict(index.waiting)
        self._highest: Integers = np.array(index.highest, np.int64)
        self._fresh: dict[tuple[int, int], pa.Table] = {}  # of this batch: not read back

    @property
    def index(self) -> Index:
        """What whoever goes on with these rows has to know."""
        return Index(self.waiting, tuple(self._highest.tolist()))

    def add(self, bucket: int, rows: pa.Table, now_ms: int) -> None:
        """Keep rows of a bucket."""
        before = self.waiting.get(bucket, Waiting(0, 0, 0, 0, now_ms))
        self._store.put(bucket, before.blobs, to_blob(rows).to_pybytes())
        self._fresh[bucket, before.blobs] = rows
        self.waiting[bucket] = replace(
            before, blobs=before.blobs + 1, rows=before.rows + rows.num_rows
        )

    def end(self, begin: int, since_ms: int | None = None) -> int:
        """Return the first bucket behind all that have rows; `begin` if none has.

        Parameters
        ----------
        begin : the least answer
        since_ms : if given, only buckets count whose first row came by then
        """
        buckets = (
            bucket
            for bucket, waiting in self.waiting.items()
            if since_ms is None or waiting.since_ms <= since_ms
        )
        return max((bucket + 1 for bucket in buckets), default=begin)

    def rows(self, begin: int, end: int) -> int:
        """Count the rows of the buckets from `begin` to before `end`."""
        return sum(self.waiting[bucket].rows for bucket in self._buckets(begin, end))

    def unshown(self, begin: int, end: int) -> int:
        """Count the rows of some buckets that have not been emitted as tentative."""
        found = (self.waiting[bucket] for bucket in self._buckets(begin, end))
        return sum(waiting.rows - waiting.shown_rows for waiting in found)

    def take(self, begin: int, end: int) -> list[pa.Table]:
        """Return all rows of some buckets, and forget them."""
        taken = []
        for bucket in self._buckets(begin, end):
            for number in range(self.waiting.pop(bucket).blobs):
                taken.append(self._read(bucket, number))
                self._store.remove(bucket, number)
        return taken

    def note(self, arrived: pa.Table, settings: Settings) -> None:
        """Note how far streams have come, by rows that are in time."""
        positions = integers(arrived[settings.position])
        np.maximum.at(self._highest, stream_numbers(arrived), positions)

    def like(self, arrived: pa.Table, settings: Settings) -> list[pa.Table]:
        """Return waiting rows, among them all with the time, stream and position of one of these.

        Positions rise along a stream, so that there mostly are none, and no blob is opened: only
        what goes back behind `note` may have been there before.
        """
        back = integers(arrived[settings.position]) <= self._highest[stream_numbers(arrived)]
        buckets = np.unique(settings.buckets(integers(arrived[settings.time])[back])).tolist()
        return [
            self._read(bucket, number)
            for bucket in buckets
            if bucket in self.waiting
            for number in range(self.waiting[bucket].blobs)
        ]

    def show(self, begin: int, end: int) -> list[pa.Table]:
        """Return the rows of some buckets that have not been shown; they stay, as shown."""
        shown = []
        for bucket in self._buckets(begin, end):
            waiting = self.waiting[bucket]
            shown += [
                self._read(bucket, number) for number in range(waiting.shown_blobs, waiting.blobs)
            ]
            self.waiting[bucket] = replace(
                waiting, shown_blobs=waiting.blobs, shown_rows=waiting.rows
            )
        return shown

    def hide(self) -> None:
        """Take all that was shown as not shown: it has been revoked."""
        self.waiting = {
            bucket: replace(waiting, shown_blobs=0, shown_rows=0)
            for bucket, waiting in self.waiting.items()
        }

    def _read(self, bucket: int, number: int) -> pa.Table:
        fresh = self._fresh.get((bucket, number))
        return from_blob(self._store.get(bucket, number)) if fresh is None else fresh

    def _buckets(self, begin: int, end: int) -> list[int]:
        return sorted(bucket for bucket in self.waiting if begin <= bucket < end)
