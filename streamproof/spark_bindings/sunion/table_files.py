"""The parquet files that a batch of a merged stream becomes, written on executors.

Tentative rows have files of their own, so that an UNDO removes files and rewrites none.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamproof.disk import explained
from streamproof.spark_bindings.errors import WrongRows
from streamproof.spark_bindings.storage.parquet_files import writer_of
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import fit
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import sync_content
from streamproof.spark_bindings.sunion.rows import by_value
from streamproof.spark_bindings.sunion.tuple_type import SERIALIZER, TUPLE_TYPE, TupleType

WRITTEN = "kind string, serializer int, path string, size long, rows long"
"""Spark's schema of what a task has written: files, and the tuples UNDO and BOUNDARY, without."""

_WRITTEN = pa.schema(
    [
        ("kind", pa.string()),
        ("serializer", pa.int32()),
        ("path", pa.string()),
        ("size", pa.int64()),
        ("rows", pa.int64()),
    ]
)
_KINDS = [kind.value for kind in TupleType]


class TableFile(NamedTuple):
    """A file that a task has written, not yet committed; or a tuple, with an empty path."""

    kind: TupleType
    serializer: int
    path: str
    size: int
    rows: int


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes one task's part of a batch. Spark calls it on executors, and may repeat it.

    A file that no commit names is not part of the table.

    Attributes
    ----------
    directories : per type of row, where its files go; tuples of other types are no rows
    schema : Arrow schema of a file
    prefix : of the files' names
    """

    directories: dict[TupleType, Place]
    schema: pa.Schema
    prefix: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Write the rows, and give what was written; an UNDO drops what this task wrote before."""
        files: dict[tuple[TupleType, int], _OpenFile] = {}
        tuples: set[tuple[TupleType, int]] = set()
        for batch in batches:
            for kind, serializer, rows in _runs(pa.Table.from_batches([batch])):
                key = (kind, serializer)
                if kind in (TupleType.UNDO, TupleType.BOUNDARY):
                    tuples.add(key)
                if kind is TupleType.UNDO:
                    revoked = files.pop((TupleType.TENTATIVE, serializer), None)
                    if revoked is not None:
                        revoked.discard()
                elif kind in self.directories:
                    if key not in files:
                        files[key] = self._open(kind)
                    files[key].write(rows)
        for kind, serializer in sorted(tuples, key=lambda key: (key[0].value, key[1])):
            yield _written(TableFile(kind, serializer, "", 0, 0))
        for (kind, serializer), file in files.items():
            yield _written(TableFile(kind, serializer, *file.close()))

    def _open(self, kind: TupleType) -> _OpenFile:
        name = f"{self.prefix}-{uuid.uuid4().hex}.parquet"
        return _OpenFile(self.directories[kind] / name, self.schema)


class _OpenFile:
    """A file that is being written."""

    def __init__(self, place: Place, schema: pa.Schema) -> None:
        self._place, self._schema, self._rows = place, schema, 0
        self._writer = writer_of(place, schema)

    def write(self, rows: pa.Table) -> None:
        with explained(self._place, "No row was committed"):
            self._writer.write_table(fit(rows.select(self._schema.names), self._schema, "table"))
        self._rows += rows.num_rows

    def close(self) -> tuple[str, int, int]:
        with explained(self._place, "No row was committed"):
            self._writer.close()
        sync_content(self._place)
        return self._place.name, store_at(self._place).size() or 0, self._rows

    def discard(self) -> None:
        self._writer.close()
        store_at(self._place).delete()


def read_written(rows: Sequence[tuple[Any, ...]]) -> list[TableFile]:
    """Read what the tasks have written, from rows of `WRITTEN`."""
    return [TableFile(TupleType(kind), *facts) for kind, *facts in rows]


def _written(file: TableFile) -> pa.RecordBatch:
    values = (file.kind.value, *file[1:])
    return pa.RecordBatch.from_arrays(
        [pa.array([value], field.type) for value, field in zip(values, _WRITTEN, strict=True)],
        schema=_WRITTEN,
    )


def _runs(rows: pa.Table) -> Iterator[tuple[TupleType, int, pa.Table]]:
    """Cut rows where their type or their serializer changes."""
    found = pc.index_in(rows[TUPLE_TYPE], pa.array(_KINDS))
    if found.null_count:
        strange = rows[TUPLE_TYPE].filter(pc.is_null(found))[0].as_py()
        raise WrongRows(
            f"a tuple has the {TUPLE_TYPE} {strange!r}, which is none of {', '.join(_KINDS)}. What "
            "to do with it is unknown. Nothing of the batch was applied. Leave that column as "
            "sunion gave it"
        )
    kinds = found.to_numpy().astype(np.int64)
    serializers = np.zeros_like(kinds)
    if SERIALIZER in rows.column_names:
        serializers = rows[SERIALIZER].to_numpy().astype(np.int64)
    for value, run in by_value(rows, serializers * len(_KINDS) + kinds):
        serializer, kind = divmod(value, len(_KINDS))
        yield TupleType(_KINDS[kind]), serializer, run
