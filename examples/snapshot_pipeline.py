"""Two chained streaming queries, a consistent snapshot of both, and a second life from it."""

import tempfile
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings import Pipeline, Query, spark_session


def first_orders(orders: DataFrame) -> DataFrame:
    """Keep each customer's first order; Spark remembers the customers in its state."""
    return orders.dropDuplicates(["customer"])


def revenue(firsts: DataFrame) -> DataFrame:
    """Add up what first orders brought in, per country."""
    return firsts.groupBy("country").agg(F.sum("cents").alias("cents"))


def shop(path: Path) -> Pipeline:
    """Orders go through two queries that each keep state."""
    return Pipeline(
        path,
        channels={
            "orders": "customer long, country string, cents long",
            "firsts": "customer long, country string, cents long",
            "revenue": "country string, cents long",
        },
        queries=[
            Query("first_orders", ["orders"], "firsts", plan=first_orders),
            Query("revenue", ["firsts"], "revenue", plan=revenue, output_mode="update"),
        ],
    )


def orders(numbers: range) -> pd.DataFrame:
    """Make orders: five customers a country, each orders again and again."""
    return pd.DataFrame(
        {
            "customer": [number % 10 for number in numbers],
            "country": [["FR", "NO"][number % 2] for number in numbers],
            "cents": [100 + number for number in numbers],
        }
    )


def totals(pipeline: Pipeline) -> dict[str, int]:
    """Read the latest revenue of each country from the output channel."""
    rows = pipeline.channel("revenue").rows().to_pandas()
    return {str(row.country): int(row.cents) for row in rows.itertuples()}


def main(directory: Path) -> None:
    """Run, snapshot, restore, and compare."""
    spark = spark_session("shop")
    with shop(directory / "first").start(spark) as pipeline:
        pipeline.channel("orders").append(orders(range(6)))
        snapshot = pipeline.snapshot()  # returns at once; nothing pauses
        pipeline.channel("orders").append(orders(range(6, 40)))
        pipeline.await_snapshot(snapshot)
        pipeline.await_idle()
        expected = totals(pipeline)
        pipeline.restore(snapshot, into=directory / "second")

    with shop(directory / "second").start(spark) as again:
        again.await_idle()
        assert totals(again) == expected
    print(f"both lives end with {expected}")
    spark.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(Path(place))
