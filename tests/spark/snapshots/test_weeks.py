"""A pipeline that is vacuumed while it runs, in Spark: nothing is lost, and it can be restored."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Query, Replay, prune_snapshots, vacuum
from streamproof.spark_bindings.channels import compaction
from streamproof.spark_bindings.channels.channel_log import committed_positions
from streamproof.spark_bindings.errors import CopyRuns, VacuumedRows


def pipeline_at(path: Path) -> Pipeline:
    return Pipeline(
        path,
        channels=dict.fromkeys(("source", "middle", "sink"), "x long"),
        queries=[
            Query(
                name,
                inputs=(read,),
                output=written,
                plan=lambda rows: rows.dropDuplicates(),
                commits_per_batch_max=3,
            )
            for name, read, written in (("one", "source", "middle"), ("two", "middle", "sink"))
        ],
    )


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_pipeline_is_vacuumed_while_it_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "COMPACTED_MIN", 3)
    pipeline = pipeline_at(tmp_path / "p")
    source, fed, taken = pipeline.channel("source"), 0, []

    def feed(commits: int) -> None:
        nonlocal fed
        for _ in range(commits):
            # Each row comes twice, so that state decides what goes through.
            source.append(pa.table({"x": [fed // 2]}), producer="gate", sequence=fed)
            fed += 1

    for _ in range(3):
        with pipeline.start(spark):
            with pytest.raises(CopyRuns, match="fence each other"):
                pipeline_at(tmp_path / "p").start(spark)
            for _ in range(2):
                feed(8)
                taken.append(pipeline.snapshot())
                feed(2)
                vacuum(pipeline.path)
                pipeline.await_snapshot(taken[-1])
            pipeline.await_idle()
            prune_snapshots(pipeline.path, keep=2)
            vacuum(pipeline.path)
    assert pipeline.channel("sink").rows()["x"].to_pylist() == [*range(30)]
    for name in ("source", "middle"):
        with pytest.raises(VacuumedRows):
            pipeline.channel(name).rows()
        kept = sorted(committed_positions(pipeline.channel(name).place))
        assert kept[0] == 0
        assert kept[1] > 10
    restored = pipeline.restore(taken[-2], into=tmp_path / "r", replay=Replay.ALL)
    with restored.start(spark):
        restored.await_idle()
    assert restored.channel("sink").rows()["x"].to_pylist() == [*range(30)]
    cut = pipeline.restore(taken[-1], into=tmp_path / "s", replay=Replay.NONE)
    with cut.start(spark):
        cut.await_idle()
        cut.channel("source").append(pa.table({"x": [0, 29, 30]}))
        cut.await_idle()
    assert cut.channel("sink").rows()["x"].to_pylist() == [*range(29), 29, 30]
