"""Readers of a channel in Spark: for a query of its pipeline, and for a sink outside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import StructField, StructType

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channels.channel_log import CHANNEL_KEY, PIPELINE_KEY
from streamproof.spark_bindings.channels.source import (
    COMMITS_MAX,
    OUTSIDE,
    SOURCE_NAME,
    ChannelSource,
)
from streamproof.spark_bindings.storage.schema import spark_schema

if TYPE_CHECKING:  # which makes readers
    from streamproof.spark_bindings.channels.channel import Channel


def reader_of(
    spark: SparkSession,
    channel: Channel,
    commits_max: int = COMMITS_MAX,
    rows_max: int | None = None,
) -> DataStreamReader:
    """Make a reader of a channel in a session.

    Parameters
    ----------
    spark, channel : the session, and what is read in it
    commits_max : commits that one batch takes at most
    rows_max : rows after which a batch ends, at a commit; None is no limit
    """
    _spark.register_once(spark, ChannelSource)
    return (
        spark.readStream.format(SOURCE_NAME)
        .schema(spark_schema(channel.schema))
        .option("path", channel.place.for_spark())
        .option("pipeline", channel.pipeline)
        .option("channel", channel.name)
        .option("commitsMax", str(commits_max))
        .option("rowsMax", str(rows_max or 0))
    )


def outside_stream(spark: SparkSession, channel: Channel) -> DataFrame:
    """Read a channel as no query of its pipeline does; the columns say whose channel it is."""
    told = {PIPELINE_KEY: channel.pipeline, CHANNEL_KEY: channel.name}
    fields = [
        StructField(field.name, field.dataType, metadata=told)
        for field in spark_schema(channel.schema)
    ]
    reader = reader_of(spark, channel).option("reader", OUTSIDE)
    return reader.schema(StructType(fields)).load()
