"""The one module that touches what PySpark leaves untyped or private."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession


def write_partitions(
    rows: DataFrame, write: Callable[[Iterator[pa.RecordBatch]], tuple[str, int, int] | None]
) -> list[tuple[str, int, int]]:
    """Run a writer over every partition, on the executors; give its results in partition order.

    Parameters
    ----------
    write : from a partition's Arrow batches to path, bytes and rows, or None; it must pickle
    """

    def partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = write(batches)
        if written is not None:
            path, size, count = written
            columns = {"path": [path], "size": [size], "rows": [count]}
            yield pa.RecordBatch.from_pydict(columns)

    results = rows.mapInArrow(partition, "path string, size long, rows long").collect()
    return [(row["path"], row["size"], row["rows"]) for row in results]


def run_to_end(rows: DataFrame) -> None:
    """Execute a batch's plan and drop its rows: a stateful batch must be read to its end."""
    rows.write.format("noop").mode("overwrite").save()


def sources_by_option(frame: DataFrame, option: str) -> Counter[str]:
    """Count the streaming sources of a plan by the value of an option; others count as ''.

    Spark makes one source for each distinct relation in the analysed plan, wherever it occurs.
    """
    leaves = _java(frame).queryExecution().analyzed().collectLeaves()
    found: list[Any] = []
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        if leaf.isStreaming() and not any(leaf.equals(other) for other in found):
            found.append(leaf)
    return Counter(_option(leaf, option) for leaf in found)


def register_once(spark: SparkSession, source: type[Any]) -> None:
    """Make a Python data source known to a session; registering it twice would print a warning."""
    session = _java_session(spark)
    if not session.sessionState().dataSourceManager().dataSourceExists(source.name()):
        spark.dataSource.register(source)


def _java(frame: DataFrame) -> Any:
    return frame._jdf


def _java_session(spark: SparkSession) -> Any:
    return spark._jsparkSession


def _option(leaf: Any, option: str) -> str:
    if leaf.nodeName() != "StreamingRelationV2":
        return ""
    return str(leaf.extraOptions().getOrDefault(option, ""))
