"""`sunion` in Spark: byte for byte the same whatever the batches, the partitions and the kills."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from streamproof.spark_bindings.certificate import Certificate
from streamproof.spark_bindings.sunion import sunion
from tests.spark.merging import SCHEMA, Row, table

pytestmark = pytest.mark.timeout(600)


def spread(place: Path, name: str, files: Sequence[Sequence[Row]]) -> None:
    """Write a stream as files, which Spark reads in this order."""
    (place / name).mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(files):
        path = place / name / f"{number:03}.parquet"
        pq.write_table(table(rows, name), path)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def read(spark: SparkSession, place: Path, name: str, files_per_batch: int) -> DataFrame:
    return (
        spark.readStream.schema(from_arrow_schema(SCHEMA))
        .option("maxFilesPerTrigger", files_per_batch)
        .parquet(str(place / name))
    )


def merge_all(
    spark: SparkSession, place: Path, names: Sequence[str], files_per_batch: int, **options
) -> pa.Table:
    """Merge what is there, and give the whole output in the order of batches."""
    merged = sunion(
        {name: read(spark, place, name, files_per_batch) for name in names},
        time="ts",
        position="seq",
        bucket="10 seconds",
        lateness="5 seconds",
        certificate=Certificate.IGNORED,
        **options,
    )
    found: dict[int, pa.Table] = {}

    def keep(rows: DataFrame, batch: int) -> None:
        found[batch] = rows.toArrow()

    query = (
        merged.writeStream.option("checkpointLocation", str(place / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(keep)
        .start()
    )
    query.awaitTermination()
    return pa.concat_tables([found[batch] for batch in sorted(found)])
