"""Of a tuple its stable id, serializer, stream and type, as one number from Python to the JVM.

A column costs the JVM some tens of nanoseconds a row, more if it may be null, and a text as much as
the whole row. The JVM takes the number apart, and puts the names in, which the plan has once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from pyspark.sql import Column
from pyspark.sql import functions as F

from streamproof.spark_bindings.errors import TooManyRows
from streamproof.spark_bindings.sunion.settings import Integers, Settings
from streamproof.spark_bindings.sunion.tuple_type import (
    SERIALIZER,
    STABLE_ID,
    STREAM_NAME,
    TUPLE_TYPE,
    TupleType,
)

TAG = "__tag"
"""The column of tags, which are whole numbers of 64 bits, and never null."""

_KINDS = {kind: number for number, kind in enumerate(TupleType)}
_KIND_BITS, _TAG_BITS = 3, 63

Numbers = TypeVar("Numbers", int, Integers)


@dataclass(frozen=True, slots=True)
class Tags:
    """How a merge's tags are laid out: from the lowest bits on type, stream, serializer, stable id.

    Attributes
    ----------
    streams : their names
    serializers : how many there are
    """

    streams: tuple[str, ...]
    serializers: int

    @classmethod
    def of_merge(cls, settings: Settings) -> Tags:
        """Lay out the tags of a merge."""
        return cls(settings.streams, settings.partitions)

    @property
    def no_stream(self) -> int:
        """The stream of tuples that are no rows: a number behind those of all streams."""
        return len(self.streams)

    def of(
        self, kind: TupleType, serializer: int, streams: Numbers, stable_ids: Numbers
    ) -> Numbers:
        """Return the tag of a tuple, or the tags of rows.

        Parameters
        ----------
        kind, serializer : of all
        streams, stable_ids : of the tuple, or of each row

        Raises
        ------
        TooManyRows : if a stable id has no room in a tag
        """
        if int(np.max(stable_ids, initial=0)) > self.stable_ids:
            raise TooManyRows(
                f"serializer {serializer} has numbered {self.stable_ids:,} rows, as many as it can "
                f"beside {len(self.streams)} streams and {self.serializers} serializers. Later "
                "rows would get the numbers of earlier ones. Begin a new checkpoint, with fewer "
                "serializers"
            )
        low = (serializer << self._stream_bits | streams) << _KIND_BITS | _KINDS[kind]
        return stable_ids << self._low_bits | low

    @property
    def stable_ids(self) -> int:
        """How many rows can be numbered."""
        ids = 1 << (_TAG_BITS - self._low_bits)
        return ids - 1  # tuples behind the last row have the id of the next one

    def columns(self, column: Column) -> dict[str, Column]:
        """Return the columns that a column of tags stands for, by name."""
        kind = column.bitwiseAND(2**_KIND_BITS - 1)
        stream = F.shiftright(column, _KIND_BITS).bitwiseAND(2**self._stream_bits - 1)
        serializer = F.shiftright(column, _KIND_BITS + self._stream_bits).bitwiseAND(
            2**self._serializer_bits - 1
        )
        return {
            TUPLE_TYPE: _named([kind.value for kind in TupleType], kind),
            STREAM_NAME: _named(self.streams, stream),
            STABLE_ID: F.when(kind != _KINDS[TupleType.LATE], F.shiftright(column, self._low_bits)),
            # Like the others it counts as one that may be null.
            SERIALIZER: F.when(serializer >= 0, serializer.cast("int")),
        }

    @property
    def _stream_bits(self) -> int:
        return self.no_stream.bit_length()

    @property
    def _serializer_bits(self) -> int:
        return (self.serializers - 1).bit_length()

    @property
    def _low_bits(self) -> int:
        return _KIND_BITS + self._stream_bits + self._serializer_bits


def _named(names: Sequence[str], number: Column) -> Column:
    return F.get(F.array(*map(F.lit, names)), number)
