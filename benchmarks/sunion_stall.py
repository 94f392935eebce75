"""What `benchmarks/sunion.py` measures beside throughput: the machine's share, and a stall."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from streamproof.protocols import dpc
from streamproof.protocols.dpc import Policy
from streamproof.protocols.sunion import is_late
from streamproof.spark_bindings.sunion import dpc as binding
from streamproof.spark_bindings.sunion import reconcile, sunion
from streamproof.spark_bindings.sunion.dpc import Arrivals, Merge, initial_state
from streamproof.spark_bindings.sunion.pending import Index, Pending
from streamproof.spark_bindings.sunion.progress import Progress
from streamproof.spark_bindings.sunion.rows import STREAM, integers
from streamproof.spark_bindings.sunion.settings import Settings

STALL_SECONDS = 60
_NAMES = ("first", "second")
_STEPS = ("on_boundary", "stabilize", "emit", "on_timeout", "emit_tentative")


def machine_share(rows: int) -> float:
    """Return the share of a serializer's time in which the machine decides, without Spark's."""
    settings = Settings(
        streams=_NAMES,
        time="ts",
        position="seq",
        bucket_us=1_000_000,
        lateness_us=200_000,
        partition_by=(),
        partitions=1,
        columns=(),
        wait_ms=1_000,
        policy=Policy.PROCESS,
    )
    store: Any = _Store()
    spent = [0.0]
    timed: dict[str, Any] = {name: _timed(getattr(dpc, name), spent) for name in _STEPS}
    node, index, begun = initial_state(settings), Index.before_the_first_row(settings), 0.0
    with (
        mock.patch.multiple(f"{binding.__name__}.dpc", **timed),
        mock.patch(f"{binding.__name__}.is_late", _timed(is_late, spent)),
    ):
        for batch in range(6):
            if batch == 1:
                begun, spent[0] = time.perf_counter(), 0.0  # the first is for warming up
            run = Merge(settings, node, Pending(store, index), batch)
            for _ in run.on_batch(_arrivals(settings, rows // 2, batch)):
                pass
            node, index = run.node, run.index
    return spent[0] / (time.perf_counter() - begun)


def recovery(spark: SparkSession, rows: int) -> dict[str, Any]:
    """Merge a minute of data once; then stall an input for a minute of data, and correct.

    The correction ends when the merge has said REC_DONE.
    """
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    with tempfile.TemporaryDirectory() as place:
        return _recovery(spark, Path(place), rows)


def _recovery(spark: SparkSession, place: Path, rows: int) -> dict[str, Any]:
    each = rows // 2 // STALL_SECONDS  # of a stream, in a second, which is a file
    for name in _NAMES:
        (place / name).mkdir()
        for second in range(STALL_SECONDS):
            _write(place / name, second, each)
    _run(spark, place, "warm-up", None).awaitTermination()
    whole = _run(spark, place, "once", None)
    whole.awaitTermination()
    # Without the query's start: the one that corrects runs already.
    once = sum(batch.durationMs["triggerExecution"] for batch in whole.recentProgress) / 1000
    (place / "second").rename(place / "stalled")
    (place / "second").mkdir()
    query = _run(spark, place, "stalled", "1 second")
    _await(lambda: _count(place, "TENTATIVE") == each * STALL_SECONDS, query)
    state = spark.read.format("statestore").option("stateVarName", "pending")
    blobs = state.load(str(place / "stalled.checkpoint"))
    sizes = blobs.selectExpr("count(*) n", "sum(length(user_map_value.rows)) bytes").collect()[0]
    begun = time.monotonic()
    for file in sorted((place / "stalled").iterdir()):
        file.rename(place / "second" / file.name)
    second = STALL_SECONDS
    while not _has_recovered(query):
        for name in _NAMES:  # the streams go on: the newest rows are never those that waited long
            _write(place / name, second, each)
        second += 1
        time.sleep(0.5)
        _await(lambda: True, query)
    corrected = time.monotonic() - begun
    assert _count(place, "INSERTION") >= 2 * each * (STALL_SECONDS - 1)
    query.stop()
    return {
        "rows": 2 * each * STALL_SECONDS,
        "once_seconds": once,
        "correct_seconds": corrected,
        "state_rows": sizes["n"],
        "state_bytes": sizes["bytes"],
    }


def _has_recovered(query: Any) -> bool:
    """Return whether a merge has said REC_DONE, by what Spark's progress counts of each type."""
    counts = (
        batch.observedMetrics.get(f"sunion({', '.join(_NAMES)})") for batch in query.recentProgress
    )
    return any(count and count["REC_DONE"] for count in counts)


def _run(spark: SparkSession, place: Path, name: str, max_delay: str | None) -> Any:
    merged = sunion(
        {stream: _read(spark, place / stream) for stream in _NAMES},
        time="ts",
        position="seq",
        bucket="1 second",
        lateness="200 milliseconds",
        max_delay=max_delay,
    )
    trigger = (
        {"availableNow": True} if max_delay is None else {"processingTime": "100 milliseconds"}
    )
    return reconcile(merged, place / f"{name}.table", place / f"{name}.checkpoint", **trigger)


def _read(spark: SparkSession, path: Path) -> DataFrame:
    schema = "ts timestamp, seq long, delay double"
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 20).parquet(str(path))


def _write(path: Path, second: int, rows: int) -> None:
    """Write a second of a stream as a file, which Spark reads in this order."""
    hidden, file = path.with_suffix(".hidden"), path / f"{second:04}.parquet"
    pq.write_table(_table(second * rows, rows, 1_000_000 // rows), hidden)
    os.utime(hidden, (1_000_000 + second, 1_000_000 + second))
    hidden.rename(file)


def _table(start: int, count: int, step_us: int) -> pa.Table:
    positions = np.arange(start, start + count)
    times = pa.array(positions * step_us).cast(pa.timestamp("us", tz="UTC"))
    return pa.table({"ts": times, "seq": positions, "delay": positions * 0.5})


def _arrivals(settings: Settings, rows: int, batch: int) -> Arrivals:
    parts, progress = {}, {}
    for number, name in enumerate(settings.streams):
        table = _table(batch * rows, rows, 10_000_000 // rows)
        table = table.append_column(STREAM, pa.array(np.full(rows, number, np.int8)))
        parts[name] = [table]
        boundaries = settings.boundaries(integers(table["ts"]))
        progress[name] = Progress.of(integers(table["seq"]), boundaries)
    return Arrivals(parts, progress)


def _count(place: Path, kind: str) -> int:
    table = DeltaTable(place / "stalled.table")
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    return sum(a["num_records"] for a in actions if a["partition.tuple_type"] == kind)


def _await(holds: Callable[[], bool], query: Any) -> None:
    while not holds():
        if not query.isActive:
            raise SystemExit(f"the query has ended: {query.exception()}")
        time.sleep(0.05)


def _timed(step: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def run(*arguments: Any) -> Any:
        begun = time.perf_counter()
        try:
            return step(*arguments)
        finally:
            spent[0] += time.perf_counter() - begun

    return run


class _Store(dict[tuple[int, int], bytes]):
    def get(self, bucket: int, number: int) -> bytes:  # type: ignore[override]
        return self[bucket, number]

    def put(self, bucket: int, number: int, blob: bytes) -> None:
        self[bucket, number] = blob

    def remove(self, bucket: int, number: int) -> None:
        del self[bucket, number]
