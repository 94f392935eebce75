"""A table that a merge keeps, fed with tuples by hand."""

from __future__ import annotations

import uuid
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.sunion.table import TableSink

COLUMNS = "seq long, tuple_type string, stable_id long"


class Table:
    """A sink over a directory, fed with tuples as a query would feed it."""

    def __init__(self, spark: SparkSession, place: Path, columns: str = COLUMNS) -> None:
        self.spark, self.place, self.columns = spark, place, columns
        (place / "checkpoint").mkdir(exist_ok=True)
        identity = place / "checkpoint" / "metadata"
        if not identity.exists():
            identity.write_text(f'{{"id":"{uuid.uuid4()}"}}')
        self.sink = self.open()

    def open(self) -> TableSink:
        checkpoint = Checkpoint(self.place / "checkpoint")
        return TableSink(
            self.frame([]),
            Place.of(self.place / "table"),
            Place.of(self.place / "late"),
            checkpoint,
        )

    def frame(self, tuples: list[tuple[object, ...]]) -> DataFrame:
        return self.spark.createDataFrame(tuples, self.columns).coalesce(1)

    def apply(self, batch: int, *tuples: tuple[object, ...]) -> None:
        self.log("offsets", batch)
        self.sink.on_batch(self.frame(list(tuples)), batch)
        self.log("commits", batch)

    def log(self, kind: str, batch: int) -> None:
        """Note in the checkpoint what Spark would."""
        (self.place / "checkpoint" / kind).mkdir(exist_ok=True)
        (self.place / "checkpoint" / kind / str(batch)).write_text("v1\n{}\n-")

    def rows(self, name: str = "table") -> list[tuple[object, ...]]:
        found = DeltaTable(self.place / name).to_pyarrow_table().select(self.frame([]).columns)
        return sorted(tuple(row.values()) for row in found.to_pylist())

    def version(self) -> int:
        return DeltaTable(self.place / "table").version()
