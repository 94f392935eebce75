"""The batches that a restored query runs again end where those of the original ended.

Without Spark but for the last test: its rounds are played here, its sources asked in any order.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings import Pipeline, Query, Replay, restore_snapshot
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.provenance import NOTES_KEPT, RERUN_KEPT, BatchNotes, Made
from streamproof.spark_bindings.checkpoints.rerun import RERUN_FILE, Rerun, write_rerun
from streamproof.spark_bindings.errors import ReplayedFreely
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, ProcessName, QueryName
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.handmade import write
from tests.spark.support.lives import feed, offset, two
from tests.spark.support.rounds import ORIGINAL, A, B, Ends, Rounds
from tests.spark.support.waiting import SECONDS_MAX

Q = QueryName("q")


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    return two(tmp_path / "p")


POSITIONS: Ends = [(2, 0), (2, 2), (2, 2), (4, 2), (4, 3)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_batches_end_where_those_of_the_original_did(
    pipeline: Pipeline, order: tuple[int, int]
) -> None:
    feed(pipeline.channel("a"), *range(6))
    feed(pipeline.channel("b"), *range(5))
    rounds = Rounds(pipeline, ORIGINAL, order)
    assert rounds.play(20) == [*POSITIONS, (6, 5)]
    feed(pipeline.channel("b"), 6)
    assert rounds.play(1)[-1] == (6, 6)  # from then on as any reader


def test_batches_that_followed_each_other_do_so_again(pipeline: Pipeline) -> None:
    """In a round without rows Spark would run a batch by which a watermark rises."""
    feed(pipeline.channel("a"), *range(4))
    rounds = Rounds(pipeline, [(1, 0), (2, 0), (2, 0), (2, 0), (3, 0)])
    assert rounds.play(3) == [(2, 0), (3, 0)]  # once they were looked for
    assert rounds.play(4)[2:] == [(3, 0), (3, 0), (4, 0)]


def test_batches_that_followed_each_other_begin_when_all_are_there(tmp_path: Path) -> None:
    made = behind(tmp_path / "p")
    feed(made.channel("a"), *range(6))
    write_rerun(
        Place.of(made.path / "queries/first"), {}, [{ChannelName("s"): 1}], {ChannelName("s"): None}
    )
    rounds = Rounds(made, [(1, 1), (1, 2)])
    feed(feeder(made.channel("b")), 1)
    assert rounds.play(3) == []
    feed(feeder(made.channel("b")), 2)
    assert rounds.play(3) == [(2, 1), (2, 2)]


def behind(path: Path) -> Pipeline:
    """A pipeline whose second channel is what another query writes."""
    return Pipeline(
        path,
        channels={"a": "x long", "b": "x long", "c": "x long", "s": "x long"},
        queries=[
            Query("first", ("s",), "b", plan=lambda rows: rows),
            Query("q", ("a", "b"), "c", plan=lambda a, b: a.union(b)),
        ],
    )


def feeder(channel: Channel) -> Channel:
    """Return a channel as the query that writes it has it."""
    return Channel(channel.place, channel.name, pipeline=channel.log.pipeline)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_batch_waits_until_all_of_it_is_there(tmp_path: Path, order: tuple[int, int]) -> None:
    """Whatever comes between two questions, of one round a batch has all or nothing."""
    made = behind(tmp_path / "p")
    feed(made.channel("a"), *range(6))
    waiting = list(range(5))
    first = made.path / "queries" / "first"
    write_rerun(Place.of(first), {}, [{ChannelName("s"): 1}], {ChannelName("s"): None})  # not over

    def one_more() -> None:
        if waiting:
            feed(feeder(made.channel("b")), waiting.pop(0))

    rounds = Rounds(made, ORIGINAL, order)
    assert rounds.play(30, one_more) == [*POSITIONS, (6, 5)]


def test_a_restart_goes_on_with_it(pipeline: Pipeline) -> None:
    feed(pipeline.channel("a"), *range(6))
    feed(pipeline.channel("b"), *range(5))
    rounds = Rounds(pipeline, ORIGINAL)
    for _ in range(12):
        rounds.play(3)
        rounds.start()
    assert rounds.batches == [*POSITIONS, (6, 5)]


def test_a_marker_of_a_new_snapshot_ends_a_batch_before(pipeline: Pipeline) -> None:
    feed(pipeline.channel("a"), 0, 1)
    pipeline.snapshot()
    feed(pipeline.channel("a"), 2, 3)
    rounds = Rounds(pipeline, [(3, 0)])
    assert rounds.play(9) == [(3, 0), (5, 0), (5, 1)]


def test_a_plan_that_was_changed_is_not_waited_for(tmp_path: Path) -> None:
    """The first query is over, and has given fewer messages than in the original."""
    made = behind(tmp_path / "p")
    feed(made.channel("a"), *range(3))
    feed(made.channel("s"), 1, 2)
    first = made.path / "queries" / "first"
    write_rerun(
        Place.of(first),
        {},
        [{ChannelName("s"): 1}, {ChannelName("s"): 2}],
        {ChannelName("s"): None},
    )
    rounds = Rounds(made, [(1, 1), (2, 2)])
    assert rounds.play(5) == []
    for batch, end in enumerate((1, 2)):
        line = json.dumps(offset(made.channel("s"), end))
        write(first / "checkpoint" / "offsets" / str(batch), f"v1\n{{}}\n{line}")
        write(first / "checkpoint" / "commits" / str(batch), "v2\n{}")
        pipeline_id = made.channel("s").log.pipeline
        assert Rerun(Place.of(first), pipeline_id).is_over() == (batch == 1)
        assert rounds.play(4) == ([] if batch == 0 else [(3, 0)])
        # So that a query behind this one does not wait for it either.
        assert Rerun(Place.of(rounds.place), pipeline_id).is_over() == (batch == 1)


# --- what a restore notes ------------------------------------------------------------------------


def snapshot_of(
    pipeline: Pipeline, ends: Ends, monkeypatch: pytest.MonkeyPatch, *, kept: int = RERUN_KEPT
) -> str:
    """Take a snapshot by hand, at (1, 0); then batches end so, in positions."""
    monkeypatch.setattr(os, "sync", lambda: None)
    directory = PipelineDirectory.open(pipeline.path)
    name = pipeline.snapshot()
    for query, inputs in directory.wiring.inputs.items():
        received = {channel: Position(1 if channel == A else 0) for channel in inputs}
        state = RecordedState(BatchId(4), received)
        directory.snapshots.save_state(name, ProcessName(query), state)
        copy = directory.snapshots.checkpoint(name, ProcessName(query))
        write((copy / "metadata").local, '{"id": "one"}')
        lines = [json.dumps(offset(pipeline.channel(c), at)) for c, at in received.items()]
        for number in ("3", "4"):
            write((copy / "offsets" / number).local, "\n".join(["v1", "{}", *lines]))
        write((copy / "commits" / "4").local, "v2\n{}")
    markers = {channel: pipeline.channel(channel).log.last() for channel in "abc"}
    directory.snapshots.complete(name, pairs=[], markers=markers, channels=[])  # type: ignore[arg-type]
    notes = BatchNotes(directory.query_place(Q) / "batches", "q", kept)
    for number, (a, b) in enumerate(ends, start=5):
        made = Made("one", BatchId(number), {A: Position(a), B: Position(b)})
        notes.write(made, Position(number) if number % 2 else None, "name")
    return name


def noted(path: Path) -> Any:
    file = path / "queries" / "q" / RERUN_FILE
    return [(end["a"], end["b"]) for end in json.loads(file.read_text())["ends"]]


def test_a_restore_notes_where_batches_ended(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        feed(pipeline.channel(name), 1, 2)
    taken = snapshot_of(pipeline, [(2, 0), (3, 2), (4, 3), (5, 3)], monkeypatch)  # 3: the marker
    for name in ("a", "b"):
        feed(pipeline.channel(name), 3, 4)
    restore_snapshot(pipeline.path, taken, into=tmp_path / "all")
    assert noted(tmp_path / "all") == [(1, 0), (1, 2), (2, 2), (3, 2)]
    restore_snapshot(pipeline.path, taken, into=tmp_path / "none", replay=Replay.NONE)
    assert noted(tmp_path / "none") == [(1, 0), (1, 2)]  # what is not fed again, nobody waits for


def test_notes_of_another_life_or_with_a_gap_are_not_used(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(pipeline.channel("a"), 1, 2, 3)
    taken = snapshot_of(pipeline, [(2, 0), (3, 0)], monkeypatch)
    (pipeline.path / "queries/q/batches/6.json").unlink()
    restore_snapshot(pipeline.path, taken, into=tmp_path / "gap")
    assert noted(tmp_path / "gap") == [(1, 0)]
    (pipeline.path / "queries/q/batches/5.json").unlink()
    restore_snapshot(pipeline.path, taken, into=tmp_path / "nothing")
    assert not (tmp_path / "nothing/queries/q" / RERUN_FILE).exists()


def test_batches_of_a_query_without_watermarks_end_where_they_like(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed(pipeline.channel("a"), 1, 2, 3)
    taken = snapshot_of(pipeline, [(2, 0), (3, 0)], monkeypatch, kept=NOTES_KEPT)
    restore_snapshot(pipeline.path, taken, into=tmp_path / "restored")
    assert not (tmp_path / "restored/queries/q" / RERUN_FILE).exists()


def test_a_query_in_a_cycle_that_has_a_watermark_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = dict.fromkeys("abc", "x long")
    queries = [
        Query("q", ("a", "b"), "b", plan=lambda a, b: a.union(b)),
        Query("r", ("b",), "c", plan=lambda b: b),
    ]
    pipeline = Pipeline(tmp_path / "p", channels=schema, queries=queries)
    feed(pipeline.channel("a"), 1, 2)
    taken = snapshot_of(pipeline, [(2, 0)], monkeypatch)
    with pytest.warns(ReplayedFreely, match="q will not end batches where the original did"):
        restore_snapshot(pipeline.path, taken, into=tmp_path / "restored")


# --- in Spark ------------------------------------------------------------------------------------


def windows(rows: DataFrame) -> DataFrame:
    timed = rows.withWatermark("ts", "10 seconds")
    return timed.dropDuplicatesWithinWatermark(["x"]).select("x", "ts")


def in_time(rows: DataFrame) -> DataFrame:
    """Pass rows on that are not late, by the watermark of the batch before."""
    return rows.withWatermark("ts", "5 seconds").dropDuplicates(["x", "ts"]).select("x", "ts")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("plan", [windows, in_time])
def test_a_row_that_was_late_is_late_again(
    spark: SparkSession, tmp_path: Path, plan: Callable[[DataFrame], DataFrame]
) -> None:
    row = "x long, ts timestamp"
    made = Pipeline(
        tmp_path / "p",
        channels={"a": row, "b": row, "c": row},
        queries=[
            Query("q", ("a",), "b", plan=plan),
            Query("r", ("b",), "c", plan=in_time),
        ],
    )

    def append(pipeline: Pipeline, x: int, second: int) -> None:
        table = pa.table({"x": [x], "ts": [datetime.fromtimestamp(second, UTC)]})
        pipeline.channel("a").append(table)

    append(made, 0, 10)
    taken = made.snapshot()
    with made.start(spark):
        made.await_snapshot(taken, SECONDS_MAX)
        for x, second in enumerate((20, 100, 21, 101, 22, 200, 102, 150), start=1):
            append(made, x, second)
            made.await_idle(SECONDS_MAX)
    expected = made.channel("c").rows().to_pylist()
    assert len(expected) < 9  # some were late
    restored = made.restore(taken, into=tmp_path / "restored")
    with restored.start(spark):
        restored.await_idle(SECONDS_MAX)
    assert restored.channel("c").rows().to_pylist() == expected


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("pauses", [True, False])
def test_a_watermark_rises_where_it_did(spark: SparkSession, tmp_path: Path, pauses: bool) -> None:
    """By a batch without rows too: also right behind the cut, and only where there was one."""
    row = "x long, ts timestamp"
    query = Query("q", ("a",), "b", plan=windows, commits_per_batch_max=1)
    made = Pipeline(tmp_path / "p", channels={"a": row, "b": row}, queries=[query])

    def append(x: int, second: int) -> None:
        table = pa.table({"x": [x], "ts": [datetime.fromtimestamp(second, UTC)]})
        made.channel("a").append(table)

    append(0, 100)
    taken = made.snapshot()
    late = list(enumerate((20, 200, 150, 300, 220), start=1))
    for x, second in [] if pauses else late:
        append(x, second)
    with made.start(spark):
        made.await_snapshot(taken, SECONDS_MAX)
        made.await_idle(SECONDS_MAX)
        for x, second in late if pauses else []:
            append(x, second)
            made.await_idle(SECONDS_MAX)
    expected = made.channel("b").rows()["x"].to_pylist()
    # Without a pause it rises one batch later; but the marker has a batch of its own.
    assert expected == ([0, 2, 4] if pauses else [0, 2, 3, 4, 5])
    restored = made.restore(taken, into=tmp_path / "restored")
    with restored.start(spark):
        restored.await_idle(SECONDS_MAX)
    assert restored.channel("b").rows()["x"].to_pylist() == expected
