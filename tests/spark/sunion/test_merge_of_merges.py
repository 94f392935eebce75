"""A merge may be an input of another one, as docs/how-to/merging-streams.md writes it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from streamproof.spark_bindings.sunion import reconcile, stable_only, sunion
from tests.spark.support.merging import SCHEMA, SETTINGS, Row, reference, rows_of, write_file

pytestmark = pytest.mark.timeout(300)

MERGE = {"time": "ts", "position": "seq", "bucket": "10 seconds", "lateness": "5 seconds"}
STREAMS = {
    "ewr": rows_of(range(0, 90, 3)),
    "jfk": rows_of(range(1, 90, 2)),
    "west": rows_of(range(0, 90, 2)),
}


def merge(spark: SparkSession, place: Path) -> None:
    """Merge what is there."""

    def stream(name: str) -> DataFrame:
        files = spark.readStream.schema(from_arrow_schema(SCHEMA)).option("maxFilesPerTrigger", 1)
        return files.parquet(str(place / name))

    west = stream("west")
    east = stable_only(sunion({name: stream(name) for name in ("ewr", "jfk")}, **MERGE))
    east = east.withColumn("seq", F.col("stable_id")).select(*west.columns)
    merged = sunion({"east": east, "west": west}, **MERGE)
    reconcile(merged, place / "table", place / "checkpoint", availableNow=True).awaitTermination()


@pytest.mark.slow
def test_a_merge_of_merges_is_that_of_what_they_say(spark: SparkSession, tmp_path: Path) -> None:
    for part in range(3):
        for name, rows in STREAMS.items():
            size = len(rows) // 3
            write_file(tmp_path, name, rows[part * size : (part + 1) * size])
        if part > 0:
            merge(spark, tmp_path)
    east = [
        Row(row.second, position) for position, row in enumerate(reference(STREAMS, SETTINGS)[0])
    ]
    whole = {"east": east, "west": STREAMS["west"]}
    expected, late = reference(whole, replace(SETTINGS, streams=("east", "west")))
    rows = DeltaTable(tmp_path / "table").to_pyarrow_table().sort_by("stable_id")
    seconds = rows["ts"].cast(pa.timestamp("s", "UTC")).cast(pa.int64()).to_pylist()
    found = zip(seconds, rows["stream"].to_pylist(), rows["seq"].to_pylist(), strict=True)
    assert [*found] == expected
    assert len(expected) > 90
    assert late == set()
