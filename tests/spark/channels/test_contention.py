"""Many commit to one table at once: each try is bounded, and what was not appended is said so."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Transaction
from deltalake.exceptions import CommitFailedError, DeltaError

from streamproof.spark_bindings import Pipeline, Query, vacuum
from streamproof.spark_bindings.channels import commits
from streamproof.spark_bindings.channels.provenance import Made
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import (
    FencedDriver,
    ForkedProcess,
    NotAppended,
    ReusedSequence,
)
from streamproof.spark_bindings.names import BatchId, SnapshotId
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from streamproof.spark_bindings.storage.parquet_files import write_file
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.sunion.owned_table import OwnedTable
from streamproof.spark_bindings.sunion.table_files import TableFile
from streamproof.spark_bindings.sunion.tuple_type import TUPLE_TYPE, TupleType
from tests.spark.support.handmade import spark_checkpoint

PROCESSES, APPENDS = 8, 40
FEEDER = """
import sys
import pyarrow as pa
from tests.spark.channels.test_contention import pipeline_at
number = int(sys.argv[2])
channel = pipeline_at(sys.argv[1]).channel("a")
for count in range(int(sys.argv[3])):
    channel.append(pa.table({"x": [number * 1000 + count]}))
"""


def pipeline_at(path: Path | str) -> Pipeline:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    return Pipeline(path, channels={"a": "x long", "b": "x long"}, queries=[query])


@contextmanager
def refused(times: int | None = None, *, where: str = "a") -> Iterator[None]:
    """Let Delta refuse the commits to a table, as if others had been faster; by default, each."""

    def overtaken(_: str) -> None:
        raise CommitFailedError("Failed to commit transaction: 15")

    with armed(RaceFailpoint.COMMIT_TRIED, overtaken, where=where, times=times):
        yield


def data_files(pipeline: Pipeline) -> int:
    return len(list(pipeline.channel("a").place.local.glob("*.parquet")))


def test_an_append_that_others_overtake_is_tried_again(tmp_path: Path) -> None:
    channel = pipeline_at(tmp_path / "p").channel("a")
    with refused(3):
        assert channel.append(pa.table({"x": [1]})) == 1
        assert channel.append(pa.table({"x": [2]}), producer="p", sequence=1) == 2
    assert channel.rows()["x"].to_pylist() == [1, 2]


@pytest.mark.parametrize("identity", [{}, {"producer": "p", "sequence": 1}])
def test_an_append_that_others_always_overtake_says_that_nothing_was_appended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, identity: dict[str, Any]
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    pipeline = pipeline_at(tmp_path / "p")
    nothing = pytest.raises(NotAppended, match=r"Nothing was appended, so it may be repeated")
    with refused(), nothing:
        pipeline.channel("a").append(pa.table({"x": [1]}), **identity)
    assert data_files(pipeline) == 0
    assert pipeline.channel("a").append(pa.table({"x": [1]}), **identity) == 1


def test_a_marker_and_a_vacuum_are_tried_again(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    pipeline.channel("a").append(pa.table({"x": [1]}))
    spark_checkpoint(tmp_path / "p/queries/q/checkpoint", last=0)
    with refused(2):
        pipeline.channel("a").append_marker_once(SnapshotId("000001"))
        pipeline.channel("a").append_marker_once(SnapshotId("000001"))
    assert pipeline.channel("a").log.find_marker(SnapshotId("000001")) == 2
    with refused(2):
        assert vacuum(tmp_path / "p")[0].commits == 1
    assert data_files(pipeline) == 0


def test_a_marker_and_a_vacuum_that_others_always_overtake_end_in_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _: None)
    pipeline = pipeline_at(tmp_path / "p")
    pipeline.channel("a").append(pa.table({"x": [1]}))
    spark_checkpoint(tmp_path / "p/queries/q/checkpoint", last=0)
    with refused(), pytest.raises(NotAppended):
        pipeline.snapshot()
    with refused(), pytest.raises(NotAppended):
        vacuum(tmp_path / "p")
    assert data_files(pipeline) == 1


@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_producer_in_two_processes_appends_a_number_once(tmp_path: Path, first: int) -> None:
    pipeline, other = pipeline_at(tmp_path / "p"), pipeline_at(tmp_path / "p").channel("a")
    there, given = DeltaTable(other.place.local), pa.table({"x": [1]})

    def be_faster(_: str) -> None:
        file = write_file(other.place, "feed", other.schema, iter(given.to_batches()))
        assert file is not None
        add = commits.add_action(file.path, file.size, file.rows)
        said = commits.CommitProperties(app_transactions=[Transaction("producer:p", first)])
        there.create_write_transaction([add], "append", there.schema(), commit_properties=said)
        raise CommitFailedError("Failed to commit transaction: 15")

    # A lower number is another row's: ours comes behind it. The same one is ours. Behind a higher
    # one, ours would never be there.
    with (
        armed(RaceFailpoint.COMMIT_TRIED, be_faster, where="a"),
        pytest.raises(ReusedSequence) if first == 3 else nullcontext(),
    ):
        position = pipeline.channel("a").append(given, producer="p", sequence=2)
        assert position == (2 if first == 1 else None)
    assert data_files(pipeline) == (2 if first == 1 else 1)


def test_what_fails_behind_a_commit_does_not_make_it_be_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    commit = DeltaTable.create_write_transaction

    def failing_late(table: DeltaTable, *arguments: Any, **named: Any) -> None:
        commit(table, *arguments, **named)
        raise DeltaError("No space left on device: the log's checkpoint")

    monkeypatch.setattr(DeltaTable, "create_write_transaction", failing_late)
    assert pipeline.channel("a").append(pa.table({"x": [1]})) == 1
    assert pipeline.channel("a").rows()["x"].to_pylist() == [1]


def test_a_merged_table_that_others_commit_to_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = pa.schema([("x", pa.int64()), (TUPLE_TYPE, pa.string())])
    checkpoint: Checkpoint = spark_checkpoint(tmp_path / "c", last=3)
    (tmp_path / "c/commits").rename(tmp_path / "gone")
    table = OwnedTable(Place.of(tmp_path / "t"), schema, checkpoint, {TupleType.INSERTION})
    file = TableFile(TupleType.INSERTION, 0, "rows-0.parquet", 1, 1)

    def made(batch: int) -> Made:
        return Made(checkpoint.identity(), BatchId(batch), {})

    with refused(3, where="t"):
        table.apply(made(0), [file])
    assert DeltaTable(tmp_path / "t").version() == 1
    monkeypatch.setattr(time, "sleep", lambda _: None)
    with refused(where="t"), pytest.raises(NotAppended, match="Nothing was appended"):
        table.apply(made(1), [file])
    with pytest.raises(FencedDriver):
        table.apply(made(0), [file])


def test_a_pipeline_that_two_processes_make_at_once_is_one(tmp_path: Path) -> None:
    made = []
    threads = [Thread(target=lambda: made.append(pipeline_at(tmp_path / "p"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert {each._directory.id for each in made} == {pipeline_at(tmp_path / "p")._directory.id}
    assert [each.name for each in tmp_path.iterdir()] == ["p"]


def test_a_forked_process_is_told_and_does_not_hang(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    calls: list[Callable[[], object]] = [
        lambda: pipeline.channel("a").append(pa.table({"x": [1]})),
        lambda: pipeline_at(tmp_path / "p"),
        lambda: pipeline_at(tmp_path / "q"),
    ]
    for call in calls:
        read, written = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                call()
            except ForkedProcess as error:
                os.write(written, str(error).encode())
            finally:
                os._exit(0)
        os.close(written)
        os.waitpid(child, 0)
        with os.fdopen(read) as said:
            assert "get_context" in said.read()
    assert pipeline.channel("a").log.last() == 0


@pytest.mark.slow
def test_eight_processes_append_to_a_channel_at_once(tmp_path: Path) -> None:
    channel = pipeline_at(tmp_path / "p").channel("a")
    command = [sys.executable, "-c", FEEDER, str(tmp_path / "p")]
    feeders = [
        subprocess.Popen([*command, str(number), str(APPENDS)], stderr=subprocess.PIPE)
        for number in range(PROCESSES)
    ]
    said = [feeder.communicate(timeout=240)[1] for feeder in feeders]
    assert [feeder.returncode for feeder in feeders] == [0] * PROCESSES, said
    rows = channel.rows()["x"].to_pylist()
    assert sorted(rows) == sorted(n * 1000 + c for n in range(PROCESSES) for c in range(APPENDS))
