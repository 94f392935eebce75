"""A snapshot and a start demand every state file that the checkpoint's log names.

The checkpoints are real ones, which 0.1.0 left.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamproof.spark_bindings import SnapshotStatus
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.planned_sources import check_inputs
from streamproof.spark_bindings.errors import DamagedFile, LostFiles
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState
from streamproof.spark_bindings.names import BatchId, QueryName
from streamproof.spark_bindings.snapshots.collector import Collector
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.state_files import require_state, settle
from tests.data.make_0_1_0 import pipeline
from tests.spark.support.archives import unpack
from tests.spark.support.handmade import names, spark_checkpoint, write
from tests.spark.support.lives import checkpoint


@pytest.fixture
def join(tmp_path: Path) -> Checkpoint:
    """Return a checkpoint of which every batch wrote changes."""
    return Checkpoint(unpack("pipeline", tmp_path) / "queries" / "join" / "checkpoint")


@pytest.fixture
def merge(tmp_path: Path) -> Checkpoint:
    """Return a checkpoint that has a snapshot of its state, and changes behind it."""
    return Checkpoint(unpack("merged", tmp_path) / "pipeline/queries/merge/checkpoint")


def newest(own: Checkpoint) -> BatchId:
    batch = own.last_committed()
    assert batch is not None
    return batch


def remove(own: Checkpoint, pattern: str) -> None:
    found = list(own.place.local.glob(pattern))
    assert found, pattern
    for file in found:
        file.unlink()


def test_a_whole_checkpoint_is_copied(join: Checkpoint, merge: Checkpoint, tmp_path: Path) -> None:
    for own in (join, merge):
        last = newest(own)
        own.copy_as_of(last, Place.of(tmp_path / own.place.parent.name))
        require_state(Place.of(tmp_path / own.place.parent.name), last)
        own.check_readable()


@pytest.mark.parametrize("back", [0, 1, 5])
def test_changes_that_are_missing(join: Checkpoint, tmp_path: Path, back: int) -> None:
    last = newest(join)
    remove(join, f"state/0/0/{last + 1 - back}_*.changelog")
    with pytest.raises(LostFiles, match=rf"has lost 0/{last + 1 - back}_.*commits/{last} needs"):
        join.copy_as_of(last, Place.of(tmp_path / "copy"))
    assert not list(tmp_path.glob("*copy*"))
    with pytest.raises(LostFiles):
        check_inputs([None], join)


def test_the_offsets_before_the_last_ones_are_needed(join: Checkpoint, tmp_path: Path) -> None:
    last = newest(join)
    remove(join, f"offsets/{last - 1}")
    with pytest.raises(
        LostFiles, match=rf"has lost offsets/{last - 1}, which Spark reads as it st"
    ):
        join.copy_as_of(last, Place.of(tmp_path / "copy"))
    with pytest.raises(LostFiles):
        check_inputs([None], join)


def test_a_file_of_another_attempt_does_not_count(join: Checkpoint) -> None:
    last = newest(join)
    (file,) = join.place.local.glob(f"state/0/0/{last + 1}_*.changelog")
    file.rename(file.with_name(f"{last + 1}_00000000-0000.changelog"))
    with pytest.raises(LostFiles):
        require_state(join.place, last)


@pytest.mark.parametrize("what", ["state", "state/0", "state/0/0"])
def test_a_checkpoint_without_state(join: Checkpoint, tmp_path: Path, what: str) -> None:
    (join.place / what).local.rename(tmp_path / "gone")
    with pytest.raises(LostFiles, match="executors run on other machines"):
        join.copy_as_of(newest(join), Place.of(tmp_path / "copy"))


@pytest.mark.parametrize("pattern", ["*.zip", "SSTs/*.sst"])
def test_a_snapshot_of_the_state_that_is_missing(merge: Checkpoint, pattern: str) -> None:
    last = newest(merge)
    remove(merge, f"state/0/0/{pattern}")
    require_state(merge.place, last)  # its changes go back to the first version
    remove(merge, "state/0/0/1_*.changelog")
    with pytest.raises(LostFiles):
        require_state(merge.place, last)


def test_a_damaged_snapshot_of_the_state(merge: Checkpoint) -> None:
    (file,) = merge.place.local.glob("state/0/0/*.zip")
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(DamagedFile, match="zip"):
        require_state(merge.place, newest(merge))


def test_a_query_without_state_needs_none(tmp_path: Path) -> None:
    own = spark_checkpoint(tmp_path / "ck", 2)
    require_state(own.place, BatchId(2))
    write((own.place / "commits/2").local, 'v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{}}')
    require_state(own.place, BatchId(2))


@pytest.mark.parametrize("gone", ["3", "sources/0"])
def test_a_checkpoint_without_sources(tmp_path: Path, gone: str) -> None:
    own = checkpoint(tmp_path / "ck", [{"logOffset": 3}])
    write((own.place / "sources/0/2").local)
    write((own.place / "sources/0/3").local)
    own.check_readable()
    target = own.place / gone if "/" in gone else own.place / "sources/0" / gone
    target.local.rename(tmp_path / "gone")
    with pytest.raises(LostFiles, match="lost sources/0/3"):
        check_inputs([None], own)
    write((own.place / "sources/0/3.compact").local)
    own.check_readable()


def test_a_snapshot_whose_state_is_elsewhere_is_abandoned(tmp_path: Path) -> None:
    """Executors that do not see the checkpoints' directory write state into one of their own."""
    made = pipeline(unpack("pipeline", tmp_path))
    directory = PipelineDirectory.open(made.path)
    snapshot = made.snapshot()
    own = directory.checkpoint(QueryName("join"))
    last = newest(own)
    directory.snapshots.save_state(snapshot, "join", RecordedState(last, own.received(last)))
    (own.place / "state").local.rename(tmp_path / "elsewhere")
    channels = {name: made.channel(name) for name in directory.wiring.channels}
    Collector(directory, made.queries, channels).collect()
    found = made.snapshots()[-1]
    assert found.status is SnapshotStatus.ABANDONED
    assert "has lost 0/" in found.reason


def test_a_snapshot_of_a_checkpoint_that_was_replaced_is_abandoned(tmp_path: Path) -> None:
    made = pipeline(unpack("pipeline", tmp_path))
    directory = PipelineDirectory.open(made.path)
    (snapshot,) = made.snapshots()
    place = made.path / "snapshots" / snapshot.id
    (place / "manifest.json").unlink()
    (place / "outcome.json").unlink()
    file = place / "checkpoints/join/offsets" / str(snapshot.states["join"].batch)
    file.write_text(file.read_text().replace('"position": 5', '"position": 4'))
    channels = {name: made.channel(name) for name in directory.wiring.channels}
    Collector(directory, made.queries, channels).collect()
    (found,) = made.snapshots()
    assert found.status is SnapshotStatus.ABANDONED
    assert "another driver has replaced that" in found.reason


def test_a_checkpoint_names_its_own_files(merge: Checkpoint) -> None:
    file = merge.place / "state/0/_metadata/v2/0"
    before, files = file.local.read_text(), names(merge.place.local)
    settle(merge.place)
    paths = json.loads(file.local.read_text().split("\n", 1)[1])["stateStoreInfo"][0]
    (path,) = paths["stateSchemaFilePaths"]
    assert Path(path.removeprefix("file:")).is_file()
    assert path.startswith(f"file:{merge.place}/state/0/_stateSchema/")
    assert file.local.read_text().replace(str(merge.place), "") != before
    assert names(merge.place.local) == files
    settled = file.local.stat().st_ino
    settle(merge.place)
    assert file.local.stat().st_ino == settled
