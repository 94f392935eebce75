"""A merged stream becomes a table: tentative rows come and go, stable ones stay, once each."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import (
    FencedDriver,
    PurgedCheckpoint,
    WrongArgument,
    WrongRows,
)
from streamproof.spark_bindings.storage.failpoints import Failpoint, RaceFailpoint, armed
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.sunion import reconcile, stable_only, sunion
from streamproof.spark_bindings.sunion.table import TableSink
from streamproof.spark_bindings.sunion.table_files import TableWriter, read_written
from streamproof.spark_bindings.sunion.tuple_type import BOUNDED, PARTITIONED, TupleType
from tests.spark.support.tables import Table

pytestmark = pytest.mark.timeout(300)

Tuples = list[tuple[int | None, str, int | None]]


def a_merge(spark: SparkSession) -> DataFrame:
    """Return a stream that looks like a merged one."""
    rate = spark.readStream.format("rate").load()
    return rate.select(sf.lit("INSERTION").alias("tuple_type"), sf.col("value").alias("stable_id"))


def test_tentative_rows_are_replaced_by_their_corrections(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1), (3, "TENTATIVE", 1))
    table.apply(1, (4, "TENTATIVE", 1), (9, "LATE", None))
    present = [(1, "INSERTION", 0), (3, "TENTATIVE", 1), (4, "TENTATIVE", 1)]
    assert table.rows() == present
    assert table.rows("late") == [(9, "LATE", None)]
    before = table.version()
    table.apply(1, (4, "TENTATIVE", 1), (9, "LATE", None))  # Spark repeats the batch
    assert (table.version(), table.rows()) == (before, present)
    assert table.rows("late") == [(9, "LATE", None)]
    table.apply(2, (None, "UNDO", 1), (2, "INSERTION", 1), (3, "INSERTION", 2), (5, "TENTATIVE", 3))
    assert table.version() == before + 1  # revoked, corrected and gone on in one commit
    corrected = [(1, "INSERTION", 0), (2, "INSERTION", 1), (3, "INSERTION", 2), (5, "TENTATIVE", 3)]
    assert table.rows() == corrected
    table.sink = table.open()  # another driver takes over, with the same checkpoint
    table.apply(2, (None, "UNDO", 1), (2, "INSERTION", 1), (3, "INSERTION", 2), (5, "TENTATIVE", 3))
    assert table.rows() == corrected
    table.apply(3, (None, "REC_DONE", 3))
    assert table.version() == before + 1  # a batch without rows changes nothing
    table.apply(5, (None, "UNDO", 3))
    assert table.rows() == corrected[:3]
    with pytest.raises(FencedDriver, match="to write batch 4 to the table .* but batch 5"):
        table.apply(4, (6, "INSERTION", 3))


def test_an_undo_concerns_its_own_serializer(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path, "seq long, tuple_type string, serializer int")
    table.apply(0, (1, "TENTATIVE", 0), (2, "TENTATIVE", 1))
    table.apply(1, (None, "UNDO", 1), (3, "INSERTION", 1))
    assert table.rows() == [(1, "TENTATIVE", 0), (3, "INSERTION", 1)]


def test_a_driver_that_was_replaced_in_a_batch_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table(spark, tmp_path)
    frozen = table.sink

    def overtaken(_: str) -> None:
        table.sink = table.open()
        table.apply(0, (1, "INSERTION", 0))

    table.log("offsets", 0)
    with (
        armed(Failpoint.FILES_WRITTEN, overtaken, where="table"),
        pytest.raises(FencedDriver, match="the same batch of it was written"),
    ):
        frozen.on_batch(table.frame([(1, "INSERTION", 0)]), 0)
    assert table.rows() == [(1, "INSERTION", 0)]


def test_files_that_were_rewritten_meanwhile_are_revoked_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "TENTATIVE", 0))
    table.apply(1, (2, "TENTATIVE", 0))

    def rewritten(_: str) -> None:
        assert DeltaTable(tmp_path / "table").optimize.compact()["numFilesRemoved"] == 2

    with armed(RaceFailpoint.COMMIT_TRIED, rewritten, where="table"):
        table.apply(2, (None, "UNDO", 0), (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    assert table.rows() == [(1, "INSERTION", 0)]


def test_two_merges_in_one_table_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    def merged(*names: str) -> DataFrame:
        rate = spark.readStream.format("rate").load().withColumnRenamed("value", "seq")
        return sunion(
            dict.fromkeys(names, rate),
            time="timestamp",
            position="seq",
            bucket="1 minute",
            lateness="1 second",
        )

    both = merged("a", "b").union(merged("c").where("seq > 3"))
    with pytest.raises(WrongArgument, match=r"2 merges say: sunion\(a, b\) and sunion\(c\)"):
        reconcile(both, tmp_path / "t", tmp_path / "c")
    first = stable_only(merged("a", "b")).select("timestamp", sf.col("stable_id").alias("seq"))
    behind = sunion(
        {"x": first}, time="timestamp", position="seq", bucket="1 minute", lateness="1 second"
    )
    reconcile(behind, tmp_path / "t", tmp_path / "c").stop()


def test_tuples_without_data_fit_where_fields_of_rows_are_never_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table(spark, tmp_path, "s struct<a: int not null>, tuple_type string")
    table.apply(0, ((1,), "INSERTION"), (None, "BOUNDARY"))
    assert [row[0] for row in table.rows()] == [{"a": 1}]


def test_tuples_that_are_no_rows_must_arrive(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0))  # stable rows alone may be all that is wanted
    table.apply(1, (2, "TENTATIVE", 1))
    for batch in ((2, "INSERTION", 1), (None, "BOUNDARY", 1)):
        with pytest.raises(WrongRows, match="stable rows of the serializers .0., but no UNDO"):
            table.apply(2, batch)
        table.sink = table.open()  # as after a restart
    assert table.rows() == [(1, "INSERTION", 0), (2, "TENTATIVE", 1)]


def test_a_bounded_merge_has_a_boundary_behind_its_stable_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    bounded = Table(spark, tmp_path)
    with_metadata = bounded.frame([]).withMetadata("tuple_type", {BOUNDED: True})
    places = (Place.of(tmp_path / "table"), Place.of(tmp_path / "late"))
    sink = TableSink(with_metadata, *places, Checkpoint(tmp_path / "checkpoint"))
    bounded.log("offsets", 0)
    with pytest.raises(WrongRows, match="but no BOUNDARY"):
        sink.on_batch(bounded.frame([(1, "INSERTION", 0)]), 0)
    assert bounded.rows() == []
    assert not stable_only(with_metadata).schema["tuple_type"].metadata[BOUNDED]


def test_an_unknown_type_of_tuple_is_refused(tmp_path: Path) -> None:
    rows = pa.table({"seq": [1], "tuple_type": ["insertion"]})
    writer = TableWriter(
        {TupleType.INSERTION: Place.of(tmp_path)}, pa.schema([("seq", pa.int64())]), "rows"
    )
    with pytest.raises(WrongRows, match="'insertion', which is none of INSERTION"):
        list(writer(iter(rows.to_batches())))


def test_what_is_no_directory_or_trigger_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(WrongArgument, match="which is no stream"):
        reconcile(spark.range(3), tmp_path / "t", tmp_path / "c")
    rate = a_merge(spark)
    with pytest.raises(WrongArgument, match="a directory of its own"):
        reconcile(rate, tmp_path / "t", tmp_path / "c", late=tmp_path / "t")
    for place in ("", None, "s3://bucket/table", "file:///tmp/table", 3):
        with pytest.raises(WrongArgument, match="table=.*a directory of this machine"):
            reconcile(rate, place, tmp_path / "c")  # type: ignore[arg-type]
        with pytest.raises(WrongArgument, match="checkpoint=.*a directory of this machine"):
            reconcile(rate, tmp_path / "t", place)  # type: ignore[arg-type]
    for name in ("100%", "a\\b"):
        with pytest.raises(WrongArgument, match="would misread % and backslashes"):
            reconcile(rate, tmp_path / name, tmp_path / "c")
    (tmp_path / "file").touch()
    with pytest.raises(WrongArgument, match="which is a file"):
        reconcile(rate, tmp_path / "file", tmp_path / "c")
    for inside in (tmp_path / "t" / "late", tmp_path / "c" / "late"):
        with pytest.raises(WrongArgument, match="outside of the others"):
            reconcile(rate, tmp_path / "t", tmp_path / "c", late=inside)
    for trigger in (
        {"every": "1 s"},
        {"processingTime": 1},
        {"availableNow": False},
        {"continuous": "1 s"},
    ):
        with pytest.raises(WrongArgument, match="the trigger .*No query was started"):
            reconcile(rate, tmp_path / "t", tmp_path / "c", **trigger)
    assert not (tmp_path / "t").exists()
    partitioned = rate.withMetadata("tuple_type", {PARTITIONED: True})
    with pytest.raises(WrongArgument, match="without the column 'serializer'"):
        reconcile(partitioned, tmp_path / "t", tmp_path / "c")
    with pytest.raises(WrongArgument, match="which is no stream"):
        reconcile(None, tmp_path / "t", tmp_path / "c")  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match="without the column 'stable_id'"):
        reconcile(rate.drop("stable_id"), tmp_path / "t", tmp_path / "c")
    bounded = rate.withMetadata("tuple_type", {BOUNDED: True})
    with pytest.raises(WrongArgument, match="the query would never end"):
        reconcile(bounded, tmp_path / "t", tmp_path / "c", availableNow=True)
    for strange in (sf.lit(1), sf.lit(True)):
        with pytest.raises(WrongArgument, match="Without a text 'tuple_type'"):
            reconcile(rate.withColumn("tuple_type", strange), tmp_path / "t", tmp_path / "c")


def test_an_undo_drops_what_its_own_task_has_written(tmp_path: Path) -> None:
    kinds = ["TENTATIVE", "UNDO", "INSERTION", "TENTATIVE", "BOUNDARY"]
    rows = pa.table({"seq": [1, None, 2, 3, None], "tuple_type": kinds})
    directories = dict.fromkeys((TupleType.INSERTION, TupleType.TENTATIVE), Place.of(tmp_path))
    writer = TableWriter(directories, pa.schema([("seq", pa.int64())]), "rows-0")
    written = [
        file
        for batch in writer(iter(rows.to_batches()))
        for file in read_written([tuple(row.values()) for row in batch.to_pylist()])
    ]
    assert [(file.kind.value, file.rows) for file in written] == [
        ("BOUNDARY", 0),
        ("UNDO", 0),
        ("INSERTION", 1),
        ("TENTATIVE", 1),
    ]
    assert len(list(tmp_path.iterdir())) == 2


def test_a_merge_of_other_settings_is_refused_before_its_query_starts(
    spark: SparkSession, tmp_path: Path
) -> None:
    rate = spark.readStream.format("rate").load().withColumnRenamed("value", "seq")

    def merged(*names: str, **other: str) -> DataFrame:
        wanted = {"time": "timestamp", "position": "seq", "bucket": "1 minute"} | other
        return sunion(dict.fromkeys(names, rate), lateness="30 seconds", **wanted)  # type: ignore[arg-type]

    places = (tmp_path / "t", tmp_path / "c")
    with pytest.raises(WrongArgument, match="rate"):  # nothing is noted of what never started
        reconcile(merged("a"), *places, processingTime="at the same rate")
    reconcile(merged("a", "b"), *places).stop()
    for other, message in (
        (
            merged("a", "b", "c"),
            r"runs with streams=\['a', 'b', 'c'\], .*with streams=\['a', 'b'\]",
        ),
        (merged("a", "b", bucket="2 minutes"), "runs with bucket='120 s', .*with bucket='60 s'"),
    ):
        with pytest.raises(WrongArgument, match=message):
            reconcile(other, *places)
    reconcile(merged("b", "a"), *places).stop()
    # Whoever is refused leaves the note of the settings as it was.
    note = (places[1] / "streamproof_merge.json").read_text()
    (places[1] / "metadata").unlink()
    (places[1] / "commits").mkdir(exist_ok=True)
    (places[1] / "commits" / "0").write_text("v1\n{}\n")
    with pytest.raises(PurgedCheckpoint):
        reconcile(merged("a", "b", bucket="2 minutes"), *places)
    assert (places[1] / "streamproof_merge.json").read_text() == note


def test_columns_may_have_any_name(spark: SparkSession, tmp_path: Path) -> None:
    """`mapInArrow` takes no name with dots or backticks."""
    names = ["a.b", "a b", "x`y", "Z"]
    columns = {name: pa.array([number, number]) for number, name in enumerate(names)}
    times = pa.array([1_000_000, 300_000_000]).cast(pa.timestamp("us", "UTC"))
    rows = pa.table({"ts": times, "seq": [0, 1], **columns})
    (tmp_path / "in").mkdir()
    pq.write_table(rows, tmp_path / "in" / "0.parquet")
    stream = spark.readStream.schema(spark.read.parquet(str(tmp_path / "in")).schema)
    arguments = {"time": "ts", "position": "seq", "bucket": "1 minute", "lateness": "0 s"}
    merged = sunion({"one": stream.parquet(str(tmp_path / "in"))}, **arguments)
    reconcile(merged, tmp_path / "t", tmp_path / "c", availableNow=True).awaitTermination()
    (found,) = DeltaTable(tmp_path / "t").to_pyarrow_table().select(names).to_pylist()
    assert found == {name: number for number, name in enumerate(names)}
