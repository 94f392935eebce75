"""A query that runs twice. Run: ``streamproof run examples/takeover/standby.py``."""

import sys
import time
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings import OutputMode, Pipeline, Query, Standby


def revenue(orders: DataFrame) -> DataFrame:
    """Add up what orders brought in, per country."""
    return orders.groupBy("country").agg(F.sum("cents").alias("cents"))


def shop(path: Path | str = "shop") -> Pipeline:
    """Orders go through a query with a standby copy."""
    return Pipeline(
        path,
        channels={"orders": "country string, cents long", "revenue": "country string, cents long"},
        queries=[
            Query(
                "revenue",
                inputs=("orders",),
                output="revenue",
                output_mode=OutputMode.UPDATE,
                plan=revenue,
                standby=Standby(),
            )
        ],
    )


def feed_and_watch(pipeline: Pipeline) -> None:
    """Append an order ten times a second, and print how long the client waited for output."""
    revenue_channel, cents = pipeline.channel("revenue"), 0
    position, seen = revenue_channel.last_position, time.monotonic()
    while True:
        cents += 1
        country = ["FR", "NO"][cents % 2]
        pipeline.channel("orders").append(pa.table({"country": [country], "cents": [cents]}))
        time.sleep(0.1)
        if revenue_channel.last_position > position:
            now, position = time.monotonic(), revenue_channel.last_position
            print(f"position {position} after {now - seen:.2f} s")
            seen = now


PIPELINE = shop

if __name__ == "__main__":
    feed_and_watch(shop(*sys.argv[1:]))
