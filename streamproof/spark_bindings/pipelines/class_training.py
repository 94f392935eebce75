"""A small pipeline, run once: when its JVM ends, it writes Spark's classes to an archive.

`session.class_archive` starts it as a process: ``python -m`` with the archive's path.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from streamproof.spark_bindings._spark import end_jvm
from streamproof.spark_bindings.layout.query import OutputMode, Query
from streamproof.spark_bindings.pipelines.pipeline import Pipeline
from streamproof.spark_bindings.session.class_archive import TRAINING_SECONDS_MAX, training_options
from streamproof.spark_bindings.session.session import spark_session


def _totals(amounts: DataFrame) -> DataFrame:
    return amounts.groupBy("name").agg(F.sum("amount").alias("amount"))


def train(archive: str) -> None:
    """Run a small pipeline in a session whose JVM writes its classes down when it ends."""
    settings = {"spark.driver.extraJavaOptions": training_options(archive)}
    spark = spark_session("fast-start", memory="512m", cores=1, settings=settings)
    rows = "name string, amount long"
    with tempfile.TemporaryDirectory() as place:
        pipeline = Pipeline(
            Path(place) / "p",
            channels={"amounts": rows, "totals": rows},
            queries=[
                Query(
                    "totals",
                    inputs=("amounts",),
                    output="totals",
                    output_mode=OutputMode.UPDATE,
                    plan=_totals,
                )
            ],
        )
        pipeline.channel("amounts").append(pa.table({"name": ["a", "b"], "amount": [1, 2]}))
        with pipeline.start(spark):
            pipeline.await_idle()
    end_jvm(spark, TRAINING_SECONDS_MAX)


if __name__ == "__main__":
    train(sys.argv[1])
