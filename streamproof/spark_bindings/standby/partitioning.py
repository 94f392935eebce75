"""Which rows of its inputs a partition of a query takes: by ranges of a key, or by its hash."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.pairs import Pair
from streamproof.spark_bindings.layout.query import Query, Standby
from streamproof.spark_bindings.storage.schema import spark_schema


def check_key(query: Query, inputs: Mapping[str, pa.Schema]) -> None:
    """Check that the key by which pairs share a query's work has one type in all inputs.

    Parameters
    ----------
    query, inputs : whose work it is, and the stored schema of each of its inputs

    Raises
    ------
    WrongWiring : if it has another type in one of them: equal keys would be in other partitions
    """
    if query.standby is None or (key := query.standby.by) is None:
        return
    types = {
        name: spark_schema(schema)[key].dataType.simpleString()
        for name, schema in inputs.items()
        if key in schema.names  # `rows_of` refuses the others
    }
    if len(set(types.values())) > 1:
        told = ", ".join(f"{kind} in {name!r}" for name, kind in types.items())
        raise WrongWiring(
            f"query {query.name!r} has standby={query.standby!r}, and its inputs have {key!r} in "
            f"unlike types: {told}. Nothing was started: equal keys of two types are in "
            "two partitions, so their rows do not meet, and matches would be lost. Declare one "
            f'type, the wider one, in the schema of each input: "{key} TYPE", and cast new rows. '
            "Where a channel is there already, let a query copy it into another one with "
            f'F.col("{key}").cast("TYPE")'
        )


def rows_of(frame: DataFrame, channel: str, pair: Pair) -> DataFrame:
    """Leave those rows of an input that a pair takes.

    Parameters
    ----------
    frame, channel : the input, and its name for messages
    pair : which partition of which query

    Raises
    ------
    WrongWiring : if the key is missing in the input
    """
    query, standby = pair.query, pair.query.standby
    if standby is None or standby.by is None:
        return frame
    if standby.by not in frame.columns:
        raise WrongWiring(
            f"query {query.name!r} has standby={standby!r}, but its input {channel!r} has the "
            f"columns {frame.columns}. Rows without it belong to no partition. Name a column that "
            "all inputs have"
        )
    return frame.where(_partition_of(standby.by, standby) == pair.partition)


def _partition_of(key: str, standby: Standby) -> Column:
    """Return the partition of a row, as Spark computes it: a number from 0, for any row."""
    escaped = key.replace("`", "``")
    value = F.col(f"`{escaped}`")
    if not standby.bounds:
        return F.pmod(F.xxhash64(value), F.lit(standby.partitions))
    # Counted, and not compared with two bounds: so each row is in one, whatever Spark says of it.
    passed = [F.when(value >= F.lit(bound), 1).otherwise(0) for bound in standby.bounds]
    return reduce(add, passed)
