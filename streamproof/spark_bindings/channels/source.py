"""The streaming source that reads a channel, and never past a marker in one batch.

That a batch ends exactly at a marker is what lets a query's state at a batch be its state at the
cut: everything ahead of the marker is in it, and nothing behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.offsets import Offset, offset_at, require_own
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.parquet_files import read_file
from streamproof.spark_bindings.storage.place import Place

SOURCE_NAME = "streamproof_channel"
OUTSIDE = "outside"
COMMITS_MAX = 1000
"""Commits that one batch takes at most, where nothing else is said."""


@dataclass(frozen=True)
class Commits(InputPartition):
    """The whole of one batch's input, in order: one partition, because a channel is a FIFO."""

    files: tuple[Place, ...]


class ChannelReader(DataSourceStreamReader):
    """Reads one channel for one query of its pipeline.

    Spark makes one in a planner process, which asks for offsets, and one in each worker, which
    reads. It keeps no state: positions come from Spark, which has them in its checkpoint, and a
    range of positions always holds the same rows. An offset of another channel, pipeline or life
    is refused before Spark writes anything.
    """

    _is_outside = False

    def __init__(
        self,
        path: str,
        pipeline: str,
        channel: str,
        columns: list[str],
        commits_max: int,
        rows_max: int | None,
    ) -> None:
        self._place, self._pipeline = Place.of(path), pipeline
        self._channel, self._columns = channel, columns
        self._commits_max, self._rows_max = commits_max, rows_max
        self._checked: Offset | None = None

    def initialOffset(self) -> Offset:
        """Return the offset before the first commit. Spark asks once in a query's life."""
        return offset_at(Position(0), self._channel, self._log())

    def latestOffset(self, start: Offset, limit: object) -> Offset:  # noqa: ARG002
        """Return the end of the next batch. Spark asks before every batch, in the planner.

        The limit that Spark offers is ignored: ours are part of the channel's options.

        Raises
        ------
        WrongCheckpoint, ChannelDamaged : if the offset is not of this channel as it is
        """
        return self._offset(start, self._end(self._own(start)))

    def partitions(self, start: Offset, end: Offset) -> Sequence[InputPartition]:
        """List the files of a batch. Spark may repeat it, with the same offsets, after a crash.

        Raises
        ------
        VacuumedRows : if the query begins anew where rows were removed
        WrongCheckpoint, ChannelDamaged : if the offsets are not of this channel as it is
        """
        log = self._log()
        entries = log.entries(self._own(start), self._own(end))
        there = log.with_rows(entries)
        files = tuple(log.place / file.path for entry in there for file in entry.files)
        return [Commits(files)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read a batch's rows, in a worker process. Spark may repeat it."""
        assert isinstance(partition, Commits)
        for file in partition.files:
            yield from read_file(file, self._columns)

    def _end(self, after: Position) -> Position:
        return self._log().batch_end(after, self._commits_max, self._rows_max)

    def _own(self, offset: Offset) -> Position:
        """Check an offset; the last one that was checked, only for whether it is there still."""
        log, at = self._log(), offset.get("position", 0)
        if offset != self._checked or (at > 0 and not log.has(at)):
            require_own(offset, self._channel, log, outside=self._is_outside)
            self._checked = offset
        return Position(offset["position"])

    def _offset(self, start: Offset, position: Position) -> Offset:
        # Where nothing is new, the same text: 0.1.0's says less, and would be another offset.
        if position == start["position"]:
            return start
        return offset_at(position, self._channel, self._log())

    def _log(self) -> ChannelLog:
        return ChannelLog(self._place, self._pipeline)


class OutsideReader(ChannelReader, SupportsTriggerAvailableNow):
    """Reads one channel for a query outside of its pipeline, which no cut goes through."""

    _is_outside = True
    _available: Position | None = None

    def prepareForTriggerAvailableNow(self) -> None:
        """Note what is there. Spark calls it once, at the start of a query with this trigger."""
        self._available = self._log().last()

    def _end(self, after: Position) -> Position:
        log = self._log()
        end = log.batch_end(after, self._commits_max, self._rows_max, at_markers=False)
        return end if self._available is None else max(after, min(end, self._available))


class ChannelSource(DataSource):
    """What `spark.readStream.format("streamproof_channel")` makes."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return SOURCE_NAME

    def streamReader(self, schema: StructType) -> ChannelReader:
        """Make the reader. Spark calls it in the planner and pickles the result to workers."""
        kind = OutsideReader if self.options.get("reader") == OUTSIDE else ChannelReader
        return kind(**self._arguments(schema))

    def _arguments(self, schema: StructType) -> dict[str, Any]:
        return {
            "path": self.options["path"],
            "pipeline": self.options["pipeline"],
            "channel": self.options["channel"],
            "columns": schema.names,
            "commits_max": int(self.options["commitsMax"]),
            "rows_max": int(self.options["rowsMax"]) or None,
        }
