"""With `availableNow`, a reader outside of the pipeline reads all that was there, past markers.

A channel has more commits than one batch takes, and markers among them. Most of its commits are
made by hand: each is a copy of one that `append` has made, with a data file of its own.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.source import COMMITS_MAX, ChannelSource
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.schema import spark_schema
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.sunion import reconcile
from tests.spark.support.lives import feed, opened, two

MANY = COMMITS_MAX + 100
FIRST_MARKER, LAST_MARKER = 3, MANY + 1
MERGED = "seq long, tuple_type string, stable_id long"


Row = Callable[[int], pa.Table]


def plain_row(number: int) -> pa.Table:
    return pa.table({"x": [number]})


def merged_row(number: int) -> pa.Table:
    return pa.table({"seq": [number], "tuple_type": ["INSERTION"], "stable_id": [number]})


def copy_commits(made: Channel, until: int, row: Row) -> None:
    """Go on from the first commit up to a position; each has a row, with its number."""
    entry = made.log.entry(Position(1))
    text, old = commit_file(made.place, Position(1)).local.read_text(), entry.files[0].path
    for position in range(made.log.last() + 1, until + 1):
        name = f"feed-{position:032}.parquet"
        pq.write_table(row(position), (made.place / name).local)
        commit = text.replace(old, name).replace(str(entry.commit), f"{position:032}")
        commit_file(made.place, Position(position)).local.write_text(commit)


def lengthen(open_one: Callable[[], Pipeline], name: str, row: Row) -> Channel:
    """Return a channel of which each commit has a row with its number, but for two markers."""
    made = open_one()
    for number in (1, 2):
        made.channel(name).append(row(number))
    assert made.snapshot() == "000001"
    copy_commits(opened(made.channel(name)), MANY, row)
    made = open_one()
    assert made.snapshot() == "000002"
    found = made.channel(name)
    found.append(row(LAST_MARKER + 1))
    log = found.log
    markers = [entry.position for entry in log.entries(Position(0), log.last()) if entry.marker]
    assert markers == [FIRST_MARKER, LAST_MARKER]
    return found


@pytest.fixture
def long(tmp_path: Path) -> Channel:
    """Return a channel of plain rows."""
    return lengthen(lambda: two(tmp_path / "p"), "a", plain_row)


def rows_of(stop: int) -> list[int]:
    """Return the rows up to a position, in order."""
    return [row for row in range(1, stop + 1) if row not in (FIRST_MARKER, LAST_MARKER)]


def reader_of(made: Channel) -> Any:
    """Make the reader that Spark's planner makes of `stream()`, and hand it over as it does."""
    session = mock.MagicMock(spec=SparkSession)
    session._jsparkSession = mock.MagicMock()  # which knows the source already
    options: dict[str, str] = {}

    def option(key: str, value: str) -> mock.MagicMock:
        options[key] = value
        return asked

    asked = session.readStream
    for call in (asked.format, asked.schema):
        call.return_value = asked
    asked.option.side_effect = option
    made.stream(session)
    found = ChannelSource(options).streamReader(spark_schema(made.schema))
    return pickle.loads(pickle.dumps(found))


def test_the_reader_of_a_stream_gives_all_that_was_available(long: Channel) -> None:
    """As Spark asks: what is there, once; then for a batch after the other, until none is new."""
    source = reader_of(long)
    assert isinstance(source, SupportsTriggerAvailableNow)
    source.prepareForTriggerAvailableNow()
    feed(long, LAST_MARKER + 2)
    found, ends = [], []
    start = source.initialOffset()
    while (end := source.latestOffset(start, source.getDefaultReadLimit())) != start:
        ends.append(end["position"])
        for part in source.partitions(start, end):
            worker = pickle.loads(pickle.dumps(source))
            for batch in worker.read(part):
                found += batch.to_pydict()["x"]
        start = end
    assert ends == [COMMITS_MAX, LAST_MARKER + 1]
    assert found == rows_of(LAST_MARKER + 1)


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_query_over_a_stream_reads_all_that_was_available(
    spark: SparkSession, long: Channel, tmp_path: Path
) -> None:
    found: list[list[int]] = []

    def keep(rows: DataFrame, _: int) -> None:
        found.append(rows.toArrow()["x"].to_pylist())

    for _ in range(2):  # the second time, there is one commit more
        writer = long.stream(spark).writeStream.foreachBatch(keep).trigger(availableNow=True)
        writer.option("checkpointLocation", str(tmp_path / "ck")).start().awaitTermination()
        feed(long, long.log.last() + 1)
    assert [row for rows in found for row in rows] == rows_of(LAST_MARKER + 2)
    assert [len(rows) for rows in found] == [COMMITS_MAX - 1, 100 + 1, 1]


def source_of_a_merge(path: Path) -> Pipeline:
    """A channel of merged rows that somebody else appends; a query is behind it."""
    query = Query("q", ("merged",), "out", plan=lambda rows: rows)
    return Pipeline(path, channels={"merged": MERGED, "out": MERGED}, queries=[query])


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_table_of_a_channel_with_markers_has_all_that_was_available(
    spark: SparkSession, tmp_path: Path
) -> None:
    merged = lengthen(lambda: source_of_a_merge(tmp_path / "p"), "merged", merged_row)
    for end in (LAST_MARKER + 1, LAST_MARKER + 2):
        stream, places = merged.stream(spark), (tmp_path / "table", tmp_path / "ck")
        reconcile(stream, *places, availableNow=True).awaitTermination()
        rows = DeltaTable(tmp_path / "table").to_pyarrow_table()["seq"].to_pylist()
        assert sorted(rows) == rows_of(end)
        merged.append(merged_row(end + 1))
