"""What is around a pipeline may change: its directory's name, columns' names, session settings."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Query

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

COLUMNS = ["a.b", "c`d", "e f", "ü", "x=y", "p%20q", "__z", "select"]
OTHER_SETTINGS = {
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.session.timeZone": "Asia/Tokyo",
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "false",
}


def pipeline_at(path: Path, kind: str) -> Pipeline:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows.dropDuplicates())
    return Pipeline(path, channels={"a": kind, "b": kind}, queries=[query])


def test_a_directory_of_any_name_is_moved_and_settings_change(
    spark: SparkSession, tmp_path: Path
) -> None:
    place = tmp_path / "a b=c#d?e'f[g]{h}* 12:30 ä漢 %"
    kind = "t timestamp, n timestamp_ntz, d date"
    noon = dt.datetime(2024, 7, 1, 12, tzinfo=dt.UTC)

    def row(day: int) -> pa.Table:
        when = noon.replace(day=day)
        return pa.table({"t": [when], "n": [when.replace(tzinfo=None)], "d": [when.date()]})

    first = pipeline_at(place, kind)
    first.channel("a").append(row(1))
    first.channel("a").append(row(2))
    with first.start(spark):
        first.await_idle()
    place.rename(tmp_path / "moved")
    second = pipeline_at(tmp_path / "moved", kind)
    second.channel("a").append(row(2))
    second.channel("a").append(row(3))
    session = spark.newSession()
    for key, value in OTHER_SETTINGS.items():
        session.conf.set(key, value)
    with second.start(session):
        second.await_idle()
    found = second.channel("b").rows().sort_by("t")
    assert found.equals(pa.concat_tables(map(row, (1, 2, 3))).cast(found.schema))


def test_columns_may_have_any_name(spark: SparkSession, tmp_path: Path) -> None:
    kind = ", ".join(f"`{name.replace('`', '``')}` long" for name in COLUMNS)
    pipeline = pipeline_at(tmp_path / "p", kind)
    rows = pa.table({name: [number] for number, name in enumerate(COLUMNS)})
    pipeline.channel("a").append(rows)
    with pipeline.start(spark):
        pipeline.await_idle()
    assert pipeline.channel("b").rows().to_pylist() == rows.to_pylist()
