"""Following a channel from outside: each commit with rows once, in order, as it comes."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import ChannelDamaged, WrongArgument
from streamproof.spark_bindings.names import ChannelName, SnapshotId
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import stored_schema
from streamproof.spark_bindings.storage.synced_commits import commit_file


@pytest.fixture
def channel(tmp_path: Path) -> Channel:
    """Make an empty channel of numbers."""
    Channel.create(Place.of(tmp_path / "c"), stored_schema("x long", "it"))
    return Channel(tmp_path / "c", ChannelName("c"), pipeline="p")


def feed(channel: Channel, *numbers: int) -> None:
    for number in numbers:
        channel.append(pa.table({"x": [number]}))


def taken(channel: Channel, after: int = 0) -> list[tuple[int, list[int]]]:
    found = channel.follow(after, idle=0)
    return [(commit.position, commit.rows["x"].to_pylist()) for commit in found]


def test_each_commit_with_rows_comes_once_and_markers_are_passed(channel: Channel) -> None:
    feed(channel, 10, 20)
    channel.append_marker_once(SnapshotId("000001"))
    feed(channel, 30)
    assert taken(channel) == [(1, [10]), (2, [20]), (4, [30])]
    assert taken(channel, after=2) == [(4, [30])]
    assert taken(channel, after=4) == []
    assert channel.last_position == 4
    assert {commit.copy for commit in channel.follow(idle=0)} == {None}


def test_an_empty_channel_has_nothing(channel: Channel) -> None:
    assert channel.last_position == 0
    assert taken(channel) == []


def test_what_is_appended_meanwhile_is_followed(channel: Channel) -> None:
    feeder = Thread(
        target=feed, args=(Channel(channel.place, channel.name, pipeline="p"), *range(9))
    )
    feeder.start()
    found = [n for commit in channel.follow(idle=5) for n in commit.rows["x"].to_pylist()]
    feeder.join()
    assert found == list(range(9))


def test_a_commit_that_is_missing_ends_it_with_an_error(channel: Channel) -> None:
    feed(channel, 1, 2)
    commits = channel.follow(idle=0)
    assert next(commits).position == 1
    commit_file(channel.place, 1).local.unlink()
    with pytest.raises(ChannelDamaged, match="no commit 1"):
        taken(channel)


@pytest.mark.parametrize("wrong", [-1, 3, 1.0, True, "1", None])
def test_what_is_no_position_of_the_channel_is_refused(channel: Channel, wrong: Any) -> None:
    feed(channel, 1, 2)
    with pytest.raises(WrongArgument, match="the newest is 2"):
        channel.follow(wrong)


@pytest.mark.parametrize("wrong", [-1, float("nan"), "1", True])
def test_what_is_no_time_is_refused(channel: Channel, wrong: Any) -> None:
    with pytest.raises(WrongArgument, match="idle"):
        channel.follow(idle=wrong)
