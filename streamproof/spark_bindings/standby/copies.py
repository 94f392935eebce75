"""The two copies of a pair, and where they are.

::

    queries/<pair>/order/<turn>.json     the order log, which both copies share
    queries/<pair>/<copy>/checkpoint/    Spark's
    queries/<pair>/<copy>/kept/          outputs that may not be delivered
    queries/<pair>/<copy>/beat.json      its heartbeat
    queries/<pair>/<copy>/lock           held by the process that runs it
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from streamproof.spark_bindings.checkpoint import Checkpoint
from streamproof.spark_bindings.directory import PipelineDirectory
from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.names import PairName, QueryName
from streamproof.spark_bindings.wiring import Query


class Copy(Enum):
    """A copy of a pair. Neither is primary by name."""

    A = "A"
    B = "B"

    @property
    def twin(self) -> Copy:
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
        alone = self.query.partitions == 1
        return PairName(self.query.name if alone else f"{self.query.name}.{self.partition}")


def pairs_of(query: Query) -> Iterator[Pair]:
    """Give the pairs of a query with replicas, one for each partition."""
    return (Pair(query, partition) for partition in range(query.partitions))


@dataclass(frozen=True, slots=True)
class PairDirectory:
    """What a pair has on disk, which both of its copies see."""

    path: Path

    @staticmethod
    def of(directory: PipelineDirectory, pair: Pair) -> PairDirectory:
        """Give the directory of a pair of a pipeline.

        Raises
        ------
        WrongWiring : if the query has run without replicas, or in other partitions
        """
        query = QueryName(pair.query.name)
        alone, found = directory.query_path(query) / "checkpoint", directory.pair_paths(query)
        parts = [directory.query_path(QueryName(own.name)) for own in pairs_of(pair.query)]
        wrong = [path for path in found if path not in parts]
        if alone.exists():
            wrong.append(alone)
        if wrong or (found and len(found) < len(parts)):
            raise WrongWiring(
                f"query {query!r} has replicas={pair.query.replicas} and "
                f"partitions={pair.query.partitions}, but {', '.join(map(str, wrong or found))} "
                "shows that it has run otherwise. Its rows would be appended again. Declare it as "
                "it was, or begin a pipeline in another directory"
            )
        if not found:
            for path in parts:
                (path / "order").mkdir(parents=True, exist_ok=True)
        return PairDirectory(directory.query_path(QueryName(pair.name)))

    @property
    def order(self) -> Path:
        """The directory of the order log."""
        return self.path / "order"

    def copy(self, copy: Copy) -> CopyDirectory:
        """Give the directory of a copy."""
        return CopyDirectory(self.path / copy.value)


@dataclass(frozen=True, slots=True)
class CopyDirectory:
    """What a copy has on disk."""

    path: Path

    @property
    def checkpoint(self) -> Checkpoint:
        """Its checkpoint: its state, as of the turns that it has taken."""
        return Checkpoint(self.path / "checkpoint")

    @property
    def kept(self) -> Path:
        """The directory of outputs that may not be delivered."""
        return self.path / "kept"

    @property
    def beat(self) -> Path:
        """The file of its heartbeat."""
        return self.path / "beat.json"

    @property
    def lock(self) -> Path:
        """The file that its process holds locked."""
        return self.path / "lock"
