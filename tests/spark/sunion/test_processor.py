"""The stateful operator with Spark's own tester in place of Spark: its state, its timers, its end.

Rows go the whole way, through `Pack` and `Unpack`, and every blob through the stored state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql.streaming import TwsTester

from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.sunion.keys import key_of
from streamproof.spark_bindings.sunion.pack import Pack
from streamproof.spark_bindings.sunion.processor import SerializerProcessor
from streamproof.spark_bindings.sunion.settings import Settings
from streamproof.spark_bindings.sunion.tags import TAG, Tags
from streamproof.spark_bindings.sunion.tuple_type import TupleType
from streamproof.spark_bindings.sunion.unpack import Unpack
from tests.spark.support.merging import (
    SCHEMA,
    SETTINGS,
    Row,
    of_stream,
    rows_of,
    table,
    waiting_at_most,
)

KEY = key_of(0)
TRAVELLING = pa.schema(
    [
        *SCHEMA,
        (TAG, pa.int64()),
        ("bucket", SCHEMA.field("ts").type),
    ]
)
NO_STREAM, LOW_BITS = 2, 5  # of two streams and one serializer
MEANING = {
    Tags(("ewr", "jfk"), 1).of(kind, 0, stream, 0): (kind.value, stream)
    for kind in TupleType
    for stream in (0, 1, NO_STREAM)
}
"""What the low bits of a tag stand for; the others are the stable id."""


class Operator:
    """A serializer, fed with streams."""

    def __init__(self, settings: Settings, key: int = KEY) -> None:
        self.settings, self.key = settings, key
        mode = "None" if settings.wait_ms is None else "ProcessingTime"
        self.tester = TwsTester(SerializerProcessor(settings), timeMode=mode)

    def batch(self, **streams: Sequence[Row]) -> list[tuple[object, ...]]:
        """Merge a batch; give type, stable id, position and bucket of what comes out."""
        packed = [
            part.to_pandas()
            for name, rows in streams.items()
            for part in Pack(self.settings)(
                iter(of_stream(table(rows, name), self.settings.streams.index(name)).to_batches())
            )
        ]
        return self.said(self.tester.testInPandas(self.key, pd.concat(packed)))

    def at(self, now_ms: int) -> list[tuple[object, ...]]:
        """Let the clock go on to a time, and give what timers make come out."""
        return self.said(pd.DataFrame(self.tester.setProcessingTime(now_ms)))

    def said(self, emitted: pd.DataFrame) -> list[tuple[object, ...]]:
        if emitted.empty:
            return []
        batches = Unpack(self.settings, TRAVELLING)(
            iter(pa.Table.from_pandas(emitted).to_batches())
        )
        found = []
        for row in pa.Table.from_batches(batches, TRAVELLING).to_pylist():
            stable_id, low = divmod(row[TAG], 2**LOW_BITS)
            kind, stream = MEANING[low]
            if stream != NO_STREAM:
                assert row["text"] == f"{self.settings.streams[stream]} {row['seq']}"
            begins = None if row["bucket"] is None else int(row["bucket"].timestamp())
            found.append((kind, None if kind == "LATE" else stable_id, row["seq"], begins))
        return found

    def restart(self, settings: Settings) -> None:
        """Go on with other settings, from the state as it is."""
        machine = self.tester.peekValueState("machine", self.key)
        blobs = self.tester.peekMapState("pending", self.key)
        self.__init__(settings, self.key)  # type: ignore[misc]
        self.tester.updateValueState("machine", self.key, machine)
        self.tester.updateMapState("pending", self.key, blobs)

    def blobs(self) -> list[tuple[int, int]]:
        """Name the blobs in the state, by bucket and number."""
        return sorted(tuple(key) for key in self.tester.peekMapState("pending", KEY))


def test_rows_come_out_with_their_bucket_and_number() -> None:
    operator = Operator(SETTINGS)
    assert operator.batch(ewr=rows_of([1, 30])) == []
    assert operator.blobs() == [(0, 0), (3, 0)]
    assert operator.batch(jfk=rows_of([12, 2, 40])) == [
        ("INSERTION", 0, 0, 0),
        ("INSERTION", 1, 1, 0),
        ("INSERTION", 2, 0, 10),
        ("BOUNDARY", 3, None, 20),
    ]
    assert operator.blobs() == [(3, 0), (4, 0)]
    assert operator.batch(jfk=[Row(3, 3)]) == [("LATE", None, 3, 0)]


def test_a_timer_lets_out_what_has_waited() -> None:
    operator = Operator(waiting_at_most(1000))
    assert operator.batch(ewr=rows_of([1])) == []
    assert operator.at(999) == []
    assert operator.at(1000) == [("TENTATIVE", 0, 0, 0)]
    assert operator.blobs() == [(0, 0)]  # kept for the correction
    said = operator.batch(ewr=[Row(30, 1)], jfk=rows_of([2, 30]))
    assert said == [
        ("UNDO", 0, None, None),
        ("INSERTION", 0, 0, 0),
        ("INSERTION", 1, 0, 0),
        ("BOUNDARY", 2, None, 20),
        ("REC_DONE", 2, None, None),
    ]
    assert operator.blobs() == [(3, 0)]


def test_fewer_serializers_after_a_restart_are_refused_by_the_last_one_too() -> None:
    three = replace(SETTINGS, partition_by=("text",), partitions=3)
    operator = Operator(three, key_of(2))
    operator.batch(ewr=rows_of([1]))
    operator.restart(replace(three, partitions=2))
    with pytest.raises(WrongArgument, match="runs with partitions=2, .* written with partitions=3"):
        operator.batch(ewr=[Row(2, 1)])


@pytest.mark.parametrize("wait_ms", [400, 3000])
def test_after_a_restart_with_another_wait_a_timer_comes_when_that_is_over(wait_ms: int) -> None:
    operator = Operator(waiting_at_most(1000))
    operator.batch(ewr=rows_of([1]))
    operator.restart(waiting_at_most(wait_ms))
    assert operator.batch(ewr=[Row(2, 1)]) == []  # the restart is known from here on
    assert operator.at(wait_ms - 1) == []
    assert operator.at(wait_ms) == [("TENTATIVE", 0, 0, 0), ("TENTATIVE", 0, 1, 0)]


def test_what_is_overdue_by_a_shorter_wait_is_looked_at_in_the_second_batch() -> None:
    operator = Operator(waiting_at_most(3_600_000))
    operator.batch(ewr=rows_of([1]))
    operator.restart(waiting_at_most(1000))
    assert operator.at(5000) == []
    assert operator.batch(ewr=[Row(2, 1)]) == []  # the old wait, in case it is a repetition
    assert operator.at(5001) == [("TENTATIVE", 0, 0, 0), ("TENTATIVE", 0, 1, 0)]
