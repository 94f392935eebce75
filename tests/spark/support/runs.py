"""A streaming query, run until nothing is left."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame


def run(merged: DataFrame, place: Path) -> pa.Table:
    """Run a merge until it is at rest, and give what came out meanwhile."""
    found: dict[int, pa.Table] = {}

    def keep(rows: DataFrame, batch: int) -> None:
        found[batch] = rows.toArrow()

    writer = merged.writeStream.option("checkpointLocation", str(place / "checkpoint"))
    query = writer.trigger(availableNow=True).foreachBatch(keep).start()
    query.awaitTermination()
    return pa.concat_tables(found.values())
