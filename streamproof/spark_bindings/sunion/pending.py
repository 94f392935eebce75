"""The rows that wait for their bucket to be complete: blobs, in the state that Spark keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from streamproof.spark_bindings.sunion.rows import from_blob, to_blob


class BlobStore(Protocol):
    """What holds the blobs, by bucket and number; `MapBlobs` in Spark."""

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


class Pending:
    """Rows by bucket. A batch adds one blob a bucket, and rewrites none.

    Parameters
    ----------
    store : where the blobs are
    waiting : per bucket, what is there; whoever keeps the machine's state keeps it too
    """

    def __init__(self, store: BlobStore, waiting: dict[int, Waiting]) -> None:
        self._store, self.waiting = store, waiting
        self._fresh: dict[tuple[int, int], pa.Table] = {}  # of this batch: not read back

    def add(self, bucket: int, rows: pa.Table, now_ms: int) -> None:
        """Keep rows of a bucket."""
        before = self.waiting.get(bucket, Waiting(0, 0, 0, 0, now_ms))
        self._store.put(bucket, before.blobs, to_blob(rows).to_pybytes())
        self._fresh[bucket, before.blobs] = rows
        self.waiting[bucket] = replace(
            before, blobs=before.blobs + 1, rows=before.rows + rows.num_rows
        )

    def end(self, begin: int, since_ms: int | None = None) -> int:
        """Give the first bucket behind all that have rows; `begin` if none has.

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
        """Give all rows of some buckets, and forget them."""
        taken = []
        for bucket in self._buckets(begin, end):
            for number in range(self.waiting.pop(bucket).blobs):
                taken.append(self._read(bucket, number))
                self._store.remove(bucket, number)
        return taken

    def show(self, begin: int, end: int) -> list[pa.Table]:
        """Give the rows of some buckets that have not been shown; they stay, as shown."""
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
