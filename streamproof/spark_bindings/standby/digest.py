"""Whether both copies gave the same rows: a digest of a turn's rows, whatever their order.

Each row has a hash, which Spark computes, and a turn's digest is their sum and their number. Two
copies that differ have equal digests once in 2**64, so it is an aid against mistakes, not against
somebody who wants them to be equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.errors import WrongSchema
from streamproof.spark_bindings.storage.parquet_files import Written, read_file, write_file
from streamproof.spark_bindings.storage.place import Place

HASH_COLUMN = "streamproof_row_hash"
NO_ROWS = "0:0000000000000000"
"""The digest of a turn that gave no rows."""
_ROWS_SHOWN_MAX = 5


def with_hash(rows: DataFrame) -> DataFrame:
    """Add each row's hash as the last column. Where nulls are is hashed too: Spark skips them.

    Columns are known by their position, so that they may have any name, also that of the hash.
    """
    numbered = rows.toDF(*(f"column{number}" for number in range(len(rows.columns))))
    places = [F.col(name) for name in numbered.columns]
    hashed = F.xxhash64(*places, *(place.isNull() for place in places))
    return numbered.withColumn(HASH_COLUMN, hashed).toDF(*rows.columns, HASH_COLUMN)


def check_hashable(schema: pa.Schema, channel: str) -> None:
    """Check that rows of a channel have hashes.

    Raises
    ------
    WrongSchema : if a column is a map, whose entries have no order
    """
    maps = [field.name for field in schema if "map<" in str(field.type)]
    if maps:
        raise WrongSchema(
            f"channel {channel!r} has the columns {', '.join(maps)} of type map. The entries of a "
            "map have no order, so the rows of two copies cannot be compared. Use an array of "
            "structs, or run the query without a standby"
        )


def write_rows(
    rows: DataFrame, directory: Place, prefix: str, schema: pa.Schema
) -> tuple[tuple[Written, ...], str]:
    """Write a turn's rows as files that no commit names yet; give them, and the rows' digest.

    Parameters
    ----------
    rows : as `with_hash` gives them, not executed yet
    directory, prefix : where the files are to be, and how their names begin
    schema : of the rows without their hashes
    """
    write = partial(_write_partition, directory, prefix, schema)
    parts = _spark.write_partitions(rows, write)
    count = sum(int(part[2]) for part in parts)
    total = sum(int(part[3], 16) for part in parts) % 2**64
    return tuple(Written(*part[:3]) for part in parts), f"{count}:{total:016x}"


def rows_that_differ(
    mine: Iterable[Place], others: Iterable[Place], columns: list[str]
) -> tuple[list[str], list[str]]:
    """Return rows that the one has more often than the other, of either; the first few."""
    left, right = _count(mine, columns), _count(others, columns)
    return _first(left - right), _first(right - left)


def _write_partition(
    directory: Place, prefix: str, schema: pa.Schema, batches: Iterator[pa.RecordBatch]
) -> tuple[str, int, int, str] | None:
    total = np.uint64(0)

    def without_hash() -> Iterator[pa.RecordBatch]:
        nonlocal total
        for batch in batches:
            hashes = (
                batch.column(batch.num_columns - 1).to_numpy(zero_copy_only=False).view(np.uint64)
            )
            total = np.add(total, hashes.sum(dtype=np.uint64), dtype=np.uint64)
            yield batch.select(range(batch.num_columns - 1))

    with np.errstate(over="ignore"):  # a digest is a sum modulo 2**64
        written = write_file(directory, prefix, schema, without_hash())
    return None if written is None else (*written, f"{int(total):016x}")


def _count(files: Iterable[Place], columns: list[str]) -> Counter[str]:
    return Counter(
        str(row)
        for file in files
        for batch in read_file(file, columns)
        for row in batch.to_pylist()
    )


def _first(rows: Counter[str]) -> list[str]:
    return sorted(rows.elements())[:_ROWS_SHOWN_MAX]
