"""The newest snapshots stay, and what older ones kept goes."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings import prune_snapshots, vacuum
from streamproof.spark_bindings.errors import UnknownSnapshot, WrongArgument
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotStatus
from streamproof.spark_bindings.names import LaneName, Position
from tests.spark.support.fed import Q, complete_snapshot, feed, pipeline_at, taken
from tests.spark.support.handmade import A, batch
from tests.spark.support.snapshots_by_hand import collector_of


def test_prune_keeps_the_newest_snapshots(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=4)
    taken(pipeline, 2)
    names = [complete_snapshot(pipeline, received=2) for _ in range(4)]
    feed(pipeline, 5, 8)
    taken(pipeline, 8)
    waiting = pipeline.snapshot()
    assert vacuum(pipeline.path)[0].until == 2
    ran = CliRunner().invoke(app, ["snapshot", "prune", str(pipeline.path), "--keep", "2"])
    assert (ran.exit_code, len(pipeline.snapshots())) == (ExitCode.WRONG_USE, 5)
    assert "Nothing was done. Add --yes" in " ".join(ran.output.split())
    ran = CliRunner().invoke(app, ["snapshot", "prune", str(pipeline.path), "--keep", "2", "--yes"])
    assert (ran.exit_code, ran.output.split(" of ")[0]) == (0, "removed 000001, 000002")
    assert [each.id for each in pipeline.snapshots()] == [*names[2:], waiting]
    assert prune_snapshots(pipeline.path, 2) == []
    for gone in names[:2]:
        with pytest.raises(UnknownSnapshot):
            pipeline.restore(gone, into=tmp_path / "r")
        assert list(pipeline.path.glob(f"[sf]*/**/{gone}")) == []
    pipeline.restore(names[2], into=tmp_path / "r")
    assert prune_snapshots(pipeline.path, 1) == [names[2]]
    assert pipeline.snapshot() == "000006"


def test_prune_leaves_what_is_under_way_and_removes_what_it_cannot_become(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p", fed=2)
    taken(pipeline, 2)
    stuck = pipeline.snapshot()
    assert prune_snapshots(pipeline.path, 1) == []
    directory = PipelineDirectory.open(pipeline.path)
    name = pipeline.snapshot()
    for each, count in ((stuck, 0), (name, 0)):
        directory.snapshots.save_state(each, Q, RecordedState(batch(1), {A: Position(2)}))
        if each == name:
            directory.snapshots.save_channels(each, Q, {LaneName("a"): count})
            pipeline.channel("b").append_marker_once(each)
    collector_of(pipeline).collect()
    assert directory.snapshots.read(name).status is SnapshotStatus.COMPLETE
    assert prune_snapshots(pipeline.path, 1) == [stuck]
    # A driver that was frozen does its part again: nothing of it is taken for a snapshot.
    directory.snapshots.save_channels(stuck, Q, {LaneName("a"): 0})
    assert [each.id for each in pipeline.snapshots()] == [name]
    prune_snapshots(pipeline.path, 1)
    assert not (directory.snapshots.place / stuck).local.exists()


@pytest.mark.parametrize("keep", [0, -1, True, 1.5, "2"])
def test_prune_keeps_at_least_one(tmp_path: Path, keep: int) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    with pytest.raises(WrongArgument, match="Keep at least 1"):
        prune_snapshots(pipeline.path, keep)
    ran = CliRunner().invoke(app, ["snapshot", "prune", str(pipeline.path), "--keep", "0"])
    assert ran.exit_code == ExitCode.WRONG_USE
