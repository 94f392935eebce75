"""From rows to blobs: what all rows go through before they meet at a serializer.

Spark moves a row between its JVM and Python, and through its shuffle, at a price for each row.
Packed, a hundred thousand rows are one row with a blob, and no one touches them singly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from streamproof.spark_bindings.sunion.keys import key_of
from streamproof.spark_bindings.sunion.progress import Progress
from streamproof.spark_bindings.sunion.rows import (
    BYTES_PER_BLOB,
    ROWS_PER_BLOB,
    STREAM,
    as_column,
    by_value,
    canonical,
    in_blobs,
    integers,
    split_placed,
    to_blob,
)
from streamproof.spark_bindings.sunion.settings import MICROSECONDS_MIN, Integers, Settings

ORIGIN = "__origin"
"""The column of rows that says which stream a row is of, and which serializer it goes to: stream
times serializers, and the serializer. One column costs the JVM less than two."""

PARTITION = "__partition"
"""The column of blobs that has the key of their serializer."""

PACKED = f"{PARTITION} int, stream int, rows binary, progress binary"
"""Spark's schema of packed rows: a row has a blob of rows, or a stream's progress, never both."""

_PACKED_ARROW = pa.schema(
    [
        (PARTITION, pa.int32()),
        ("stream", pa.int32()),
        ("rows", pa.binary()),
        ("progress", pa.binary()),
    ]
)


@dataclass(frozen=True, slots=True)
class Pack:
    """Packs rows. Spark calls it once a task, on executors, and may repeat it.

    Attributes
    ----------
    settings : the merge's
    """

    settings: Settings

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield a blob for each stream and serializer, then each stream's progress for all of them.

        A serializer has to hear that a stream went on even if none of its rows are its own: else
        it would wait for a boundary that has long passed.
        """
        seen: dict[int, list[Progress]] = defaultdict(list)
        for gathered in gather(batches, ROWS_PER_BLOB * self.settings.partitions):
            origins = integers(gathered[ORIGIN])
            streams = origins // self.settings.partitions
            numbers = pa.array(streams.astype(np.int8))
            rows = canonical(gathered.drop_columns([ORIGIN]).append_column(STREAM, numbers))
            for stream, of_stream in by_value(rows, streams):
                seen[stream].append(self._progress(of_stream))
            for origin, part in _grouped(rows, origins):
                stream, partition = divmod(origin, self.settings.partitions)
                for blob in in_blobs(part):
                    yield self._packed(stream, [partition], rows=to_blob(blob))
        for stream, parts in seen.items():
            progress = Progress.join(parts).to_bytes()
            yield self._packed(stream, range(self.settings.partitions), progress=progress)

    def _progress(self, rows: pa.Table) -> Progress:
        placed, _ = split_placed(rows, self.settings)
        # A time long before all others must not wrap to one behind all others.
        times = np.maximum(integers(placed[self.settings.time]), MICROSECONDS_MIN)
        positions = integers(placed[self.settings.position])
        return Progress.of(positions, self.settings.boundaries(times))

    def _packed(
        self,
        stream: int,
        partitions: Sequence[int],
        *,
        rows: pa.Buffer | None = None,
        progress: bytes | None = None,
    ) -> pa.RecordBatch:
        count = len(partitions)
        assert rows is None or count == 1
        return pa.RecordBatch.from_arrays(
            [
                pa.array([key_of(partition) for partition in partitions], pa.int32()),
                pa.array([stream] * count, pa.int32()),
                pa.nulls(count, pa.binary()) if rows is None else as_column(rows),
                pa.array([progress] * count, pa.binary()),
            ],
            schema=_PACKED_ARROW,
        )


def _grouped(rows: pa.Table, origins: Integers) -> Iterator[tuple[int, pa.Table]]:
    """Return the rows of each origin, in the order in which they are."""
    if (np.diff(origins) < 0).any():
        # NumPy sorts numbers of 16 bits by counting them.
        short = origins.astype(np.uint16) if origins.max() < 2**16 else origins
        order = np.argsort(short, kind="stable")
        rows, origins = rows.take(pa.array(order)), origins[order]
    return by_value(rows, origins)


def gather(batches: Iterator[pa.RecordBatch], rows_max: int) -> Iterator[pa.Table]:
    """Join small batches, as Spark hands them over, to larger ones.

    Parameters
    ----------
    batches : of one schema
    rows_max : rows that are enough; so are `BYTES_PER_BLOB` bytes
    """
    waiting: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            count += batch.num_rows
            size += batch.nbytes
        if count >= rows_max or size >= BYTES_PER_BLOB:
            yield pa.Table.from_batches(waiting).combine_chunks()
            waiting, count, size = [], 0, 0
    if waiting:
        yield pa.Table.from_batches(waiting).combine_chunks()
