"""Snapshots of custom stateful operators: rows that move through `transformWithStateInPandas`.

`Hold` keeps the last rows of each key in its state and passes older ones on, so a row is at every
moment in exactly one place: a query's state, a channel, or the last channel, which nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StatefulProcessor

from streamproof.spark_bindings import Pipeline, Query, Replay
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import ChannelName, Position, QueryName

KEYS = 3
HELD = 2  # rows that `Hold` keeps per key
ROW = "key long, id long"


class Hold(StatefulProcessor):
    """Keeps the newest rows of a key; passes older ones on, in order."""

    def init(self, handle: Any) -> None:
        self._held = handle.getListState("held", "id long")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Any:
        ids = [row[0] for row in self._held.get()] if self._held.exists() else []
        for frame in rows:
            ids.extend(int(number) for number in frame["id"])
        passed, kept = ids[:-HELD], ids[-HELD:]
        self._held.put([(number,) for number in kept])
        yield pd.DataFrame({"key": [key[0]] * len(passed), "id": passed}).astype("int64")

    def close(self) -> None:
        pass


def hold(rows: DataFrame) -> DataFrame:
    return rows.groupBy("key").transformWithStateInPandas(Hold(), ROW, "Append", "None")


def two_holds(path: Path) -> Pipeline:
    return Pipeline(
        path,
        channels={"source": ROW, "middle": ROW, "sink": ROW},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=hold),
            Query("second", inputs=("middle",), output="sink", plan=hold),
        ],
    )


def feed(pipeline: Pipeline, start: int, stop: int) -> None:
    for number in range(start, stop, 2):
        ids = [number, number + 1]
        rows = pa.table({"key": [i % KEYS for i in ids], "id": ids})
        pipeline.channel("source").append(rows, producer="test", sequence=number)


def after_hold(ids: list[int]) -> tuple[list[int], list[int]]:
    """Return what `Hold` keeps and passes on of a sequence of ids, in plain Python."""
    kept: list[int] = []
    passed: list[int] = []
    for key in range(KEYS):
        of_key = [number for number in ids if number % KEYS == key]
        passed += of_key[:-HELD]
        kept += of_key[-HELD:]
    return sorted(kept), passed


def held(spark: SparkSession, checkpoint: Path) -> list[int]:
    state = spark.read.format("statestore").option("stateVarName", "held").load(str(checkpoint))
    return sorted(row[0] for row in state.select("list_element.id").collect())


def ids_behind(directory: PipelineDirectory, channel: str, reader: str) -> list[int]:
    """List the ids in a channel that its reader has not received."""
    log, checkpoint = directory.log(ChannelName(channel)), directory.checkpoint(QueryName(reader))
    batch = checkpoint.last_committed()
    start = Position(0) if batch is None else checkpoint.received(batch)[ChannelName(channel)]
    entries = log.entries(start, log.last())
    return [number for batch in log.batches(entries, ["id"]) for number in batch["id"].to_pylist()]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_rows_that_move_through_states_are_each_in_one_place(
    spark: SparkSession, tmp_path: Path
) -> None:
    pipeline = two_holds(tmp_path / "original")
    with pipeline.start(spark):
        feed(pipeline, 0, 20)
        snapshot = pipeline.snapshot()
        feed(pipeline, 20, 40)
        pipeline.await_snapshot(snapshot)
        pipeline.await_idle()
    at_cut = pipeline.restore(snapshot, into=tmp_path / "cut", replay=Replay.NONE)
    directory = PipelineDirectory.open(at_cut.path)
    found = [
        *held(spark, directory.checkpoint(QueryName("first")).place.local),
        *held(spark, directory.checkpoint(QueryName("second")).place.local),
        *ids_behind(directory, "source", "first"),
        *ids_behind(directory, "middle", "second"),
        *at_cut.channel("sink").rows()["id"].to_pylist(),
    ]
    assert sorted(found) == list(range(20))
    restored = pipeline.restore(snapshot, into=tmp_path / "restored")
    with restored.start(spark):
        restored.await_idle()
    kept, passed = after_hold(list(range(40)))
    kept_behind, out = after_hold(passed)
    for run in (pipeline, restored):
        directory = PipelineDirectory.open(run.path)
        assert held(spark, directory.checkpoint(QueryName("first")).place.local) == kept
        assert held(spark, directory.checkpoint(QueryName("second")).place.local) == kept_behind
        # Of each key, in the order in which it was fed.
        rows = run.channel("sink").rows().to_pylist()
        in_order = sorted(rows, key=lambda row: row["key"])
        assert in_order == [{"key": number % KEYS, "id": number} for number in out]
