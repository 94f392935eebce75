"""Snapshots while something else happens to them: one process's parts, and another's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from streamproof.spark_bindings import (
    Pipeline,
    Query,
    Replay,
    SnapshotStatus,
    remove_snapshot,
    restore_snapshot,
    take_snapshot,
    vacuum,
)
from streamproof.spark_bindings.errors import DamagedFile, PurgedCheckpoint, QueryFailed
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory, check_as_declared
from streamproof.spark_bindings.names import (
    ChannelName,
    LaneName,
    Position,
    Turn,
)
from streamproof.spark_bindings.snapshots.collector import CollectorThread
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles
from streamproof.spark_bindings.standby.catch_up import catch_up
from streamproof.spark_bindings.storage.failpoints import Failpoint, RaceFailpoint, armed
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.synced_commits import commit_file
from tests.spark.standby.support.pair_snapshots import client_of, output, parted, record
from tests.spark.support.handmade import ONE, batch, spark_checkpoint
from tests.spark.support.retained import complete, pipeline_at, snapshot_by_hand
from tests.spark.support.snapshots_by_hand import collector_of
from tests.spark.support.waiting import await_that

B = ChannelName("b")


def test_a_checkpoint_that_is_replaced_while_it_is_copied_is_not_taken(tmp_path: Path) -> None:
    own = spark_checkpoint(tmp_path / "A/checkpoint", last=5)

    def replaced(_: str) -> None:
        own.place.local.rename(tmp_path / "gone")
        spark_checkpoint(own.place.local, first=8, last=9)

    # What Spark has logged is linked, and the state is listed next.
    with (
        armed(RaceFailpoint.CHECKPOINT_FILE_LINKED, replaced, where="commits/.5.crc"),
        pytest.raises(PurgedCheckpoint),
    ):
        own.copy_as_of(batch(5), Place.of(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()


def test_what_a_snapshot_speaks_of_is_on_the_disk_before_it_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[list[str]] = []

    def sync() -> None:
        place = tmp_path / "p" / "snapshots" / "000001"
        synced.append(sorted(path.name for path in place.iterdir()))

    monkeypatch.setattr(os, "sync", sync)
    complete(snapshot_by_hand(tmp_path / "p"))
    assert len(synced) == 1
    assert {"states", "channels", "checkpoints"} <= {*synced[0]}
    assert "manifest.json" not in synced[0]


@pytest.mark.parametrize("left", [0, 40])
def test_a_snapshot_is_restored_though_the_power_has_cut_what_was_fed_later(
    tmp_path: Path, left: int
) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    log = pipeline.channel("a").log
    last = commit_file(log.place, log.last())
    os.truncate(last.local, left)
    shutil.rmtree(tmp_path / "p/queries")
    with pytest.raises(DamagedFile, match=last.name):
        restore_snapshot(tmp_path / "p", ONE, into=tmp_path / "whole")
    assert not (tmp_path / "whole").exists()
    restore_snapshot(tmp_path / "p", ONE, into=tmp_path / "cut", replay=Replay.NONE)
    rows = pipeline_at(tmp_path / "cut", fed=0).channel("a").rows(after=Position(2))
    assert rows["x"].to_pylist() == [3, 4, 5, 6]


def test_a_collector_that_was_frozen_leaves_a_complete_snapshot_whole(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")

    def overtaken(_: str) -> None:
        complete(pipeline)  # by another process
        for kind in ("offsets", "commits"):
            (pipeline.path / f"queries/q/checkpoint/{kind}/1").unlink()  # a hundred batches later

    with armed(RaceFailpoint.CHECKPOINT_COPY_BEGUN, overtaken):
        collector_of(pipeline).collect()
    assert pipeline.snapshots()[0].status is SnapshotStatus.COMPLETE
    pipeline.restore(ONE, into=tmp_path / "r")


def test_what_one_driver_has_abandoned_another_does_not_complete(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    files = PipelineDirectory.open(pipeline.path).snapshots

    def abandoned(_: str) -> None:
        files.abandon(ONE, "by another driver")

    with armed(RaceFailpoint.SNAPSHOT_UNSETTLED, abandoned):
        complete(pipeline)
    assert pipeline.snapshots()[0].status is SnapshotStatus.ABANDONED


def test_a_snapshot_that_was_begun_at_one_source_is_begun_at_the_others(tmp_path: Path) -> None:
    def killed(_: str) -> None:
        raise KeyboardInterrupt

    query = Query("q", inputs=("a", "b"), output="c", plan=lambda a, _: a)

    def half_begun(name: str) -> Pipeline:
        pipeline = Pipeline(
            tmp_path / name, channels=dict.fromkeys("abc", "x long"), queries=[query]
        )
        with (
            armed(Failpoint.FEED_RECORDERS_WRITTEN, killed, where="feed.a"),
            pytest.raises(KeyboardInterrupt),
        ):
            take_snapshot(pipeline.path)
        return pipeline

    ends: list[Callable[[Pipeline], object]] = [
        lambda pipeline: collector_of(pipeline).collect(),
        lambda pipeline: remove_snapshot(pipeline.path, ONE),
    ]
    for name, end in zip("pr", ends, strict=True):
        pipeline = half_begun(name)
        assert pipeline.channel("a").log.find_marker(ONE) == 1
        assert pipeline.channel("b").log.find_marker(ONE) is None
        end(pipeline)
        assert pipeline.channel("b").log.find_marker(ONE) == 1


def test_a_damaged_snapshot_can_be_removed(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    (pipeline.path / "snapshots/000001/manifest.json").write_text("")
    remove_snapshot(pipeline.path, ONE)
    assert vacuum(pipeline.path)[0].until == 6


def test_after_an_error_a_collector_tries_again(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    state = pipeline.path / "snapshots/000001/states/q.json"
    said = state.read_text()
    state.write_text("")
    thread = CollectorThread(collector_of(pipeline), Place.of(pipeline.path))

    def fails() -> bool:
        try:
            thread.raise_failure()
        except QueryFailed:
            return True
        return False

    await_that(fails, "an error")
    state.write_text(said)
    thread.wake()
    await_that(lambda: not fails(), "another try")
    thread.stop()


def test_recorders_that_the_survivor_has_removed_meanwhile_are_of_a_newer_batch(
    tmp_path: Path,
) -> None:
    pipeline = parted(tmp_path / "p")
    name = pipeline.snapshot()
    rows, one, two = pipeline.channel(B), client_of(pipeline, 0, 0), client_of(pipeline, 0, 1)
    one.deliver(output(rows, 1, marker=name), Turn(0), 1)
    for turn in range(1, 11):  # the other lane stays open, so that each turn is recorded
        two.deliver(output(rows, turn, turn), Turn(turn if turn > 1 else 0), 1)
    assert record(pipeline, "r", B, 3) == [name]
    pair = PairDirectory(Place.of(tmp_path / "p/queries/r"))

    def go_on(_: str) -> None:
        record(pipeline, "r", B, 3, *range(4, 14))

    with armed(RaceFailpoint.SURVIVOR_TURN_CHOSEN, go_on, where="A"):
        begun = catch_up(pair, Copy.B, pipeline.channel("c").place, 0.1)
    assert begun.taken == 11
    lanes = (LaneName("b.0"), LaneName("b.1"))
    mine = RecorderFiles(pair.copy(Copy.B).recorders, lanes).before(batch(11))
    assert dict(mine[name].log.items()) == {"b.0": 0, "b.1": 10}


def test_pairs_of_which_some_were_made_can_still_be_made(tmp_path: Path) -> None:
    pipeline = parted(tmp_path / "p")
    (tmp_path / "p/queries/q.0/order").mkdir(parents=True)
    check_as_declared(PipelineDirectory.open(pipeline.path), pipeline.queries[0])
    assert pipeline.channel("a").append(pa.table({"x": [1]})) == 1
