"""A pipeline that is moved or replaced while it is in use is told; nothing is made in its place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from streamproof.spark_bindings import take_snapshot
from streamproof.spark_bindings.errors import ChannelDamaged, NotAPipeline, WrongArgument
from streamproof.spark_bindings.layout.directory import build_up
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.storage.place import Place
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


@pytest.mark.parametrize("name", ["file/x", "file/x/y", "x" * 300])
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
