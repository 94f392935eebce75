"""Merges of streams in files, as tests run them: the example, its pieces, and what came out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from streamproof.spark_bindings.sunion import TupleType, sunion
from tests.spark.support.merging import SCHEMA, Placed, Row, rows_of, write_file

NAMES = ("ewr", "jfk")


PARTITIONS = "spark.sql.shuffle.partitions"


def example() -> dict[str, list[Row]]:
    """Make two streams with ties, disorder within the lateness, and one late row."""
    chance = random.Random(2)
    streams = {
        "ewr": rows_of(second + chance.randint(-4, 0) + 4 for second in range(120)),
        "jfk": rows_of(second // 2 for second in range(230)),
    }
    streams["ewr"][90] = Row(30, 90)
    return streams


def spread(place: Path, name: str, files: Sequence[Sequence[Row]]) -> None:
    """Write a stream as files, which Spark reads in this order."""
    for rows in files:
        write_file(place, name, rows)


def in_pieces(rows: Sequence[Row], seed: int, cuts: int = 2) -> list[Sequence[Row]]:
    """Cut a stream anywhere, and shuffle each piece."""
    chance = random.Random(seed)
    at = sorted(chance.sample(range(1, len(rows)), cuts))
    pieces = [list(rows[a:b]) for a, b in zip([0, *at], [*at, len(rows)], strict=True)]
    for piece in pieces:
        chance.shuffle(piece)
    return pieces


def merge(spark: SparkSession, place: Path, files_per_batch: int, **options: object) -> DataFrame:
    """Plan a merge of the files below a directory."""
    inputs = {
        name: spark.readStream.schema(from_arrow_schema(SCHEMA))
        .option("maxFilesPerTrigger", files_per_batch)
        .parquet(str(place / name))
        for name in NAMES
    }
    arguments = {
        "time": "ts",
        "position": "seq",
        "bucket": "10 seconds",
        "lateness": "5 seconds",
    }
    return sunion(inputs, **(arguments | options))


def of(kind: TupleType, output: pa.Table) -> pa.Table:
    return output.filter(pc.equal(output["tuple_type"], kind.value)).combine_chunks()


def placed(rows: pa.Table) -> list[Placed]:
    """Read rows of an output."""
    columns = [rows[name].to_pylist() for name in ("ts", "stream", "seq", "text")]
    for _, stream, position, text in zip(*columns, strict=True):
        assert text == f"{stream} {position}"
    return [
        Placed(int(time.timestamp()), stream, position)
        for time, stream, position, _ in zip(*columns, strict=True)
    ]


def content(rows: pa.Table) -> bytes:
    """Write rows as bytes, to be compared."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows.combine_chunks())
    return sink.getvalue().to_pybytes()


def stream(spark: SparkSession) -> DataFrame:
    rows = spark.readStream.format("rate").load()
    return rows.select(F.col("timestamp").alias("ts"), F.col("value").alias("seq"))
