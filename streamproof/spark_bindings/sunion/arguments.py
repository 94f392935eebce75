"""What `sunion` accepts, and what it says about the rest: at the call, not in the third batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ByteType,
    DataType,
    IntegerType,
    LongType,
    ShortType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from streamproof.spark_bindings.errors import WrongArgument, WrongSchema, WrongWiring
from streamproof.spark_bindings.names import is_name
from streamproof.spark_bindings.sunion.tuple_type import COLUMNS

PARTITIONS_MAX = 1_000
_STREAMS_MAX = 127
_ESCAPES = str.maketrans({"%": "%25", ".": "%2E", "`": "%60"})
_EXAMPLE = 'sunion({"ewr": first, "jfk": second}, time="ts", position="seq", ...)'


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that decide about order, by the names that the inputs give them.

    Attributes
    ----------
    time, position : of a row in its stream
    partition_by : whose values choose a serializer
    """

    time: str
    position: str
    partition_by: tuple[str, ...]


def check_inputs(inputs: Mapping[str, DataFrame]) -> StructType:
    """Return the schema that all inputs have.

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
    return _common_schema(inputs)


def check_columns(
    frame: DataFrame, time: str, position: str, partition_by: Sequence[str] | None
) -> Columns:
    """Find the columns, and check their types, and that none has a name that is ours.

    Parameters
    ----------
    frame : any of the inputs
    time, position, partition_by : names, as Spark would resolve them

    Raises
    ------
    WrongArgument : if `partition_by` is no list of names
    WrongSchema : if a column is missing, or cannot be used
    """
    schema, same = frame.schema, _folding(frame.sparkSession)
    names = [same(name) for name in schema.names]
    twice = sorted({name for name in schema.names if names.count(same(name)) > 1})
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
    _require_types(schema)
    whole = (ByteType, ShortType, IntegerType, LongType)
    found = Columns(
        _find(frame, "time", time, (TimestampType, TimestampNTZType), "a timestamp"),
        _find(frame, "position", position, whole, "an integer"),
        tuple(
            _find(frame, "partition_by", name, (DataType,), "of any type")
            for name in _listed(partition_by)
        ),
    )
    _require_hash(frame, found.partition_by)
    return found


def check_partitions(partition_by: Sequence[str], partitions: int | None, shuffle: int) -> int:
    """Return the number of serializers.

    Parameters
    ----------
    partition_by : columns whose values choose one
    partitions : what the user asked for
    shuffle : the session's shuffle partitions

    Raises
    ------
    WrongArgument : if it is no number, or there is no use for so many
    """
    if partitions is not None and not partition_by:
        raise WrongArgument(
            f"sunion was given partitions={partitions!r}, but no partition_by. Nothing would say "
            'which row goes where. Name columns: partition_by=["carrier"]'
        )
    if partition_by and partitions is None and shuffle == 1:
        raise WrongArgument(
            f"sunion was given partition_by={list(partition_by)!r}, but no partitions, and the "
            "session has one shuffle partition. So one serializer would do all the work. Say how "
            "many there are to be: partitions=4"
        )
    found = (shuffle if partitions is None else partitions) if partition_by else 1
    if isinstance(found, bool) or not isinstance(found, int) or not 1 <= found <= PARTITIONS_MAX:
        raise WrongArgument(
            f"sunion was given partitions={partitions!r}, where the session has {shuffle} shuffle "
            f"partitions. There can be 1 to {PARTITIONS_MAX} serializers: each of them acts in "
            "every batch, since it hears how far each stream is. Write for example partitions=4"
        )
    return found


def quoted(name: str) -> Column:
    """Return a column by its name, whatever is in it: a dot would be read as a field's."""
    return F.col("`" + name.replace("`", "``") + "`")


def plain(name: str) -> str:
    """Return the name of a column on its way: `mapInArrow` takes none with dots or backticks."""
    return name.translate(_ESCAPES)


def _listed(partition_by: Sequence[str] | None) -> Sequence[str]:
    if partition_by is None:
        return ()
    # A set has another order in each process, and a generator gives its names once.
    if not isinstance(partition_by, list | tuple):
        example = [partition_by if isinstance(partition_by, str) else "carrier"]
        raise WrongArgument(
            f"sunion was given partition_by={partition_by!r}. It is a list of column names, also "
            f"if there is one, and their order counts. Write: partition_by={example!r}"
        )
    if not partition_by or any(partition_by.count(name) > 1 for name in partition_by):
        raise WrongArgument(
            f"sunion was given partition_by={partition_by!r}. It names at least one column, and "
            'each once. Write: partition_by=["carrier"], or leave it out for one serializer'
        )
    return partition_by


def _find(
    frame: DataFrame, argument: str, name: str, types: tuple[type[DataType], ...], kind: str
) -> str:
    schema, same = frame.schema, _folding(frame.sparkSession)
    found = [known for known in schema.names if isinstance(name, str) and same(known) == same(name)]
    if not found:
        raise WrongSchema(
            f"sunion was given {argument}={name!r}, but the inputs have the columns "
            f"{', '.join(schema.names)}. Name one of these"
        )
    data_type = schema[found[0]].dataType
    if not isinstance(data_type, types):
        raise WrongSchema(
            f"sunion was given {argument}={name!r}, which is of type {data_type.simpleString()} "
            f"and must be {kind}: rows are put in order by it. Cast it, or name another column"
        )
    return found[0]


def _require_types(schema: StructType) -> None:
    for field in schema:
        if not _is_known_to_python(field.dataType):
            raise WrongSchema(
                f"the inputs of sunion have the column {field.name!r} of type "
                f"{field.dataType.simpleString()}. Rows travel to Python, which has no such type. "
                "Cast it to another, or drop it"
            )


def _is_known_to_python(data_type: DataType) -> bool:
    try:
        to_arrow_type(data_type, timezone="UTC")
    except (PySparkTypeError, ValueError):  # of a void inside of another type
        return False
    return not isinstance(data_type, VariantType)  # which becomes a struct like any other


def _require_hash(frame: DataFrame, names: Sequence[str]) -> None:
    if not names:
        return
    try:
        frame.select(F.hash(*map(quoted, names)))
    except AnalysisException as error:
        types = ", ".join(f"{name} {frame.schema[name].dataType.simpleString()}" for name in names)
        raise WrongSchema(
            f"sunion was given partition_by={list(names)!r}, of which Spark makes no hash "
            f"({types}). It decides which serializer a row goes to. Name other columns, or one "
            "that is made of these"
        ) from error


def _folding(spark: SparkSession) -> Callable[[str], str]:
    """Return a function that makes two names equal if they are one to Spark."""
    return str if spark.conf.get("spark.sql.caseSensitive") == "true" else str.lower


def _common_schema(inputs: Mapping[str, DataFrame]) -> StructType:
    (first, frame), *others = inputs.items()
    same, schema = _folding(frame.sparkSession), frame.schema
    for name, other in others:
        if _types(other.schema, same) != _types(schema, same):
            raise WrongSchema(
                f"the inputs of sunion have different schemas: {first!r} has "
                f"({_shown(schema)}), {name!r} has ({_shown(other.schema)}). Merged rows are of "
                "one kind. Select, rename or cast columns until they agree"
            )
    return schema


def _types(schema: StructType, same: Callable[[str], str]) -> list[tuple[str, str]]:
    return sorted((same(field.name), field.dataType.simpleString()) for field in schema)


def _shown(schema: StructType) -> str:
    return ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in schema)
