"""The stateful operator: one serializer a key, each called once a batch with blobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from streamproof.spark_bindings.sunion.dpc import NOTHING, Arrivals, Emission, Merge
from streamproof.spark_bindings.sunion.keys import key_of
from streamproof.spark_bindings.sunion.pending import Pending
from streamproof.spark_bindings.sunion.progress import Progress
from streamproof.spark_bindings.sunion.rows import (
    ROWS_PER_BLOB,
    as_column,
    from_blob,
    in_blobs,
    to_blob,
)
from streamproof.spark_bindings.sunion.settings import Settings
from streamproof.spark_bindings.sunion.state import SerializerState
from streamproof.spark_bindings.sunion.tuple_type import TupleType

EMITTED = "serializer int, kind string, stable_id long, bucket long, count long, rows binary"
"""Spark's schema of emitted tuples: a row is a blob of rows of one type, or one tuple without."""


class SerializerProcessor(StatefulProcessor):
    """Runs the serializers. Spark makes one a task, on executors, and may repeat it.

    Parameters
    ----------
    settings : the merge's
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._numbers = {key_of(number): number for number in range(settings.partitions)}

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state. Spark calls it once a task, and once on the driver."""
        self._handle = handle
        self._state = SerializerState(handle, self._settings)

    def handleInputRows(
        self, key: Any, rows: Iterator[Any], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Merge what arrived for one serializer. Spark calls it once a batch and key."""
        yield from self._run(key, self._arrivals(rows), timerValues)

    def handleExpiredTimer(
        self, key: Any, timerValues: TimerValues, expiredTimerInfo: ExpiredTimerInfo
    ) -> Iterator[pd.DataFrame]:
        """Look for rows that have waited too long. Spark calls it in batches without rows too."""
        del expiredTimerInfo  # the state knows what has waited
        yield from self._run(key, NOTHING, timerValues)

    def _run(self, key: Any, arrivals: Arrivals, timers: TimerValues) -> Iterator[pd.DataFrame]:
        now_ms = timers.getCurrentProcessingTimeInMs()
        # First, since it refuses another number of serializers, of which some have no number here.
        node, index, settings = self._state.load(now_ms)
        serializer = self._numbers[int(key[0])]
        merge = Merge(settings, node, Pending(self._state, index), now_ms)
        for emission in merge.on_batch(arrivals):
            yield from _frames(serializer, emission)
        if (merge.node, merge.index, self._settings) != (node, index, settings):
            self._state.save(merge.node, merge.index, settings, now_ms)
        self._register_timers(merge, settings, now_ms)

    def _register_timers(self, merge: Merge, in_force: Settings, now_ms: int) -> None:
        """Ask to be called when the next bucket is due, and when the newest is.

        The newest's call is there when those before it have been answered. The next one's is there
        too, unless the wait was another when its rows came.
        """
        wait_ms = self._settings.wait_ms
        if wait_ms is None:
            return
        due = {part.since_ms + wait_ms for part in merge.index.waiting.values()}
        ahead = {due_ms for due_ms in due if due_ms > now_ms}
        if in_force != self._settings and len(ahead) < len(due):
            ahead.add(now_ms + 1)  # what is overdue now, by a shorter wait, has yet to be looked at
        for due_ms in {min(ahead), max(ahead)} if ahead else set():
            self._handle.registerTimer(due_ms)

    def _arrivals(self, frames: Iterator[pd.DataFrame]) -> Arrivals:
        rows: dict[str, list[pa.Table]] = defaultdict(list)
        progress: dict[str, list[Progress]] = defaultdict(list)
        for frame in frames:
            columns = (frame["stream"], frame["rows"], frame["progress"])
            for number, blob, steps in zip(*columns, strict=True):
                stream = self._settings.streams[number]
                if blob is not None:
                    rows[stream].append(from_blob(blob))
                else:
                    progress[stream].append(Progress.from_bytes(steps))
        return Arrivals(rows, {stream: Progress.join(parts) for stream, parts in progress.items()})


def _frames(serializer: int, emission: Emission) -> Iterator[pd.DataFrame]:
    """Write an emission as rows of `EMITTED`."""
    rows, stable_id = emission.rows, emission.stable_id
    if rows is None:
        yield _frame(serializer, emission, stable_id, 1, None)
        return
    for start in range(0, rows.num_rows, ROWS_PER_BLOB):
        for part in in_blobs(rows.slice(start, ROWS_PER_BLOB)):
            yield _frame(serializer, emission, stable_id, part.num_rows, to_blob(part))
            if emission.kind is TupleType.INSERTION and stable_id is not None:
                stable_id += part.num_rows


def _frame(
    serializer: int, emission: Emission, stable_id: int | None, count: int, blob: pa.Buffer | None
) -> pd.DataFrame:
    rows = pa.nulls(1, pa.binary()) if blob is None else as_column(blob)
    return pd.DataFrame(
        {
            "serializer": [serializer],
            "kind": [emission.kind.value],
            "stable_id": pd.array([stable_id], dtype="Int64"),
            "bucket": pd.array([emission.bucket], dtype="Int64"),
            "count": [count],
            "rows": pd.Series(rows, dtype=pd.ArrowDtype(pa.binary())),
        }
    )
