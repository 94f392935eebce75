"""Rows that have time, stream and position of another: copies are set apart, others refused.

A source that delivers at least once emits a row twice, now and then. The order of two rows that are
equal in all columns is no question, and one of them is enough; that of two others is one, and has
no answer. A row is compared when it comes, so that what is refused is not in the state yet.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamproof.spark_bindings.errors import RepeatedPosition
from streamproof.spark_bindings.sunion.rows import STREAM, integers, stream_numbers
from streamproof.spark_bindings.sunion.settings import Settings

_VALUE_LENGTH = 60
"""Of values in messages, in characters."""


def set_apart(
    arrived: pa.Table, like: Sequence[pa.Table], settings: Settings
) -> tuple[pa.Table, pa.Table]:
    """Separate rows from copies of others.

    Parameters
    ----------
    arrived : rows in the order of the merge, of which some may be in one place
    like : rows that came before, none of them twice
    settings : the merge's

    Returns
    -------
    tuple
        The rows that are new, in their order; and the copies.

    Raises
    ------
    RepeatedPosition : if two rows are in one place, and are not equal
    """
    rows = pa.concat_tables([*like, arrived]).combine_chunks() if like else arrived
    times, positions = integers(rows[settings.time]), integers(rows[settings.position])
    streams = stream_numbers(rows)
    order = np.lexsort((positions, streams, times)) if like else np.arange(len(times))
    left, right = order[:-1], order[1:]
    near = np.flatnonzero(times[left] == times[right])
    left, right = left[near], right[near]
    same = (positions[left] == positions[right]) & (streams[left] == streams[right])
    if not same.any():
        return arrived, arrived.slice(0, 0)
    first, second = rows.take(pa.array(left[same])), rows.take(pa.array(right[same]))
    if not _are_equal(first, second):
        _refuse(first, second, settings)
    is_copy = np.zeros(arrived.num_rows, bool)
    is_copy[right[same] - (rows.num_rows - arrived.num_rows)] = True  # what came before is first
    return arrived.filter(pa.array(~is_copy)), arrived.filter(pa.array(is_copy))


def _are_equal(left: pa.Table, right: pa.Table) -> bool:
    parts = zip(left.columns, right.columns, strict=True)
    return all(
        one.equals(other)
        for pair in parts
        for one, other in zip(*(_parts(column.combine_chunks()) for column in pair), strict=True)
    )


def _parts(values: pa.Array) -> Iterator[pa.Array]:
    """Take values apart into plain ones, and numbers into bits: a NaN is a copy of itself."""
    kind = values.type
    if pa.types.is_floating(kind):
        yield values.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[kind.bit_width])
    elif pa.types.is_struct(kind):
        yield values.is_valid()
        for child in values.flatten():
            yield from _parts(child)
    elif pa.types.is_map(kind):
        entry = pa.struct([kind.key_field, kind.item_field])
        yield from _parts(values.cast(pa.list_(entry)))
    elif pa.types.is_list(kind):
        yield pc.list_value_length(values)  # null, where there is no list
        yield from _parts(pc.list_flatten(values))
    else:
        yield values


def _refuse(left: pa.Table, right: pa.Table, settings: Settings) -> NoReturn:
    """Raise an error about the first two rows that differ."""
    lengths = range(1, left.num_rows + 1)
    at = bisect(lengths, 0, key=lambda n: not _are_equal(left.slice(0, n), right.slice(0, n)))
    left, right = left.slice(at, 1), right.slice(at, 1)
    stream = settings.streams[left[STREAM][0].as_py()]
    position = left[settings.position][0].as_py()
    time = left[settings.time].cast(pa.string())[0].as_py()  # Python has no year 10000
    differing = ", ".join(
        f"{name} ({_shown(left[name])} and {_shown(right[name])})"
        for name in left.column_names
        if not _are_equal(left.select([name]), right.select([name]))
    )
    raise RepeatedPosition(
        f"stream {stream!r} has the position {position} twice, at {time}, in rows that differ in "
        f"{differing}. Their order would be an accident, and differ from run to run. Nothing of "
        f"this batch was kept. Make {settings.position!r} unique within each stream, or drop one "
        "of the two before sunion, and start the query again: it goes on from here"
    )


def _shown(value: pa.ChunkedArray) -> str:
    try:
        text = repr(value[0].as_py())
    except (ArithmeticError, ValueError):  # as of a time that Python does not have
        text = value.combine_chunks().to_string(indent=0, skip_new_lines=True)[1:-1]
    return text if len(text) <= _VALUE_LENGTH else f"{text[:_VALUE_LENGTH]}..."
