"""A plan that could give other rows at the other copy is refused; a digest tells if it did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings.errors import NotDeterministic, WrongSchema
from streamproof.spark_bindings.standby.determinism import check_deterministic
from streamproof.spark_bindings.standby.digest import (
    NO_ROWS,
    check_hashable,
    rows_that_differ,
    with_hash,
    write_rows,
)
from streamproof.spark_bindings.storage.parquet_files import read_file
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import stored_schema

Plan = Callable[[DataFrame], DataFrame]
SCHEMA = stored_schema("id long, name string", "channel 'rows'")


def stream(spark: SparkSession) -> DataFrame:
    rates = spark.readStream.format("rate").load()
    return rates.select("timestamp", "value", F.col("value").cast("double").alias("price"))


def timed(rows: DataFrame, column: str = "timestamp") -> DataFrame:
    return rows.withWatermark(column, "1 minute")


def in_two_places(rows: DataFrame) -> DataFrame:
    return rows.where("value > 3").union(rows.where("value < 3")).dropDuplicates(["value"])


REFUSED: dict[str, tuple[Plan, str]] = {
    "rand": (lambda rows: rows.withColumn("x", F.rand()), "not deterministic"),
    "uuid": (lambda rows: rows.withColumn("x", F.expr("uuid()")), "not deterministic"),
    "filter": (lambda rows: rows.where(F.rand(3) > 0.5), "not deterministic"),
    "clock": (lambda rows: rows.withColumn("x", F.current_timestamp()), "reads the clock"),
    "now": (lambda rows: rows.withColumn("x", F.expr("now()")), "reads the clock"),
    "date": (lambda rows: rows.where(F.current_date() > F.col("timestamp")), "reads the clock"),
    "udf": (
        lambda rows: rows.withColumn("x", F.udf(lambda v: f"{v}").asNondeterministic()("value")),
        "not deterministic",
    ),
    "float-sum": (lambda rows: rows.groupBy("value").agg(F.sum("price")), "floating-point"),
    "float-mean": (lambda rows: rows.groupBy("value").agg(F.avg("price") + 1), "floating-point"),
    **{
        name: (lambda rows, of=aggregate: rows.groupBy("value").agg(F.expr(of)), why)
        for name, aggregate, why in [
            ("slope", "regr_slope(price, value)", "floating-point"),
            ("regr-sxx", "regr_sxx(price, price)", "floating-point"),
            ("regr-r2", "regr_r2(price, price)", "floating-point"),
            ("regr-mean", "regr_avgx(value, price)", "floating-point"),
            ("first", "first(value)", "order of rows"),
            ("last", "last(value)", "order of rows"),
            ("any", "any_value(value)", "order of rows"),
            ("list", "collect_list(value)", "order of rows"),
            ("set", "collect_set(value)", "order of rows"),
            ("fold", "aggregate(collect_list(price), 0d, (a, b) -> a + b)", "order of rows"),
            ("text", "listagg(string(value))", "order of rows"),
            ("max-by", "max_by(price, value)", "order of rows"),
            ("min-by", "min_by(price, value)", "order of rows"),
            ("mode", "mode(value)", "order of rows"),
            ("histogram", "histogram_numeric(price, 3)", "order of rows"),
            ("quantile", "percentile_approx(price, 0.5)", "order of rows"),
        ]
    },
    "product": (lambda rows: rows.groupBy("value").agg(F.product("price")), "floating-point"),
    "limit": (lambda rows: rows.limit(3), "order of rows"),
    "watermarks of a union": (lambda rows: timed(rows).union(timed(rows)), r"has 2 watermarks"),
    "watermarks of a join": (
        lambda rows: timed(rows).join(
            timed(rows.toDF("t", "v", "p"), "t"), F.expr("value = v and timestamp = t")
        ),
        r"has 2 watermarks \(t, timestamp\)",
    ),
}
ALLOWED: dict[str, Plan] = {
    "one watermark in two places": lambda rows: in_two_places(timed(rows)),
    "map": lambda rows: rows.withColumn("x", F.col("price") * 2),
    "sum": lambda rows: rows.groupBy("value").agg(F.sum("value"), F.max("price")),
    "mean": lambda rows: rows.groupBy("value").agg(F.avg("value")),
    "udf": lambda rows: rows.withColumn("x", F.udf(lambda v: f"{v}")("value")),
    "window": lambda rows: (
        rows.withWatermark("timestamp", "1 minute")
        .groupBy(F.window("timestamp", "1 minute"))
        .count()
    ),
    "sorted": lambda rows: rows.groupBy("timestamp").agg(F.sort_array(F.collect_list("value"))),
    "newest": lambda rows: rows.groupBy("value").agg(F.max(F.struct("timestamp", "price"))),
    "distinct": lambda rows: rows.dropDuplicates(["value"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_plan_that_is_no_function_of_its_input_is_refused(spark: SparkSession, name: str) -> None:
    plan, why = REFUSED[name]
    with pytest.raises(NotDeterministic, match=f"'q' .*{why}"):
        check_deterministic(plan(stream(spark)), "q")


def test_a_refusal_tells_what_to_do_about_each_of_its_reasons(spark: SparkSession) -> None:
    frame = stream(spark).groupBy("value").agg(F.sum("price"), F.first("timestamp"))
    with pytest.raises(NotDeterministic) as refused:
        check_deterministic(frame, "q")
    assert "add up decimals or integers, choose rows by a value that is unique" in str(
        refused.value
    )
    assert "take times from the rows" not in str(refused.value)


@pytest.mark.parametrize("name", ALLOWED)
def test_other_plans_are_taken(spark: SparkSession, name: str) -> None:
    check_deterministic(ALLOWED[name](stream(spark)), "q")


@pytest.mark.parametrize("mode", ["processingTime", "eventTime"])
def test_timers_by_the_clock_are_refused(spark: SparkSession, mode: str) -> None:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Idle(StatefulProcessor):
        def init(self, handle: object) -> None: ...

        def handleInputRows(self, key: object, rows: object, timers: object) -> object:
            return iter(())

        def close(self) -> None: ...

    rows = stream(spark).withWatermark("timestamp", "1 minute").groupBy("value")
    frame = rows.transformWithStateInPandas(Idle(), "value long", "append", mode)
    if mode == "eventTime":
        check_deterministic(frame, "q")
        return
    with pytest.raises(NotDeterministic, match="by the clock"):
        check_deterministic(frame, "q")


def digest_of(spark: SparkSession, path: Path, rows: list[tuple[int | None, str | None]]) -> str:
    frame = spark.createDataFrame(rows, "id long, name string").repartition(2)
    files, digest = write_rows(with_hash(frame), Place.of(path), "turn", SCHEMA)
    assert sum(file.rows for file in files) == len(rows)
    return digest


def test_a_digest_does_not_depend_on_the_order_and_on_all_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows: list[tuple[int | None, str | None]] = [(1, "a"), (2, None), (3, "c")]
    digest = digest_of(spark, tmp_path, rows)
    assert digest == digest_of(spark, tmp_path, rows[::-1])
    assert digest_of(spark, tmp_path, []) == NO_ROWS
    others: list[list[tuple[int | None, str | None]]] = [
        rows[:2],
        [*rows, rows[0]],
        [(1, "a"), (2, "b"), (3, "c")],
        [(2, "a"), (1, None), (3, "c")],
    ]
    assert digest not in {digest_of(spark, tmp_path, other) for other in others}


@pytest.mark.parametrize("names", [("x`y", "a.b"), ("streamproof_row_hash", "column0")])
def test_columns_of_a_pair_may_have_any_name(
    spark: SparkSession, tmp_path: Path, names: tuple[str, str]
) -> None:
    rows: list[tuple[int | None, str | None]] = [(1, "a"), (2, None)]
    frame = spark.createDataFrame(rows, "id long, name string").toDF(*names)
    schema = pa.schema([(names[0], pa.int64()), (names[1], pa.string())])
    files, digest = write_rows(with_hash(frame), Place.of(tmp_path), "turn", schema)
    assert digest == digest_of(spark, tmp_path, rows)
    found = [
        batch for file in files for batch in read_file(Place.of(tmp_path / file.path), list(names))
    ]
    assert {tuple(row.values()) for batch in found for row in batch.to_pylist()} == set(rows)


def test_rows_that_differ_are_named(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [1, 2, 2]}), tmp_path / "mine")
    pq.write_table(pa.table({"id": [2, 1, 3]}), tmp_path / "other")
    files = Place.of(tmp_path)
    found = rows_that_differ([files / "mine"], [files / "other"], ["id"])
    assert found == (["{'id': 2}"], ["{'id': 3}"])


def test_a_channel_of_maps_is_refused() -> None:
    schema = pa.schema({"id": pa.int64(), "tags": pa.map_(pa.string(), pa.int64())})
    with pytest.raises(WrongSchema, match="tags of type map"):
        check_hashable(schema, "rows")
    check_hashable(SCHEMA, "rows")
