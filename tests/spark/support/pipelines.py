"""Pipelines in which every row can be found again: the tests' workloads, and their oracle.

Every query passes each token on once, and its state says which tokens it has passed: Spark's own
`dropDuplicates`. So at a consistent cut the state of a query is exactly what it has received, and a
channel holds exactly what the state of its writer has sent. A lost, doubled or orphan row breaks
one of these equations. `deficits` checks them through Spark's state reader and the channels'
parquet files; it knows nothing of the protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, QueryName

TURNS = 2  # how often a token goes round the cycle
TOKEN = "id long, turn long"
Tokens = Counter[tuple[int, int]]


def seen(*inputs: DataFrame) -> DataFrame:
    """Plan of a query that passes every token on once, over any number of inputs."""
    rows = inputs[0]
    for other in inputs[1:]:
        rows = rows.unionByName(other)
    return rows.dropDuplicates(["id", "turn"])


def walk(source: DataFrame, loop: DataFrame) -> DataFrame:
    """Plan of the cycle's first query: a token leaves the ring after its last turn."""
    return seen(source, loop).where(F.col("turn") < TURNS)


def turn(hops: DataFrame) -> DataFrame:
    """Plan of the cycle's second query."""
    return seen(hops).withColumn("turn", F.col("turn") + 1)


def chain(path: Path) -> Pipeline:
    """Two queries, one behind the other."""
    return Pipeline(
        path,
        channels={"source": TOKEN, "middle": TOKEN, "sink": TOKEN},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=seen),
            Query("second", inputs=("middle",), output="sink", plan=seen),
        ],
    )


def fan_in(path: Path) -> Pipeline:
    """Two sources, a query behind one of them, and a query that reads both branches."""
    return Pipeline(
        path,
        channels={"source": TOKEN, "other": TOKEN, "middle": TOKEN, "sink": TOKEN},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=seen),
            Query("join", inputs=("middle", "other"), output="sink", plan=seen),
        ],
    )


def fan_out(path: Path) -> Pipeline:
    """One channel that two queries read: to the protocol, these are two channels."""
    return Pipeline(
        path,
        channels={"source": TOKEN, "middle": TOKEN, "left": TOKEN, "right": TOKEN},
        queries=[
            Query("first", inputs=("source",), output="middle", plan=seen),
            Query("left", inputs=("middle",), output="left", plan=seen),
            Query("right", inputs=("middle",), output="right", plan=seen),
        ],
    )


def cycle(path: Path) -> Pipeline:
    """Two queries in a ring; tokens go round it a few times."""
    return Pipeline(
        path,
        channels={"source": TOKEN, "loop": TOKEN, "hops": TOKEN},
        queries=[
            Query("walk", inputs=("source", "loop"), output="hops", plan=walk),
            Query("turn", inputs=("hops",), output="loop", plan=turn),
        ],
    )


TOPOLOGIES: dict[str, Callable[[Path], Pipeline]] = {
    "chain": chain,
    "fan_in": fan_in,
    "fan_out": fan_out,
    "cycle": cycle,
}


def feed(pipeline: Pipeline, start: int, stop: int, *, channel: str = "source") -> None:
    """Append tokens with the ids [start, stop), two a commit; may be repeated after a crash."""
    for number in range(start, stop, 2):
        rows = pa.table({"id": [number, number + 1], "turn": [0, 0]})
        pipeline.channel(channel).append(rows, producer="test", sequence=number)


def sent_by(query: str, state: Tokens) -> Tokens:
    """Return what a query with this state has sent."""
    match query:
        case "walk":
            return Counter({token: n for token, n in state.items() if token[1] < TURNS})
        case "turn":
            return Counter({(number, at + 1): n for (number, at), n in state.items()})
        case _:
            return state


def state_of(spark: SparkSession, checkpoint: Path) -> Tokens:
    """Read the tokens in a query's state with Spark's state reader; none before its first batch."""
    if not (checkpoint / "commits").exists():
        return Counter()
    state = spark.read.format("statestore").load(str(checkpoint)).select("key.id", "key.turn")
    return Counter((row["id"], row["turn"]) for row in state.collect())


def tokens(directory: PipelineDirectory, channel: ChannelName, until: Position) -> Tokens:
    """Read the tokens in a channel's commits up to a position."""
    log = directory.log(channel)
    found: Tokens = Counter()
    for batch in log.batches(log.entries(Position(0), until), ["id", "turn"]):
        columns = batch.to_pydict()
        found.update(zip(columns["id"], columns["turn"], strict=True))
    return found


def deficits(spark: SparkSession, path: Path, sent: Mapping[str, range]) -> list[str]:
    """Check a pipeline at rest against what was fed; give the equations that do not hold.

    Parameters
    ----------
    sent : per source channel, the ids that the cut is to contain
    """
    directory = PipelineDirectory.open(path)
    wiring, wrong = directory.wiring, []
    states = {q: state_of(spark, directory.checkpoint(q).place.local) for q in wiring.queries}
    for channel in wiring.channels:
        writer = wiring.writer(channel)
        expected: Tokens = (
            Counter((number, 0) for number in sent.get(channel, range(0)))
            if writer is None
            else sent_by(writer, states[writer])
        )
        wrong += _difference(
            f"channel {channel}", tokens(directory, channel, _end(directory, channel)), expected
        )
    for query, inputs in wiring.inputs.items():
        batch = directory.checkpoint(query).last_committed()
        received = directory.checkpoint(query).received(BatchId(-1 if batch is None else batch))
        expected = Counter()
        for channel in inputs:
            expected += tokens(directory, channel, received.get(channel, Position(0)))
        wrong += _difference(f"state of {query}", states[query], expected)
    return wrong


def _end(directory: PipelineDirectory, channel: ChannelName) -> Position:
    return directory.log(channel).last()


def _difference(place: str, found: Tokens, expected: Tokens) -> list[str]:
    if found == expected:
        return []
    return [
        f"{place}: lost {sorted(expected - found)}, doubled or orphan {sorted(found - expected)}"
    ]


def is_done(spark: SparkSession, path: Path, query: str, ids: range, turns: int = 1) -> bool:
    """Return whether a query's state holds exactly these ids, at each turn."""
    directory = PipelineDirectory.open(path)
    state = state_of(spark, directory.checkpoint(QueryName(query)).place.local)
    return state == Counter((number, at) for number in ids for at in range(turns))
