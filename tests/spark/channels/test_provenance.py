"""Commits and notes name what they were made from; whoever starts or repeats a batch compares."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Transaction

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.provenance import NOTES_KEPT, BatchNotes, Made
from streamproof.spark_bindings.errors import ChannelDamaged, FencedDriver, WrongCheckpoint
from streamproof.spark_bindings.names import BatchId, ChannelName, Position
from streamproof.spark_bindings.pipelines.continuation import OutputCheck
from streamproof.spark_bindings.storage.parquet_files import write_file
from tests.spark.support.lives import checkpoint, feed, lose, offset, opened, two

A, B = ChannelName("a"), ChannelName("b")


class Query:
    """A query of two inputs, whose batches are run by hand."""

    def __init__(self, path: Path, life: str = "one") -> None:
        self.pipeline = two(path / "p")
        for name in ("a", "b"):
            feed(self.pipeline.channel(name), 1, 2, 3)
        self.path, self.life = path, life
        self.output = self.pipeline.channel("c")
        self.notes = BatchNotes(path / "batches", "q")
        self.read: list[tuple[int, int]] = []

    def run(self, a: int, b: int, *, rows: int = 1, noted: bool = True) -> None:
        """Run a batch that reads up to here, and gives so many rows."""
        self.read.append((a, b))
        made = self.made(len(self.read) - 1)
        entry = commit(self.output, made, rows) if rows else None
        if noted:
            position, name = (None, None) if entry is None else (entry.position, entry.commit)
            self.notes.write(made, position, name)

    def made(self, batch: int) -> Made:
        a, b = self.read[batch]
        return Made(self.life, BatchId(batch), {A: Position(a), B: Position(b)})

    def check(self, *replaced: tuple[int, int], life: str | None = None) -> None:
        """Check a start, with a checkpoint as of all batches but for what was replaced."""
        ends = [*self.read[: len(self.read) - len(replaced)], *replaced]
        channels = self.pipeline.channel("a"), self.pipeline.channel("b")
        offsets = [[offset(c, at) for c, at in zip(channels, end, strict=True)] for end in ends]
        kept = checkpoint(self.path / "ck", *offsets, life=life or self.life)
        OutputCheck("q", kept, self.notes, self.output.log).check()


def commit(channel: Channel, made: Made, rows: int = 1) -> object:
    """Append the rows of a batch as `append_once` does."""
    table = pa.table({"x": pa.array(range(rows), pa.int64())}, schema=channel.schema)
    file = write_file(channel.place, "rows", channel.schema, iter(table.to_batches()))
    assert file is not None
    channel._table.update_incremental()
    return channel._commit([file], Transaction(made.life, made.batch), made.metadata())


@pytest.fixture
def query(tmp_path: Path) -> Query:
    return Query(tmp_path)


def test_a_query_goes_on_where_it_was(query: Query) -> None:
    query.check()
    query.run(1, 0)
    query.run(1, 2, rows=0)
    query.check()
    query.run(3, 3, noted=False)  # killed behind the commit
    query.check()


@pytest.mark.parametrize("rows", [1, 0], ids=["with rows", "without rows"])
@pytest.mark.parametrize("end", [(1, 1), (2, 1), (1, 3)], ids=["earlier", "other", "later"])
def test_offsets_that_a_frozen_driver_replaced(
    query: Query, rows: int, end: tuple[int, int]
) -> None:
    query.run(1, 0)
    query.run(1, 2, rows=rows)
    with pytest.raises(FencedDriver, match="Two drivers ran this batch"):
        query.check(end)


def test_offsets_that_were_replaced_ahead_of_the_note(query: Query) -> None:
    query.run(1, 0)
    query.run(1, 2, noted=False)
    with pytest.raises(FencedDriver, match="Two drivers ran this batch"):
        query.check((1, 3))


def test_a_frozen_driver_that_goes_on_is_told(query: Query) -> None:
    query.run(1, 0)
    query.run(1, 2, rows=0)
    other = Made("one", BatchId(1), {A: Position(1), B: Position(3)})
    with pytest.raises(FencedDriver, match=r"'b': 3.*says that it had read up to .*'b': 2"):
        query.notes.write(other, None, None)
    with pytest.raises(FencedDriver):
        query.notes.check(other)
    query.notes.check(query.made(1))


def test_a_repeated_batch_is_compared_with_its_commit(query: Query) -> None:
    query.run(1, 0, noted=False)
    assert query.output._require_agreed(query.made(0)) is not None
    other = Made("one", BatchId(0), {A: Position(2), B: Position(0)})
    with pytest.raises(FencedDriver, match="commit 1 of channel 'c' says"):
        query.output._require_agreed(other)


@pytest.mark.parametrize("lost", [(3,), (2, 3), (1, 2, 3)], ids=["one", "two", "all"])
def test_an_output_channel_behind_its_writer(query: Query, lost: tuple[int, ...]) -> None:
    for number in (1, 2, 3):
        query.run(number, number)
    query.run(3, 3, rows=0)
    lose(query.output, *lost)
    with pytest.raises(ChannelDamaged, match=f"as commit 3, but the channel ends at {lost[0] - 1}"):
        query.check()


def test_an_output_channel_with_another_commit_in_the_place(query: Query) -> None:
    query.run(1, 1)
    query.run(2, 2)
    lose(query.output, 2)
    query.output = opened(query.output)
    commit(query.output, Made("another", BatchId(7), {}))
    query.output.log.entry(Position(2))
    with pytest.raises((ChannelDamaged, WrongCheckpoint)):
        query.check()


def test_a_checkpoint_that_is_gone(query: Query, tmp_path: Path) -> None:
    query.run(1, 1)
    kept = checkpoint(tmp_path / "empty")
    (kept.place / "metadata").local.unlink()
    with pytest.raises(WrongCheckpoint, match="the checkpoint is gone"):
        OutputCheck("q", kept, query.notes, query.output.log).check()
    fresh = BatchNotes(tmp_path / "none", "q")  # the whole directory of the query
    with pytest.raises(WrongCheckpoint, match="the checkpoint is gone"):
        OutputCheck("q", kept, fresh, query.output.log).check()


def test_a_checkpoint_of_another_life(query: Query) -> None:
    query.run(1, 1)
    with pytest.raises(WrongCheckpoint, match="a life one of it, and .* of the life two"):
        query.check(life="two")


def test_a_checkpoint_that_is_older(query: Query) -> None:
    query.run(1, 1)
    query.check()
    kept = checkpoint(query.path / "ck")
    query.run(2, 2, rows=0)
    with pytest.raises(WrongCheckpoint, match="has written batch 1, and the checkpoint knows 0"):
        OutputCheck("q", kept, query.notes, query.output.log).check()


def test_what_the_original_has_written_says_nothing_of_a_restored_query(
    query: Query, tmp_path: Path
) -> None:
    query.run(1, 1)
    file = query.pipeline.path / "pipeline.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "id": "restored"}))
    restored: Pipeline = two(query.pipeline.path)
    kept = checkpoint(tmp_path / "new", life="new")
    OutputCheck("q", kept, BatchNotes(tmp_path / "n", "q"), restored.channel("c").log).check()


def test_what_others_commit_hides_nothing(query: Query) -> None:
    """A vacuum's commit, or a marker of another version, says nothing of a batch."""
    query.run(1, 1, noted=False)
    table = DeltaTable(query.output.place.local)
    table.create_write_transaction([], "append", table.schema())
    with pytest.raises(WrongCheckpoint, match="a life one of it"):
        query.check(life="two")


def test_notes_are_bounded(tmp_path: Path) -> None:
    notes = BatchNotes(tmp_path, "q")
    for batch in range(NOTES_KEPT + 5):
        notes.write(Made("one", BatchId(batch), {}), None, None)
    assert [note.made.batch for note in notes.newest()] == list(range(NOTES_KEPT + 4, 4, -1))
