"""The pipeline of the flights example: three airports, four stateful queries, one alert stream.

    ewr, jfk, lga -> carriers  -> carrier_hours -------------+
    ewr, jfk, lga -> rotations -> legs -> planes -> plane_delays -> alerts -> raised

Left of an arrow is a channel, right of it a query, then the channel that it writes. All operators
are Spark's own, so that rows stay in the JVM; none knows anything of snapshots.

However the rows are cut into batches, what is appended is the same, and where rows change, the last
one of each key is. Each plan says why: it is what makes two runs comparable row for row.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce
from pathlib import Path

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from streamproof.spark_bindings import OutputMode, Pipeline, Query

AIRPORTS = ("EWR", "JFK", "LGA")
SOURCES = tuple(airport.lower() for airport in AIRPORTS)
CARRIER_HOUR_MINUTES = 600  # an alert: so much delay of one carrier's departures within an hour
PLANE_MINUTES = 120  # an alert: so much delay that one plane has carried over, since the start
DAY_BEGINS_HOURS = 9  # UTC, in the small hours of New York: the night ends a plane's rotation

CHANNELS = {
    **dict.fromkeys(
        SOURCES,
        "scheduled timestamp, carrier string, flight int, tailnum string, origin string, "
        "dep_delay int, arr_delay int",
    ),
    "carrier_hours": "carrier string, hour timestamp, flights long, departed long, delay long",
    "legs": "tailnum string, scheduled timestamp, carrier string, flight int, origin string, "
    "dep_delay int, carried int",
    "plane_delays": "tailnum string, departures long, carried long",
    "raised": "kind string, subject string, hour timestamp",
}


def carriers(*airports: DataFrame) -> DataFrame:
    """Count and add up the delays of each carrier in each hour; a changed hour gives a row.

    Sums do not depend on the order of their terms, so the last row of an hour is always the same.
    How many rows an hour has before its last does depend on the batches.
    """
    late = sf.greatest(sf.col("dep_delay"), sf.lit(0))
    return (
        _union(airports)
        .where(sf.col("carrier").isNotNull())  # the end of a stream is no flight
        .groupBy("carrier", sf.date_trunc("hour", sf.col("scheduled")).alias("hour"))
        .agg(
            sf.count("*").alias("flights"),
            sf.count("dep_delay").alias("departed"),  # the others were cancelled
            sf.sum(late).alias("delay"),
        )
    )


def rotations(*airports: DataFrame) -> DataFrame:
    """Return each departure once, with the minutes that the previous flight carried into it.

    A plane's day is collected until it is over, and then put in order: its flights come from three
    streams. It is over when the watermark, the time that *every* airport has reached, has passed
    it. A watermark on each input, before the union, is what makes it so: none of their rows is
    ever late, since each stream is in time order.
    """
    # Cancelled flights are left out here, and not with where(): Spark would move that ahead of the
    # watermark, and rows that only tell the time, as the last of each stream, would not count.
    leg = sf.struct("scheduled", "carrier", "flight", "origin", "dep_delay", "arr_delay")
    flown = sf.when(sf.col("dep_delay").isNotNull(), leg)
    day = sf.window("scheduled", "1 day", startTime=f"{DAY_BEGINS_HOURS} hours")
    in_order = sf.sort_array(sf.collect_list(flown))

    def with_carried(one: Column, index: Column) -> Column:
        previous = sf.get(sf.col("flown"), index - 1)  # null for the first flight of a day
        minutes = sf.least(sf.coalesce(previous["arr_delay"], sf.lit(0)), one["dep_delay"])
        return sf.struct(one.alias("one"), sf.greatest(minutes, sf.lit(0)).alias("carried"))

    return (
        _union(airport.withWatermark("scheduled", "0 seconds") for airport in airports)
        .groupBy(day, "tailnum")
        .agg(in_order.alias("flown"))
        .select("tailnum", sf.explode(sf.transform("flown", with_carried)).alias("leg"))
        .select("tailnum", "leg.one.*", sf.col("leg.carried").alias("carried"))
        .drop("arr_delay")
    )


def planes(legs: DataFrame) -> DataFrame:
    """Add up what each plane has carried over; a plane with new departures gives a row."""
    return legs.groupBy("tailnum").agg(
        sf.count("*").alias("departures"), sf.sum("carried").alias("carried")
    )


def alerts(carrier_hours: DataFrame, plane_delays: DataFrame) -> DataFrame:
    """Raise an alert when a carrier's hour, or a plane, crosses its threshold, once and for all.

    Both totals only grow, so that whether they ever cross does not depend on the batches. At which
    value they are first seen above it does: an alert says who and when, and no total.
    """
    by_carrier = carrier_hours.where(sf.col("delay") >= CARRIER_HOUR_MINUTES).select(
        sf.lit("carrier").alias("kind"), sf.col("carrier").alias("subject"), "hour"
    )
    by_plane = plane_delays.where(sf.col("carried") >= PLANE_MINUTES).select(
        sf.lit("plane").alias("kind"),
        sf.col("tailnum").alias("subject"),
        sf.lit(None).cast("timestamp").alias("hour"),
    )
    return by_carrier.unionByName(by_plane).dropDuplicates(["kind", "subject", "hour"])


def flights_pipeline(path: Path) -> Pipeline:
    """Open the pipeline in a directory, or make it. Needs no Spark until it is started."""
    # Few and large batches: a batch costs half a second, ten thousand rows hardly anything.
    query = partial(Query, processing_time="1 second", commits_per_batch_max=8)
    update = OutputMode.UPDATE
    return Pipeline(
        path,
        channels=CHANNELS,
        queries=[
            query("carriers", SOURCES, "carrier_hours", carriers, output_mode=update),
            query("rotations", SOURCES, "legs", rotations),
            query("planes", ("legs",), "plane_delays", planes, output_mode=update),
            query("alerts", ("carrier_hours", "plane_delays"), "raised", alerts),
        ],
    )


def _union(parts: Iterable[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, parts)
