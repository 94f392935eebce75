"""A pipeline that runs for weeks keeps what it needs: files, logs and snapshots are bounded."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings import Pipeline, Query, Replay, Standby, prune_snapshots, vacuum
from streamproof.spark_bindings.channels import commits, compaction
from streamproof.spark_bindings.channels.channel_log import committed_positions
from streamproof.spark_bindings.channels.source import ChannelReader
from streamproof.spark_bindings.errors import (
    ReusedSequence,
    VacuumedRows,
    WrongArgument,
    WrongWiring,
)
from streamproof.spark_bindings.layout.events import EventLog
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.names import SnapshotId
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from tests.spark.support.fed import complete_snapshot, feed, pipeline_at, taken
from tests.spark.support.handmade import spark_checkpoint, write

HEX = "0" * 32


def json_files(pipeline: Pipeline, channel: str = "a") -> list[int]:
    return sorted(committed_positions(pipeline.channel(channel).place))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a few commits be worth a compaction."""
    monkeypatch.setattr(compaction, "COMPACTED_MIN", 5)


@pytest.mark.usefixtures("small")
def test_a_log_is_compacted_and_positions_stay(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=20)
    idle = pipeline_at(tmp_path / "p").channel("a")  # a handle from before
    taken(pipeline, 15)
    (found,) = vacuum(pipeline.path)
    assert (found.until, found.compacted) == (15, 14)
    assert json_files(pipeline) == [0, 15, 16, 17, 18, 19, 20, 21]  # the last one removed rows
    for channel in (idle, pipeline_at(tmp_path / "p").channel("a")):
        assert channel.log.last() == 21
        assert channel.rows(after=15)["x"].to_pylist() == [16, 17, 18, 19, 20]
        with pytest.raises(VacuumedRows, match="up to position 15"):
            channel.rows()
    assert idle.append(pa.table({"x": [20]}), producer="gate", sequence=20) is None
    assert idle.append(pa.table({"x": [21]}), producer="gate", sequence=21) == 22
    assert sorted(DeltaTable(idle.place.local).to_pyarrow_table()["x"].to_pylist()) == [
        *range(16, 22)
    ]
    assert vacuum(pipeline.path)[0].compacted == 0


@pytest.mark.usefixtures("small")
def test_who_begins_anew_behind_a_compacted_log_is_told(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=12)
    taken(pipeline, 12)
    vacuum(pipeline.path)
    path = str(pipeline.channel("a").place)
    reader = ChannelReader(path, pipeline._directory.id, "a", ["x"], 1000, None)
    start = reader.initialOffset()
    end = reader.latestOffset(start, None)
    assert end["position"] >= 12
    with pytest.raises(VacuumedRows):
        reader.partitions(start, end)


@pytest.mark.usefixtures("small")
def test_markers_alone_are_compacted_without_a_loss(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    for _ in range(8):
        pipeline.channel("a").append(pa.table({"x": pa.array([], pa.int64())}))
    feed(pipeline, 1, 2)
    taken(pipeline, 8)
    assert vacuum(pipeline.path)[0].compacted == 7
    assert pipeline.channel("a").rows()["x"].to_pylist() == [1]


@pytest.mark.usefixtures("small")
def test_a_frozen_writer_does_not_take_the_place_of_a_compacted_commit(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=3)
    frozen = DeltaTable(pipeline.channel("a").place.local)  # it has read version 3
    feed(pipeline, 4, 21)
    taken(pipeline, 20)
    assert vacuum(pipeline.path)[0].compacted == 19
    path = pipeline.channel("a").place
    file = commits.Written("feed-x.parquet", 1, 1)
    assert commits.commit(frozen, path, [file], {}, []) == 22


@pytest.mark.usefixtures("small")
def test_no_commit_is_taken_away_while_a_writer_is_under_way(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=20)
    taken(pipeline, 20)
    lock = os.open(
        (pipeline.channel("a").place / "_streamproof_writers.lock").local, os.O_RDWR | os.O_CREAT
    )
    fcntl.flock(lock, fcntl.LOCK_SH)
    orphan = pipeline.channel("a").place / f"feed-{HEX}.parquet"
    orphan.local.write_text("not yet committed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("streamproof.spark_bindings.channels.writers._TRIES_MAX", 2)
        found = vacuum(pipeline.path)[0]
    assert (found.compacted, found.orphans, found.commits) == (0, 0, 20)
    assert json_files(pipeline)[:3] == [0, 1, 2]
    os.close(lock)
    found = vacuum(pipeline.path)[0]
    assert (found.compacted, found.orphans) == (19, 1)
    assert not orphan.local.exists()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "point",
    [RaceFailpoint.LOG_INDEXED, RaceFailpoint.COMMITS_REMOVED],
    ids=lambda point: point.value,
)
def test_a_compaction_that_is_killed_is_done_again(tmp_path: Path, point: RaceFailpoint) -> None:
    def die(_: str) -> None:
        raise KeyboardInterrupt

    pipeline = pipeline_at(tmp_path / "p", fed=20)
    taken(pipeline, 15)
    with armed(point, die, where="a"), pytest.raises(KeyboardInterrupt):
        vacuum(pipeline.path)
    assert pipeline_at(tmp_path / "p").channel("a").rows(after=15).num_rows == 5
    vacuum(pipeline.path)
    assert json_files(pipeline)[:2] == [0, 15]
    feed(pipeline, 21, 22)
    assert pipeline.channel("a").rows(after=15)["x"].to_pylist() == [*range(16, 22)]


@pytest.mark.usefixtures("small")
def test_a_snapshot_is_restored_from_a_compacted_log(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=20)
    taken(pipeline, 15)
    name = complete_snapshot(pipeline, received=15)
    feed(pipeline, 21, 30)
    taken(pipeline, 29)
    assert vacuum(pipeline.path)[0].compacted == 14
    restored = pipeline.restore(name, into=tmp_path / "r")
    again = restored.restore(complete_snapshot(restored, received=15), into=tmp_path / "s")
    for each in (restored, again):
        rows = each.channel("a")
        assert rows.rows(after=15)["x"].to_pylist() == [*range(16, 30)]
        with pytest.raises(VacuumedRows):
            rows.rows()
        # Whether these are the rows that it had the first time, nobody knows any more.
        with pytest.raises(ReusedSequence, match="was compacted away"):
            rows.append(pa.table({"x": [3]}), producer="gate", sequence=3)
        assert rows.append(pa.table({"x": [29]}), producer="gate", sequence=29) is None
        assert sorted(DeltaTable(rows.place.local).to_pyarrow_table()["x"].to_pylist()) == [
            *range(16, 30)
        ]
    assert restored.channel("a").append(pa.table({"x": [30]}), producer="gate", sequence=30)


@pytest.mark.usefixtures("small")
def test_a_channel_that_ends_at_its_floor_is_appended_to(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=12)
    taken(pipeline, 12)
    for number in range(90, 100):
        pipeline.channel("b").append_marker_once(SnapshotId(f"0000{number}"))
    name = complete_snapshot(pipeline, received=12)
    feed(pipeline, 13, 20)
    taken(pipeline, 20)
    found = {each.channel: each.compacted for each in vacuum(pipeline.path, keep={"b": 0})}
    assert found == {"a": 11, "b": 10}
    restored = pipeline.restore(name, into=tmp_path / "r", replay=Replay.NONE)
    for each in (pipeline, restored):
        for channel in ("a", "b"):
            last = each.channel(channel).log.last()
            each.channel(channel).append_marker_once(SnapshotId("000089"))
            assert each.channel(channel).log.last() == last + 1


@pytest.mark.usefixtures("small")
def test_a_snapshot_under_way_finds_its_markers(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=20)
    name = pipeline.snapshot()
    feed(pipeline, 21, 40)
    taken(pipeline, 38)
    assert vacuum(pipeline.path)[0].compacted == 0
    assert pipeline.channel("a").log.find_marker(name) == 21


def test_files_of_killed_batches_are_collected(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=4)
    taken(pipeline, 3)  # its last batch is 2
    a, b = pipeline.channel("a").place, pipeline.channel("b").place
    orphans = [a / f"feed-{HEX}.parquet", b / f"rows-1-{HEX}.parquet", b / f"rows-2-{HEX}.parquet"]
    needed = [b / f"rows-3-{HEX}.parquet", a / "mine.parquet", b / f"turn-0-A-{HEX}.parquet"]
    for file in (*orphans, *needed):
        write(file.local, "rows")
    assert sum(found.orphans for found in vacuum(pipeline.path, dry_run=True)) == 3
    assert all(file.local.exists() for file in orphans)
    assert {found.channel: found.orphans for found in vacuum(pipeline.path)} == {"a": 1, "b": 2}
    assert [file.local.exists() for file in (*orphans, *needed)] == [False] * 3 + [True] * 3
    assert pipeline.channel("a").rows(after=3)["x"].to_pylist() == [4]


def test_what_a_copy_keeps_is_no_orphan(tmp_path: Path) -> None:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows, standby=Standby())
    pipeline = Pipeline(tmp_path / "p", channels={"a": "x long", "b": "x long"}, queries=[query])
    (tmp_path / "p/queries/q/order").mkdir(parents=True)
    feed(pipeline, 1, 6)
    for copy in Copy:
        spark_checkpoint(tmp_path / "p/queries/q" / copy.value / "checkpoint", last=4)
    files = {
        turn: pipeline.channel("b").place / f"turn-{turn}-A-{HEX}.parquet" for turn in range(6)
    }
    for file in files.values():
        write(file.local, "rows")
    kept = {"files": [[files[2].name, 4, 1]], "digest": "d", "marker": None}
    write(tmp_path / "p/queries/q/A/kept/2.json", json.dumps(kept))
    vacuum(pipeline.path)
    assert [turn for turn, file in files.items() if file.local.exists()] == [2, 5]


def test_a_channel_that_is_read_from_outside_keeps_what_the_user_says(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    written = DeltaTable(pipeline.channel("b").place.local)
    for number in range(1, 11):
        write((pipeline.channel("b").place / f"{number}.parquet").local, "rows")
        file = commits.Written(f"{number}.parquet", 4, 1)
        commits.commit(written, pipeline.channel("b").place, [file], {}, [])
    assert [found.channel for found in vacuum(pipeline.path)] == ["a"]
    assert vacuum(pipeline.path, keep={"b": 7})[1].until == 3
    spark_checkpoint(tmp_path / "c", last=4)
    offsets = (tmp_path / "c/offsets").iterdir()
    for file in offsets:
        file.write_text(file.read_text().replace('"a"', '"b"'))
    found = vacuum(pipeline.path, outside={"b": tmp_path / "c"})[1]
    assert (found.until, found.commits) == (5, 2)
    assert vacuum(pipeline.path, keep={"b": 0}, outside={"b": tmp_path / "c"})[1].until == 5
    command = ["vacuum", str(pipeline.path), "--keep-commits", "b=2", "--json", "--yes"]
    ran = CliRunner().invoke(app, command)
    assert json.loads(ran.output)["channels"][1]["until"] == pipeline.channel("b").log.last() - 3
    assert vacuum(pipeline.path)[0].until == 0  # its own reader has taken nothing


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"keep": {"z": 1}}, WrongWiring, "a channel 'z'"),
        ({"keep": {"b": -1}}, WrongArgument, "keep -1 commits"),
        ({"keep": {"b": 1.5}}, WrongArgument, "keep 1.5 commits"),
        ({"outside": {"b": "none"}}, WrongArgument, "has no offsets"),
        ({"outside": {"b": "s3a://bucket/c"}}, WrongArgument, "URL"),
    ],
)
def test_what_is_said_of_outside_readers_is_checked(
    tmp_path: Path, arguments: dict[str, dict[str, int]], error: type, message: str
) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    with pytest.raises(error, match=message):
        vacuum(pipeline.path, **arguments)  # type: ignore[arg-type]
    kept = (f"--keep-commits={wrong}" for wrong in ("b", "b=x", "=1"))
    for option in (*kept, "--outside=b="):
        ran = CliRunner().invoke(app, ["vacuum", str(pipeline.path), option])
        assert ran.exit_code == ExitCode.WRONG_USE, ran.output


def test_the_events_of_a_process_are_bounded(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", bytes_max=2_000)
    for step in range(1_000):
        log.write(step, [{"event": "on_messages", "count": step}])
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 6_000
    assert max(log.read()) == 999
    assert len(log.read()) > 20


def live_through(pipeline: Pipeline, rounds: int, appends: int) -> list[int]:
    """Feed, take, snapshot, prune and vacuum, again and again; give the files after each round."""
    files = []
    for number in range(rounds):
        feed_from = number * appends + 1
        feed(pipeline, feed_from, feed_from + appends)
        end = pipeline.channel("a").log.last()
        taken(pipeline, end)
        complete_snapshot(pipeline, received=end)
        write(
            (pipeline.channel("a").place / f"feed-{number:032x}.parquet").local, "of a killed feed"
        )
        prune_snapshots(pipeline.path, keep=2)
        vacuum(pipeline.path, keep={"b": 10})
        checkpoint = pipeline.path / "queries/q/checkpoint"
        there = [file for file in pipeline.path.rglob("*") if file.is_file()]
        files.append(sum(checkpoint not in file.parents for file in there))
    return files


@pytest.mark.usefixtures("small")
def test_files_are_bounded_over_a_simulated_day(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    files = live_through(pipeline, rounds=6, appends=8)
    assert max(files[3:]) <= max(files[:3]) + 10, files
    assert pipeline.channel("a").log.last() > 48


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_files_are_bounded_over_a_simulated_week(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    rounds, appends = 14, 120
    files = live_through(pipeline, rounds, appends)
    bound = max(files[:5])
    assert max(files[5:]) <= bound + 50, files
    assert bound < 3 * 2 * appends + 300, files
    channel = pipeline.channel("a")
    assert channel.log.last() >= rounds * (appends + 1)  # with the markers
    assert len(json_files(pipeline)) < 3 * appends
    last = rounds * appends
    assert channel.append(pa.table({"x": [last]}), producer="gate", sequence=last) is None
    restored = pipeline.restore(pipeline.snapshots()[-1].id, into=tmp_path / "r")
    assert restored.channel("a").log.last() >= rounds * (appends + 1)
