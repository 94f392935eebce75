"""The first result of a batch stands, also one without rows: later ones would be in no cut."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import BatchId, ChannelName, QueryName
from streamproof.spark_bindings.pipelines.query_process import QueryProcess
from tests.spark.faults.engine import Rows, no_executors
from tests.spark.support.handmade import write
from tests.spark.support.lives import feed, offset, one

pytestmark = pytest.mark.usefixtures("conforms")

A, Q = ChannelName("a"), QueryName("q")


@pytest.mark.parametrize(("first", "second"), [(0, 3), (3, 0), (2, 3), (0, 0), (3, 3)])
def test_the_first_result_of_a_batch_stands(first: int, second: int, tmp_path: Path) -> None:
    pipeline = one(tmp_path / "p")
    feed(pipeline.channel("a"), 1)
    snapshot = pipeline.snapshot()
    finished: list[int] = []
    directory = PipelineDirectory.open(pipeline.path)
    checkpoint = directory.checkpoint(Q).place
    write((checkpoint / "metadata").local, '{"id": "one"}')
    ends = json.dumps(offset(pipeline.channel("a"), 2))
    write((checkpoint / "offsets" / "0").local, f"v1\n{{}}\n{ends}")
    for number, count in enumerate((first, second)):  # Spark runs it again after a crash
        process = QueryProcess(
            Q,
            directory.query_place(Q),
            inputs={A: pipeline.channel("a")},
            output=pipeline.channel("b"),
            snapshots=directory.snapshots,
        )
        table = pa.table({"x": pa.array(range(count), pa.int64())})
        with no_executors():
            process.on_batch(Rows(table, lambda number=number: finished.append(number)), BatchId(0))
    log = pipeline.channel("b").log
    entries = log.entries(0, log.last())  # type: ignore[arg-type] # positions
    assert [(entry.rows, entry.marker) for entry in entries] == [
        *([(first, None)] if first else []),
        (0, snapshot),
    ]
    assert finished == [0, 1]  # its state's changes come each time
