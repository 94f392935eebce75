"""Pipelines whose every row can be found again: the tests' workloads, and their oracle.

`Hold` keeps the last rows of each key in its state and passes older ones on. So a row is at every
moment in exactly one place: a query's state, a channel, or the last channel, which nobody reads.
`places` looks for it there, through Spark's own state reader and the channels' rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.directory import PipelineDirectory
from streamproof.spark_bindings.names import ChannelName, Position, QueryName

KEYS = 3
HELD = 2  # rows that `Hold` keeps per key
TURNS = 2  # how often a row goes round the cycle before it stays
ROW = "key long, id long"
TOKEN = "key long, id long, turn long"


class Hold(StatefulProcessor):
    """Keeps the newest `HELD` rows of a key; passes older ones on, in order."""

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


class Walk(StatefulProcessor):
    """Sends a row round the cycle, and keeps it when it has gone round `TURNS` times."""

    def init(self, handle: Any) -> None:
        self._held = handle.getListState("held", "id long")

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Any:
        frame = pd.concat(list(rows))
        done = frame[frame["turn"] >= TURNS]
        if len(done):
            self._held.appendList([(int(number),) for number in done["id"]])
        going = frame[frame["turn"] < TURNS]
        yield going.assign(turn=going["turn"] + 1)[["key", "id", "turn"]].astype("int64")

    def close(self) -> None:
        pass


def hold(*inputs: DataFrame) -> DataFrame:
    """Plan of a holding query over any number of inputs."""
    rows = inputs[0]
    for other in inputs[1:]:
        rows = rows.unionByName(other)
    return rows.groupBy("key").transformWithStateInPandas(Hold(), ROW, "Append", "None")


def walk(source: DataFrame, loop: DataFrame) -> DataFrame:
    """Plan of the cycle's stateful query."""
    rows = source.withColumn("turn", F.lit(0).cast("long")).unionByName(loop)
    return rows.groupBy("key").transformWithStateInPandas(Walk(), TOKEN, "Append", "None")


def chain(path: Path) -> Pipeline:
    """Two holding queries, one behind the other."""
    return Pipeline(
        path,
        channels={"source": ROW, "middle": ROW, "sink": ROW},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=hold),
            Query("second", inputs=("middle",), output="sink", plan=hold),
        ],
    )


def fan_in(path: Path) -> Pipeline:
    """Two sources, a query behind one of them, and a query that reads both branches."""
    return Pipeline(
        path,
        channels={"source": ROW, "other": ROW, "middle": ROW, "sink": ROW},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=hold),
            Query("join", inputs=("middle", "other"), output="sink", plan=hold),
        ],
    )


def fan_out(path: Path) -> Pipeline:
    """One channel that two queries read: to the protocol, these are two channels."""
    return Pipeline(
        path,
        channels={"source": ROW, "middle": ROW, "sink": ROW, "sink2": ROW},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=hold),
            Query("left", inputs=("middle",), output="sink", plan=hold),
            Query("right", inputs=("middle",), output="sink2", plan=lambda rows: rows),
        ],
    )


def cycle(path: Path) -> Pipeline:
    """Two queries in a ring; rows go round it and then stay in the state of `walk`."""
    return Pipeline(
        path,
        channels={"source": ROW, "loop": TOKEN, "hops": TOKEN},
        queries=[
            Query("walk", inputs=("source", "loop"), output="hops", plan=walk),
            Query("turn", inputs=("hops",), output="loop", plan=lambda rows: rows),
        ],
    )


TOPOLOGIES: dict[str, Callable[[Path], Pipeline]] = {
    "chain": chain,
    "fan_in": fan_in,
    "fan_out": fan_out,
    "cycle": cycle,
}
STATEFUL = {"first", "second", "join", "left", "walk"}


def feed(pipeline: Pipeline, start: int, stop: int, *, channel: str = "source") -> None:
    """Append rows with the ids [start, stop), two a commit; may be repeated after a crash."""
    for number in range(start, stop, 2):
        ids = [number, number + 1]
        rows = pa.table({"key": [i % KEYS for i in ids], "id": ids})
        pipeline.channel(channel).append(rows, producer="test", sequence=number)


def after_hold(ids: list[int]) -> tuple[list[int], list[int]]:
    """Say what `Hold` keeps and passes on of a sequence of ids, in plain Python."""
    kept: list[int] = []
    passed: list[int] = []
    for key in range(KEYS):
        of_key = [number for number in ids if number % KEYS == key]
        passed += of_key[:-HELD]
        kept += of_key[-HELD:]
    return kept, passed


def held(spark: SparkSession, checkpoint: Path) -> list[int]:
    """Read the ids in a query's state with Spark's state reader; [] before its first batch."""
    if not (checkpoint / "commits").exists():
        return []
    state = spark.read.format("statestore").option("stateVarName", "held").load(str(checkpoint))
    return sorted(row[0] for row in state.select("list_element.id").collect())


def places(spark: SparkSession, path: Path) -> Counter[tuple[str, int]]:
    """Find every row of a pipeline at rest: count (place, id).

    A row is in a query's state, in a channel behind its reader's position, or in a channel that
    nobody reads. Reads the directory alone; nothing of the protocol.
    """
    directory = PipelineDirectory.open(path)
    found: Counter[tuple[str, int]] = Counter()
    for name in directory.wiring.queries:
        if name in STATEFUL:
            ids = held(spark, directory.checkpoint(name).path)
            found.update((name, number) for number in ids)
    for channel in directory.wiring.channels:
        readers = directory.wiring.readers(channel) or (QueryName(""),)
        for reader in readers:
            ids = rows_behind(directory, channel, reader)
            found.update((f"{channel}>{reader}", number) for number in ids)
    return found


def rows_behind(directory: PipelineDirectory, channel: ChannelName, reader: QueryName) -> list[int]:
    """List the ids in a channel that a reader has not received; all, if there is no reader."""
    log, start = directory.log(channel), Position(0)
    if reader:
        checkpoint = directory.checkpoint(reader)
        batch = checkpoint.last_committed()
        if batch is not None:
            start = checkpoint.received(batch)[channel]
    entries = log.entries(start, log.last())
    return [number for batch in log.batches(entries, ["id"]) for number in batch["id"].to_pylist()]


def branch(found: Counter[tuple[str, int]], *names: str) -> list[int]:
    """List the ids found in some places, sorted, each as often as it was found."""
    return sorted(
        number for (place, number), times in found.items() if place in names for _ in range(times)
    )
