"""From a query's plan to a query that Spark runs."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pyarrow as pa
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.errors import (
    CopyRuns,
    FencedDriver,
    WrongArgument,
    WrongSchema,
    WrongWiring,
)
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.names import BatchId
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import describe, holds, spark_schema, spelled
from streamproof.spark_bindings.storage.trees import make_directory
from streamproof.spark_bindings.sunion.tuple_type import (
    STABLE_ID,
    TUPLE_TYPE,
    require_one_merge,
)

_log = logging.getLogger("streamproof.pipelines")
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
    WrongWiring : if it does not read each of its inputs once, or may not, by a WITH
    WrongSchema : if its columns are not those of its output channel
    """
    frame = query.plan(*frames)
    if not isinstance(frame, DataFrame) or not frame.isStreaming:
        raise WrongArgument(
            f"the plan of query {query.name!r} gave {frame!r}. It must give the DataFrame that "
            "its output channel is to hold, made from its inputs. Return one"
        )
    if any(node.name == "CTERelationRef" for node in _spark.plan_nodes(frame)):
        raise WrongWiring(
            f"the plan of query {query.name!r} has a WITH (a common table expression), which Spark "
            "copies to each place that names it. Markers on an input that is not read once would "
            "be lost or doubled. Write it as a subquery, or name it by "
            'spark.sql("SELECT ...").createOrReplaceTempView("name") and read that view'
        )
    found = _spark.sources_by_option(frame, "channel")
    if found != dict.fromkeys(query.inputs, 1):
        raise WrongWiring(
            f"the plan of query {query.name!r} reads {dict(found)} (sources per channel), but "
            f"its inputs are {query.inputs}. Markers on an input that is not read once would "
            f"be lost or doubled. {_remedy(query, found)}"
        )
    _require_columns(query, frame.schema, output)
    if {TUPLE_TYPE, STABLE_ID} <= set(frame.columns):
        require_one_merge(frame, f"channel {query.output!r} would hold")
    return frame


def _remedy(query: Query, found: Mapping[str, int]) -> str:
    """Describe what to do about inputs that a plan does not read once."""
    twice = [name for name in query.inputs if found.get(name, 0) > 1]
    if twice:
        # Both sides of a join need columns of their own, so Spark makes a source for each.
        name, copy = twice[0], f"{twice[0]}_again"
        return (
            f"The plan joins {name!r} with itself, for which Spark reads it twice; the two "
            "readers advance apart. Let a query copy it into a channel of its own, and join the "
            f'two: Query("copy", inputs=("{name}",), output="{copy}", plan=lambda rows: rows), '
            f'and inputs=("{name}", "{copy}") here. A union may take one DataFrame twice'
        )
    unused = [name for name in query.inputs if not found.get(name)]
    if unused:
        return (
            f"The plan makes no use of {', '.join(map(repr, unused))}. Use its DataFrame, or leave "
            "it out of the inputs"
        )
    return "Use every input's DataFrame, and no other stream"


def _require_columns(query: Query, given: StructType, output: pa.Schema) -> None:
    stored = spark_schema(output)
    if sorted(given.names) == sorted(stored.names):
        kinds = {field.name: field.dataType for field in given}
        wrong = [
            f"{field.name} ({spelled(kinds[field.name])}, stored as {spelled(field.dataType)})"
            for field in stored
            if not holds(field.dataType, kinds[field.name])
        ]
    else:
        surplus = Counter(given.names) - Counter(stored.names)
        wrong = sorted({*surplus, *(set(stored.names) - set(given.names))})
    if wrong:
        raise WrongSchema(
            f"the plan of query {query.name!r} gives ({given.simpleString()}), but channel "
            f"{query.output!r} stores ({describe(output)}). They differ in {', '.join(wrong)}. Its "
            "rows could not be appended. Select, rename or cast its columns"
        )


def has_watermark(frame: DataFrame) -> bool:
    """Return whether what a plan makes of rows depends on which batches they are in."""
    return any(node.name == "EventTimeWatermark" for node in _spark.plan_nodes(frame))


def start_query(
    query: Query,
    frame: DataFrame,
    *,
    name: str,
    checkpoint: Place,
    on_batch: Callable[[DataFrame, BatchId], None],
    number: tuple[int, int] = (1, 1),
) -> StreamingQuery:
    """Start a query and wait until its sources are there; again, if a worker was too slow.

    One query after the other: Spark gives each source's Python process ten seconds to answer,
    which a busy machine does not manage if all start at once.

    Parameters
    ----------
    query, frame : and what its plan gave
    name, checkpoint : of this query in Spark
    on_batch : called with each batch's rows and number
    number : which of how many that are started, for the log

    Raises
    ------
    CopyRuns : if the session runs a query of this name
    FencedDriver : if another driver starts it at the same moment
    """

    def batch_function(rows: DataFrame, batch_id: int) -> None:
        on_batch(rows, BatchId(batch_id))

    writer = (
        frame.writeStream.queryName(name)
        .outputMode(query.spark_mode)
        .trigger(processingTime=f"{query.processing_time_ms} milliseconds")
        .option("checkpointLocation", checkpoint.for_spark())
        .foreachBatch(batch_function)
    )
    _log.info("starting query %d of %d: %s", *number, query.name)
    make_directory(checkpoint.parent)  # Spark would make it, and sync no name
    for _ in range(_START_ATTEMPTS_MAX):
        with _explained(query, checkpoint):
            reached(RaceFailpoint.QUERY_PLANNED, query.name)
            running = writer.start()
        while running.isActive and running.status["message"].startswith("Initializing"):
            time.sleep(_POLL_SECONDS)
        if running.isActive or _SLOW_WORKER not in str(running.exception()):
            break
    return running


@contextmanager
def _explained(query: Query, checkpoint: Place) -> Iterator[None]:
    """Turn Spark's refusal of a query that runs elsewhere into an error that says so."""
    try:
        yield
    except IllegalArgumentException as error:
        if "already active" not in str(error):
            raise
        raise CopyRuns(
            f"query {query.name!r} with the checkpoint {checkpoint} was to be started, but "
            "this Spark session runs it, or that of a copy of its pipeline's directory. Two "
            "would fence each other. Stop the other one first; make copies with restore"
        ) from error
    except Exception as error:
        if not _spark.was_made_meanwhile(error):
            raise
        raise FencedDriver(
            f"query {query.name!r} was to be started with the checkpoint {checkpoint}, and another "
            "driver made it at the same moment. Two drivers run one pipeline; one of them has to "
            "end. Nothing was written twice, and no query of this driver runs. End this process, "
            "or call start(spark) again once the other driver has ended"
        ) from error
