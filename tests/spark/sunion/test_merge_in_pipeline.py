"""What belongs to a merge, in a pipeline: several serializers, stable rows alone, a table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.sunion import reconcile, stable_only, sunion
from tests.spark.support.bounded import (
    EWR,
    INPUT,
    JFK,
    OUTPUT,
    bridge,
    corrected,
    go_on_until,
    said,
    view,
)
from tests.spark.support.bounded import pipeline as bounded
from tests.spark.support.merges import placed
from tests.spark.support.merging import Placed, reference, rows_of, table

pytestmark = [
    pytest.mark.timeout(600),
    # The streams are fed much faster than their clock goes.
    pytest.mark.filterwarnings("ignore:sunion was given max_delay"),
]

STREAMS = {"ewr": rows_of(range(0, 60, 3)), "jfk": rows_of(range(0, 60, 2))}
ARGUMENTS = {"time": "ts", "position": "seq", "bucket": "10 seconds", "lateness": "5 seconds"}


def stable(ewr: DataFrame, jfk: DataFrame) -> DataFrame:
    return stable_only(sunion({"ewr": ewr, "jfk": jfk}, **ARGUMENTS))


def by_text(ewr: DataFrame, jfk: DataFrame) -> DataFrame:
    inputs = {"ewr": ewr, "jfk": jfk}
    return sunion(inputs, **ARGUMENTS, partition_by=["text"], partitions=3)


def rows_of_table(place: Path) -> list[Placed]:
    rows = DeltaTable(place).to_pyarrow_table(filters=[("tuple_type", "=", "INSERTION")])
    return placed(rows.sort_by("stable_id"))


@pytest.mark.slow
def test_stable_rows_and_a_table_of_several_serializers(
    spark: SparkSession, tmp_path: Path
) -> None:
    both = ("ewr", "jfk")
    partitioned = f"{OUTPUT}, serializer int"
    pipeline = Pipeline(
        tmp_path / "p",
        channels={"ewr": INPUT, "jfk": INPUT, "kept": OUTPUT, "merged": partitioned},
        queries=[
            Query("stable", inputs=both, output="kept", plan=stable),
            Query("merge", inputs=both, output="merged", plan=by_text),
        ],
    )
    for name, rows in STREAMS.items():
        pipeline.channel(name).append(table(rows, name))
    with pipeline.start(spark):
        pipeline.await_idle()
    expected = reference(STREAMS)[0]
    kept: pa.Table = pipeline.channel("kept").rows()
    assert placed(kept) == expected
    assert kept["stable_id"].to_pylist() == list(range(len(expected)))
    merged = pipeline.channel("merged").stream(spark)
    query = reconcile(merged, tmp_path / "table", tmp_path / "checkpoint", availableNow=True)
    query.awaitTermination()
    found = DeltaTable(tmp_path / "table").to_pyarrow_table()
    assert set(found["serializer"].to_pylist()) == {0, 1, 2}
    for number in range(3):
        of_one = found.filter(pc.equal(found["serializer"], number)).sort_by("stable_id")
        assert placed(of_one) == [row for row in expected if row in set(placed(of_one))]
        assert of_one["stable_id"].to_pylist() == list(range(of_one.num_rows))
    assert sorted(placed(found)) == expected


@pytest.mark.slow
def test_what_several_merges_say_goes_into_no_table_and_no_channel(
    spark: SparkSession, tmp_path: Path
) -> None:
    def merge(name: str, rows: DataFrame) -> DataFrame:
        return sunion({name: rows}, **ARGUMENTS)

    both = Pipeline(
        tmp_path / "both",
        channels={"ewr": INPUT, "jfk": INPUT, "merged": OUTPUT},
        queries=[
            Query(
                "merge",
                inputs=("ewr", "jfk"),
                output="merged",
                plan=lambda ewr, jfk: merge("ewr", ewr).union(merge("jfk", jfk)),
            )
        ],
    )
    with pytest.raises(WrongArgument, match="channel 'merged' would hold what 2 merges say"):
        both.start(spark)
    one = bounded(tmp_path / "one").channel("merged").stream(spark)
    other = bounded(tmp_path / "other").channel("merged").stream(spark)
    rows = merge("ewr", other.select("ts", "seq", "text"))
    for pair in (one.union(other), one.union(rows)):
        with pytest.raises(WrongArgument, match="reconcile was given what 2 merges say: merged"):
            reconcile(pair, tmp_path / "table", tmp_path / "checkpoint")


def test_a_table_follows_what_a_merge_takes_back(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = bounded(tmp_path / "p")
    with pipeline.start(spark):
        bridge(pipeline)
        place, checkpoint = tmp_path / "table", tmp_path / "checkpoint"
        merged = pipeline.channel("merged").stream(spark)
        reconcile(merged, place, checkpoint, availableNow=True).awaitTermination()
        kinds = DeltaTable(place).to_pyarrow_table()["tuple_type"].to_pylist()
        assert kinds.count("TENTATIVE") == 6
        pipeline.channel("jfk").append(table(JFK[1:], "jfk"))
        go_on_until(lambda: "REC_DONE" in said(pipeline), pipeline)
        assert "UNDO" in said(pipeline)
    assert corrected(pipeline) == reference({"ewr": EWR, "jfk": JFK})[0]
    merged = pipeline.channel("merged").stream(spark)
    reconcile(merged, place, checkpoint, availableNow=True).awaitTermination()
    assert rows_of_table(place) == view(pipeline)[0]
    other = bounded(tmp_path / "other").channel("merged").stream(spark)
    with pytest.raises(WrongArgument, match="runs with pipeline='.*, but .* with pipeline='"):
        reconcile(other, place, checkpoint)
    tentative = DeltaTable(place).to_pyarrow_table(filters=[("tuple_type", "=", "TENTATIVE")])
    assert sorted(placed(tentative)) == sorted(view(pipeline)[1])
