"""The tuples of a merged stream: their kinds, their columns, and the two usual selections."""

from __future__ import annotations

from enum import Enum

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.errors import WrongArgument


class TupleType(Enum):
    """What a row of a merged stream says [BBMS08, section 3.2].

    Examples
    --------
    >>> TupleType("UNDO").name
    'UNDO'
    """

    INSERTION = "INSERTION"
    """A row in its final place."""
    TENTATIVE = "TENTATIVE"
    """A row that came out before its bucket was complete; it may be revoked."""
    BOUNDARY = "BOUNDARY"
    """No stable row of the buckets before `bucket` follows."""
    UNDO = "UNDO"
    """All tentative rows before this are revoked; the `stable_id` rows that are stable remain."""
    REC_DONE = "REC_DONE"
    """The corrections are complete."""
    LATE = "LATE"
    """A row behind its stream's boundary, a copy, or without a time or position: no part of it."""


TUPLE_TYPE, BUCKET, STABLE_ID, STREAM_NAME = "tuple_type", "bucket", "stable_id", "stream"
SERIALIZER = "serializer"
COLUMNS = (TUPLE_TYPE, BUCKET, STABLE_ID, STREAM_NAME, SERIALIZER)
"""The columns that a merge adds.

`tuple_type` is the name of a `TupleType`; `bucket` the time at which the row's bucket begins;
`stable_id` the number of a stable row, from 0, or else of the next one; `stream` the row's input;
`serializer`, only with `partition_by`, the number of the serializer that numbers the rows.
"""
PARTITIONED, BOUNDED = "streamproof.partitioned", "streamproof.bounded"
"""What the metadata of `tuple_type` says: whether there are several serializers, and whether tuples
may be tentative."""
OBSERVED = "sunion("
"""How the names of the metrics begin that a query's progress has of a merge."""


def require_one_merge(frame: DataFrame, told: str) -> None:
    """Refuse what several merges say.

    Parameters
    ----------
    frame : tuples
    told : for the message: what was given it, by whom

    Raises
    ------
    WrongArgument : if it is of several merges, or of channels that hold what a merge has said
    """
    merges = _spark.outermost_origins(frame, OBSERVED, "channel", {TUPLE_TYPE, STABLE_ID})
    if len(merges) > 1:
        raise WrongArgument(
            f"{told} what {len(merges)} merges say: {' and '.join(merges)}. Each numbers its rows "
            "from 0, and an UNDO of one would remove rows of the other. Give each a place of its "
            "own, or merge all inputs at once"
        )


def stable_only(merged: DataFrame) -> DataFrame:
    """Keep the rows that are in their final place, for those who would rather wait.

    Examples
    --------
    >>> from streamproof.spark_bindings import spark_session
    >>> columns = "x long, tuple_type string"
    >>> merged = spark_session().createDataFrame([(1, "INSERTION"), (2, "LATE")], columns)
    >>> [row.x for row in stable_only(merged).collect()]
    [1]
    """
    return _of(merged, TupleType.INSERTION)


def late_rows(merged: DataFrame) -> DataFrame:
    """Keep the rows that came too late to be merged: an output of their own.

    A query on it reads the inputs once more. Inside `foreachBatch` it may be used beside the
    others at no such price.

    Examples
    --------
    >>> from streamproof.spark_bindings import spark_session
    >>> columns = "x long, tuple_type string"
    >>> merged = spark_session().createDataFrame([(1, "INSERTION"), (2, "LATE")], columns)
    >>> [row.x for row in late_rows(merged).collect()]
    [2]
    """
    return _of(merged, TupleType.LATE)


def _of(merged: DataFrame, kind: TupleType) -> DataFrame:
    if not isinstance(merged, DataFrame) or TUPLE_TYPE not in merged.columns:
        name = "late_rows" if kind is TupleType.LATE else "stable_only"
        raise WrongArgument(
            f"{name} was given {merged!r}, which has no column {TUPLE_TYPE!r}. It selects from "
            "what a merge says. Give it what sunion returns, or the channel that holds it"
        )
    kept = merged.where(F.col(TUPLE_TYPE) == kind.value)
    metadata = merged.schema[TUPLE_TYPE].metadata
    return kept.withMetadata(TUPLE_TYPE, {**metadata, BOUNDED: False})
