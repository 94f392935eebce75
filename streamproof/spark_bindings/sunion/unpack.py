"""From blobs to rows: the merged stream as its readers see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import LongType, StructField, StructType

from streamproof.spark_bindings.sunion.rows import STREAM, from_blob, integers
from streamproof.spark_bindings.sunion.settings import Settings
from streamproof.spark_bindings.sunion.tags import TAG, Tags
from streamproof.spark_bindings.sunion.tuple_type import BUCKET, TupleType


def travelling_schema(schema: StructType, time: str) -> StructType:
    """Return the schema of a merged stream on its way to the JVM.

    Parameters
    ----------
    schema : of its inputs
    time : the inputs' column of time
    """
    travelling = StructType([StructField(field.name, field.dataType) for field in schema])
    travelling.add(TAG, LongType(), nullable=False)
    return travelling.add(BUCKET, schema[time].dataType)


@dataclass(frozen=True, slots=True)
class Unpack:
    """Unpacks what the serializers emit. Spark calls it once a task, on executors.

    Attributes
    ----------
    settings : the merge's
    schema : Arrow schema of what it gives, `travelling_schema`
    """

    settings: Settings
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of each blob, and a row for each tuple that is none."""
        for batch in batches:
            for emitted in batch.to_pylist():
                yield from (
                    self._rows(emitted) if emitted["rows"] is not None else self._tuple(emitted)
                )

    def _rows(self, emitted: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        rows = from_blob(emitted["rows"])
        kind, count = TupleType(emitted["kind"]), rows.num_rows
        first = emitted["stable_id"] or 0  # late rows have none
        rises = kind is TupleType.INSERTION
        stable_ids = np.arange(first, first + count) if rises else np.full(count, first)
        streams, layout = integers(rows[STREAM]), Tags.of_merge(self.settings)
        added = {
            TAG: pa.array(layout.of(kind, emitted["serializer"], streams, stable_ids)),
            BUCKET: self._bucket_starts(rows[self.settings.time]),
        }
        columns = [added[f.name] if f.name in added else rows[f.name] for f in self.schema]
        yield from pa.table(columns, schema=self.schema).to_batches()

    def _bucket_starts(self, times: pa.ChunkedArray) -> pa.Array:
        missing = times.is_null().to_numpy() if times.null_count else None
        starts = self.settings.buckets(integers(times.fill_null(0))) * self.settings.bucket_us
        return pa.array(starts, times.type, mask=missing)

    def _tuple(self, emitted: dict[str, Any]) -> Iterator[pa.RecordBatch]:
        kind, bucket = TupleType(emitted["kind"]), emitted["bucket"]
        layout = Tags.of_merge(self.settings)
        tag = layout.of(kind, emitted["serializer"], layout.no_stream, emitted["stable_id"])
        said = {TAG: tag, BUCKET: None if bucket is None else bucket * self.settings.bucket_us}
        columns = [pa.array([said.get(field.name)], field.type) for field in self.schema]
        yield pa.RecordBatch.from_arrays(columns, schema=self.schema)
