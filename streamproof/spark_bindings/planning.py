"""From a query's plan to a query that Spark runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.errors import WrongArgument, WrongSchema, WrongWiring
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.schema import describe, spark_schema
from streamproof.spark_bindings.sunion.tuple_type import (
    STABLE_ID,
    TUPLE_TYPE,
    require_one_merge,
)
from streamproof.spark_bindings.wiring import Query

_POLL_SECONDS = 0.02
_START_ATTEMPTS_MAX = 5
_SLOW_WORKER = "Python worker failed to connect back"  # the limit is fixed in Spark: ten seconds


def plan_query(query: Query, frames: Sequence[DataFrame], output: pa.Schema) -> DataFrame:
    """Call a query's plan, and check what it gives.

    Parameters
    ----------
    query, frames : and its inputs, in their order
    output : schema of the channel that it writes

    Raises
    ------
    WrongArgument : if it does not give a streaming DataFrame, or what several merges say
    WrongWiring : if it does not read each of its inputs once
    WrongSchema : if its columns are not those of its output channel
    """
    frame = query.plan(*frames)
    if not isinstance(frame, DataFrame) or not frame.isStreaming:
        raise WrongArgument(
            f"the plan of query {query.name!r} gave {frame!r}. It must give the DataFrame that "
            "its output channel is to hold, made from its inputs. Return one"
        )
    found = _spark.sources_by_option(frame, "channel")
    if found != dict.fromkeys(query.inputs, 1):
        raise WrongWiring(
            f"the plan of query {query.name!r} reads {dict(found)} (sources per channel), but "
            f"its inputs are {query.inputs}. Markers on an input that is not read once would "
            "be lost or doubled. Use every input's DataFrame, and no other stream"
        )
    given = {field.name: field.dataType for field in frame.schema.fields}
    if given != {field.name: field.dataType for field in spark_schema(output).fields}:
        raise WrongSchema(
            f"the plan of query {query.name!r} gives ({frame.schema.simpleString()}), but "
            f"channel {query.output!r} stores ({describe(output)}). Its rows could "
            "not be appended. Select, rename or cast its columns"
        )
    if {TUPLE_TYPE, STABLE_ID} <= given.keys():
        require_one_merge(frame, f"channel {query.output!r} would hold")
    return frame


def start_query(
    query: Query,
    frame: DataFrame,
    *,
    name: str,
    checkpoint: Path,
    on_batch: Callable[[DataFrame, BatchId], None],
) -> StreamingQuery:
    """Start a query and wait until its sources are there; again, if a worker was too slow.

    One query after the other: Spark gives each source's Python process ten seconds to answer,
    which a busy machine does not manage if all start at once.

    Parameters
    ----------
    query, frame : and what its plan gave
    name, checkpoint : of this query in Spark
    on_batch : called with each batch's rows and number
    """

    def batch_function(rows: DataFrame, batch_id: int) -> None:
        on_batch(rows, BatchId(batch_id))

    writer = (
        frame.writeStream.queryName(name)
        .outputMode(query.output_mode.value)
        .trigger(processingTime=f"{query.trigger_interval_ms} milliseconds")
        .option("checkpointLocation", str(checkpoint))
        .foreachBatch(batch_function)
    )
    for _ in range(_START_ATTEMPTS_MAX):
        running = writer.start()
        while running.isActive and running.status["message"].startswith("Initializing"):
            time.sleep(_POLL_SECONDS)
        if running.isActive or _SLOW_WORKER not in str(running.exception()):
            break
    return running
