"""Snapshots put together from files by hand, and restored, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings import (
    Replay,
    SnapshotStatus,
    list_snapshots,
    restore_snapshot,
    show_snapshot,
    take_snapshot,
)
from streamproof.spark_bindings.errors import (
    AbandonedSnapshot,
    ChannelDamaged,
    IncompleteSnapshot,
    NotAPipeline,
    StillBusy,
    TargetNotEmpty,
    UnknownSnapshot,
)
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.events import EventLog
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import (
    Position,
    ProcessName,
)
from tests.spark.support.handmade import ONE, A, Q, batch, names, spark_checkpoint, write
from tests.spark.support.lives import one
from tests.spark.support.snapshots_by_hand import collector_of, feed, snapshot_by_hand

WIDE = {"COLUMNS": "500"}


def test_a_snapshot_tells_batches_positions_and_rows(tmp_path: Path) -> None:
    pipeline, found = snapshot_by_hand(tmp_path / "p")
    assert found.status is SnapshotStatus.COMPLETE
    assert found.states == {"q": RecordedState(batch(1), {A: Position(2)})}
    assert found.markers == {"a": 4, "b": 1}
    (part,) = found.channels
    assert (part.channel, part.reader, part.received, part.end) == ("a", "q", 2, 3)
    assert (part.commits, part.rows) == (1, 1)
    assert list_snapshots(pipeline.path) == pipeline.snapshots() == [found]
    assert show_snapshot(pipeline.path, ONE) == found


def test_a_snapshot_is_begun_without_spark_and_waited_for(tmp_path: Path) -> None:
    pipeline = one(tmp_path / "p")
    assert take_snapshot(pipeline.path) == ONE
    assert pipeline.channel("a").log.find_marker(ONE) == 1
    path = str(pipeline.path)
    ran = CliRunner().invoke(app, ["snapshot", "take", path, "--wait", "0.1"], env=WIDE)
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert "is not complete after 0.1 s; queries that have not recorded: q. Is the" in ran.output
    assert f"Run: streamproof snapshot show {path} 000002" in ran.output
    assert CliRunner().invoke(app, ["snapshot", "take", path]).exit_code == ExitCode.GREEN
    assert [found.id for found in pipeline.snapshots()] == ["000001", "000002", "000003"]
    shown = CliRunner().invoke(app, ["snapshot", "show", path, "2"], env=WIDE)
    assert "snapshot 000002: requested" in shown.output
    assert CliRunner().invoke(app, ["snapshot", "take", "none"]).exit_code == ExitCode.WRONG_USE


@pytest.mark.parametrize(
    ("replay", "left"), [(Replay.NONE, [1, 2, 3]), (Replay.ALL, [1, 2, 3, 4, 5])]
)
def test_restoring_needs_no_spark_and_changes_nothing_else(
    tmp_path: Path, replay: Replay, left: list[int]
) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    before = names(pipeline.path)
    assert restore_snapshot(pipeline.path, ONE, into=tmp_path / "r", replay=replay)
    restored = one(tmp_path / "r")
    assert names(pipeline.path) == before
    assert restored.channel("a").rows()["x"].to_pylist() == left
    assert restored.snapshots() == []
    directory = PipelineDirectory.open(restored.path)
    assert directory.id != PipelineDirectory.open(pipeline.path).id
    assert directory.checkpoint(Q).last_committed() == 1
    # The old marker is in the log, and is nobody's now.
    assert directory.log(A).batch_end(Position(2), 100, None) == len(left) + 1
    # A feed goes on where the channel is: it cannot append twice what is there.
    feed(restored, 1, 2, 3, 4, 5, 6)
    assert restored.channel("a").rows()["x"].to_pylist() == [1, 2, 3, 4, 5, 6]
    assert pipeline.channel("a").rows()["x"].to_pylist() == [1, 2, 3, 4, 5]


def test_a_long_channel_is_restored_too(tmp_path: Path) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    feed(pipeline, *range(6, 130))
    restored = pipeline.restore(ONE, into=tmp_path / "r")
    assert restored.channel("a").rows()["x"].to_pylist() == list(range(1, 130))
    feed(restored, 129, 130)
    assert restored.channel("a").rows()["x"].to_pylist()[-2:] == [129, 130]


def test_bad_input_is_refused_and_nothing_is_created(tmp_path: Path) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    with pytest.raises(UnknownSnapshot, match="it has: 000001"):
        pipeline.restore("000007", into=tmp_path / "r")
    with pytest.raises(UnknownSnapshot):
        show_snapshot(pipeline.path, "")
    with pytest.raises(NotAPipeline, match="does not exist"):
        restore_snapshot(tmp_path / "none", ONE, into=tmp_path / "r")
    with pytest.raises(NotAPipeline):
        list_snapshots(tmp_path)
    waiting = pipeline.snapshot()
    with pytest.raises(IncompleteSnapshot, match="have not recorded: q"):
        pipeline.restore(waiting, into=tmp_path / "r")
    with pytest.raises(StillBusy, match="have not recorded: q"):
        pipeline.await_snapshot(waiting, timeout=0)
    assert not (tmp_path / "r").exists()


def test_nothing_is_restored_over_anything(tmp_path: Path) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    one(tmp_path / "other")
    write(tmp_path / "file")
    before = names(tmp_path)
    for target in (pipeline.path, tmp_path / "other", tmp_path / "file", tmp_path):
        with pytest.raises(TargetNotEmpty, match="is not empty"):
            pipeline.restore(ONE, into=target)
    assert names(tmp_path) == before


def test_a_restore_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    for file in pipeline.path.glob("channels/b/_delta_log/*0.json"):
        file.unlink()
    with pytest.raises(ChannelDamaged):
        pipeline.restore(ONE, into=tmp_path / "r")
    assert sorted(part.name for part in tmp_path.iterdir()) == ["p"]


def test_a_snapshot_whose_batch_was_purged_is_abandoned(tmp_path: Path) -> None:
    pipeline = one(tmp_path / "p")
    name = pipeline.snapshot()
    files = SnapshotFiles(pipeline.path / "snapshots")
    spark_checkpoint(pipeline.path / "queries/q/checkpoint", last=300, first=200)
    files.save_state(name, Q, RecordedState(batch(1), {A: Position(1)}))
    assert not collector_of(pipeline).collect()
    assert files.read(name).status is SnapshotStatus.ABANDONED
    for call in (pipeline.await_snapshot, lambda name: pipeline.restore(name, into=tmp_path / "r")):
        with pytest.raises(AbandonedSnapshot, match="no longer has batch 1"):
            call(name)
    assert files.unfinished() == []


def test_a_snapshot_that_its_channels_contradict_is_abandoned(tmp_path: Path) -> None:
    pipeline = one(tmp_path / "p")
    feed(pipeline, 1, 2, 3)
    name = pipeline.snapshot()
    files = SnapshotFiles(pipeline.path / "snapshots")
    spark_checkpoint(pipeline.path / "queries/q/checkpoint", last=4)
    files.save_state(name, Q, RecordedState(batch(1), {A: Position(2)}))
    pipeline.channel("b").append_marker_once(name)
    files.save_channels(name, ProcessName("q"), {A: 0})  # it did not count the third row
    assert not collector_of(pipeline).collect()
    with pytest.raises(AbandonedSnapshot, match="InconsistentCut"):
        pipeline.await_snapshot(name)


def test_a_snapshot_is_begun_once_at_a_source_however_often_it_is_asked_for(
    tmp_path: Path,
) -> None:
    pipeline = one(tmp_path / "p")
    name = pipeline.snapshot()
    for again in (pipeline, one(tmp_path / "p")):
        again._feeds.initiate(name)
    assert pipeline.channel("a").log.last() == 1
    events = EventLog(pipeline.path / "feeds/feed.a/events.jsonl").read()
    both = ["SaveState", "SendMarkers"]
    assert events == {1: [{"event": "initiate", "snapshot": name, "effects": both, "done": both}]}
