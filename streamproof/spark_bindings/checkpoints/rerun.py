"""The batches that a restored query runs again end where those of the original ended.

A row is late, or a repetition, by a watermark that rises between batches. With other batches, a row
that the original has dropped would count in the restored pipeline. So the notes of the original's
batches, as far as they go, are counted in messages, and each source of the query ends its batches
at these counts.

Where the original had nothing to read, Spark may have run a batch without rows, by which a
watermark rose; such a batch is *silent*. It is run again where it was, and nowhere else: an offset
says how many batches of the original are done, so that a silent one has an offset of its own; and
batches that followed each other without one begin only when all of them are there.

Spark asks the sources of a query one after the other, each once a round. They have to say the same
of a round: so what one of them finds out, counts from the next round on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pyspark.sql.types import StructType

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.offsets import DONE_KEY, Offset
from streamproof.spark_bindings.channels.source import ChannelReader, ChannelSource
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, QueryName
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    read_json,
    write_json,
    write_json_once,
)
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at

RERUN_SOURCE_NAME = "streamproof_rerun"
RERUN_FILE = "rerun.json"
"""In a restored query's directory: where its first batches end."""

Counts = Mapping[ChannelName, int]


def write_rerun(
    query: Place,
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

    def __init__(self, query: Place, pipeline: str) -> None:
        self._query, self._pipeline = query, pipeline
        self._checkpoint = Checkpoint(query / "checkpoint")
        file = query / RERUN_FILE
        stored = read_json(file, received=dict, ends=list, writers=dict)
        with as_written(file):
            said: Mapping[str, Any] = stored or {"received": {}, "ends": [], "writers": {}}
            self._received: dict[ChannelName, Position] = said["received"]
            self._ends: list[Counts] = said["ends"]
            self._writers: dict[ChannelName, QueryName | None] = said["writers"]
        channels = query.parent.parent / "channels"
        self._logs = {name: ChannelLog(channels / name, pipeline) for name in self._writers}
        self._messages: dict[ChannelName, list[Position]] = {name: [] for name in self._writers}
        self._together = self._all_together()
        self._passed = 0
        self._read = {name: self._received.get(name, Position(0)) for name in self._writers}

    def next(self) -> int | None:
        """Return the original's first batch that the next one is a part of; None behind all."""
        planned = self._checkpoint.last_planned()
        number = self._behind(BatchId(-1) if planned is None else planned, self._passed)
        self._passed = len(self._ends) if number is None else number
        return number

    def is_over(self) -> bool:
        """Return whether all of it is completed."""
        completed = self._checkpoint.last_committed()
        return self._behind(BatchId(-1) if completed is None else completed) is None

    def together(self, number: int) -> range:
        """Return the batches that follow each other without a pause, of which this is one."""
        return next(each for each in self._together if number in each)

    def before(self, together: range) -> range | None:
        """Return the batches that came before those, if there are some."""
        return self.together(together.start - 1) if together.start > 0 else None

    def _is_silent(self, number: int) -> bool:
        before = self._ends[number - 1] if number > 0 else {}
        return all(self._ends[number].get(each, 0) == before.get(each, 0) for each in self._writers)

    def _all_together(self) -> list[range]:
        silent = [self._is_silent(number) for number in range(len(self._ends))]
        begins = [n for n in range(1, len(silent)) if silent[n] and not silent[n - 1]]
        return [range(*each) for each in pairwise([0, *begins, len(silent)])]

    def end(self, number: int, channel: ChannelName) -> Position | None:
        """Return the position at which a batch ends in an input; None if that is not there yet."""
        count = self._ends[number].get(channel, 0)
        if count == 0:
            return self._received.get(channel, Position(0))
        messages = self._all_messages(channel)
        return messages[count - 1] if count <= len(messages) else None

    def is_there(self, number: int) -> bool:
        """Return whether all that a batch reads is there."""
        return all(self.end(number, channel) is not None for channel in self._writers)

    def never_comes(self, number: int) -> bool:
        """Return whether an input has fewer messages than in the original: a plan was changed."""
        for channel, writer in self._writers.items():
            # Asked first: what the writer has made by then, is there.
            is_over = writer is None or Rerun(self._query.parent / writer, self._pipeline).is_over()
            if is_over and self.end(number, channel) is None:
                return True
        return False

    def _behind(self, batch: BatchId, start: int = 0) -> int | None:
        """Return the first batch that is not done at the end of a batch of the restored query."""
        reached, done = self._checkpoint.received(batch), start
        if batch >= 0:
            offsets = self._checkpoint.offsets(batch)
            done = max(done, min((each or {}).get(DONE_KEY, 0) for each in offsets))
        for number in range(done, len(self._ends)):
            for channel in self._writers:
                end = self.end(number, channel)
                if end is None or end > reached.get(channel, self._received.get(channel, 0)):
                    return done if done < len(self._ends) else None
            if not self._is_silent(number):
                done = number + 1
        return done if done < len(self._ends) else None

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
        self._query, self._run, self._round = Place.of(rerun), run, 0
        self._rerun: Rerun | None = None
        self._is_over, self._done = False, 0

    def latestOffset(self, start: Offset, limit: object) -> Offset:
        """Return the end of the next batch, and how many of the original's are done by then."""
        self._done = start.get(DONE_KEY, 0)
        offset = super().latestOffset(start, limit)
        return offset if self._done == 0 else {**offset, DONE_KEY: self._done}

    def _end(self, after: Position) -> Position:
        if self._is_over:
            return super()._end(after)
        self._rerun = self._rerun or Rerun(self._query, self._pipeline)
        number = self._rerun.next()
        if number is None:
            self._is_over = True
            return super()._end(after)
        self._round += 1
        together = self._rerun.together(number)
        decided = read_json(self._decision(together.start), round=int, free=bool)
        if decided is not None and decided["round"] <= self._round:
            if decided["free"]:
                self._done = together.stop
                return super()._end(after)
            return self._end_of(number, after)
        if decided is None:
            self._decide(together)
        return after

    def _end_of(self, number: int, after: Position) -> Position:
        assert self._rerun is not None
        free, end = super()._end(after), self._rerun.end(number, ChannelName(self._channel))
        assert end is not None  # so it was decided
        if free < end:  # a marker of a new snapshot ends a batch before
            return free
        self._done = number + 1
        return max(after, end)

    def _decide(self, together: range) -> None:
        assert self._rerun is not None
        last = together.stop - 1
        is_there = self._rerun.is_there(last)
        if is_there or self._rerun.never_comes(last):
            value = {"round": self._round + 1, "free": not is_there}
            write_json_once(self._decision(together.start), value)
            before = self._rerun.before(together)
            if before is not None:
                store_at(self._decision(before.start)).delete()

    def _decision(self, number: int) -> Place:
        return self._query / f"rerun/{self._run}.{number}.json"


class RerunSource(ChannelSource):
    """What `spark.readStream.format("streamproof_rerun")` makes."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return RERUN_SOURCE_NAME

    def streamReader(self, schema: StructType) -> ChannelReader:
        """Make the reader. Spark calls it in the planner and pickles the result to workers."""
        rerun, run = self.options["rerun"], self.options["run"]
        return RerunReader(rerun=rerun, run=run, **self._arguments(schema))
