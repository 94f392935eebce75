"""A reader refuses an offset that is not its own, before Spark writes anything.

Without Spark: what its planner asks is asked here, and what Spark keeps is written by hand.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.channels.source import OutsideReader
from streamproof.spark_bindings.checkpoints.planned_sources import check_inputs
from streamproof.spark_bindings.errors import (
    ChannelDamaged,
    DamagedFile,
    UnknownFormat,
    WrongCheckpoint,
)
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.storage.synced_commits import commit_file
from tests.spark.support.lives import checkpoint, feed, lose, offset, opened, planned, reader, two


@pytest.fixture
def made(tmp_path: Path) -> Pipeline:
    """Return a pipeline with three commits in either input."""
    pipeline = two(tmp_path / "p")
    for name in ("a", "b"):
        feed(pipeline.channel(name), 1, 2, 3)
    return pipeline


def test_a_plan_rewritten_from_a_union_b_to_b_union_a(made: Pipeline, tmp_path: Path) -> None:
    a, b = made.channel("a"), made.channel("b")
    kept = checkpoint(tmp_path / "ck", [offset(a, 1), offset(b, 3)])
    with pytest.raises(WrongCheckpoint, match=r"channel 'b' says of its place in the plan: .*'a'"):
        check_inputs(planned(b, a), kept)
    check_inputs(planned(a, b), kept)  # the old plan goes on


def test_a_source_itself_refuses_another_channels_offset(made: Pipeline) -> None:
    a, b = made.channel("a"), made.channel("b")
    with pytest.raises(WrongCheckpoint, match="channel 'b' says"):
        reader(b).latestOffset(offset(a, 1), None)
    with pytest.raises(WrongCheckpoint, match="channel 'b' says"):
        reader(b).partitions(offset(b, 0), offset(a, 1))
    end = reader(b).latestOffset(offset(b, 1), None)
    assert end == offset(b, 3)
    assert reader(b).latestOffset(end, None) is end


@pytest.mark.parametrize(
    ("before", "now"),
    [("ab", "a"), ("a", "ab"), ("ab", "abb"), ("ab", "ac"), ("aab", "aba")],
    ids=["removed", "added", "used twice", "renamed", "of three"],
)
def test_inputs_of_another_plan(made: Pipeline, tmp_path: Path, before: str, now: str) -> None:
    kept = checkpoint(tmp_path / "ck", [offset(made.channel(name), 0) for name in before])
    with pytest.raises(WrongCheckpoint, match="Nothing was written"):
        check_inputs(planned(*map(made.channel, now)), kept)


def test_an_input_that_is_no_channel_any_more(made: Pipeline, tmp_path: Path) -> None:
    kept = checkpoint(tmp_path / "ck", [offset(made.channel("a"), 1)])
    with pytest.raises(WrongCheckpoint, match="an input that reads no channel"):
        check_inputs([None], kept)
    kept = checkpoint(tmp_path / "files", [{"logOffset": -1}])
    with pytest.raises(WrongCheckpoint, match="channel 'a' says"):
        check_inputs(planned(made.channel("a")), kept)


def test_a_batch_under_way_begins_where_the_one_before_ended(
    made: Pipeline, tmp_path: Path
) -> None:
    a, b = made.channel("a"), made.channel("b")
    kept = checkpoint(tmp_path / "ck", [offset(b, 1)], [offset(a, 2)])
    with pytest.raises(WrongCheckpoint):
        check_inputs(planned(a), kept)


def test_an_offset_of_another_pipeline(made: Pipeline, tmp_path: Path) -> None:
    other = two(tmp_path / "other").channel("a")
    feed(other, 1, 2, 3)
    for kind in (OutsideReader, type(reader(other))):
        with pytest.raises(WrongCheckpoint, match="is of pipeline .*restored"):
            reader(other, kind).latestOffset(offset(made.channel("a"), 1), None)


def test_an_offset_of_0_1_0_is_of_its_pipeline_unless_that_was_restored(made: Pipeline) -> None:
    a, old = made.channel("a"), {"channel": "a", "position": 3}
    assert reader(a).latestOffset(old, None) is old
    assert reader(a, OutsideReader).latestOffset(old, None) is old
    file = made.path / "pipeline.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "origin": {"snapshot": "000001"}}))
    assert reader(a).latestOffset(old, None) is old
    with pytest.raises(WrongCheckpoint, match="0.1.0 wrote it"):
        reader(a, OutsideReader).latestOffset(old, None)


@pytest.mark.parametrize("lost", [(3,), (2, 3), (1, 2, 3)], ids=["one", "two", "all"])
def test_the_newest_commits_disappear_while_the_reader_is_down(
    made: Pipeline, tmp_path: Path, lost: tuple[int, ...]
) -> None:
    a, b = made.channel("a"), made.channel("b")
    kept = checkpoint(tmp_path / "ck", [offset(a, 3), offset(b, 3)])
    asked = offset(a, 3)
    lose(a, *lost)
    left = 3 - len(lost)
    with pytest.raises(ChannelDamaged, match=f"read up to commit 3, but the newest .* is {left}"):
        check_inputs(planned(a, b), kept)
    with pytest.raises(ChannelDamaged, match="has lost commits"):
        reader(a).latestOffset(asked, None)


def test_a_commit_that_took_the_place_of_a_lost_one(made: Pipeline, tmp_path: Path) -> None:
    a = made.channel("a")
    kept, asked = checkpoint(tmp_path / "ck", [offset(a, 3)]), offset(a, 3)
    lose(a, 2, 3)
    feed(opened(a), 20, 30, 40)
    with pytest.raises(ChannelDamaged, match="others took their place"):
        check_inputs(planned(a), kept)
    with pytest.raises(ChannelDamaged, match="others took their place"):
        reader(a).latestOffset(asked, None)


def test_a_reader_notices_a_loss_while_it_runs(made: Pipeline) -> None:
    a = made.channel("a")
    running, end = reader(a), offset(a, 3)
    assert running.latestOffset(end, None) is end
    lose(a, 3)
    with pytest.raises(ChannelDamaged, match="has lost commits"):
        running.latestOffset(end, None)


def test_a_commit_behind_the_reader_that_is_missing(made: Pipeline, tmp_path: Path) -> None:
    a = made.channel("a")
    kept = checkpoint(tmp_path / "ck", [offset(a, 1)])
    lose(a, 2)  # nobody would ever read the third
    with pytest.raises(ChannelDamaged, match="has no commit 2"):
        check_inputs(planned(a), kept)


@pytest.mark.parametrize("lines", [0, 1, 2])
def test_the_newest_commit_is_cut(made: Pipeline, tmp_path: Path, lines: int) -> None:
    a = made.channel("a")
    a.append(a.rows().slice(0, 1), producer="bridge", sequence=1)
    kept = checkpoint(tmp_path / "ck", [offset(a, 1)])
    file = commit_file(a.place, Position(4))
    whole = file.local.read_text().splitlines(keepends=True)
    assert len(whole) == 3
    file.local.write_text("".join(whole[:lines]))
    with pytest.raises(DamagedFile, match="00004.json"):
        check_inputs(planned(a), kept)
    with pytest.raises(DamagedFile):
        opened(a)


def test_an_offset_of_a_later_version(made: Pipeline, tmp_path: Path) -> None:
    a = made.channel("a")
    later = {**offset(a, 1), FORMAT_KEY: FORMAT + 1}
    with pytest.raises(UnknownFormat, match="is of format 3; this version"):
        check_inputs(planned(a), checkpoint(tmp_path / "ck", [later]))
    with pytest.raises(UnknownFormat):
        reader(a).latestOffset(later, None)


def test_a_restored_pipeline_refuses_an_outside_readers_old_checkpoint(
    made: Pipeline, tmp_path: Path
) -> None:
    """Its channels have the same positions, and behind the cut other rows."""
    shutil.copytree(made.path, tmp_path / "copy")
    file = tmp_path / "copy" / "pipeline.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "id": "another"}))
    restored = two(tmp_path / "copy").channel("a")
    kept = checkpoint(tmp_path / "ck", [offset(made.channel("a"), 1)])
    with pytest.raises(WrongCheckpoint, match="of pipeline another is of pipeline"):
        check_inputs(planned(restored, outside=True), kept)


def ends(source: OutsideReader, start: dict[str, Any]) -> list[int]:
    """Ask for batches until nothing is new."""
    found = [start["position"]]
    while (end := source.latestOffset(start, None)) is not start:
        found.append(end["position"])
        start = end
    return found


def test_an_outside_reader_passes_markers_and_reads_all_that_was_available(made: Pipeline) -> None:
    a = made.channel("a")
    made.snapshot()
    feed(a, 5, 6)
    assert ends(reader(a), offset(a, 0)) == [0, 4, 6]  # a query of the pipeline ends at the marker
    source = OutsideReader(str(a.place), a.log.pipeline, "a", ["x"], 2, None)
    source.prepareForTriggerAvailableNow()
    feed(a, 7)
    assert ends(source, offset(a, 0)) == [0, 2, 4, 6]
    assert source.latestOffset(offset(a, 7), None) == offset(a, 7)
