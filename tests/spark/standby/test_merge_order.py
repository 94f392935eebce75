"""Both copies take the same turns, whoever chooses them, and whenever a source is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamproof.spark_bindings import Query
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import InconsistentCut, PurgedCheckpoint
from streamproof.spark_bindings.names import ChannelName, Position, Turn
from streamproof.spark_bindings.processes.order_log import Choice, OrderLog
from streamproof.spark_bindings.standby.merge_order import MergeOrder
from streamproof.spark_bindings.standby.turn_source import TurnReader
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import stored_schema

LEFT, RIGHT = ChannelName("left"), ChannelName("right")
SCHEMA = stored_schema("id long", "channel 'left'")
QUERY = Query(
    "q", inputs=("left", "right"), output="out", plan=lambda left, _: left, commits_per_batch_max=2
)


def channels(path: Path) -> dict[ChannelName, Channel]:
    for name in (LEFT, RIGHT):
        if not (path / name).exists():
            Channel.create(Place.of(path / name), SCHEMA)
    return {name: Channel(path / name, name, pipeline="p") for name in (LEFT, RIGHT)}


def merging(path: Path, taken: int = 0, **received: int) -> MergeOrder:
    inputs = {name: channel.log for name, channel in channels(path).items()}
    order = OrderLog(path / "order")
    order.begin(LEFT)
    positions = {ChannelName(lane): Position(end) for lane, end in received.items()}
    return MergeOrder(QUERY, inputs, order, taken=Turn(taken), received=positions)


def append(path: Path, lane: ChannelName, commits: int) -> None:
    for number in range(commits):
        channels(path)[lane].append(pa.table({"id": [number]}))


def take(part: MergeOrder, turn: int, left: int, right: int) -> None:
    part.take(Turn(turn), {LEFT: Position(left), RIGHT: Position(right)})


def leader(path: Path) -> MergeOrder:
    """Make a copy that leads, behind the first turn, which takes nothing."""
    part = merging(path)
    take(part, 0, 0, 0)
    part.on_twin_failure()
    assert part.take_over()
    return part


def test_a_leader_chooses_lanes_in_turn_and_no_more_than_a_batch_may_hold(tmp_path: Path) -> None:
    append(tmp_path, LEFT, 3)
    append(tmp_path, RIGHT, 1)
    part, order = leader(tmp_path), OrderLog(tmp_path / "order")
    while part.choose():
        pass
    chosen = [order.choice(Turn(turn)) for turn in range(5)]
    assert chosen == [Choice(LEFT, 0), Choice(LEFT, 2), Choice(RIGHT, 1), Choice(LEFT, 3), None]


def test_a_copy_that_does_not_lead_chooses_nothing(tmp_path: Path) -> None:
    append(tmp_path, LEFT, 1)
    assert not merging(tmp_path).choose()
    assert OrderLog(tmp_path / "order").choice(Turn(1)) is None


def test_a_follower_takes_what_was_chosen_then_leads(tmp_path: Path) -> None:
    append(tmp_path, LEFT, 3)
    first, second = leader(tmp_path), merging(tmp_path)
    assert first.choose()
    assert first.choose()
    second.on_twin_failure()
    take(second, 0, 0, 0)
    assert not second.take_over()
    take(second, 1, 2, 0)
    assert not second.take_over()  # the log is not finished
    take(second, 2, 3, 0)
    assert second.take_over()
    append(tmp_path, RIGHT, 1)
    assert second.choose()
    assert OrderLog(tmp_path / "order").choice(Turn(3)) == Choice(RIGHT, 1)


def test_of_two_that_believe_to_lead_the_second_takes_the_choice_of_the_first(
    tmp_path: Path,
) -> None:
    first, second = leader(tmp_path), leader(tmp_path)
    append(tmp_path, LEFT, 1)
    assert first.choose()
    append(tmp_path, LEFT, 1)
    append(tmp_path, RIGHT, 1)
    assert second.choose()
    take(second, 1, 1, 0)
    assert second.next == 2


def test_a_choice_that_comes_between_looking_and_writing_stands(tmp_path: Path) -> None:
    append(tmp_path, LEFT, 2)
    part, order = leader(tmp_path), OrderLog(tmp_path / "order")
    append(tmp_path, RIGHT, 1)

    def be_faster(lane: str) -> None:
        assert lane == LEFT
        order.settle(Turn(1), Choice(RIGHT, Position(1)))

    with armed(RaceFailpoint.TURN_CHOSEN, be_faster):
        assert part.choose()
    take(part, 1, 0, 1)


def test_a_batch_that_did_not_read_its_turn_is_refused(tmp_path: Path) -> None:
    append(tmp_path, LEFT, 1)
    part = leader(tmp_path)
    assert part.choose()
    with pytest.raises(InconsistentCut, match="batch 1 .*'left': 0"):
        take(part, 1, 0, 0)


def test_a_copy_that_was_away_for_too_long_is_told(tmp_path: Path) -> None:
    part = merging(tmp_path)
    OrderLog(tmp_path / "order").remove_before(Turn(1))
    with pytest.raises(PurgedCheckpoint, match="turn 0"):
        take(part, 0, 0, 0)


def test_output_may_leave_once_its_turn_is_taken(tmp_path: Path) -> None:
    append(tmp_path, LEFT, 1)
    part = leader(tmp_path)
    assert part.is_committed(Turn(0))
    assert not part.is_committed(Turn(1))
    assert part.choose()
    assert part.is_committed(Turn(1))


def reader(path: Path, lane: ChannelName) -> TurnReader:
    return TurnReader(
        order=str(path / "order"),
        checkpoint=str(path / "checkpoint"),
        path=str(path / lane),
        pipeline="p",
        channel=lane,
        columns=["id"],
        commits_max=10,
        rows_max=None,
    )


@pytest.mark.parametrize("late", [LEFT, RIGHT])
def test_inputs_agree_on_a_turn_whichever_is_asked_before_it_is_chosen(
    tmp_path: Path, late: ChannelName
) -> None:
    append(tmp_path, LEFT, 3)
    append(tmp_path, RIGHT, 3)
    (tmp_path / "checkpoint" / "offsets").mkdir(parents=True)
    (tmp_path / "checkpoint" / "offsets" / "0").touch()
    early = RIGHT if late == LEFT else LEFT
    order = OrderLog(tmp_path / "order")

    def asked(lane: ChannelName) -> int:
        end: dict[str, Any] = reader(tmp_path, lane).latestOffset(
            {"channel": lane, "position": 0}, None
        )
        position: int = end["position"]
        return position

    before = asked(early)
    order.settle(Turn(1), Choice(LEFT, Position(2)))
    ends = {early: before, late: asked(late)}
    # Either the whole turn, or nothing of it, and then the next round has it.
    assert ends in ({LEFT: 2, RIGHT: 0}, {LEFT: 0, RIGHT: 0})
    assert {lane: asked(lane) for lane in (LEFT, RIGHT)} == {LEFT: 2, RIGHT: 0}


def test_the_log_forgets_what_no_copy_needs(tmp_path: Path) -> None:
    order = OrderLog(tmp_path / "order")
    for turn in range(5):
        order.settle(Turn(turn), Choice(LEFT, Position(turn)))
    order.remove_before(Turn(3))
    assert [order.choice(Turn(turn)) is None for turn in range(5)] == [True] * 3 + [False] * 2
    assert [order.has_from(Turn(turn)) for turn in (2, 3, 5)] == [False, True, True]
    order.settle(Turn(1), Choice(LEFT, Position(9)))  # by a leader that was frozen for so long
    assert not order.has_from(Turn(1))
