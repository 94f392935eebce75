"""The two copies of a pair, and where they are.

::

    queries/<pair>/order/<turn>.json     the order log, which both copies share
    queries/<pair>/rows.json             which rows its query's partitions take
    queries/<pair>/<copy>/checkpoint/    Spark's
    queries/<pair>/<copy>/incarnation.json   how often it was replaced
    queries/<pair>/<copy>/recorders/     its part in the snapshots; beside it, events.jsonl
    queries/<pair>/<copy>/steps.jsonl    steps of its merge order and egress
    queries/<pair>/<copy>/kept/          outputs that may not be delivered
    queries/<pair>/<copy>/delivered.json the newest one that is
    queries/<pair>/<copy>/beat.json      its heartbeat
    queries/<pair>/<copy>/lock           held by the process that runs it
    queries/<pair>/<copy>/log.txt        what that has said
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.query import Query, Standby
from streamproof.spark_bindings.names import PairId, PairName, QueryName, number_of
from streamproof.spark_bindings.storage.json_files import read_json, write_json
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import make_directory, remove


class Copy(Enum):
    """A copy of a pair. Neither is primary by name."""

    A = "A"
    B = "B"

    @property
    def other(self) -> Copy:
        """The other one."""
        return Copy.B if self is Copy.A else Copy.A


@dataclass(frozen=True, slots=True)
class Pair:
    """A pair of copies: a query, or one partition of it.

    Attributes
    ----------
    partition : its number, from 0, of `query.partitions`
    """

    query: Query
    partition: int = 0

    @property
    def name(self) -> PairName:
        """The name of its directory."""
        number = number_of(self.partition, self.query.partitions)
        return PairId(QueryName(self.query.name), number).name


def pairs_of(query: Query) -> Iterator[Pair]:
    """Return the pairs of a query with a standby, one for each partition."""
    return (Pair(query, partition) for partition in range(query.partitions))


def check_as_declared(directory: PipelineDirectory, query: Query) -> None:
    """Check that a query has run as what it is declared to be, if it has run.

    What is there of a pair that never ran, because its plan was refused, is removed.

    Raises
    ------
    WrongWiring : if it ran alone and is a pair now, or the other way, or in other partitions
    """
    name = QueryName(query.name)
    alone, found = directory.checkpoint(name).place, directory.pair_places(name)
    pairs = [] if not query.is_paired else list(pairs_of(query))
    parts = [directory.query_place(QueryName(pair.name)) for pair in pairs]
    wrong = [place for place in found if place not in parts]
    has_run = any(PairDirectory(place).has_run for place in found)
    if wrong and not has_run:
        while wrong:
            remove(wrong.pop())
    if parts and store_at(alone).has():
        wrong.append(alone)
    if wrong or (has_run and len(found) < len(parts)):
        raise WrongWiring(
            f"query {query.name!r} has standby={query.standby!r}, but "
            f"{', '.join(map(str, wrong or found))} shows that it has run otherwise. Its rows "
            "would be appended again. Declare it as it was, or begin a pipeline in another "
            "directory"
        )
    for place in found:
        PairDirectory(place).check_rows(query)


def _rows_of(query: Query) -> dict[str, Any]:
    """Return which rows the partitions of a query take."""
    standby = query.standby or Standby()
    return {"partition_by": standby.by, "partition_bounds": [repr(b) for b in standby.bounds]}


def _in_words(partition_by: str | None, partition_bounds: list[str]) -> str:
    if partition_by is None:
        return "into one partition"
    if not partition_bounds:
        return f"by the hash of {partition_by!r}"
    return f"by ranges of {partition_by!r} that begin at {', '.join(partition_bounds)}"


@dataclass(frozen=True, slots=True)
class PairDirectory:
    """What a pair has on disk, which both of its copies see."""

    place: Place

    @staticmethod
    def of(directory: PipelineDirectory, pair: Pair) -> PairDirectory:
        """Return the directory of a pair of a pipeline; made, with the others of its query's.

        Raises
        ------
        WrongWiring : if the query has run without a standby, or in other partitions
        """
        check_as_declared(directory, pair.query)
        for part in pairs_of(pair.query):
            own = PairDirectory(directory.query_place(QueryName(part.name)))
            make_directory(own.order)
            own.note_rows(pair.query)
        return PairDirectory(directory.query_place(QueryName(pair.name)))

    @property
    def order(self) -> Place:
        """The directory of the order log."""
        return self.place / "order"

    @property
    def rows(self) -> Place:
        """The file that says which rows its query's partitions take."""
        return self.place / "rows.json"

    def note_rows(self, query: Query) -> None:
        """Note which rows the partitions of a query take, unless it has run, or is noted."""
        declared = _rows_of(query)
        if not self.has_run and self._noted_rows() != declared:
            write_json(self.rows, declared)

    def check_rows(self, query: Query) -> None:
        """Check that the partitions of a query take the rows that they have taken.

        Raises
        ------
        WrongWiring : if another column, or other bounds, would divide them
        """
        noted, declared = self._noted_rows(), _rows_of(query)
        if self.has_run and noted is not None and noted != declared:
            raise WrongWiring(
                f"query {query.name!r} divides its rows {_in_words(**declared)}, but in "
                f"{self.place} they were divided {_in_words(**noted)}. Rows would go to partitions "
                "that do not have their state. Declare it as it was, or begin a pipeline in "
                "another directory"
            )

    def _noted_rows(self) -> dict[str, Any] | None:
        return read_json(self.rows, partition_by=object, partition_bounds=list)

    @property
    def has_run(self) -> bool:
        """Whether a copy has begun; before, its plan is looked at."""
        turns = (name.endswith(".json") for name in store_at(self.order).list())
        return any(turns) or any(store_at(own.place).has() for own in self.checkpoints)

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """The checkpoint of each copy."""
        return tuple(self.copy(copy).checkpoint for copy in Copy)

    def copy(self, copy: Copy) -> CopyDirectory:
        """Return the directory of a copy."""
        return CopyDirectory(self.place / copy.value)


@dataclass(frozen=True, slots=True)
class ProcessDirectory:
    """What a process that is watched has on disk."""

    place: Place

    @classmethod
    def alone(cls, pipeline: PipelineDirectory) -> ProcessDirectory:
        """Return the directory of the driver that runs a pipeline's queries without a standby."""
        return ProcessDirectory(pipeline.place / "alone")

    @classmethod
    def vacuum(cls, pipeline: PipelineDirectory) -> ProcessDirectory:
        """Return the directory of whoever removes rows of channels."""
        return ProcessDirectory(pipeline.place / "vacuum")

    @property
    def steps(self) -> Place:
        """The file of the steps of its machines."""
        return self.place / "steps.jsonl"

    @property
    def beat(self) -> Place:
        """The file of its heartbeat."""
        return self.place / "beat.json"

    @property
    def lock(self) -> Place:
        """The file that it holds locked."""
        return self.place / "lock"

    @property
    def log(self) -> Place:
        """The file of what it says, also what Spark and Java do, in all its lives."""
        return self.place / "log.txt"


@dataclass(frozen=True, slots=True)
class CopyDirectory(ProcessDirectory):
    """What a copy has on disk."""

    @property
    def checkpoint(self) -> Checkpoint:
        """Its checkpoint: its state, as of the turns that it has taken."""
        return Checkpoint(self.place / "checkpoint")

    @property
    def recorders(self) -> Place:
        """The directory of its part in the snapshots."""
        return self.place / "recorders"

    @property
    def delivered(self) -> Place:
        """The file that says what is in the output channel, and was forgotten."""
        return self.place / "delivered.json"

    @property
    def kept(self) -> Place:
        """The directory of outputs that may not be delivered."""
        return self.place / "kept"


PAIR_KEY = "streamproof.pair"
TURN_KEY = "streamproof.turn"
DIGEST_KEY = "streamproof.digest"
INCARNATION_KEY = "streamproof.incarnation"
"""In a commit of a pair: whose, which turn, of what rows, and by which incarnation of the copy."""
