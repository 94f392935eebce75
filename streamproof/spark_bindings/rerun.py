"""The batches that a restored query runs again end where those of the original ended.

A row is late, or a repetition, by a watermark that rises between batches. With other batches, a row
that the original has dropped would count in the restored pipeline. So the notes of the original's
batches, as far as they go, are counted in messages, and each source of the query ends its batches
at these counts.

Spark asks the sources of a query one after the other, each once a round. They have to say the same
of a round: so what one of them finds out, counts from the next round on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql.types import StructType

from streamproof.spark_bindings.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.durable import as_written, read_json, write_json, write_json_once
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, QueryName
from streamproof.spark_bindings.source import ChannelReader, ChannelSource

RERUN_SOURCE_NAME = "streamproof_rerun"
RERUN_FILE = "rerun.json"
"""In a restored query's directory: where its first batches end."""

Counts = Mapping[ChannelName, int]


def write_rerun(
    query: Path,
    received: Mapping[ChannelName, Position],
    ends: Sequence[Counts],
    writers: Mapping[ChannelName, QueryName | None],
) -> None:
    """Note where the first batches of a restored query end.

    Parameters
    ----------
    query : its directory
    received : per input, where the cut was
    ends : of each batch, per input, how many messages behind the cut it and those before have read
    writers : of its inputs; None for a source channel
    """
    value = {"received": dict(received), "ends": [dict(end) for end in ends]}
    write_json(query / RERUN_FILE, {**value, "writers": dict(writers)})


class Rerun:
    """How far a restored query has come in running the original's batches again.

    Parameters
    ----------
    query : its directory, in that of its pipeline
    pipeline : its id
    """

    def __init__(self, query: Path, pipeline: str) -> None:
        self._query, self._pipeline = query, pipeline
        self._checkpoint = Checkpoint(query / "checkpoint")
        file = query / RERUN_FILE
        stored = read_json(file, received=dict, ends=list, writers=dict)
        with as_written(file):
            said: Mapping[str, Any] = stored or {"received": {}, "ends": [], "writers": {}}
            self._received: dict[ChannelName, Position] = said["received"]
            self._ends: list[Counts] = said["ends"]
            self._writers: dict[ChannelName, QueryName | None] = said["writers"]
        channels = query.parents[1] / "channels"
        self._logs = {name: ChannelLog(channels / name, pipeline) for name in self._writers}
        self._messages: dict[ChannelName, list[Position]] = {name: [] for name in self._writers}
        self._passed = 0
        self._read = {name: self._received.get(name, Position(0)) for name in self._writers}

    def next(self) -> int | None:
        """Give the first batch of the original that the next one is a part of; None behind all."""
        planned = self._checkpoint.last_planned()
        number = self._behind(BatchId(-1) if planned is None else planned, self._passed)
        self._passed = len(self._ends) if number is None else number
        return number

    def is_over(self) -> bool:
        """Tell whether all of it is completed."""
        completed = self._checkpoint.last_committed()
        return self._behind(BatchId(-1) if completed is None else completed) is None

    def end(self, number: int, channel: ChannelName) -> Position | None:
        """Give the position at which a batch ends in an input; None if that is not there yet."""
        count = self._ends[number].get(channel, 0)
        if count == 0:
            return self._received.get(channel, Position(0))
        messages = self._all_messages(channel)
        return messages[count - 1] if count <= len(messages) else None

    def is_there(self, number: int) -> bool:
        """Tell whether all that a batch reads is there."""
        return all(self.end(number, channel) is not None for channel in self._writers)

    def never_comes(self, number: int) -> bool:
        """Tell whether an input has fewer messages than in the original: a plan was changed."""
        for channel, writer in self._writers.items():
            # Asked first: what the writer has made by then, is there.
            is_over = writer is None or Rerun(self._query.parent / writer, self._pipeline).is_over()
            if is_over and self.end(number, channel) is None:
                return True
        return False

    def _behind(self, batch: BatchId, start: int = 0) -> int | None:
        reached = self._checkpoint.received(batch)
        for number in range(start, len(self._ends)):
            for channel in self._writers:
                end = self.end(number, channel)
                now = reached.get(channel, self._received.get(channel, Position(0)))
                if end is None or end > now:
                    return number
        return None

    def _all_messages(self, channel: ChannelName) -> list[Position]:
        log, found = self._logs[channel], self._messages[channel]
        last = log.last()
        entries = log.entries(self._read[channel], last)
        found += [entry.position for entry in entries if entry.is_message]
        self._read[channel] = last
        return found


class RerunReader(ChannelReader):
    """Reads one channel for a restored query, and ends its first batches as the original did."""

    def __init__(self, *, rerun: str, run: str, **channel: Any) -> None:
        super().__init__(**channel)
        self._query, self._run, self._round = Path(rerun), run, 0
        self._rerun: Rerun | None = None
        self._is_over = False

    def _end(self, after: Position) -> Position:
        if self._is_over:
            return super()._end(after)
        self._rerun = self._rerun or Rerun(self._query, self._pipeline)
        number = self._rerun.next()
        if number is None:
            self._is_over = True
            return super()._end(after)
        self._round += 1
        decided = read_json(self._decision(number), round=int, free=bool)
        if decided is not None and decided["round"] <= self._round:
            end = self._rerun.end(number, ChannelName(self._channel))
            free = super()._end(after)
            # A marker of a new snapshot ends a batch before.
            return free if decided["free"] or end is None else max(after, min(end, free))
        if decided is None:
            self._decide(number)
        return after

    def _decide(self, number: int) -> None:
        assert self._rerun is not None
        is_there = self._rerun.is_there(number)
        if is_there or self._rerun.never_comes(number):
            value = {"round": self._round + 1, "free": not is_there}
            write_json_once(self._decision(number), value)
            if number > 0:
                self._decision(number - 1).unlink(missing_ok=True)

    def _decision(self, number: int) -> Path:
        return self._query / "rerun" / f"{self._run}.{number}.json"


class RerunSource(ChannelSource):
    """What `spark.readStream.format("streamproof_rerun")` makes."""

    @classmethod
    def name(cls) -> str:
        """Give the name of the format."""
        return RERUN_SOURCE_NAME

    def streamReader(self, schema: StructType) -> ChannelReader:
        """Make the reader. Spark calls it in the planner and pickles the result to workers."""
        rerun, run = self.options["rerun"], self.options["run"]
        return RerunReader(rerun=rerun, run=run, **self._arguments(schema))
