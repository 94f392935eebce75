"""Rows as the merge sees them: Arrow tables, their keys as NumPy arrays, and their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.sunion.settings import Integers, Settings

STREAM = "__stream"
"""The column that says which stream a row came from, by number."""

ROWS_PER_BLOB, BYTES_PER_BLOB = 2**17, 2**25
"""More travel in several blobs. The JVM's memory has to hold a few at a time, and none of 2 GB; but
a blob costs a millisecond, however small it is."""

_COMPRESSED = pa.ipc.IpcWriteOptions(compression="lz4")


def canonical(rows: pa.Table) -> pa.Table:
    """Cast rows to the schema in which they are packed, whatever plan or session they are from.

    Blobs of all streams, and of the time before a restart, are joined: so columns are in the order
    of their names, all may be null, and time zones and Spark's settings for Arrow leave no trace.
    """
    schema = _canonical_schema(rows.schema)
    if rows.schema.equals(schema):
        return rows
    return rows.select(schema.names).cast(schema)


def to_blob(rows: pa.Table) -> pa.Buffer:
    """Write rows in Arrow's own format: a blob, which Spark carries about without looking.

    It is compressed: Spark copies a blob some ten times between the workers and its state.
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=_COMPRESSED) as writer:
        writer.write(rows)
    return sink.getvalue()


def from_blob(blob: bytes | pa.Buffer) -> pa.Table:
    """Read what `to_blob` wrote."""
    with pa.ipc.open_stream(pa.py_buffer(blob)) as reader:
        return reader.read_all()


def as_column(blob: pa.Buffer) -> pa.Array:
    """Return a column of one value, a blob, which is not copied.

    Raises
    ------
    WrongArgument : if it has 2 GB or more, as a single row may
    """
    if blob.size >= 2**31:
        raise WrongArgument(
            f"a row packs to {blob.size:,} bytes, and Spark's column of bytes holds 2 GB. Keep "
            "large values in files, and merge their names"
        )
    ends = pa.py_buffer(np.array([0, blob.size], np.int32))
    return pa.Array.from_buffers(pa.binary(), 1, [None, ends, blob])


def in_blobs(rows: pa.Table) -> Iterator[pa.Table]:
    """Cut rows into parts of which each may be a blob."""
    if rows.nbytes <= BYTES_PER_BLOB or rows.num_rows == 1:
        yield rows
    else:
        half = rows.num_rows // 2
        yield from in_blobs(rows.slice(0, half))
        yield from in_blobs(rows.slice(half))


def integers(column: pa.ChunkedArray | pa.Array) -> Integers:
    """Return a column of times or positions, none of them null, as numbers."""
    if isinstance(column, pa.ChunkedArray):  # it would be copied even if there is but one chunk
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).view(pa.int64())
    numbers: Integers = column.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return numbers


def stream_numbers(rows: pa.Table) -> Any:
    """Return the number of each row's stream, of rows in one chunk: they are not copied."""
    return rows[STREAM].chunk(0).to_numpy()


def split_placed(rows: Any, settings: Settings) -> tuple[Any, Any]:
    """Separate the rows that have a time and a position from those that have not."""
    if rows[settings.time].null_count == 0 and rows[settings.position].null_count == 0:
        return rows, rows.slice(0, 0)
    placed = pc.and_(pc.is_valid(rows[settings.time]), pc.is_valid(rows[settings.position]))
    return rows.filter(placed), rows.filter(pc.invert(placed))


def join_in_order(parts: Iterable[pa.Table], settings: Settings) -> pa.Table | None:
    """Sort rows by time, then stream, then position: the order of `protocols.sunion.precedes`.

    Rows that are alike in these stay as they were. Give None if there are none.
    """
    filled = [part for part in parts if part.num_rows]
    if not filled:
        return None
    rows = pa.concat_tables(filled).combine_chunks()
    times, positions = integers(rows[settings.time]), integers(rows[settings.position])
    streams = stream_numbers(rows)
    # A stable sort merges the runs that are there already: of parts that are in order each, it
    # costs little, and ties mostly come out right.
    order = np.argsort(times, kind="stable")
    ties = np.flatnonzero(np.diff(times[order]) == 0)
    if not _in_order(streams, positions, order[ties], order[ties + 1]):
        order = np.lexsort((positions, streams, times))
    if np.array_equal(order, np.arange(len(order))):
        return rows
    return rows.take(pa.array(order))


def _in_order(streams: Any, positions: Integers, left: Integers, right: Integers) -> bool:
    """Return whether pairs of rows of equal time are in order."""
    same = streams[left] == streams[right]
    rising = (streams[left] < streams[right]) | (same & (positions[left] <= positions[right]))
    return bool(rising.all())


def by_value(rows: pa.Table, values: Integers) -> Iterator[tuple[int, pa.Table]]:
    """Cut rows where a value changes, of which there is one a row."""
    if not len(values):
        return
    starts = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1))
    ends = np.append(starts[1:], len(values))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(values[start]), rows.slice(start, end - start)


def nullable(schema: pa.Schema) -> pa.Schema:
    """Return a schema with all nullable, also inside: tuples that are no rows have no data."""
    return pa.schema([_canonical_field(field) for field in schema])


@lru_cache(maxsize=64)
def _canonical_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([_canonical_field(schema.field(name)) for name in sorted(schema.names)])


def _canonical_field(field: pa.Field) -> pa.Field:
    return field.with_type(_canonical_type(field.type)).with_nullable(True)


def _canonical_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, "UTC")
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_list(kind):
        return pa.list_(_canonical_field(kind.value_field))
    if pa.types.is_map(kind):
        key = kind.key_field.with_type(_canonical_type(kind.key_type))
        return pa.map_(key, _canonical_field(kind.item_field))
    if pa.types.is_struct(kind):
        return pa.struct([_canonical_field(field) for field in kind])
    return kind
