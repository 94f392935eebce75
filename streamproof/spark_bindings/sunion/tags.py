"""Of a tuple its type, stream and serializer, as one number on its way from Python to the JVM.

A column costs the JVM some tens of nanoseconds a row, more if it may be null, and a text as much as
the whole row. The JVM puts the names in, which the plan has once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pyspark.sql import Column
from pyspark.sql import functions as F

from streamproof.spark_bindings.sunion.settings import Integers
from streamproof.spark_bindings.sunion.tuple_type import (
    SERIALIZER,
    STREAM_NAME,
    TUPLE_TYPE,
    TupleType,
)

TAG = "__tag"
"""The column of tags, which are whole numbers of 32 bits, and never null."""
NO_STREAM = 2**7 - 1
"""The stream of tuples that are no rows: a number behind those of all streams."""

_KINDS = {kind: number for number, kind in enumerate(TupleType)}
_KIND_BITS, _STREAM_BITS = 3, 7

Streams = TypeVar("Streams", int, Integers)


def tag(kind: TupleType, serializer: int, streams: Streams) -> Streams:
    """Give the tag of a tuple, or of rows by the numbers of their streams."""
    return (serializer << _STREAM_BITS | streams) << _KIND_BITS | _KINDS[kind]


def told(column: Column, streams: Sequence[str]) -> dict[str, Column]:
    """Give the columns that a tag stands for, by name.

    Parameters
    ----------
    column : of tags
    streams : names of the merge's inputs
    """
    kind = column.bitwiseAND(2**_KIND_BITS - 1)
    stream = F.shiftright(column, _KIND_BITS).bitwiseAND(2**_STREAM_BITS - 1)
    serializer = F.shiftright(column, _KIND_BITS + _STREAM_BITS)
    return {
        TUPLE_TYPE: _named([kind.value for kind in TupleType], kind),
        STREAM_NAME: _named(streams, stream),
        # Like the others it counts as one that may be null.
        SERIALIZER: F.when(serializer >= 0, serializer),
    }


def _named(names: Sequence[str], number: Column) -> Column:
    return F.get(F.array(*map(F.lit, names)), number)
