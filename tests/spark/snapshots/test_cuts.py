"""A restored query begins at the cut, or not at all: what it gave ahead of it is in its output."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import LostFiles, PurgedCheckpoint, WrongCheckpoint
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import QueryName
from streamproof.spark_bindings.snapshots.cuts import require_behind_cut
from tests.spark.support.handmade import ONE, Q, batch, spark_checkpoint
from tests.spark.support.lives import one
from tests.spark.support.snapshots_by_hand import snapshot_by_hand
from tests.spark.support.waiting import SECONDS_MAX


def without_states(snapshot: Path) -> None:
    (snapshot / "states/q.json").unlink()


def without_logs(snapshot: Path) -> None:
    for kind in ("offsets", "commits", "state"):
        shutil.rmtree(snapshot / "checkpoints/q" / kind)


def without_last_commit(snapshot: Path) -> None:
    (snapshot / "checkpoints/q/commits/1").unlink()


def without_checkpoint(snapshot: Path) -> None:
    shutil.rmtree(snapshot / "checkpoints/q")


def of_another_batch(snapshot: Path) -> None:
    without_checkpoint(snapshot)
    spark_checkpoint(snapshot / "checkpoints/q", last=2)


def of_other_positions(snapshot: Path) -> None:
    offsets = snapshot / "checkpoints/q/offsets/1"
    text = offsets.read_text()
    offsets.unlink()
    offsets.write_text(text.replace('"position": 2', '"position": 1'))


def without_metadata(snapshot: Path) -> None:
    (snapshot / "checkpoints/q/metadata").unlink()


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (without_states, "no file in states says what query 'q' has recorded"),
        (without_logs, r"ends at the batches \(None, None\)"),
        (without_last_commit, r"ends at the batches \(1, 0\).*has recorded 1"),
        (without_checkpoint, r"ends at the batches \(None, None\)"),
        (of_another_batch, r"ends at the batches \(2, 2\)"),
        (of_other_positions, r"read up to {'a': 1}, but 'q' recorded {'a': 2}"),
        (without_metadata, "has no metadata file"),
    ],
)
def test_a_complete_snapshot_that_has_lost_files_is_not_restored(
    tmp_path: Path, harm: Callable[[Path], None], told: str
) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    harm(pipeline.path / "snapshots" / ONE)
    error = PurgedCheckpoint if harm is without_metadata else LostFiles
    with pytest.raises(error, match=told):
        pipeline.restore(ONE, into=tmp_path / "r")
    assert sorted(part.name for part in tmp_path.iterdir()) == ["p"]


def test_a_restored_query_must_have_the_checkpoint_that_it_began_with(tmp_path: Path) -> None:
    pipeline, _ = snapshot_by_hand(tmp_path / "p")
    restored = pipeline.restore(ONE, into=tmp_path / "r")
    checkpoint = PipelineDirectory.open(restored.path).checkpoint(QueryName("q"))
    require_behind_cut(restored.path, "q", checkpoint)
    (checkpoint.place / "commits/1").local.unlink()
    with pytest.raises(WrongCheckpoint, match="completed batch 1, but .* ends with 0"):
        require_behind_cut(restored.path, "q", checkpoint)
    shutil.rmtree(checkpoint.place.local)
    with pytest.raises(WrongCheckpoint, match="has completed none"):
        require_behind_cut(restored.path, "q", checkpoint)
    # Nobody else has begun with one.
    require_behind_cut(pipeline.path, "q", Checkpoint(tmp_path / "none"))
    require_behind_cut(restored.path, "another", Checkpoint(tmp_path / "none"))
    later = spark_checkpoint(restored.path / "queries/q/checkpoint", last=7)
    assert later.last_committed() == batch(7)
    require_behind_cut(restored.path, Q, later)


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_a_start_gives_no_row_again(spark: SparkSession, tmp_path: Path) -> None:
    pipeline = one(tmp_path / "p")
    pipeline.channel("a").append(pa.table({"x": [1]}))
    with pipeline.start(spark):
        pipeline.await_idle(SECONDS_MAX)
        taken = pipeline.snapshot()
        pipeline.await_snapshot(taken, SECONDS_MAX)
    restored = pipeline.restore(taken, into=tmp_path / "r")
    kept = shutil.move(restored.path / "queries/q", tmp_path / "kept")
    with pytest.raises(WrongCheckpoint, match="Nothing was written"):
        restored.start(spark)
    shutil.rmtree(restored.path / "queries/q", ignore_errors=True)
    shutil.move(kept, restored.path / "queries/q")
    with restored.start(spark):
        restored.await_idle(SECONDS_MAX)
    assert restored.channel("b").rows()["x"].to_pylist() == [1]
