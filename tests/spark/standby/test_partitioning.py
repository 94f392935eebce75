"""Each row belongs to one partition, whatever its key: by ranges, or by hash."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Query, Standby
from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.pairs import Copy, Pair, pairs_of
from streamproof.spark_bindings.standby.copy_run import run_copy
from streamproof.spark_bindings.standby.partitioning import rows_of


def query_by(key: str, partitions: int, bounds: tuple[Any, ...] = ()) -> Query:
    return Query(
        "q",
        inputs=("a",),
        output="b",
        plan=lambda rows: rows,
        standby=Standby(partitions, by=key, bounds=bounds),
    )


def parts(spark: SparkSession, kind: str, keys: list[Any], query: Query) -> list[list[Any]]:
    assert query.standby is not None
    key = str(query.standby.by).replace("`", "``")
    frame = spark.createDataFrame([(value,) for value in keys], f"`{key}` {kind}")
    taken = [rows_of(frame, "a", pair).collect() for pair in pairs_of(query)]
    return [[row[0] for row in rows] for rows in taken]


@pytest.mark.parametrize(
    ("kind", "bounds", "expected"),
    [
        ("long", (0, 10), [[None, -5], [0, 9], [10, 11]]),
        ("string", ("F", "É"), [[None, "", "E"], ["F", "Z", "z"], ["É", "中"]]),
        ("date", (date(2026, 1, 1),), [[None, date(2025, 12, 31)], [date(2026, 1, 1)]]),
        ("decimal(9,2)", (Decimal("1.5"),), [[None, Decimal("1.49")], [Decimal("1.50")]]),
        ("double", (0.0,), [[None, float("-inf")], [0.0, float("inf")]]),
    ],
    ids=["number", "text", "date", "decimal", "float"],
)
def test_ranges_begin_at_their_bounds_and_null_is_in_the_first(
    spark: SparkSession, kind: str, bounds: tuple[Any, ...], expected: list[list[Any]]
) -> None:
    query = query_by("key", len(bounds) + 1, bounds)
    keys = [key for part in expected for key in part]
    assert parts(spark, kind, keys[::-1], query) == [part[::-1] for part in expected]


@pytest.mark.parametrize("key", ["key", "it`s a.key"])
def test_by_hash_each_row_is_in_one_and_all_have_some(spark: SparkSession, key: str) -> None:
    keys = [None, *range(200)]
    found = parts(spark, "long", keys, query_by(key, 4))
    assert sorted(str(row) for part in found for row in part) == sorted(map(str, keys))
    assert min(map(len, found)) > 20


def test_an_input_without_the_key_is_refused(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1,)], "x long")
    with pytest.raises(WrongWiring, match=r"its input 'a' has the columns \['x'\]"):
        rows_of(frame, "a", Pair(query_by("key", 2)))


@pytest.mark.parametrize("bounds", [(), (5,)], ids=["hash", "ranges"])
@pytest.mark.parametrize(
    ("types", "told"),
    [
        (("int", "long"), "int in 'a', bigint in 'b'"),
        (("float", "double"), "float in 'a', double in 'b'"),
        (("date", "timestamp"), "date in 'a', timestamp in 'b'"),
        (("decimal(10,2)", "decimal(30,2)"), r"decimal\(10,2\) in 'a', decimal\(30,2\) in 'b'"),
    ],
)
def test_a_key_of_unlike_types_is_refused_before_the_start(
    spark: SparkSession, tmp_path: Path, types: tuple[str, str], told: str, bounds: tuple[Any, ...]
) -> None:
    """Equal keys would be in two partitions, and would not meet."""
    one, other = types

    def made(path: Path, kind: str, bounds: tuple[Any, ...] = ()) -> Pipeline:
        query = Query(
            "q",
            inputs=("a", "b"),
            output="o",
            plan=lambda a, b: pytest.fail("the plan was asked"),
            standby=Standby(2, by="key", bounds=bounds),
        )
        channels = {"a": f"key {one}", "b": f"x long, key {kind}", "o": "x long"}
        return Pipeline(path, channels=channels, queries=[query])

    with pytest.raises(WrongWiring, match=f"{told}.*matches would be lost.*Declare one type"):
        run_copy(made(tmp_path / "p", other, bounds), "q", Copy.A, lambda: spark)
    with pytest.raises(pytest.fail.Exception, match="the plan was asked"):  # so it has gone on
        run_copy(made(tmp_path / "same", one), "q", Copy.A, lambda: spark)
