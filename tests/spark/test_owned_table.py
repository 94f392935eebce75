"""Tables and their query's checkpoint belong together: anything else is refused, and named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import (
    DamagedFile,
    ForeignTable,
    PurgedCheckpoint,
    WrongSchema,
)
from tests.spark.tables import Table

pytestmark = pytest.mark.timeout(300)


def test_another_table_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    Table(spark, tmp_path)
    with pytest.raises(WrongSchema, match="the table .* stores .seq int64"):
        Table(spark, tmp_path, "other string, tuple_type string, stable_id long")


def test_a_table_and_its_checkpoint_belong_together(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (None, "BOUNDARY", 0))  # no row yet, but the table is taken
    table.apply(1, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    table.open()
    shutil.move(tmp_path / "checkpoint", tmp_path / "lost")
    with pytest.raises(ForeignTable, match="been written .WRITE., but never by the query"):
        Table(spark, tmp_path)
    shutil.rmtree(tmp_path / "checkpoint")
    shutil.move(tmp_path / "lost", tmp_path / "checkpoint")
    for name in ("table", "late"):
        shutil.move(tmp_path / name, tmp_path / "lost")
        with pytest.raises(ForeignTable, match=f"{name} does not exist, though .* batch 1"):
            table.open()
        shutil.move(tmp_path / "lost", tmp_path / name)
    table.log("offsets", 2)
    assert (
        table.open().on_batch(table.frame([(2, "INSERTION", 1), (None, "BOUNDARY", 2)]), 2) is None
    )
    assert table.rows() == [(1, "INSERTION", 0), (2, "INSERTION", 1)]


def test_a_checkpoint_that_is_behind_its_table_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    for kind in ("offsets", "commits"):
        shutil.rmtree(tmp_path / "checkpoint" / kind)
    with pytest.raises(ForeignTable, match="has batch 0 .* knows nothing of that batch"):
        table.open()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"id": 3}', "\0"])
def test_a_damaged_identity_is_told(spark: SparkSession, tmp_path: Path, text: str) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    (tmp_path / "checkpoint" / "metadata").write_text(text)
    with pytest.raises(DamagedFile, match="checkpoint/metadata is not what was written there"):
        table.open()


@pytest.mark.parametrize("damage", ["cut", "removed", "emptied"])
def test_a_damaged_log_is_told(spark: SparkSession, tmp_path: Path, damage: str) -> None:
    table = Table(spark, tmp_path)
    for batch in range(3):
        table.apply(batch, (batch, "INSERTION", batch), (None, "BOUNDARY", batch + 1))
    commit = tmp_path / "table" / "_delta_log" / f"{2:020}.json"
    if damage == "removed":
        commit.unlink()
    else:
        commit.write_bytes(commit.read_bytes()[:50] if damage == "cut" else b"")
    with pytest.raises(DamagedFile, match=r"table/_delta_log.* from a backup"):
        table.open()


@pytest.mark.parametrize("name", ["table", "late"])
def test_an_older_copy_of_a_table_is_refused(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (1, "LATE", None), (None, "BOUNDARY", 1))
    shutil.copytree(tmp_path / name, tmp_path / "older")
    table.apply(1, (2, "INSERTION", 1), (2, "LATE", None), (None, "BOUNDARY", 2))
    table.apply(2, (None, "BOUNDARY", 3))  # which changes nothing, and is no commit
    table.open()
    shutil.rmtree(tmp_path / name)
    shutil.move(tmp_path / "older", tmp_path / name)
    with pytest.raises(ForeignTable, match=f"{name} has lost batch 1 .* its newest is 0"):
        table.open()


def test_of_two_queries_that_begin_on_one_table_one_is_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for place in (first, second):
        place.mkdir()
        for name in ("table", "late"):
            (tmp_path / name).mkdir(exist_ok=True)
            (place / name).symlink_to(tmp_path / name)
    tables = [Table(spark, first), Table(spark, second)]
    tables[0].apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    with pytest.raises(ForeignTable, match="Give each query a table of its own"):
        tables[1].apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    assert tables[0].rows() == [(1, "INSERTION", 0)]


def test_a_table_that_was_made_by_hand_is_taken_if_it_is_empty(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = pa.schema(
        [("seq", pa.int64()), ("tuple_type", pa.string()), ("stable_id", pa.int64())]
    )
    made = DeltaTable.create(tmp_path / "table", schema=schema, partition_by=["tuple_type"])
    made.alter.set_table_properties({"delta.logRetentionDuration": "interval 9 days"})
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    assert table.rows() == [(1, "INSERTION", 0)]
    (tmp_path / "other").mkdir()
    rows = pa.table({"seq": [1], "tuple_type": ["INSERTION"], "stable_id": [0]}, schema=schema)
    write_deltalake(tmp_path / "other" / "table", rows, partition_by=["tuple_type"])
    with pytest.raises(ForeignTable, match="has been written"):
        Table(spark, tmp_path / "other")


def test_tables_that_were_swapped_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (2, "LATE", None), (None, "BOUNDARY", 1))
    for name, other in (("table", "swapped"), ("late", "table"), ("swapped", "late")):
        shutil.move(tmp_path / name, tmp_path / other)
    with pytest.raises(ForeignTable, match="has rows of the type LATE, .* Put each in its place"):
        table.open()


@pytest.mark.parametrize("other", [None, "another"])
def test_a_checkpoint_without_its_own_identity_is_refused(
    spark: SparkSession, tmp_path: Path, other: str | None
) -> None:
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (None, "BOUNDARY", 1))
    metadata = tmp_path / "checkpoint" / "metadata"
    if other is None:
        metadata.unlink()
        with pytest.raises(PurgedCheckpoint, match="has no metadata file.* Put the file back"):
            table.open()
    else:
        metadata.write_text(f'{{"id": "{other}"}}')
        with pytest.raises(ForeignTable, match="or the checkpoint's own file metadata"):
            table.open()


@pytest.mark.parametrize("kind", ["offsets", "commits"])
@pytest.mark.parametrize("text", ["", "v1", "junk", 'v1\n{"a"', 'v1\n{}\n-\n{"b":', "\0\0"])
def test_damaged_logs_of_a_checkpoint_are_told(tmp_path: Path, kind: str, text: str) -> None:
    checkpoint = Checkpoint(tmp_path)
    (tmp_path / kind).mkdir()
    for number in range(3):
        (tmp_path / kind / str(number)).write_text('v1\n{"a": 1}\n-\nits own\n{"b": 2}\n')
    checkpoint.check_readable()
    (tmp_path / kind / "0").write_text(text)  # nobody reads it any more
    checkpoint.check_readable()
    (tmp_path / kind / "2").write_text(text)
    with pytest.raises(DamagedFile, match=f"{kind}/2 is not what was written there"):
        checkpoint.check_readable()
