"""Which rows of its inputs a partition of a query takes: by ranges of a key, or by its hash."""

from __future__ import annotations

from functools import reduce
from operator import add

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.pairs import Pair
from streamproof.spark_bindings.layout.wiring import Query


def rows_of(frame: DataFrame, channel: str, pair: Pair) -> DataFrame:
    """Leave those rows of an input that a pair takes.

    Parameters
    ----------
    frame, channel : the input, and its name for messages
    pair : which partition of which query

    Raises
    ------
    WrongWiring : if the input lacks the key
    """
    query = pair.query
    if query.partition_by is None:
        return frame
    if query.partition_by not in frame.columns:
        raise WrongWiring(
            f"query {query.name!r} has partition_by={query.partition_by!r}, but its input "
            f"{channel!r} has the columns {frame.columns}. Rows without it belong to no "
            "partition. Name a column that all inputs have"
        )
    return frame.where(partition_of(query.partition_by, query) == pair.partition)


def partition_of(key: str, query: Query) -> Column:
    """Give the partition of a row, as Spark computes it: one of `query.partitions`, for any row.

    Parameters
    ----------
    key, query : the name of the column, and the query with its bounds
    """
    escaped = key.replace("`", "``")
    value = F.col(f"`{escaped}`")
    if not query.partition_bounds:
        return F.pmod(F.xxhash64(value), F.lit(query.partitions))
    # Counted, and not compared with two bounds: so each row is in one, whatever Spark says of it.
    passed = [F.when(value >= F.lit(bound), 1).otherwise(0) for bound in query.partition_bounds]
    return reduce(add, passed)
