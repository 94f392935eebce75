"""A stand-in for Spark's engine: the files of its checkpoint, in its order, without a JVM.

As `MicroBatchExecution` of Spark 4.3: a batch's offsets are written, the batch runs and its state
is written, then its commit. Each file comes by a rename, and none is synced. The sources and the
batch function are the real ones. The one operator drops duplicates, as `seen` of the pipelines
does, so its state is what has passed.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.channels.source import ChannelReader
from streamproof.spark_bindings.names import BatchId
from tests.spark.support.pipelines import Tokens

OnBatch = Callable[[Any, BatchId], None]


_spark_writes: list[str] = []


def in_spark() -> bool:
    """Return whether it is Spark's turn to write."""
    return bool(_spark_writes)


def put(path: Path, text: str) -> None:
    """Write a file as Spark does: beside it first, then a rename, without a sync."""
    _spark_writes.append(path.name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
        temporary.write_text(text)
        temporary.rename(path)
    finally:
        _spark_writes.pop()


class EngineRefused(Exception):
    """Spark would end the query, since a file of its checkpoint is lost or damaged."""


@dataclass(frozen=True)
class Rows:
    """A batch's result, not executed yet; executing it writes the state."""

    table: pa.Table
    finish: Callable[[], None]


@contextmanager
def no_executors() -> Iterator[None]:
    """Let the bindings write their rows here."""

    def write_partitions(rows: Rows, write: Callable[[Any], Any]) -> list[tuple[Any, ...]]:
        written = write(iter(rows.table.to_batches()))
        rows.finish()
        return [] if written is None else [tuple(written)]

    with (
        mock.patch.object(_spark, "write_partitions", write_partitions),
        mock.patch.object(_spark, "run_to_end", lambda rows: rows.finish()),
        mock.patch.object(_spark, "offsets_of", return_value=None),
    ):
        yield


class Engine:
    """Runs one query; to a copy, it is Spark's `StreamingQuery`.

    Parameters
    ----------
    checkpoint : directory
    readers : per input
    on_batch : the query's batch function
    """

    def __init__(
        self, checkpoint: Path, readers: Mapping[str, ChannelReader], on_batch: OnBatch
    ) -> None:
        self._path, self._readers, self._on_batch = checkpoint, readers, on_batch
        if not (checkpoint / "metadata").exists():
            self._put("metadata", json.dumps({"id": str(uuid.uuid4())}))
        self._json(checkpoint / "metadata")
        planned, done = _newest(checkpoint / "offsets"), _newest(checkpoint / "commits")
        self._again = planned is not None and planned != done
        self._batch = 0 if planned is None else planned + (not self._again)

    @property
    def isActive(self) -> bool:
        """Whether it runs."""
        return True

    def stop(self) -> None:
        """Stop: nothing runs between two calls."""

    def run(self) -> int:
        """Run batches until there is nothing new; give their number."""
        count = 0
        while self.step():
            count += 1
        return count

    def step(self) -> bool:
        """Run a batch; tell whether there was one to run."""
        number = self._batch
        before = self._offsets(number - 1)
        if self._again:
            after, self._again = self._offsets(number), False
        else:
            after = {n: reader.latestOffset(before[n], None) for n, reader in self._readers.items()}
            if after == before and number > 0:  # the first batch comes before there is anything
                return False
            lines = ["v1", "{}", *(json.dumps(after[name]) for name in self._readers)]
            self._put(f"offsets/{number}", "\n".join(lines))
        state = load(self._path, number - 1)
        new, name = self._pass(before, after, state), uuid.uuid4().hex

        def finish() -> None:
            tokens = sorted((state + new).elements())
            self._put(f"state/0/0/{number + 1}_{name}.changelog", json.dumps(tokens))

        ids, turns = zip(*sorted(new), strict=True) if new else ((), ())
        table = pa.table({"id": pa.array(ids, pa.int64()), "turn": pa.array(turns, pa.int64())})
        self._on_batch(Rows(table, finish), BatchId(number))
        said = {"stateUniqueIds": {"0": [[name]]}}
        self._put(f"commits/{number}", f"v2\n{json.dumps(said)}")
        self._batch = number + 1
        return True

    def _pass(self, before: Any, after: Any, state: Tokens) -> Tokens:
        found: Tokens = Tokens()
        for name, reader in self._readers.items():
            for part in reader.partitions(before[name], after[name]):
                for batch in reader.read(part):
                    found.update(zip(*batch.to_pydict().values(), strict=True))
        return Tokens(set(found) - set(state))

    def _offsets(self, batch: int) -> dict[str, Any]:
        if batch < 0:
            return {name: reader.initialOffset() for name, reader in self._readers.items()}
        lines = _lines(self._path / "offsets" / str(batch))
        found = [json.loads(line) for line in lines[2:]]
        return dict(zip(self._readers, found, strict=True))

    def _json(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text())
        except ValueError as error:
            raise EngineRefused(f"{path}: {error}") from error

    def _put(self, name: str, text: str) -> None:
        put(self._path / name, text)


def load(checkpoint: Path, batch: int) -> Tokens:
    """Read the state as of a batch, as its commit names it.

    Raises
    ------
    EngineRefused : if it is lost
    """
    if batch < 0:
        return Tokens()
    said = json.loads(_lines(checkpoint / "commits" / str(batch))[1])
    name = said["stateUniqueIds"]["0"][0][0]
    try:
        kept = json.loads((checkpoint / f"state/0/0/{batch + 1}_{name}.changelog").read_text())
    except (OSError, ValueError) as error:
        raise EngineRefused(f"the state as of batch {batch}: {error}") from error
    return Tokens(map(tuple, kept))


def _newest(directory: Path) -> int | None:
    if not directory.is_dir():
        return None
    names = [file.name for file in directory.iterdir()]
    return max((int(name) for name in names if name.isdigit()), default=None)


def _lines(path: Path) -> list[str]:
    try:
        lines = path.read_text().splitlines()
        ("v1", "v2").index(lines[0])
        for line in lines[1:]:
            json.loads(line)
    except (OSError, ValueError, IndexError) as error:
        raise EngineRefused(f"{path}: {error}") from error
    return lines
