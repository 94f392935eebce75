"""What happens while rows of a channel go: other vacuums, catch-up, readers, and who removes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from unittest.mock import ANY

import pytest

from streamproof.certified.record import DIRECTORY_VARIABLE
from streamproof.spark_bindings import remove_snapshot, vacuum
from streamproof.spark_bindings.channels.source import ChannelReader
from streamproof.spark_bindings.errors import (
    AbandonedSnapshot,
    CopyRuns,
    PurgedCheckpoint,
    UnverifiedProtocol,
    VacuumedRows,
)
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles, SnapshotStatus
from streamproof.spark_bindings.names import ChannelName, Position, ProcessName, Turn
from streamproof.spark_bindings.processes.order_log import Choice, OrderLog
from streamproof.spark_bindings.standby.catch_up import CaughtUp, catch_up
from streamproof.spark_bindings.storage.failpoints import Failpoint, RaceFailpoint, armed
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.handmade import ONE, spark_checkpoint
from tests.spark.support.retained import complete, left, pair_at, pipeline_at, snapshot_by_hand
from tests.spark.support.snapshots_by_hand import collector_of


def lose_order(path: Path, begin: int) -> None:
    """Leave choices from a turn on alone, so that a copy behind it cannot follow."""
    for turn in (begin, begin + 1):
        OrderLog(path / "queries/q/order").settle(
            Turn(turn), Choice(ChannelName("a"), Position(turn))
        )


def replace(path: Path, copy: Copy = Copy.B) -> CaughtUp:
    return catch_up(PairDirectory(Place.of(path / "queries/q")), copy, path / "channels/b", 0.05)


def go_on(other: Path, last: int) -> Callable[[str], object]:
    """Return what lets the other copy go on."""
    return lambda _: spark_checkpoint(other, last=last)


def check_that_only_the_older_state_counts(path: Path, lost: Copy) -> None:
    """A copy that had six commits is in a state with two of them, the other in one with five."""
    assert vacuum(path)[0].until == 2
    spark_checkpoint(path / f"queries/q/{lost.value}/checkpoint", last=4)
    assert vacuum(path)[0].until == 5


@pytest.mark.parametrize("lost", Copy)
def test_a_copy_that_is_given_an_older_state_acknowledges_nothing_meanwhile(
    tmp_path: Path, lost: Copy
) -> None:
    taken = (6, 2) if lost is Copy.A else (2, 6)
    path = pair_at(tmp_path / "p", *taken).path
    lose_order(path, 8)

    def meanwhile(copied: str) -> None:
        spark_checkpoint(path / f"queries/q/{copied}/checkpoint", last=4)
        assert vacuum(path)[0].until == 0

    with armed(Failpoint.CHECKPOINT_LINKED, meanwhile, where=lost.other.value):
        assert replace(path, lost).is_transferred
    check_that_only_the_older_state_counts(path, lost)


def test_what_a_copy_has_answered_does_not_count_if_it_is_replaced_before_the_other_answers(
    tmp_path: Path,
) -> None:
    path = pair_at(tmp_path / "p", 6, 2).path
    lose_order(path, 8)

    def be_replaced(_: str) -> None:
        assert replace(path, Copy.A).is_transferred

    with (
        armed(RaceFailpoint.COPY_ACKNOWLEDGED, be_replaced, where="A"),
        armed(Failpoint.CHECKPOINT_LINKED, go_on(path / "queries/q/B/checkpoint", 4)),
    ):
        assert vacuum(path)[0].until == 0
    check_that_only_the_older_state_counts(path, Copy.A)


def test_a_copy_begins_behind_what_was_discarded_just_before_it_was_to_be_replaced(
    tmp_path: Path,
) -> None:
    path = pair_at(tmp_path / "p", 2, 6).path
    lose_order(path, 8)

    def acknowledge(_: str) -> None:
        spark_checkpoint(path / "queries/q/A/checkpoint", last=4)
        assert vacuum(path)[0].until == 5

    with armed(RaceFailpoint.CATCH_UP_BEGUN, acknowledge):
        assert replace(path) == CaughtUp(Turn(5), is_transferred=True, seconds=ANY)


def test_a_transfer_that_failed_acknowledges_again_once_the_copy_goes_on(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    lose_order(pipeline.path, 8)
    other = pipeline.path / "queries/q/A"
    (other / "checkpoint/offsets/3").rename(tmp_path / "gone")
    with pytest.raises(PurgedCheckpoint):
        replace(pipeline.path)
    (tmp_path / "gone").rename(other / "checkpoint/offsets/3")
    assert vacuum(pipeline.path)[0].until == 0
    lose_order(pipeline.path, 2)
    for turn in range(2, 9):
        lose_order(pipeline.path, turn)
    assert not replace(pipeline.path).is_transferred
    assert vacuum(pipeline.path)[0].until == 3


def test_of_two_vacuums_one_is_refused(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)

    def vacuum_again(_: str) -> None:
        with pytest.raises(CopyRuns, match=r"vacuum of .*p is run by process \d+"):
            vacuum(pipeline.path)
        assert vacuum(pipeline.path, dry_run=True)[0].until == 3

    with armed(RaceFailpoint.COMMIT_TRIED, vacuum_again, where="a"):
        assert vacuum(pipeline.path)[0].commits == 3
    assert vacuum(pipeline.path)[0].commits == 0


def test_a_query_that_begins_anew_is_told_that_its_rows_were_vacuumed(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    channel = pipeline.channel("a")
    stored = json.loads((pipeline.path / "pipeline.json").read_text())
    reader = ChannelReader(str(channel.place), stored["id"], "a", ["x"], 10, None)
    vacuum(pipeline.path)
    ends = [{"channel": "a", "position": number} for number in (0, 2, 3, 6)]
    for start in ends[:2]:
        with pytest.raises(VacuumedRows, match=r"up to position 3 .*restore a snapshot"):
            reader.partitions(start, ends[2])
    (part,) = reader.partitions(ends[2], ends[3])
    assert [row for rows in reader.read(part) for row in rows["x"].to_pylist()] == [4, 5, 6]


def test_rows_that_go_while_they_are_read_were_vacuumed(tmp_path: Path) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    with (
        armed(RaceFailpoint.ROWS_FOUND, lambda _: vacuum(pipeline.path), where="a"),
        pytest.raises(VacuumedRows, match="up to position 3"),
    ):
        pipeline.channel("a").rows()


def test_a_snapshot_that_is_removed_is_not_restored_at_any_moment(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    complete(pipeline)
    with (
        armed(
            RaceFailpoint.CHANNEL_CLONED, lambda _: remove_snapshot(pipeline.path, ONE), where="b"
        ),
        pytest.raises(AbandonedSnapshot, match="it was removed"),
    ):
        pipeline.restore(ONE, into=tmp_path / "r")
    assert [place.name for place in tmp_path.iterdir()] == ["p"]


def test_a_snapshot_that_is_removed_is_never_completed(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    with armed(RaceFailpoint.SNAPSHOT_UNSETTLED, lambda _: remove_snapshot(pipeline.path, ONE)):
        complete(pipeline)
    (found,) = pipeline.snapshots()
    assert (found.status, found.reason) == (SnapshotStatus.ABANDONED, "it was removed")
    assert (found.completed_at, found.channels) == (None, ())


def test_a_snapshot_is_removed_while_its_checkpoints_are_copied(tmp_path: Path) -> None:
    pipeline = snapshot_by_hand(tmp_path / "p")
    with armed(Failpoint.CHECKPOINT_LINKED, lambda _: remove_snapshot(pipeline.path, ONE)):
        assert not collector_of(pipeline).collect()
    assert (
        not SnapshotFiles(pipeline.path / "snapshots")
        .checkpoint(ONE, ProcessName("q"))
        .local.exists()
    )


def test_a_query_that_never_ran_keeps_everything(tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    assert vacuum(pipeline.path)[0].until == 0
    assert left(pipeline) == [1, 2, 3, 4, 5, 6]


def test_a_machine_that_was_changed_discards_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = pair_at(tmp_path / "p", 4, 3)
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    with pytest.raises(UnverifiedProtocol, match="flux"):
        vacuum(pipeline.path)
    assert left(pipeline) == [1, 2, 3, 4, 5, 6]
