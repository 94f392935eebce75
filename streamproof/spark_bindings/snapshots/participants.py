"""The participants of a snapshot: a query, or a pair of copies, and their checkpoints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import PairDirectory, pairs_of
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.names import (
    ChannelName,
    ProcessName,
    QueryName,
)


@dataclass(frozen=True, slots=True)
class Participant:
    """A process whose part in snapshots is collected: a query, or a pair of copies.

    Attributes
    ----------
    checkpoints : of each of its copies; all have the same batches, so any of them will do
    """

    name: ProcessName
    inputs: tuple[ChannelName, ...]
    checkpoints: tuple[Checkpoint, ...]

    @property
    def is_pair(self) -> bool:
        """Whether it is a pair of copies."""
        return len(self.checkpoints) > 1


def participants(queries: Iterable[Query], directory: PipelineDirectory) -> list[Participant]:
    """Return the processes that queries run as."""
    found = []
    for query in queries:
        inputs = tuple(map(ChannelName, query.inputs))
        if not query.is_paired:
            name = QueryName(query.name)
            alone = (directory.checkpoint(name),)
            found.append(Participant(ProcessName(name), inputs, alone))
            continue
        for pair in pairs_of(query):
            place = PairDirectory(directory.query_place(QueryName(pair.name)))
            found.append(Participant(ProcessName(pair.name), inputs, place.checkpoints))
    return found
