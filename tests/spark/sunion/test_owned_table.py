"""Tables and their query's checkpoint belong together: anything else is refused, and named."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import (
    DamagedFile,
    ForeignTable,
    PurgedCheckpoint,
    WrongSchema,
)
from tests.spark.support.reconciled import arrive, files, live, merged, read, texts
from tests.spark.support.tables import Table

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


def appended(table: DeltaTable) -> None:
    write_deltalake(table, table.to_pyarrow_table(), mode="append")


def overwritten(table: DeltaTable) -> None:
    write_deltalake(table, table.to_pyarrow_table().slice(0, 1), mode="overwrite")


def merged_into(table: DeltaTable) -> None:
    rows = table.to_pyarrow_table()
    table.merge(rows, "s.seq = t.seq", source_alias="s", target_alias="t").when_matched_update(
        {"seq": "s.seq + 1"}
    ).execute()


Change = Callable[[DeltaTable], object]
CHANGES: dict[str, Change] = {
    "RESTORE": lambda table: table.restore(1),
    "DELETE": lambda table: table.delete("seq = 1"),
    "UPDATE": lambda table: table.update({"seq": "seq + 1"}),
    "MERGE": merged_into,
    "append": appended,
    "overwrite": overwritten,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("name", ["table", "late"])
def test_rows_that_somebody_else_has_changed_are_noticed(
    spark: SparkSession, tmp_path: Path, name: str, change: Change
) -> None:
    """Delta counts the query's batches as before."""
    table = Table(spark, tmp_path)
    table.apply(0, (1, "INSERTION", 0), (1, "LATE", None), (None, "BOUNDARY", 1))
    table.apply(1, (2, "INSERTION", 1), (2, "LATE", None), (None, "BOUNDARY", 2))
    rows = table.rows(), table.rows("late")
    change(DeltaTable(tmp_path / name))
    changed = table.rows(), table.rows("late")
    with pytest.raises(ForeignTable, match=f"{name} was changed .* version 3 is a .*restore.2."):
        table.apply(2, (3, "INSERTION", 2), (3, "LATE", None), (None, "BOUNDARY", 3))
    shutil.rmtree(tmp_path / "checkpoint" / "offsets")
    table.log("offsets", 1)
    with pytest.raises(ForeignTable, match="somebody else"):
        table.open()
    assert (table.rows(), table.rows("late")) == changed  # nothing was written
    DeltaTable(tmp_path / name).restore(2)
    table.sink = table.open()
    assert (table.rows(), table.rows("late")) == rows
    change(DeltaTable(tmp_path / name))
    changed = table.rows(), table.rows("late")
    note = "table" if name == "table" else "late_table"
    (tmp_path / "checkpoint" / f"streamproof_{note}.json").unlink()
    table.sink = table.open()  # that is what is wanted
    table.apply(2, (3, "INSERTION", 2), (3, "LATE", None), (None, "BOUNDARY", 3))
    table.open()
    assert table.rows() == sorted([*changed[0], (3, "INSERTION", 2)])
    assert table.rows("late") == sorted([*changed[1], (3, "LATE", None)])


@pytest.mark.parametrize("version", [2, 4])
def test_rows_that_were_packed_anew_are_the_same(
    spark: SparkSession, tmp_path: Path, version: int
) -> None:
    table = Table(spark, tmp_path)
    for batch in range(2):
        table.apply(batch, (batch, "INSERTION", batch), (None, "BOUNDARY", batch + 1))
    packed = DeltaTable(tmp_path / "table")
    packed.optimize.compact()
    packed.alter.set_table_properties({"delta.logRetentionDuration": "interval 9 days"})
    assert packed.version() == 4
    table.sink = table.open()
    packed.delete("seq = 1")
    packed.optimize.compact()
    with pytest.raises(ForeignTable, match=r"version 5 is a DELETE .*restore\(4\)"):
        table.open()
    packed.restore(version)
    table.sink = table.open()
    table.apply(2, (2, "INSERTION", 2), (None, "BOUNDARY", 3))
    assert table.rows() == [(batch, "INSERTION", batch) for batch in range(3)]


@pytest.mark.parametrize("name", ["table", "late"])
@pytest.mark.parametrize("batches", [None, 1, 9])
def test_a_table_that_was_replaced_under_a_running_query_is_noticed(
    spark: SparkSession, tmp_path: Path, name: str, batches: int | None
) -> None:
    table = Table(spark, tmp_path)
    for batch in range(3):
        table.apply(batch, (batch, "INSERTION", batch), (1, "LATE", None), (None, "BOUNDARY", 1))
    kept = DeltaTable(tmp_path / name)
    schema, partition_by = kept.schema(), kept.metadata().partition_columns
    rows = kept.to_pyarrow_table()
    shutil.rmtree(tmp_path / name)
    if batches is not None:
        DeltaTable.create(tmp_path / name, schema=schema, partition_by=partition_by)
        for _ in range(batches):
            write_deltalake(tmp_path / name, rows, mode="append")
    with pytest.raises(ForeignTable, match=f"{name} .*though the checkpoint .* through batch 2"):
        table.apply(3, (3, "INSERTION", 3), (3, "LATE", None), (None, "BOUNDARY", 4))


def test_a_log_that_was_cleaned_up_is_gone_on_with(spark: SparkSession, tmp_path: Path) -> None:
    table = Table(spark, tmp_path)
    for batch in range(3):
        table.apply(batch, (batch, "INSERTION", batch), (None, "BOUNDARY", batch + 1))
    kept = DeltaTable(tmp_path / "table")
    kept.optimize.compact()
    kept.vacuum(0, enforce_retention_duration=False, dry_run=False)
    kept = DeltaTable(tmp_path / "table")
    kept.create_checkpoint()
    for version in range(kept.version()):
        (tmp_path / "table" / "_delta_log" / f"{version:020}.json").unlink()
    table.apply(3, (3, "INSERTION", 3), (None, "BOUNDARY", 4))
    table.sink = table.open()
    table.apply(4, (4, "INSERTION", 4), (None, "BOUNDARY", 5))
    assert table.rows() == [(batch, "INSERTION", batch) for batch in range(5)]


def test_a_merge_whose_table_was_restored_does_not_go_on(
    spark: SparkSession, tmp_path: Path
) -> None:
    arrive(tmp_path, ewr=[(0, 0), (2, 1)], jfk=[(0, 0), (2, 1)])
    live(merged({name: read(spark, tmp_path / name) for name in ("ewr", "jfk")}), tmp_path)
    DeltaTable(tmp_path / "table").restore(0)
    arrive(tmp_path, ewr=[(4, 2)], jfk=[(4, 2)])
    before = files(tmp_path)
    again = merged({name: read(spark, tmp_path / name) for name in ("ewr", "jfk")})
    with pytest.raises(ForeignTable, match="is a RESTORE that somebody else committed"):
        live(again, tmp_path)
    assert files(tmp_path) == before
    DeltaTable(tmp_path / "table").restore(1)
    live(again, tmp_path)
    assert texts(tmp_path) == ["ewr: ewr 0", "jfk: jfk 0", "ewr: ewr 1", "jfk: jfk 1"]


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
