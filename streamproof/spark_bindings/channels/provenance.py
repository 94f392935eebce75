"""What a commit was made from: the batch of which life of a query, and what that batch had read.

Spark's checkpoint says the same in other files, which can be lost, be older, or be replaced by a
driver that was frozen. Then rows would be lost or doubled without an error. So each commit says it
too, and so does a note for each batch, since a batch without rows is no commit. Whoever starts,
repeats or records a batch compares.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from pyspark.sql import DataFrame

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.errors import FencedDriver
from streamproof.spark_bindings.names import BatchId, ChannelName, Position
from streamproof.spark_bindings.storage.json_files import as_written, read_json, write_json_once
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import AnyPlace

MADE_KEY = "streamproof.made"
NOTES_KEPT = 20
"""Notes of the newest batches that stay: a query begins with the last one, and a driver that was
frozen wakes up some batches later."""
RERUN_KEPT = 10_000
"""Notes that stay where a restored query has to end its batches as they say."""


@dataclass(frozen=True, slots=True)
class Made:
    """What the rows of a batch were made from.

    Attributes
    ----------
    life : the query's, which a restored query does not share; a pair's copies share theirs
    batch : its number in that life
    received : per input, the position up to which the batch has read
    """

    life: str
    batch: BatchId
    received: Mapping[ChannelName, Position]

    def metadata(self) -> dict[str, str]:
        """Return what a commit says of it."""
        said = {"life": self.life, "batch": self.batch, "received": dict(self.received)}
        return {MADE_KEY: json.dumps(said, sort_keys=True)}

    @staticmethod
    def of(information: Mapping[str, Any]) -> Made | None:
        """Read what a commit says of it; None if it says nothing, as a marker or 0.1.0's."""
        if MADE_KEY not in information:
            return None
        said = json.loads(information[MADE_KEY])
        return Made(said["life"], BatchId(int(said["batch"])), said["received"])

    def disagrees(self, other: Made, query: str, where: object) -> FencedDriver:
        """Return the error of a batch that another driver made from something else.

        Parameters
        ----------
        other, where : what it was made from there
        query : whose batch it is
        """
        return FencedDriver(
            f"batch {self.batch} of query {query!r} has read up to {dict(self.received)}, but "
            f"{where} says that it had read up to {dict(other.received)}. Two drivers ran this "
            "batch, and one replaced Spark's file of what it reads: going on would lose or double "
            "rows. Let the other driver run and end this process; if none runs, restore a snapshot"
        )


@dataclass(frozen=True, slots=True)
class Note:
    """What a note says of a batch.

    Attributes
    ----------
    made : what it was made from
    has_rows : it has written some to the output channel
    position, commit : of the newest rows that it or an earlier batch has written there; None if
        none has
    kept : how many notes stay
    """

    made: Made
    has_rows: bool
    position: Position | None
    commit: str | None
    kept: int


def running_offsets(rows: DataFrame, life: str) -> list[Any] | None:
    """Return the end offsets of a batch, by source, as the running query has them.

    Its driver may have been frozen as Spark was about to write the same into the checkpoint. None
    if Spark runs no query of this life.

    Parameters
    ----------
    rows : of the batch under way
    """
    texts = _spark.offsets_of(rows, life)
    return None if texts is None else [None if text is None else as_json(text) for text in texts]


def as_json(text: str) -> Any:
    """Read what a source says; some that are not ours say no JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class BatchNotes:
    """The notes of a query's batches, a small file each, which is created once.

    Parameters
    ----------
    place : their directory
    query : whose they are
    kept : how many stay
    """

    def __init__(self, place: AnyPlace, query: str, kept: int = NOTES_KEPT) -> None:
        self._batches, self._query, self.kept = NumberedFiles(place), query, kept

    def write(self, made: Made, position: Position | None, commit: str | None) -> None:
        """Note a batch whose rows are in the output channel. May be repeated.

        Parameters
        ----------
        made, position, commit : what it was made from, and its rows in the output channel; None if
            it has none

        Raises
        ------
        FencedDriver : if another driver has noted it otherwise
        """
        file, has_rows = self._batches.file(made.batch), position is not None
        before = None if has_rows else self.read(BatchId(made.batch - 1))
        if before is not None:
            position, commit = before.position, before.commit
        value = {
            "life": made.life,
            "received": dict(made.received),
            "has_rows": has_rows,
            "position": position,
            "commit": commit,
            "kept": self.kept,
        }
        if not write_json_once(file, value):
            self.check(made)
        elif self.kept <= NOTES_KEPT or made.batch % NOTES_KEPT == 0:
            for old in self._batches.numbers()[: -self.kept]:
                self._batches.remove(old)

    def check(self, made: Made) -> None:
        """Compare what a batch has read with what is noted of it, if something is.

        Raises
        ------
        FencedDriver : if it differs
        """
        stands = self.read(made.batch)
        if stands is not None and stands.made != made:
            raise made.disagrees(stands.made, self._query, self._batches.file(made.batch))

    def read(self, batch: BatchId) -> Note | None:
        """Read the note of a batch; None if it has none, or none any more."""
        file = self._batches.file(batch)
        stored = read_json(file, life=str, received=dict, has_rows=bool, kept=int)
        if stored is None:
            return None
        with as_written(file):
            made = Made(stored["life"], batch, stored["received"])
            position = None if stored["position"] is None else Position(int(stored["position"]))
            return Note(made, stored["has_rows"], position, stored["commit"], stored["kept"])

    def newest(self) -> list[Note]:
        """Return the notes of the last batches, newest first."""
        newest = map(BatchId, self._batches.numbers()[: -NOTES_KEPT - 1 : -1])
        return [note for note in map(self.read, newest) if note is not None]

    def behind(self, batch: BatchId) -> Iterator[Note]:
        """Return the notes of the batches that followed one, as far as none is missing."""
        for number in count(batch + 1):
            note = self.read(BatchId(number))
            if note is None:
                return
            yield note
