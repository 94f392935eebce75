"""What `sunion` accepts, and what it says about the rest: at the call, not in the third batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql.types import (
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from streamproof.spark_bindings.errors import WrongArgument, WrongSchema, WrongWiring
from streamproof.spark_bindings.names import is_name
from streamproof.spark_bindings.sunion.tuple_type import COLUMNS

Duration: TypeAlias = str | timedelta
"""``"1 minute"``, ``"1 hour 30 minutes"``, ``"500 milliseconds"`` or a `timedelta`."""

_STREAMS_MAX = 127
_EXAMPLE = 'sunion({"ewr": first, "jfk": second}, time="ts", position="seq", ...)'


def check_inputs(inputs: Mapping[str, DataFrame]) -> StructType:
    """Give the schema that all inputs have.

    Raises
    ------
    WrongArgument : if they are no streaming DataFrames by name
    WrongWiring : if there are none, or too many, or a name cannot be used
    WrongSchema : if their schemas differ
    """
    if not isinstance(inputs, Mapping):
        raise WrongArgument(
            f"sunion was given {inputs!r} as its inputs. Inputs are a mapping from names to "
            f"DataFrames, since names decide ties. Write: {_EXAMPLE}"
        )
    if not 1 <= len(inputs) <= _STREAMS_MAX:
        raise WrongWiring(
            f"sunion was given {len(inputs)} inputs. It merges 1 to {_STREAMS_MAX}. "
            f"Write: {_EXAMPLE}"
        )
    for name, frame in inputs.items():
        if not is_name(name):
            raise WrongWiring(
                f"an input of sunion is called {name!r}. A name has letters, digits and "
                "underscores, begins with a letter and is at most 63 long. Rename it"
            )
        if not isinstance(frame, DataFrame):
            raise WrongArgument(
                f"input {name!r} of sunion is {frame!r}. It must be a streaming DataFrame. Make "
                "it with spark.readStream"
            )
        if not frame.isStreaming:
            raise WrongArgument(
                f"input {name!r} of sunion is not a stream. A table is complete at once, so "
                "there is nothing to wait for: union and sort it, or read it with spark.readStream"
            )
    return _common_schema({name: frame.schema for name, frame in inputs.items()})


def check_columns(
    schema: StructType, time: str, position: str, partition_by: Sequence[str]
) -> None:
    """Check that the columns are there, have the right types, and none has a name that is ours.

    Raises
    ------
    WrongArgument : if `partition_by` is no list of names
    WrongSchema : if a column is missing, or cannot be used
    """
    if isinstance(partition_by, str) or not all(isinstance(name, str) for name in partition_by):
        raise WrongArgument(
            f"sunion was given partition_by={partition_by!r}. It is a list of column names, also "
            f"if there is one. Write: partition_by=[{str(partition_by)!r}]"
        )
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        raise WrongSchema(
            f"the inputs of sunion have the columns {', '.join(twice)} twice. Columns are found "
            "by name. Rename one of each"
        )
    ours = sorted({name for name in schema.names if name.lower() in COLUMNS or name[:2] == "__"})
    if ours:
        raise WrongSchema(
            f"the inputs of sunion have the columns {', '.join(ours)}. sunion adds columns "
            f"{', '.join(COLUMNS)}, and keeps names with two underscores in front to itself. "
            "Rename yours"
        )
    _require_column(schema, "time", time, (TimestampType, TimestampNTZType), "a timestamp")
    whole = (ByteType, ShortType, IntegerType, LongType)
    _require_column(schema, "position", position, whole, "an integer")
    for name in partition_by:
        _require_column(schema, "partition_by", name, (DataType,), "of any type")


def microseconds(name: str, duration: Duration, minimum: int) -> int:
    """Read a duration.

    Parameters
    ----------
    name : of the argument
    duration : as the user wrote it
    minimum : the shortest that makes sense, in microseconds

    Raises
    ------
    WrongArgument : if it is none, or is shorter
    """
    # A bare number would be read as nanoseconds.
    if not isinstance(duration, str | timedelta) or str(duration).strip().isdigit():
        raise WrongArgument(
            f"sunion was given {name}={duration!r}, which has no unit. Write for example "
            f'{name}="30 seconds", or pass a timedelta'
        )
    try:
        read = int(pd.Timedelta(duration).value // 1000)
    except ValueError as error:
        raise WrongArgument(
            f"sunion was given {name}={duration!r}, which is no duration: {error}. Write for "
            f'example {name}="30 seconds", or pass a timedelta'
        ) from error
    if read < minimum:
        raise WrongArgument(
            f"sunion was given {name}={duration!r}. It must be at least {minimum} microseconds. "
            f'Write for example {name}="30 seconds"'
        )
    return read


def _require_column(
    schema: StructType, argument: str, name: str, types: tuple[type[DataType], ...], kind: str
) -> None:
    if name not in schema.names:
        raise WrongSchema(
            f"sunion was given {argument}={name!r}, but the inputs have the columns "
            f"{', '.join(schema.names)}. Name one of these"
        )
    found = schema[name].dataType
    if not isinstance(found, types):
        raise WrongSchema(
            f"sunion was given {argument}={name!r}, which is of type {found.simpleString()} and "
            f"must be {kind}: rows are put in order by it. Cast it, or name another column"
        )


def _common_schema(schemas: Mapping[str, StructType]) -> StructType:
    (first, schema), *others = schemas.items()
    for name, other in others:
        if _types(other) != _types(schema):
            raise WrongSchema(
                f"the inputs of sunion have different schemas: {first!r} has "
                f"({_shown(schema)}), {name!r} has ({_shown(other)}). Merged rows are of one "
                "kind. Select, rename or cast columns until they agree"
            )
    return schema


def _types(schema: StructType) -> list[tuple[str, str]]:
    return sorted((field.name, field.dataType.simpleString()) for field in schema)


def _shown(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
