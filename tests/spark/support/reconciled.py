"""Merges of files that a table is kept of, life after life."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from streamproof.spark_bindings.sunion import reconcile, sunion
from tests.spark.support.merging import SCHEMA, Row, write_file


def arrive(place: Path, **streams: list[tuple[int, int]]) -> None:
    """Let a file arrive of each stream, with rows of these seconds and positions."""
    for name, rows in streams.items():
        write_file(place, name, [Row(*row) for row in rows])


def read(spark: SparkSession, path: Path | str, **options: object) -> DataFrame:
    """Read the files in a directory as a stream."""
    return spark.readStream.schema(from_arrow_schema(SCHEMA)).options(**options).parquet(str(path))


def merged(streams: Mapping[str, DataFrame], **other: Any) -> DataFrame:
    """Merge them, a second at a time."""
    settings = {"time": "ts", "position": "seq", "bucket": "1 second", "lateness": "0 seconds"}
    return sunion(streams, **(settings | other))


def live(rows: DataFrame, place: Path) -> None:
    """Run a merge until all is read that is there."""
    query = reconcile(rows, place / "table", place / "checkpoint", availableNow=True)
    query.awaitTermination()


def texts(place: Path) -> list[str]:
    """Return the stable rows of a table: their stream, and what they say of themselves."""
    rows = DeltaTable(place / "table").to_pyarrow_table().to_pylist()
    return [
        f"{row['stream']}: {row['text']}" for row in sorted(rows, key=lambda row: row["stable_id"])
    ]


def files(place: Path) -> dict[str, bytes]:
    """Return all files of a checkpoint and its tables, to see whether one was written."""
    return {
        str(file.relative_to(place)): file.read_bytes()
        for name in ("table", "table.late", "checkpoint")
        for file in sorted((place / name).rglob("*"))
        if file.is_file()
    }
