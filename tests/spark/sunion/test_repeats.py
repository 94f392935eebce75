"""A source that delivers at least once: copies change nothing, and what is no copy is refused."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from streamproof.spark_bindings.errors import RepeatedPosition
from streamproof.spark_bindings.sunion import reconcile, sunion
from streamproof.spark_bindings.sunion.repeats import set_apart
from streamproof.spark_bindings.sunion.rows import STREAM
from streamproof.spark_bindings.sunion.state import decode
from streamproof.spark_bindings.sunion.tuple_type import TupleType
from tests.spark.support.drawn_streams import cuts, streams
from tests.spark.support.merging import (
    SCHEMA,
    SETTINGS,
    Blobs,
    Replica,
    Row,
    kinds,
    reference,
    rows_of,
    table,
    waiting_at_most,
    write_file,
)


@settings(max_examples=60)
@given(streams(), st.data())
def test_copies_come_late_and_change_nothing_else(whole, data):
    """Some rows come once more, in their batch or in any later one, from any task."""
    batches = data.draw(st.integers(1, 5))
    parts = {name: cuts(data, rows, batches) for name, rows in whole.items()}
    replica, copies = Replica(), Counter()
    for number in range(batches):
        tasks = {}
        for name in SETTINGS.streams:
            known = [row for part in parts[name][: number + 1] for row in part]
            again = data.draw(st.lists(st.sampled_from(known), max_size=5)) if known else []
            copies.update((row.second, name, row.position) for row in again)
            rows = data.draw(st.permutations([*parts[name][number], *again]))
            tasks[name] = [table(part, name) for part in cuts(data, rows, 2)]
        replica.merge(tasks)
    expected, late = reference(whole)
    assert replica.rows() == expected
    assert Counter(replica.rows(TupleType.LATE)) == copies + Counter(dict.fromkeys(late, 1))


def test_a_copy_of_what_is_tentative_is_not_shown():
    replica = Replica(waiting_at_most(1000))
    replica.batch(0, ewr=rows_of([1, 2]))
    replica.batch(1000, ewr=[Row(2, 1)])
    replica.batch(1001, ewr=[Row(2, 1), Row(3, 2)])
    assert kinds(replica.said) == ["LATE", "TENTATIVE", "LATE", "TENTATIVE"]
    assert [row.position for row in replica.view()[1]] == [0, 1, 2]


def other(row: Row) -> pa.Table:
    """Make a row of jfk that says something else than the one in its place."""
    rows = table([row], "jfk")
    return rows.set_column(2, "text", pa.array(["another"]))


@pytest.mark.parametrize("between", [0, 1, 3])
def test_two_rows_in_one_place_are_refused_when_the_second_comes(between):
    replica = Replica()
    rows = [Row(3, 4), Row(5, 5)]
    if between:
        replica.batch(jfk=rows)
        for _ in range(between - 1):
            replica.batch(ewr=[])
    before = copy.deepcopy((replica.stored, replica.blobs))
    first = [] if between else [table(rows, "jfk")]
    with pytest.raises(RepeatedPosition) as refused:
        replica.merge({"jfk": [*first, other(Row(3, 4)), table([Row(7, 6)], "jfk")]})
    assert "stream 'jfk' has the position 4 twice, at 1970-01-01 00:00:03" in str(refused.value)
    assert "differ in text ('jfk 4' and 'another')" in str(refused.value)
    assert (replica.stored, replica.blobs) == before or not between
    replica.batch(jfk=([] if between else rows) + [Row(40, 7)], ewr=[Row(40, 0)])
    assert [row.position for row in replica.rows()] == [4, 5]


def test_a_second_row_in_the_place_of_a_stable_one_is_late():
    replica = Replica()
    replica.batch(jfk=[Row(3, 4), Row(40, 5)], ewr=[Row(40, 0)])
    said = replica.merge({"jfk": [other(Row(3, 4))]})
    assert kinds(said) == ["LATE"]


class ClosedBlobs(Blobs):
    """A store from which nothing may be read."""

    def get(self, bucket: int, number: int) -> bytes:  # type: ignore[override]
        pytest.fail(f"blob {number} of bucket {bucket} was opened")


def test_rows_that_rise_along_their_stream_open_no_blob():
    replica = Replica()
    replica.batch(jfk=rows_of(range(9)))
    replica.blobs = ClosedBlobs(replica.blobs)
    replica.batch(jfk=rows_of([8, 4, 9, 6], 9), ewr=rows_of([8, 4]))


def test_the_state_of_an_older_version_has_no_highest_positions():
    replica = Replica()
    replica.batch(jfk=rows_of([1, 2]))
    older = replica.stored.replace('"highest"', '"unknown"')
    assert decode(older, SETTINGS, 0)[1].highest == (-(2**63), -(2**63))


NAN = float("nan")
STRUCT = pa.struct([("a", pa.float64())])
MAP = pa.map_(pa.string(), pa.float64())


def odd(values: pa.Array) -> pa.Table:
    """Make two rows in one place that differ in a column of these values, or do not."""
    keys = {"ts": pa.array([2**62] * 2, SCHEMA.field("ts").type), "seq": [4, 4]}
    return pa.table({**keys, "odd": values, STREAM: np.ones(2, np.int8)})


@pytest.mark.parametrize(
    "values",
    [
        pa.array([float("nan")] * 2),
        pa.array([float("nan")] * 2, pa.float32()),
        pa.array([None] * 2, pa.float64()),
        pa.array([[1, None]] * 2),
        pa.array([[NAN, None]] * 2),
        pa.array([[[NAN], None, []]] * 2),
        pa.array([{"a": NAN}] * 2),
        pa.array([None, None], STRUCT),
        pa.array([[("k", NAN)]] * 2, MAP),
        pa.array([{"a": "b"}] * 2),
        pa.array([2**62] * 2, pa.timestamp("us", "UTC")),
    ],
)
def test_copies_are_found_whatever_their_columns_hold(values):
    kept, copies = set_apart(odd(values), [], SETTINGS)
    assert (kept.num_rows, copies.num_rows) == (1, 1)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (pa.array([float("nan"), 1.0]), r"odd \(nan and 1.0\)"),
        (pa.array([0.0, -0.0]), r"odd \(0.0 and -0.0\)"),
        (pa.array([None, 0.0]), r"odd \(None and 0.0\)"),
        (pa.array([[1, 2], [1, 3]]), r"odd \(\[1, 2\] and \[1, 3\]\)"),
        (pa.array([[0.0], [-0.0]]), r"odd \(\[0.0\] and \[-0.0\]\)"),
        (pa.array([[[1.5]], [[1.5], []]]), r"odd \(\[\[1.5\]\] and \[\[1.5\], \[\]\]\)"),
        (pa.array([None, []], pa.list_(pa.float64())), r"odd \(None and \[\]\)"),
        (pa.array([None, {"a": None}], STRUCT), r"odd \(None and .'a': None.\)"),
        (pa.array([{"a": 1.0}, {"a": 2.0}]), r"odd \(.'a': 1.0. and .'a': 2.0.\)"),
        (pa.array([[("k", 1.0)], [("k", 2.0)]], MAP), r"odd \(\[\('k', 1.0\)\] and .*2.0"),
        (pa.array(["a" * 1000, "b" * 1000]), r"aa\.\.\. and .bb+\.\.\.\)\. Their"),
        (
            pa.array([2**62, 2**61], pa.timestamp("us", "UTC")),
            r"odd \(<.*4611686018427387904> and .*\)",
        ),
    ],
)
def test_what_differs_is_told_of_any_column_and_year(values, shown):
    with pytest.raises(RepeatedPosition, match=rf"position 4 twice, at .*{shown}"):
        set_apart(odd(values), [], SETTINGS)


def test_the_first_difference_of_many_is_told():
    rows = pa.concat_tables([table([Row(1, n), Row(1, n)], "ewr") for n in range(100)])
    texts = rows["text"].to_pylist()
    texts[151] = texts[171] = "another"
    rows = rows.set_column(2, "text", pa.array(texts))
    rows = rows.append_column(STREAM, pa.array(np.zeros(200, np.int8)))
    with pytest.raises(RepeatedPosition, match="position 75 twice"):
        set_apart(rows, [], SETTINGS)


def run(spark: SparkSession, place: Path, condition: str = "true") -> None:
    """Merge what is there of two streams, but for rows that a condition leaves out."""
    frames = {
        name: spark.readStream.schema("ts timestamp, seq long, text string")
        .parquet(str(place / name))
        .where(condition)
        for name in SETTINGS.streams
    }
    merged = sunion(frames, time="ts", position="seq", bucket="10 seconds", lateness="5 seconds")
    query = reconcile(merged, place / "table", place / "checkpoint", availableNow=True)
    query.awaitTermination()


def texts(table_directory: Path) -> list[str]:
    """Read the texts of a table's rows, in order."""
    return DeltaTable(table_directory).to_pyarrow_table().sort_by("stable_id")["text"].to_pylist()


@pytest.mark.slow
def test_a_query_goes_on_when_one_of_two_rows_in_one_place_is_dropped(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_file(tmp_path, "ewr", rows_of([1, 40, 60]))
    write_file(tmp_path, "jfk", [Row(3, 4)])
    run(spark, tmp_path)
    write_file(tmp_path, "jfk", [Row(3, 4), Row(40, 5)])  # a copy of what waits
    run(spark, tmp_path)
    write_file(tmp_path, "jfk", [Row(3, 4), Row(60, 6)])  # and one of what is stable
    pq.write_table(other(Row(40, 5)), tmp_path / "jfk" / "other.parquet")
    with pytest.raises(StreamingQueryException, match="RepeatedPosition: stream 'jfk' has .* 5 tw"):
        run(spark, tmp_path)
    run(spark, tmp_path, "text <> 'another'")
    assert texts(tmp_path / "table") == ["ewr 0", "jfk 4", "ewr 1", "jfk 5"]
    assert texts(tmp_path / "table.late") == ["jfk 4", "jfk 4"]
