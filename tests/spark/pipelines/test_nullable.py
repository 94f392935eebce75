"""Parts of a plan's output that are never null go into a channel where they may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.errors import WrongSchema
from streamproof.spark_bindings.pipelines.planning import _require_columns
from streamproof.spark_bindings.storage.schema import fit, holds, spelled, stored_schema

TEXT, LONG = StringType(), LongType()


def struct(nullable: bool, **metadata: Any) -> StructType:
    return StructType([StructField("a", LONG, nullable, metadata or None)])


WIDER_AND_NARROWER = [
    (ArrayType(TEXT, True), ArrayType(TEXT, False)),
    (MapType(TEXT, LONG, True), MapType(TEXT, LONG, False)),
    (struct(True), struct(False)),
    (ArrayType(struct(True), True), ArrayType(struct(False), False)),
    (MapType(TEXT, ArrayType(LONG, True), True), MapType(TEXT, ArrayType(LONG, False), True)),
    (StructType([StructField("s", struct(True))]), StructType([StructField("s", struct(False))])),
    (MapType(struct(True), LONG), MapType(struct(False), LONG)),
]


@pytest.mark.parametrize(("wide", "narrow"), WIDER_AND_NARROWER, ids=spelled)
def test_a_wider_type_holds_a_narrower_one_and_a_text_tells_them_apart(
    wide: DataType, narrow: DataType
) -> None:
    assert holds(wide, wide)
    assert holds(wide, narrow)
    assert not holds(narrow, wide)
    assert "not null" in spelled(narrow)
    assert "not null" not in spelled(wide)


def test_what_is_said_about_a_field_does_not_count() -> None:
    assert holds(struct(True), struct(True, comment="said"))
    assert not holds(ArrayType(TEXT), ArrayType(LONG))
    assert not holds(struct(True), StructType([StructField("b", LONG)]))


def test_a_channel_without_nulls_refuses_those_of_a_plan_and_shows_the_difference() -> None:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    stored = pa.schema([("x", pa.list_(pa.field("element", pa.int64(), nullable=False)))])
    given = StructType([StructField("x", ArrayType(LONG, True))])
    with pytest.raises(WrongSchema, match="x .array<bigint>, stored as array<bigint not null>."):
        _require_columns(query, given, stored)


@pytest.mark.parametrize("names", [["x", "x"], ["x", "y", "y"], ["y"], ["X", "y"]])
def test_columns_that_are_not_there_or_there_twice_are_named(names: list[str]) -> None:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    given = StructType([StructField(name, LONG) for name in names])
    with pytest.raises(WrongSchema, match="They differ in"):
        _require_columns(query, given, stored_schema("x long, y long", "it"))


def test_rows_without_nulls_are_stored_where_there_may_be_some() -> None:
    kind = pa.list_(
        pa.field("element", pa.struct([pa.field("a", pa.int64(), nullable=False)]), nullable=False)
    )
    rows = pa.table({"x": pa.array([[{"a": 1}], None, []], kind)})
    schema = stored_schema("x array<struct<a: long>>", "it")
    assert fit(rows, schema, "c").to_pydict() == {"x": [[{"a": 1}], None, []]}


def nested(rows: DataFrame) -> DataFrame:
    parts = F.split("text", ",")
    return rows.select(
        parts.alias("parts"),
        F.struct(F.lit(1).alias("one"), F.col("text")).alias("both"),
        F.create_map(F.lit("k"), F.lit(2)).alias("map"),
        F.array(F.struct(F.lit(3).alias("three"))).alias("deep"),
        F.array(F.lit(1), F.lit(2)).alias("numbers"),
    )


@pytest.mark.spark
@pytest.mark.slow
def test_struct_or_array_with_non_null_parts_in_a_plans_output(
    spark: SparkSession, tmp_path: Path
) -> None:
    stored = (
        "parts array<string>, both struct<one: int, text: string>, map map<string,int>, "
        "deep array<struct<three: int>>, numbers array<int>"
    )
    query = Query("q", inputs=("a",), output="b", plan=nested)
    pipeline = Pipeline(tmp_path / "p", channels={"a": "text string", "b": stored}, queries=[query])
    pipeline.channel("a").append(pa.table({"text": ["x,y", None]}))
    with pipeline.start(spark):
        pipeline.await_idle()
    first, second = pipeline.channel("b").rows().to_pylist()
    assert first == {
        "parts": ["x", "y"],
        "both": {"one": 1, "text": "x,y"},
        "map": [("k", 2)],
        "deep": [{"three": 3}],
        "numbers": [1, 2],
    }
    assert (second["parts"], second["both"]) == (None, {"one": 1, "text": None})
