"""The streaming source that reads a channel, and never past a marker in one batch.

That a batch ends exactly at a marker is what lets a query's state at a batch be its state at the
cut: everything ahead of the marker is in it, and nothing behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from streamproof.spark_bindings.channel_log import ChannelLog
from streamproof.spark_bindings.data_files import read_file
from streamproof.spark_bindings.names import Position

SOURCE_NAME = "streamproof_channel"
COMMITS_MAX = 1000
"""Commits that one batch takes at most, where nothing else is said."""


@dataclass(frozen=True)
class Commits(InputPartition):
    """The whole of one batch's input, in order: one partition, because a channel is a FIFO."""

    files: tuple[str, ...]


class ChannelReader(DataSourceStreamReader):
    """Reads one channel for one query.

    Spark makes one in a planner process, which asks for offsets, and one in each worker, which
    reads. It keeps no state: positions come from Spark, which has them in its checkpoint, and a
    range of positions always holds the same rows.
    """

    def __init__(
        self,
        path: str,
        pipeline: str,
        channel: str,
        columns: list[str],
        commits_max: int,
        rows_max: int | None,
    ) -> None:
        self._path, self._pipeline, self._channel, self._columns = path, pipeline, channel, columns
        self._commits_max, self._rows_max = commits_max, rows_max

    def initialOffset(self) -> dict[str, Any]:
        """Give the offset before the first commit. Spark asks once in a query's life."""
        return self._offset(Position(0))

    def latestOffset(self, start: dict[str, Any], limit: object) -> dict[str, Any]:  # noqa: ARG002
        """Give the end of the next batch. Spark asks before every batch, in the planner.

        The limit that Spark offers is ignored: ours are part of the channel's options.
        """
        after = Position(start["position"])
        return self._offset(self._log().batch_end(after, self._commits_max, self._rows_max))

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """List the files of a batch. Spark may repeat it, with the same offsets, after a crash.

        Raises
        ------
        VacuumedRows : if the query begins anew where rows were removed
        """
        log = self._log()
        entries = log.entries(Position(start["position"]), Position(end["position"]))
        there = log.with_rows(entries)
        files = tuple(str(log.path / file.path) for entry in there for file in entry.files)
        return [Commits(files)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a batch's rows, in a worker process. Spark may repeat it."""
        assert isinstance(partition, Commits)
        for file in partition.files:
            yield from read_file(Path(file), self._columns)

    def _offset(self, position: Position) -> dict[str, Any]:
        # The channel's name makes a checkpoint's offsets readable without knowing the plan: Spark
        # orders a query's sources as the optimizer happens to meet them.
        return {"channel": self._channel, "position": position}

    def _log(self) -> ChannelLog:
        return ChannelLog(Path(self._path), self._pipeline)


class ChannelSource(DataSource):
    """What `spark.readStream.format("streamproof_channel")` makes."""

    @classmethod
    def name(cls) -> str:
        """Give the name of the format."""
        return SOURCE_NAME

    def streamReader(self, schema: StructType) -> ChannelReader:
        """Make the reader. Spark calls it in the planner and pickles the result to workers."""
        return ChannelReader(**self._arguments(schema))

    def _arguments(self, schema: StructType) -> dict[str, Any]:
        return {
            "path": self.options["path"],
            "pipeline": self.options["pipeline"],
            "channel": self.options["channel"],
            "columns": schema.names,
            "commits_max": int(self.options["commitsMax"]),
            "rows_max": int(self.options["rowsMax"]) or None,
        }
