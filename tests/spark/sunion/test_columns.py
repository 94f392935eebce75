"""Columns of every type and name come out as they went in; what cannot be merged is refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from streamproof.lang import StreamproofError
from streamproof.spark_bindings.errors import TooManyRows, WrongArgument, WrongSchema
from streamproof.spark_bindings.sunion import TupleType, sunion
from streamproof.spark_bindings.sunion.tags import Tags
from tests.spark.support.merges import of
from tests.spark.support.runs import run

pytestmark = pytest.mark.timeout(600)

INSTANT = pa.timestamp("us", "UTC")
TYPES = {
    "when.it `was`": INSTANT,
    "100%": pa.int16(),
    "decimal": pa.decimal128(38, 10),
    "struct": pa.struct([("at", INSTANT), ("Text", pa.string())]),
    "map": pa.map_(pa.string(), pa.list_(INSTANT)),
    "array": pa.list_(pa.int64()),
    "binary": pa.binary(),
    "date": pa.date32(),
    "local": pa.timestamp("us"),
    "float": pa.float32(),
    "sp ace": pa.bool_(),
}
AT = dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC)


def rows(position: int, second: int) -> dict[str, object]:
    """Make a row with a value in each column."""
    return {
        "when.it `was`": AT + dt.timedelta(seconds=second),
        "100%": position,
        "decimal": Decimal("1234567890.0000000001") * position,
        "struct": {"at": AT, "Text": None},
        "map": [("key", [AT, None])],
        "array": [position, None],
        "binary": b"\x00\xff",
        "date": dt.date(9999, 12, 31),
        "local": dt.datetime.fromisoformat("1583-01-01"),
        "float": float("-inf"),
        "sp ace": position % 2 == 0,
    }


def empty(position: int, second: int) -> dict[str, object]:
    """Make a row with nothing but a time and a position."""
    kept = ("when.it `was`", "100%")
    return {name: value if name in kept else None for name, value in rows(position, second).items()}


def test_all_types_and_names_come_out_as_they_went_in(spark: SparkSession, tmp_path: Path) -> None:
    given = [rows(0, 0), empty(1, 1), rows(2, 3), empty(3, 100)]
    schema = pa.schema(TYPES.items())
    inputs = {}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.Table.from_pylist(given, schema), tmp_path / name / "rows.parquet")
        reader = spark.readStream.schema(from_arrow_schema(schema, prefer_timestamp_ntz=True))
        inputs[name] = reader.parquet(str(tmp_path / name))
    merged = sunion(
        inputs,
        time="When.it `Was`",
        position="100%",
        bucket="10 seconds",
        lateness="0 seconds",
        partition_by=["decimal", "STRUCT", "when.it `was`", "float"],
        partitions=2,
    )
    stable = of(TupleType.INSERTION, run(merged, tmp_path))
    assert stable.column_names[: len(TYPES)] == list(TYPES)
    found = stable.sort_by([("100%", "ascending"), ("stream", "ascending")])
    found = found.select(list(TYPES)).cast(schema).to_pylist()
    assert found == [row for row in given[:3] for _ in range(2)]


def stream(spark: SparkSession) -> DataFrame:
    made = spark.readStream.format("rate").load()
    return made.select(F.col("timestamp").alias("ts"), F.col("value").alias("seq"))


GOOD = {"time": "ts", "position": "seq", "bucket": "1 minute", "lateness": "30 seconds"}


def test_upper_and_lower_case_are_one_unless_the_session_says_otherwise(
    spark: SparkSession,
) -> None:
    other = stream(spark).select(F.col("seq").alias("SEQ"), F.col("ts").alias("Ts"))
    shouted = {"time": "TS", "position": "Seq", "partition_by": ["sEQ"], "partitions": 2}
    merged = sunion({"a": stream(spark), "b": other}, **(GOOD | shouted))
    assert merged.columns[:2] == ["ts", "seq"]
    with pytest.raises(WrongSchema, match="the columns SEQ, seq twice"):
        sunion(
            {
                "a": stream(spark)
                .toDF("ts", "seq")
                .withColumns({"x": F.lit(1)})
                .toDF("seq", "SEQ", "x")
            },
            **GOOD,
        )
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        with pytest.raises(WrongSchema, match="time='TS', but the inputs have the columns ts, seq"):
            sunion({"a": stream(spark)}, **(GOOD | shouted))
        with pytest.raises(WrongSchema, match="have different schemas"):
            sunion({"a": stream(spark), "b": other}, **GOOD)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")


@pytest.mark.parametrize(("streams", "serializers"), [(1, 1), (2, 1), (3, 5), (127, 1000)])
def test_a_tag_tells_all_of_a_tuple(spark: SparkSession, streams: int, serializers: int) -> None:
    layout = Tags(tuple(f"stream{number}" for number in range(streams)), serializers)
    cases = [
        (kind, serializer, stream, stable_id)
        for kind in TupleType
        for serializer in {0, serializers - 1}
        for stream in {0, streams - 1, layout.no_stream}
        for stable_id in (0, 1, layout.stable_ids)
    ]
    tags = spark.createDataFrame([(layout.of(*case),) for case in cases], "tag long")
    columns = layout.columns(F.col("tag"))
    names = ("tuple_type", "serializer", "stream", "stable_id")
    found = tags.select(*(columns[name] for name in names))
    assert [tuple(row) for row in found.collect()] == [
        (
            kind.value,
            serializer,
            None if stream == layout.no_stream else layout.streams[stream],
            None if kind is TupleType.LATE else stable_id,
        )
        for kind, serializer, stream, stable_id in cases
    ]


def test_a_stable_id_without_room_in_a_tag_is_refused() -> None:
    layout = Tags(tuple(f"stream{number}" for number in range(127)), 1000)
    with pytest.raises(TooManyRows, match="serializer 7 has numbered 8,796,093,022,207 rows"):
        layout.of(TupleType.INSERTION, 7, np.zeros(2, int), layout.stable_ids + np.arange(2))


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"time": None}, WrongSchema, "time=None, but the inputs have"),
        ({"time": ["ts"]}, WrongSchema, "time=.'ts'., but the inputs have"),
        ({"partition_by": (name for name in ["seq"])}, WrongArgument, "list of column names"),
        ({"partition_by": {"seq"}}, WrongArgument, "partition_by=.'seq'.. It is a list"),
        ({"partition_by": 5}, WrongArgument, "partition_by=5. It is a list"),
        ({"partition_by": ["seq"]}, WrongArgument, "one shuffle partition"),
        ({"partition_by": ["seq"], "partitions": True}, WrongArgument, "partitions=True"),
        ({"partition_by": ["seq"], "partitions": 0}, WrongArgument, "partitions=0"),
        ({"partition_by": ["seq"], "partitions": 2.0}, WrongArgument, "partitions=2.0"),
        ({"partition_by": ["seq"], "partitions": 10**6}, WrongArgument, "1 to 1000 serializers"),
        ({"partition_by": ["map"]}, WrongSchema, "Spark makes no hash .map map<int,int>"),
        ({"margin": "0.9"}, WrongArgument, "margin='0.9'"),
        ({"margin": True}, WrongArgument, "margin=True"),
        ({"margin": float("nan")}, WrongArgument, "margin=nan"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_wrong_arguments_are_refused(
    spark: SparkSession, wrong: dict[str, object], error: type[StreamproofError], words: str
) -> None:
    with pytest.raises(error, match=words):
        sunion({"a": stream(spark).withColumn("map", F.expr("map(1, 2)"))}, **(GOOD | wrong))


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        ("make_ym_interval(1, 2)", "interval year to month"),
        ("parse_json('{}')", "variant"),
        ("array()", "array<void>"),
    ],
)
def test_a_type_that_python_lacks_is_refused(spark: SparkSession, made: str, kind: str) -> None:
    with pytest.raises(WrongSchema, match=f"column 'other' of type {kind}"):
        sunion({"a": stream(spark).withColumn("other", F.expr(made))}, **GOOD)


def test_a_delay_that_no_live_bucket_can_keep_is_warned_of(spark: SparkSession) -> None:
    told = r"max_delay='95 seconds', of which a bucket waits 85.5 s .* more than 100 s"
    with pytest.warns(UserWarning, match=told) as warned:
        sunion({"a": stream(spark)}, **GOOD, max_delay="95 seconds")
    assert warned[0].filename == __file__
    sunion({"a": stream(spark)}, **GOOD, max_delay="101 seconds")  # a warning would be an error


def test_public_names_are_listed_before_they_are_imported() -> None:
    import streamproof.spark_bindings as bindings
    from streamproof.spark_bindings import sunion as merging

    for package in (bindings, merging):
        assert set(package.__all__) <= set(dir(package))
