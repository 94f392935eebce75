"""The durable steps of a table that `reconcile` keeps, and what must hold after a crash among them.

A table of stable and tentative rows, and one of late rows. The sink is the real one; a batch is
made of tuples, which `engine` runs as Spark would.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pyarrow as pa

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.fixed_settings import check_written, note_fixed
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import spark_schema
from streamproof.spark_bindings.sunion.table import TableSink
from tests.spark.faults.crashes import Lost
from tests.spark.faults.engine import put
from tests.spark.faults.tape import Tape

SCHEMA = pa.schema([("seq", pa.int64()), ("tuple_type", pa.string()), ("stable_id", pa.int64())])
SETTINGS = {"bucket_us": 1}
BATCHES: tuple[tuple[tuple[int | None, str, int], ...], ...] = (
    ((None, "BOUNDARY", 0),),
    ((1, "INSERTION", 0), (2, "TENTATIVE", 1), (None, "BOUNDARY", 1)),
    ((None, "UNDO", 0), (2, "INSERTION", 1), (3, "LATE", 0), (None, "BOUNDARY", 2)),
    ((4, "INSERTION", 2), (5, "INSERTION", 3), (6, "TENTATIVE", 4), (None, "BOUNDARY", 3)),
    ((None, "UNDO", 2), (6, "INSERTION", 4), (7, "LATE", 0), (None, "BOUNDARY", 4)),
)
STABLE, LATE = [1, 2, 4, 5, 6], [3, 7]


@dataclass(frozen=True)
class Applied:
    """Spark has committed this batch."""

    batch: int


@contextmanager
def without_spark() -> Iterator[None]:
    """Run the tasks here."""

    def map_in_arrow(rows: pa.Table, function: Callable[[Any], Any], _: object) -> Any:
        found = list(function(iter(rows.to_batches())))
        made = [tuple(row.values()) for batch in found for row in batch.to_pylist()]
        return SimpleNamespace(collect=lambda: made)

    with (
        mock.patch.object(_spark, "map_in_arrow", map_in_arrow),
        mock.patch.object(_spark, "run_to_end", return_value=None),
        mock.patch.object(_spark, "offsets_of", return_value=None),
    ):
        yield


def work(tape: Tape) -> None:
    """Apply all batches."""
    run(tape.root, tape.note)


def steps(place: Path) -> Iterator[Callable[[], object]]:
    """Yield the steps of a table, each of which may be tried again if it fails: as a restart."""
    for end in range(1, len(BATCHES) + 1):
        yield partial(run, place, lambda _: None, end)


def run(place: Path, note: Callable[[Any], None], end: int = len(BATCHES)) -> None:
    """Begin, or go on behind the last batch that Spark has committed, up to the last one."""
    path = place / "checkpoint"
    check_written(Place.of(path), SETTINGS)
    note_fixed(Place.of(path), SETTINGS)
    merged: Any = SimpleNamespace(schema=spark_schema(SCHEMA))
    checkpoint = Checkpoint(path)
    checkpoint.check_readable()
    sink = TableSink(merged, Place.of(place / "table"), Place.of(place / "late"), checkpoint)
    if not (path / "metadata").exists():
        put(path / "metadata", json.dumps({"id": str(uuid.uuid4())}))
    planned = _newest(path / "offsets")
    begin = planned if planned != _newest(path / "commits") else planned + 1
    for batch in range(max(begin, 0), end):
        if batch > planned:
            put(path / f"offsets/{batch}", f"v1\n{{}}\n{json.dumps({'through': batch})}")
        rows: Any = pa.Table.from_pylist(
            [dict(zip(SCHEMA.names, row, strict=True)) for row in BATCHES[batch]], SCHEMA
        )
        sink.on_batch(rows, batch)
        put(path / f"commits/{batch}", "v2\n{}")
        note(Applied(batch))


def check(place: Path, facts: list[Any]) -> None:
    """Go on behind a crash, to the end; every row is in its table once.

    Raises
    ------
    Lost : if it is not
    StreamproofError, EngineRefused : if something says that it cannot go on
    """
    applied = max((fact.batch for fact in facts), default=-1)
    if applied >= 1:
        there = {row["seq"] for row in _rows(place / "table")}
        if 1 not in there:
            raise Lost(f"row 1 is gone from the table: {sorted(there)}")
    run(place, lambda _: None)
    found = sorted((row["seq"], row["tuple_type"]) for row in _rows(place / "table"))
    if found != [(number, "INSERTION") for number in STABLE]:
        raise Lost(f"the table has {found}")
    late = sorted(row["seq"] for row in _rows(place / "late"))
    if late != LATE:
        raise Lost(f"the table of late rows has {late}")


def _rows(table: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = open_table(Place.of(table)).to_pyarrow_table().to_pylist()
    return found


def _newest(directory: Path) -> int:
    if not directory.is_dir():
        return -1
    numbers = [int(file.name) for file in directory.iterdir() if file.name.isdigit()]
    return max(numbers, default=-1)
