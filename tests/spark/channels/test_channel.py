"""Channels without Spark: FIFO by position, appended once, fenced, and readable to a marker."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from streamproof.spark_bindings.channels import channel_log
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import (
    ChannelDamaged,
    DamagedFile,
    FencedDriver,
    InconsistentCut,
    ReusedSequence,
    WrongArgument,
    WrongRows,
    WrongSchema,
    WrongWiring,
)
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, QueryName, SnapshotId
from streamproof.spark_bindings.storage.failpoints import Failpoint, armed
from streamproof.spark_bindings.storage.parquet_files import write_file
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import spark_schema, stored_schema
from tests.spark.support.local_frame import LocalFrame

SCHEMA = stored_schema("id long, name string", "channel 'rows'")
FIRST, SECOND = SnapshotId("000001"), SnapshotId("000002")


def make(path: Path, *, writer: str | None = None, pipeline: str = "p") -> Channel:
    if not path.exists():
        Channel.create(Place.of(path), SCHEMA)
    name = None if writer is None else QueryName(writer)
    return Channel(path, ChannelName(path.name), pipeline=pipeline, writer=name)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": list(ids), "name": [str(number) for number in ids]})


def once(
    channel: Channel,
    table: pa.Table,
    batch: int,
    identity: str = "q",
    runs: Counter[str] | None = None,
) -> None:
    frame: Any = LocalFrame(table, runs)
    channel.append_once(frame, identity, BatchId(batch))


def test_each_append_is_one_position_in_order(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    assert channel.append(rows(1, 2)) == 1
    assert channel.append(rows(3).to_pandas()) == 2
    assert channel.append(rows(4).to_batches()[0]) == 3
    assert channel.rows()["id"].to_pylist() == [1, 2, 3, 4]
    assert channel.rows(1, 2)["id"].to_pylist() == [3]
    assert channel.rows(3).num_rows == 0
    assert channel.log.last() == 3


def test_a_producer_may_repeat_what_it_appended(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    assert channel.append(rows(1), producer="gate", sequence=5) == 1
    assert channel.append(rows(1), producer="gate", sequence=5) is None
    with pytest.raises(ReusedSequence, match="no rows were ever appended with it"):
        channel.append(rows(1), producer="gate", sequence=4)
    assert channel.append(rows(2), producer="other", sequence=5) == 2
    assert channel.append(rows(3), producer="gate", sequence=9) == 3
    assert channel.rows()["id"].to_pylist() == [1, 2, 3]


def test_columns_are_found_by_name_and_cast_if_nothing_is_lost(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    channel.append(pa.table({"name": ["a"], "id": pa.array([7], pa.int16())}))
    assert channel.rows().to_pylist() == [{"id": 7, "name": "a"}]


@pytest.mark.parametrize(
    "wrong",
    [
        pa.table({"id": [1]}),
        pa.table({"id": [1], "name": ["a"], "more": [1]}),
        pa.table({"id": ["x"], "name": ["a"]}),
        pa.table({"id": [1.5], "name": ["a"]}),
        pd.DataFrame({"id": [1], "nom": ["a"]}),
        [1, 2],
    ],
    ids=["missing", "extra", "type", "lossy", "pandas", "list"],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_appended(
    tmp_path: Path, wrong: object
) -> None:
    channel = make(tmp_path / "rows")
    with pytest.raises(WrongRows, match="Nothing was appended"):
        channel.append(wrong)
    assert channel.log.last() == 0


def test_half_an_identity_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongArgument, match="identifies nothing"):
        make(tmp_path / "rows").append(rows(1), producer="gate")


def test_a_channel_of_a_query_cannot_be_fed(tmp_path: Path) -> None:
    with pytest.raises(WrongWiring, match="written by query 'sum'"):
        make(tmp_path / "rows", writer="sum").append(rows(1))


def test_another_schema_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongSchema, match="stores .id int64, name string."):
        make(tmp_path / "rows").require_schema(stored_schema("id string", "channel 'rows'"))


def test_a_batch_is_appended_once_but_runs_again(tmp_path: Path) -> None:
    channel, runs = make(tmp_path / "rows", writer="q"), Counter[str]()
    for _ in range(3):
        once(channel, rows(1, 2), 0, runs=runs)
    once(channel, rows(3), 1, runs=runs)
    assert channel.rows()["id"].to_pylist() == [1, 2, 3]
    assert runs == {"mapped": 2, "dropped": 2}


def test_a_batch_without_rows_takes_no_position(tmp_path: Path) -> None:
    channel, runs = make(tmp_path / "rows", writer="q"), Counter[str]()
    once(channel, rows(), 0, runs=runs)
    assert channel.log.last() == 0
    assert runs == {"mapped": 1}


def test_a_restored_query_is_not_taken_for_the_one_it_came_from(tmp_path: Path) -> None:
    channel, runs = make(tmp_path / "rows", writer="q"), Counter[str]()
    once(channel, rows(1), 7, identity="old", runs=runs)
    once(channel, rows(2), 3, identity="new", runs=runs)
    assert channel.rows()["id"].to_pylist() == [1, 2]
    assert runs["mapped"] == 2


def test_an_earlier_batch_than_the_last_is_a_replaced_driver(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows", writer="q")
    once(channel, rows(1), 4)
    with pytest.raises(FencedDriver, match="batch 4"):
        once(channel, rows(9), 3)
    assert channel.rows()["id"].to_pylist() == [1]


@pytest.mark.parametrize(
    ("point", "fenced"), [(Failpoint.FILES_WRITTEN, False), (Failpoint.APPEND_CHECKED, True)]
)
def test_a_driver_that_sleeps_while_another_appends_its_batch_appends_nothing(
    tmp_path: Path, point: Failpoint, fenced: bool
) -> None:
    """Before its check it sees that the batch is there; behind it, Delta refuses its commit."""
    frozen, other = (make(tmp_path / "rows", writer="q") for _ in range(2))
    refused = pytest.raises(FencedDriver, match="the same batch of it was written")
    with armed(point, lambda _: once(other, rows(1), 0)), refused if fenced else nullcontext():
        once(frozen, rows(1), 0)
    assert frozen.rows()["id"].to_pylist() == [1]


def test_a_marker_is_a_commit_without_rows_and_is_sent_once(tmp_path: Path) -> None:
    one, two = (make(tmp_path / "rows") for _ in range(2))
    one.append(rows(1))
    for channel in (one, two, one):
        channel.append_marker_once(FIRST)
    two.append(rows(2))
    entries = list(one.log.entries(Position(0), one.log.last()))
    assert [entry.marker for entry in entries] == [None, FIRST, None]
    assert [entry.is_message for entry in entries] == [True, False, True]
    assert one.log.find_marker(FIRST) == 2
    assert one.log.find_marker(SECOND) is None


def test_a_batch_ends_at_a_marker_and_never_past_it(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    channel.append(rows(1))
    channel.append_marker_once(FIRST)
    channel.append_marker_once(SECOND)
    channel.append(rows(2))
    ends = [channel.log.batch_end(Position(start), 100, None) for start in range(5)]
    assert ends == [2, 2, 3, 4, 4]


def test_a_batch_ends_at_its_limits_but_takes_one_commit(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    for count in (5, 1, 1, 9):
        channel.append(rows(*range(count)))
    log = channel.log
    assert log.batch_end(Position(0), 3, None) == 3
    assert log.batch_end(Position(0), 100, 6) == 2
    assert log.batch_end(Position(3), 100, 6) == 4


def test_a_marker_of_the_pipeline_that_was_restored_is_skipped(tmp_path: Path) -> None:
    make(tmp_path / "rows", pipeline="old").append_marker_once(FIRST)
    channel = make(tmp_path / "rows", pipeline="new")
    channel.append(rows(1))
    assert channel.log.batch_end(Position(0), 100, None) == 2
    assert channel.log.find_marker(FIRST) is None


def test_a_channels_state_is_found_by_count(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    channel.append(rows(1))  # 1
    channel.append(rows(2))  # 2
    channel.append_marker_once(SECOND)  # 3: another snapshot's
    channel.append(rows(3))  # 4
    channel.append_marker_once(FIRST)  # 5
    log = channel.log
    assert [entry.position for entry in log.state(Position(1), 2, Position(5))] == [2, 4]
    assert log.state(Position(5), 0, Position(5)) == []
    with pytest.raises(InconsistentCut, match="has 2 commits with rows between 1"):
        log.state(Position(1), 1, Position(5))
    with pytest.raises(InconsistentCut):
        log.state(Position(6), 0, Position(5))


def test_a_lost_commit_or_file_is_reported(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    channel.append(rows(1))
    with pytest.raises(ChannelDamaged, match="no commit 2"):
        channel.log.entry(Position(2))
    (channel.place / channel.log.entry(Position(1)).files[0].path).local.unlink()
    with pytest.raises(ChannelDamaged, match="is gone"):
        channel.rows()


def test_a_channel_that_was_restored_by_delta_is_refused(tmp_path: Path) -> None:
    """Delta lets RESTORE remove rows of a table that only grows."""
    channel = make(tmp_path / "rows")
    for number in range(3):
        channel.append(rows(number))
    DeltaTable(channel.place.local).restore(1)
    with pytest.raises(ChannelDamaged, match="commit 4 .* removed rows"):
        make(tmp_path / "rows")
    channel.append(rows(3))
    with pytest.raises(ChannelDamaged, match="commit 4 .* removed rows"):
        channel.rows(after=3)


@pytest.mark.parametrize("text", ["", "{", '{"add": {}}', "[1]", '{"commitInfo": 3}'])
def test_a_damaged_commit_is_reported(tmp_path: Path, text: str) -> None:
    channel = make(tmp_path / "rows")
    channel.append(rows(1))
    channel_log.commit_file(channel.place, Position(1)).local.write_text(text)
    with pytest.raises(DamagedFile, match=r"_delta_log/0*1\.json is not what was written"):
        channel.rows()
    if text in ("", "{"):
        with pytest.raises(DamagedFile, match=r"the Delta table .*rows is not what was written"):
            Channel(channel.place, ChannelName("rows"), pipeline="p")


def test_a_file_without_rows_is_not_written(tmp_path: Path) -> None:
    assert write_file(Place.of(tmp_path), "x", SCHEMA, iter(rows().to_batches())) is None
    assert list(tmp_path.iterdir()) == []


def test_many_positions_are_read_back_in_order(tmp_path: Path) -> None:
    channel = make(tmp_path / "rows")
    for number in range(120):  # past Delta's own checkpoint, which is written every 100 commits
        channel.append(rows(number))
    assert channel.rows()["id"].to_pylist() == list(range(120))
    assert channel_log.committed_positions(channel.place) != []
    assert make(tmp_path / "rows").log.last() == 120


@pytest.mark.parametrize(
    ("declared", "stored"),
    [
        ("a long, b string", {"a": "int64", "b": "string"}),
        ("a BIGINT,b int, c decimal(10,2)", {"a": "int64", "b": "int32", "c": "decimal128(10, 2)"}),
        (
            "t timestamp, d date, x double",
            {"t": "timestamp[us, tz=UTC]", "d": "date32[day]", "x": "double"},
        ),
        (
            "`a b` long, `c``, (d` string, e.f long",
            {"a b": "int64", "c`, (d": "string", "e.f": "int64"},
        ),
        (
            "a array<long>, m MAP<string, array<decimal(10,2)>>, s struct<x: int, `y,z` string>",
            {
                "a": "list<element: int64>",
                "m": "map<string, list<element: decimal128(10, 2)>>",
                "s": "struct<x: int32, y,z: string>",
            },
        ),
        (pa.schema([("l", pa.list_(pa.large_string()))]), {"l": "list<element: string>"}),
    ],
    ids=["simple", "ddl", "time", "quoted", "nested", "arrow"],
)
def test_a_schema_is_stored_as_delta_has_it(declared: Any, stored: dict[str, str]) -> None:
    found = stored_schema(declared, "channel 'c'")
    assert {field.name: str(field.type) for field in found} == stored
    assert stored_schema(spark_schema(found), "channel 'c'") == found


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "a",
        "a frog",
        "a long, a long",
        "`a long",
        "`a`b long",
        "a array<>",
        "a array<long, long>",
        "a map<long>",
        "a struct<x>",
        "a array<frog>",
        "a array<long",
    ],
)
def test_a_malformed_schema_is_refused(wrong: str) -> None:
    with pytest.raises(WrongSchema):
        stored_schema(wrong, "channel 'c'")


def test_a_type_that_delta_lacks_is_told_with_its_column() -> None:
    declared = pa.schema([("id", pa.int64()), ("wait", pa.duration("us"))])
    with pytest.raises(WrongSchema, match=r"which is about 'wait' \(duration\[us\]\)") as refused:
        stored_schema(declared, "channel 'c'")
    assert len(str(refused.value)) < 400


def test_a_schema_of_a_wrong_type_is_refused() -> None:
    with pytest.raises(WrongArgument, match="key string, value long"):
        stored_schema(["a"], "channel 'c'")
