"""A stand-in for a batch's DataFrame: a table whose partition is run here, without executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pyarrow as pa


class LocalFrame:
    """What the bindings do with a batch's rows, in Spark's words.

    Attributes
    ----------
    runs : how often the rows were mapped, and how often they were only run to their end
    """

    def __init__(self, table: pa.Table, runs: Counter[str] | None = None) -> None:
        self._table, self.runs = table, Counter() if runs is None else runs
        self.columns = table.column_names

    def toDF(self, *names: str) -> LocalFrame:
        """Return the same rows under other names."""
        return LocalFrame(self._table.rename_columns(list(names)), self.runs)

    def mapInArrow(
        self, function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], _: object
    ) -> Any:
        """Map the rows, once they are collected."""

        def collect() -> list[tuple[Any, ...]]:
            self.runs["mapped"] += 1
            found = list(function(iter(self._table.to_batches())))
            return [tuple(row.values()) for batch in found for row in batch.to_pylist()]

        return SimpleNamespace(collect=collect)

    @property
    def write(self) -> LocalFrame:
        """The writer, which is for Spark's sink that drops all rows."""
        return self

    def format(self, name: str) -> LocalFrame:
        """Choose a sink."""
        assert name == "noop"
        return self

    def mode(self, _: str) -> LocalFrame:
        """Choose what becomes of what is there: nothing is."""
        return self

    def save(self) -> None:
        """Run to the end."""
        self.runs["dropped"] += 1
