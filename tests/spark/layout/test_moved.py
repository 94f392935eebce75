"""A pipeline that is moved or replaced while it is in use is told; nothing is made in its place."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from streamproof.spark_bindings import take_snapshot
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import (
    ChannelDamaged,
    NotAPipeline,
    PurgedCheckpoint,
    WrongArgument,
)
from streamproof.spark_bindings.layout.directory import build_up
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.delta_tables import create_table, is_table
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.handmade import write
from tests.spark.support.lives import feed, one


def test_a_pipeline_that_was_moved_is_told_and_nothing_takes_its_place(tmp_path: Path) -> None:
    pipeline = one(tmp_path / "p")
    pipeline.path.rename(tmp_path / "moved")
    with pytest.raises(ChannelDamaged, match="was moved or removed while it was in use"):
        feed(pipeline.channel("a"), 1)
    with pytest.raises(NotAPipeline, match="No snapshot was requested"):
        pipeline.snapshot()
    with pytest.raises(NotAPipeline):
        SnapshotFiles(pipeline.path / "snapshots").request()
    with pytest.raises(NotAPipeline):
        take_snapshot(pipeline.path)
    assert [place.name for place in tmp_path.iterdir()] == ["moved"]
    feed(one(tmp_path / "moved").channel("a"), 1)


def test_a_feeder_of_a_pipeline_that_was_replaced_is_told(tmp_path: Path) -> None:
    old = one(tmp_path / "p")
    feed(old.channel("a"), 1, 2, 3, 4)
    shutil.move(old.path, tmp_path / "old")
    new = one(tmp_path / "p")
    feed(new.channel("a"), 5)
    with pytest.raises(ChannelDamaged, match="no longer the table that was opened there"):
        feed(old.channel("a"), 6)
    assert new.channel("a").rows().column("x").to_pylist() == [5]


@pytest.mark.parametrize("name", ["file/x", "file/x/y", "x" * 300, "x" * 250])
def test_a_path_where_nothing_can_be_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongArgument, match="cannot be a pipeline's directory"):
        one(tmp_path / name)
    pipeline = one(tmp_path / "p")
    wiring = pipeline._directory.wiring
    with (
        pytest.raises(WrongArgument, match="Nothing was made"),
        build_up(Place.of(tmp_path / name), wiring, {}, "id"),
    ):
        pass


@pytest.mark.parametrize("name", ["/proc/x", "/proc/self/x"])
def test_a_place_where_the_system_makes_nothing_is_refused(name: str) -> None:
    with pytest.raises(WrongArgument, match="cannot be a pipeline's directory.*Name a directory"):
        one(Path(name))


def test_a_name_that_leaves_no_room_for_a_hidden_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongArgument, match=r"too long.*name of at most (\d+) bytes") as told:
        one(tmp_path / ("x" * 250))
    longest = re.search(r"at most (\d+) bytes", str(told.value))
    assert longest is not None
    feed(one(tmp_path / ("x" * int(longest[1]))).channel("a"), 1)


def test_links_that_lead_back_to_themselves_are_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(WrongArgument, match="lead back to themselves.*Remove the link"):
        one(tmp_path / "loop")


def _mounted(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    """Refuse to replace a directory, as the system does where a volume is mounted."""
    rename = Path.rename

    def refused(self: Path, target: Path) -> Path:
        if Path(target) == place:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(place))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)


def test_an_empty_place_where_a_volume_is_mounted_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "volume"
    place.mkdir()
    _mounted(monkeypatch, place)
    with pytest.raises(WrongArgument, match=f"a volume is mounted.*{place}/pipeline'"):
        one(place)
    assert [*tmp_path.iterdir()] == [place]
    feed(one(place / "pipeline").channel("a"), 1)


def test_a_table_is_made_where_a_volume_is_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "volume"
    place.mkdir()
    _mounted(monkeypatch, place)
    create_table(Place.of(place), pa.schema([("x", pa.int64())]), [])
    assert is_table(Place.of(place))
    assert [*tmp_path.iterdir()] == [place]


def test_a_table_in_the_place_of_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongArgument, match="is a file, and no directory"):
        create_table(Place.of(tmp_path / "file"), pa.schema([("x", pa.int64())]), [])


def test_a_checkpoint_that_lacks_the_newest_batches_is_another_one(tmp_path: Path) -> None:
    """Spark deletes old batches alone, so it is no question of how many it keeps."""
    for number in (4, 6):  # a driver that was not told goes on to write there
        write(tmp_path / "offsets" / str(number), "v1\n{}\n-")
    made = Checkpoint(tmp_path)
    for missing in (5, 7):
        with pytest.raises(PurgedCheckpoint, match="another directory was put.*Pipeline\\(path"):
            made.offsets(BatchId(missing))
    with pytest.raises(PurgedCheckpoint, match="minBatchesToRetain"):
        made.offsets(BatchId(3))
