"""`sunion`: several streaming DataFrames become one, in an order that anyone can reproduce."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructField, StructType

from streamproof.protocols.dpc import Policy
from streamproof.spark_bindings.arguments import member_of
from streamproof.spark_bindings.certificate import Certificate, Trust, check_certificate
from streamproof.spark_bindings.checkpoints.fixed_settings import FIXED_SETTINGS
from streamproof.spark_bindings.checkpoints.stateful import MERGED_AS, MERGED_WITH
from streamproof.spark_bindings.durations import Duration, microseconds, shown
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.session.session import check_session
from streamproof.spark_bindings.sunion.arguments import (
    check_columns,
    check_inputs,
    check_partitions,
    plain,
    quoted,
)
from streamproof.spark_bindings.sunion.pack import ORIGIN, PACKED, PARTITION, Pack
from streamproof.spark_bindings.sunion.processor import EMITTED, SerializerProcessor
from streamproof.spark_bindings.sunion.settings import Settings
from streamproof.spark_bindings.sunion.tags import TAG, Tags
from streamproof.spark_bindings.sunion.tuple_type import (
    BOUNDED,
    COLUMNS,
    OBSERVED,
    PARTITIONED,
    SERIALIZER,
    TUPLE_TYPE,
    TupleType,
)
from streamproof.spark_bindings.sunion.unpack import Unpack, travelling_schema

PROTOCOLS = ("sunion", "dpc")
MARGIN = 0.9
"""The share of `max_delay` that a bucket waits, if none is given."""


def sunion(
    inputs: Mapping[str, DataFrame],
    *,
    time: str,
    position: str,
    bucket: Duration,
    lateness: Duration,
    max_delay: Duration | None = None,
    policy: Policy | str | None = None,
    margin: float | None = None,
    partition_by: Sequence[str] | None = None,
    partitions: int | None = None,
    certificate: Trust = Certificate.REQUIRED,
) -> DataFrame:
    """Merge streams into one that is the same whenever, and wherever, they are merged.

    The result has the inputs' columns and those of `tuple_type`: rows come by time, then the
    stream's name, then position, a bucket at a time, when all streams have passed the bucket. A
    query's progress counts them by type, under ``observedMetrics["sunion(ewr, jfk)"]``.

    Parameters
    ----------
    inputs : streaming DataFrames by name, all of one schema. A single one comes out in order, and
        its late rows apart
    time : column of the row's time
    position : column of whole numbers that rise along each stream, and are unique in it
    bucket : width of the portions in which the merged stream comes out
    lateness : how much older than a row before it in its stream a row may be
    max_delay : how long a row may wait, by the clock; then it comes out as tentative. More than
        `bucket` and `lateness` together, if the inputs are live: the rest is how long one may be
        silent without a tentative row. None is forever
    policy : with `max_delay`, what happens to the rows behind a bucket that came out as tentative:
        ``"process"`` (if none is given), ``"delay"`` or ``"suspend"``
    margin : with `max_delay`, the share of it that a bucket waits, 0.9 if none is given; the rest
        is for the trigger and the work
    partition_by : columns whose values choose one of several serializers, which work in parallel;
        each has its own stable ids, and its number is in the column `serializer`
    partitions : how many serializers, at most 1000; by default as many as the session has shuffle
        partitions, if that is more than one. It is fixed for the life of a checkpoint; the shuffle
        partitions may change
    certificate : IGNORED runs a protocol that was changed after it was certified; `SignedBy` asks
        for a signature, too

    Raises
    ------
    WrongArgument, WrongSchema, WrongWiring : if the arguments do not fit together
    UnverifiedProtocol : if a protocol is not the certified one
    UnsuitableSession : if the session could lose state

    Examples
    --------
    >>> from streamproof.spark_bindings import spark_session
    >>> spark = spark_session()
    >>> rate = spark.readStream.format("rate").load()
    >>> streams = {"a": rate, "b": rate}
    >>> merged = sunion(
    ...     streams, time="timestamp", position="value", bucket="1 minute", lateness="1 second"
    ... )
    >>> merged.columns
    ['timestamp', 'value', 'tuple_type', 'bucket', 'stable_id', 'stream']
    """
    schema, first = check_inputs(inputs), next(iter(inputs.values()))
    check_session(first.sparkSession)
    columns = check_columns(first, time, position, partition_by)
    share = _share(margin, max_delay)
    shuffle = int(first.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
    settings = Settings(
        streams=tuple(sorted(inputs)),
        time=plain(columns.time),
        position=plain(columns.position),
        bucket_us=microseconds("sunion", "bucket", bucket, 1),
        lateness_us=microseconds("sunion", "lateness", lateness, 0),
        partition_by=columns.partition_by,
        partitions=check_partitions(columns.partition_by, partitions, shuffle),
        columns=tuple(sorted((f.name, f.dataType.simpleString()) for f in schema)),
        wait_ms=_wait_ms(max_delay, share),
        policy=_policy(policy, max_delay),
    )
    for protocol in PROTOCOLS:
        claim = "all who merge these streams see the same"
        check_certificate(protocol, claim, trust=certificate)
    _warn_of_short_delay(settings, max_delay, share)
    merged = _plan(inputs, schema, settings)
    return merged.toDF(*schema.names, *merged.columns[len(schema) :])


def _plan(inputs: Mapping[str, DataFrame], schema: StructType, settings: Settings) -> DataFrame:
    by = settings.partition_by
    wanted = [quoted(name).alias(plain(name)) for name in schema.names]
    partition = F.pmod(F.hash(*map(quoted, by)), F.lit(settings.partitions)) if by else F.lit(0)
    with_first = {settings.streams[0]: {MERGED_WITH: json.dumps(settings.fixed())}}
    rows = [
        inputs[name].select(
            *wanted,
            (partition + first).alias(
                ORIGIN, metadata={MERGED_AS: name, **with_first.get(name, {})}
            ),
        )
        for name, first in zip(settings.streams, settings.first_origins, strict=True)
    ]
    together = reduce(DataFrame.union, rows)
    # A task costs the start of a Python worker, and more of them than cores are no faster.
    cores = together.sparkSession.sparkContext.defaultParallelism
    packed = together.coalesce(cores).mapInArrow(Pack(settings), PACKED)
    emitted = packed.groupBy(PARTITION).transformWithStateInPandas(
        SerializerProcessor(settings),
        EMITTED,
        outputMode="Append",
        timeMode="None" if settings.wait_ms is None else "ProcessingTime",
    )
    plainly = StructType([StructField(plain(field.name), field.dataType) for field in schema])
    travelling = travelling_schema(plainly, settings.time)
    unpack = Unpack(settings, to_arrow_schema(travelling, timezone="UTC"))
    return _named(_counted(emitted, settings).mapInArrow(unpack, travelling), settings)


def _named(travelling: DataFrame, settings: Settings) -> DataFrame:
    names = [name for name in COLUMNS if name != SERIALIZER or settings.partition_by]
    columns = Tags.of_merge(settings).columns(F.col(TAG))
    kept = travelling.columns[: travelling.columns.index(TAG)]
    added = [columns.get(name, F.col(name)).alias(name) for name in names]
    return travelling.select(*map(quoted, kept), *added).withMetadata(
        TUPLE_TYPE,
        {
            PARTITIONED: bool(settings.partition_by),
            BOUNDED: settings.wait_ms is not None,
            FIXED_SETTINGS: json.dumps(settings.fixed()),
        },
    )


def _counted(emitted: DataFrame, settings: Settings) -> DataFrame:
    """Let Spark count the tuples of each type, while they are blobs: it costs nothing.

    A query's progress then has the counts of a batch, as an observed metric.
    """
    counts = [
        F.sum(F.when(F.col("kind") == kind.value, F.col("count")).otherwise(0)).alias(kind.value)
        for kind in TupleType
    ]
    return emitted.observe(f"{OBSERVED}{', '.join(settings.streams)})", *counts)


def _policy(policy: Policy | str | None, max_delay: Duration | None) -> Policy:
    if policy is None:
        return Policy.PROCESS
    found = member_of("sunion", "policy", policy, Policy)
    _require_delay("policy", policy, max_delay)
    return found


def _share(margin: float | None, max_delay: Duration | None) -> float:
    if margin is None:
        return MARGIN
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if not is_number or not 0.01 <= margin <= 1:
        raise WrongArgument(
            f"sunion was given margin={margin!r}. A bucket waits that share of max_delay. "
            "Give a number from 0.01 to 1"
        )
    _require_delay("margin", margin, max_delay)
    return margin


def _require_delay(name: str, value: object, max_delay: Duration | None) -> None:
    """Refuse an argument that says nothing without a `max_delay`."""
    if max_delay is None:
        raise WrongArgument(
            f"sunion was given {name}={value!r}, but no max_delay. Without one no row is "
            "tentative, so it would have no effect. Write for example "
            f'max_delay="10 minutes", or leave {name} out'
        )


def _wait_ms(max_delay: Duration | None, margin: float) -> int | None:
    if max_delay is None:
        return None
    return max(1, int(microseconds("sunion", "max_delay", max_delay, 1000) * margin // 1000))


def _warn_of_short_delay(settings: Settings, max_delay: Duration | None, margin: float) -> None:
    needed_us = settings.bucket_us + settings.lateness_us
    if settings.wait_ms is None or settings.wait_ms * 1000 > needed_us:
        return
    warnings.warn(
        f"sunion was given max_delay={max_delay!r}, of which a bucket waits "
        f"{shown(settings.wait_ms * 1000)} (margin={margin!r}). A bucket of a live stream is "
        f"complete after {shown(needed_us)} at the earliest, which are bucket and lateness: "
        "each would come out as tentative, and be corrected. Give a max_delay of more than "
        f"{shown(int(needed_us / margin))}, or a narrower bucket",
        stacklevel=3,
    )
