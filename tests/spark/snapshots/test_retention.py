"""Rows of a channel go when nobody needs them: no copy of a reader, and no snapshot."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings import Pipeline, Query, Replay, remove_snapshot, vacuum
from streamproof.spark_bindings.channels.channel_log import RETENTION_FILE
from streamproof.spark_bindings.errors import ChannelDamaged, VacuumedRows
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import LaneName, Position, ProcessName, SnapshotId
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from streamproof.spark_bindings.storage.json_files import read_json
from tests.spark.standby.support.copies import await_in_step, pair_run, send
from tests.spark.support.handmade import ONE, A, batch, spark_checkpoint, write
from tests.spark.support.retained import complete, left, pair_at, snapshot_by_hand
from tests.spark.support.snapshots_by_hand import collector_of


def test_what_is_taken_out_is_dated(tmp_path: Path) -> None:
    """Delta's own vacuum removes the files of what was taken out by its age."""
    pipeline = pair_at(tmp_path / "p", 4, 2)
    began = int(time.time() * 1000)
    vacuum(pipeline.path)
    newest = max((pipeline.channel("a").place / "_delta_log").local.glob("*.json"))
    actions = [json.loads(line) for line in newest.read_text().splitlines()]
    dates = [action["remove"]["deletionTimestamp"] for action in actions if "remove" in action]
    assert len(dates) == 2
    assert all(began <= date <= time.time() * 1000 for date in dates)


def test_what_the_slower_copy_lacks_is_kept(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 2)
    (found,) = vacuum(pipeline.path)
    assert (found.channel, found.until, found.commits, found.rows) == ("a", 2, 2, 2)
    assert left(pipeline) == [3, 4, 5, 6]
    spark_checkpoint(pipeline.path / "queries/q/B/checkpoint", last=4)
    assert vacuum(pipeline.path)[0].until == 4
    assert left(pipeline) == [5, 6]
    for copy in Copy:
        spark_checkpoint(pipeline.path / "queries/q" / copy.value / "checkpoint", last=6)
    (found,) = vacuum(pipeline.path)
    assert (found.until, found.commits, found.rows) == (7, 2, 2)  # the seventh removed rows
    assert left(pipeline) == []


def test_of_a_copy_that_is_gone_counts_what_it_has_acknowledged(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 2)
    vacuum(pipeline.path)
    (tmp_path / "p/queries/q/B/checkpoint").rename(tmp_path / "gone")
    spark_checkpoint(pipeline.path / "queries/q/A/checkpoint", last=5)
    assert vacuum(pipeline.path)[0].until == 2
    assert left(pipeline) == [3, 4, 5, 6]


def test_a_copy_that_never_was_keeps_everything(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 6)
    assert vacuum(pipeline.path)[0].until == 0
    assert left(pipeline) == [1, 2, 3, 4, 5, 6]


def test_the_slowest_of_several_readers_decides(tmp_path: Path) -> None:
    queries = [
        Query(name, inputs=("a",), output=output, plan=lambda rows: rows)
        for name, output in (("q", "b"), ("r", "c"))
    ]
    channels = dict.fromkeys("abc", "x long")
    pipeline = Pipeline(tmp_path / "p", channels=channels, queries=queries)
    for number in range(6):
        pipeline.channel("a").append(pa.table({"x": [number]}))
    spark_checkpoint(tmp_path / "p/queries/q/checkpoint", last=4)
    spark_checkpoint(tmp_path / "p/queries/r/checkpoint", last=1)
    assert [(one.channel, one.until) for one in vacuum(pipeline.path)] == [("a", 2)]


def test_who_reads_what_is_gone_is_told_from_where_it_is_there(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    vacuum(pipeline.path)
    rows = pipeline.channel("a")
    with pytest.raises(VacuumedRows, match=r"up to position 3 .*rows\(after=3\)"):
        rows.rows()
    assert rows.rows(after=3)["x"].to_pylist() == [4, 5, 6]
    (rows.place / rows.log.entry(Position(5)).files[0].path).local.unlink()
    with pytest.raises(ChannelDamaged, match="never use another vacuum"):
        rows.rows(after=3)


@pytest.mark.parametrize("is_complete", [False, True])
@pytest.mark.parametrize(
    ("replay", "there"), [(Replay.NONE, [3, 4, 5, 6]), (Replay.ALL, [3, 4, 5, 6, 8])]
)
def test_a_snapshot_keeps_what_its_restored_pipeline_will_read(
    tmp_path: Path, replay: Replay, there: list[int], *, is_complete: bool
) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    if is_complete:
        complete(pipeline)
    assert vacuum(pipeline.path)[0].until == 2
    if not is_complete:
        complete(pipeline)
    restored = pipeline.restore(ONE, into=tmp_path / "r", replay=replay)
    assert left(restored) == there
    assert restored.channel("a").rows(after=2)["x"].to_pylist() == there
    assert restored.channel("a").log.last() >= 7


def test_restore_after_vacuum_tells_of_the_rows_that_are_gone(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    vacuum(pipeline.path)
    restored = pipeline.restore(ONE, into=tmp_path / "r")
    again = restored.restore(snapshot_of(restored), into=tmp_path / "s")
    for each in (pipeline, restored, again):
        with pytest.raises(VacuumedRows, match=r"up to position 2 .*rows\(after=2\)"):
            each.channel("a").rows()
        with pytest.raises(VacuumedRows):
            each.channel("a").rows(after=1, until=2)
        assert each.channel("a").rows(after=2)["x"].to_pylist() == [3, 4, 5, 6, 8]


def snapshot_of(restored: Pipeline) -> SnapshotId:
    """Complete a snapshot of a pipeline that was restored, and has not run yet."""
    files, name = SnapshotFiles(restored.path / "snapshots"), restored.snapshot()
    files.save_state(name, ProcessName("q"), RecordedState(batch(1), {A: Position(2)}))
    files.save_channels(name, ProcessName("q"), {LaneName("a"): 5})
    restored.channel("b").append_marker_once(name)
    assert not collector_of(restored).collect()
    return name


@pytest.mark.parametrize("call", ["restore", "rows"])
@pytest.mark.parametrize("how", ["gone", "cut", "empty"])
def test_a_missing_or_damaged_data_file_is_named(tmp_path: Path, call: str, how: str) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    rows = pipeline.channel("a")
    file = rows.place / rows.log.entry(Position(4)).files[0].path
    if how == "gone":
        file.local.unlink()
    else:
        file.local.write_bytes(file.local.read_bytes()[:100] if how == "cut" else b"")
    if call == "restore" and how == "gone":
        with pytest.raises(ChannelDamaged, match=rf"{file.name} of .*Nothing was restored"):
            pipeline.restore(ONE, into=tmp_path / "r")
        assert not (tmp_path / "r").exists()
    elif call == "rows":
        with pytest.raises(ChannelDamaged, match=file.name):
            rows.rows()


def test_a_channel_without_its_first_commit_is_not_restored(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    (pipeline.channel("a").place / f"_delta_log/{0:020d}.json").local.unlink()
    with pytest.raises(ChannelDamaged, match="no commit 0"):
        pipeline.restore(ONE, into=tmp_path / "r")
    assert not (tmp_path / "r").exists()


def test_a_snapshot_that_is_removed_keeps_nothing(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    vacuum(pipeline.path)
    for _ in range(2):
        remove_snapshot(pipeline.path, ONE)
        (found,) = pipeline.snapshots()
        assert (found.status.value, found.reason) == ("abandoned", "it was removed")
    assert vacuum(pipeline.path)[0].until == 6
    assert left(pipeline) == [8]


class KilledError(BaseException):
    """What a kill is to a test."""


def die(_: str) -> None:
    raise KilledError


@pytest.mark.parametrize(
    "point",
    [RaceFailpoint.COMMIT_TRIED, RaceFailpoint.ROWS_TAKEN_OUT, RaceFailpoint.ROWS_REMOVED],
    ids=lambda point: point.value,
)
def test_a_vacuum_that_is_killed_is_done_again(tmp_path: Path, point: RaceFailpoint) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    note = pipeline.channel("a").place / RETENTION_FILE
    with armed(point, die, where="a"), pytest.raises(KilledError):
        vacuum(pipeline.path)
    assert read_json(note) == {"until": 3, "done": 0}
    seen = DeltaTable(note.parent.local).to_pyarrow_table()["x"].to_pylist()
    assert sorted(seen)[-3:] == [4, 5, 6]
    with pytest.raises(VacuumedRows):
        pipeline.channel("a").rows()
    assert vacuum(pipeline.path)[0].until == 3
    assert read_json(note) == {"until": 3, "done": 3}
    assert left(pipeline) == [4, 5, 6]
    last = pipeline.channel("a").log.last()
    assert vacuum(pipeline.path)[0].commits == 0
    assert pipeline.channel("a").log.last() == last


def test_rows_that_nobody_committed_are_left_alone(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    write((pipeline.channel("a").place / "turn-1-A-x.parquet").local, "kept by a copy")
    vacuum(pipeline.path)
    assert (pipeline.channel("a").place / "turn-1-A-x.parquet").local.exists()


def test_the_command_tells_and_removes(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    before = sorted(pipeline.path.rglob("*"))
    for options, removed in ((["--dry-run"], "would be removed"), (["-y"], "removed")):
        ran = CliRunner().invoke(app, ["vacuum", str(pipeline.path), *options])
        assert ran.exit_code == ExitCode.GREEN, ran.output
        assert "position 3" in ran.output
        assert "3 commits" in ran.output
        assert removed in ran.output
        assert (sorted(pipeline.path.rglob("*")) == before) is (options == ["--dry-run"])
    ran = CliRunner().invoke(app, ["vacuum", str(pipeline.path), "--json", "--yes"])
    assert json.loads(ran.output)["channels"][0]["until"] == 3
    assert CliRunner().invoke(app, ["vacuum", str(tmp_path / "none")]).exit_code == 2
    for name, code in (("000009", ExitCode.WRONG_USE), (pipeline.snapshot(), ExitCode.GREEN)):
        ran = CliRunner().invoke(app, ["snapshot", "remove", str(pipeline.path), name, "--yes"])
        assert ran.exit_code == code
        ran = CliRunner().invoke(app, ["snapshot", "remove", str(pipeline.path), name])
        assert ran.exit_code == ExitCode.WRONG_USE
    assert [found.reason for found in pipeline.snapshots()] == ["it was removed"]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_pair_misses_nothing_while_its_inputs_are_vacuumed(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pair_run(tmp_path / "p", spark) as run:
        run.begin_here(Copy.A)
        lost = run.begin(Copy.B)
        run.feed(4)
        run.await_output()
        await_in_step(run.path)
        send(lost, signal.SIGKILL)
        run.feed(4)
        run.await_output()
        assert any(found.commits for found in vacuum(run.path))
        run.begin(Copy.B)
        await_in_step(run.path)
        run.feed(2)
        run.await_output()
        await_in_step(run.path)
        assert sum(found.until for found in vacuum(run.path)) >= 8
        run.feed(2)
        run.await_output()
