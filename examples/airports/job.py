"""The merge of the airports' streams: the part to copy into a job of your own."""

from __future__ import annotations

import warnings

from feed import AIRPORTS, COLUMNS, Feed
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from streamproof.spark_bindings.sunion import sunion

BUCKET_MINUTES, DELAY_MINUTES = 5, 10


def merged(spark: SparkSession, feed: Feed) -> DataFrame:
    """Merge the airports' streams in the order of time."""
    airports = {
        airport.lower(): spark.readStream.schema(COLUMNS).parquet(str(feed.of(airport)))
        for airport in AIRPORTS
    }
    # Half a day passes in minutes: a bucket is complete much sooner than its width says.
    warnings.filterwarnings("ignore", message="sunion was given max_delay")
    result = sunion(
        airports,
        time="scheduled",
        position="seq",
        bucket=f"{BUCKET_MINUTES} minutes",
        lateness="0 seconds",
        max_delay=f"{feed.plan.seconds(DELAY_MINUTES)} seconds",
    )
    # The rows that end the streams are no departures.
    return result.where(sf.col("flight").isNull() | (sf.col("flight") > 0))
