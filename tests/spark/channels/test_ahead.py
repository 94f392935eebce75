"""A reader that is ahead of its channel is refused; nobody waits for it, and it is never behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import (
    ChannelDamaged,
    NotRunning,
    QueryFailed,
    StillBusy,
)
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.names import Position, QueryName
from streamproof.spark_bindings.storage.synced_commits import commit_file
from tests.spark.support.lives import checkpoint, feed, lose, offset, two
from tests.spark.support.waiting import SECONDS_MAX


@contextmanager
def without(channel: Channel, *positions: int) -> Iterator[None]:
    """Let commits of a channel disappear for a while."""
    files = [commit_file(channel.place, Position(position)) for position in positions]
    kept = [file.local.read_bytes() for file in files]
    lose(channel, *positions)
    yield
    for file, content in zip(files, kept, strict=True):
        file.local.write_bytes(content)


def ahead(path: Path) -> None:
    """Make a pipeline whose query has read three commits of a, two of them gone, and no b."""
    made = two(path)
    a, b = made.channel("a"), made.channel("b")
    feed(a, 1, 2, 3)
    feed(b, 10)
    place = PipelineDirectory.open(made.path).query_place(QueryName("q"))
    checkpoint((place / "checkpoint").local, [offset(a, 3), offset(b, 0)])
    lose(a, 2, 3)


@pytest.mark.spark
def test_while_it_starts_it_is_not_behind_and_hides_nothing_of_another_input(
    spark: SparkSession, tmp_path: Path
) -> None:
    begun, may = Event(), Event()

    def refused(*_: DataFrame) -> DataFrame:
        begun.set()
        assert may.wait(SECONDS_MAX)
        raise ChannelDamaged("it is refused")

    ahead(tmp_path / "p")
    made, said = two(tmp_path / "p", refused), list[Exception]()

    def start() -> None:
        try:
            made.start(spark)
        except ChannelDamaged as error:
            said.append(error)

    starting = Thread(target=start)
    starting.start()
    try:
        assert begun.wait(SECONDS_MAX)
        status = made.status()["q"]
        assert (status.received, status.behind, status.running) == ({"a": 3, "b": 0}, 1, False)
        with pytest.raises(StillBusy, match=r"after 0.1 s; commits left per query: {'q': 1}"):
            made.await_idle(0.1)
    finally:
        may.set()
        starting.join()
    assert list(map(str, said)) == ["it is refused"]
    for call in (made.status, lambda: made.await_idle(0.1)):
        with pytest.raises(NotRunning, match="is not running"):
            call()


@pytest.mark.spark
@pytest.mark.timeout(900)
def test_the_newest_commits_disappear_while_the_reader_is_down_or_runs(
    spark: SparkSession, tmp_path: Path
) -> None:
    made = two(tmp_path / "p")
    a = made.channel("a")
    feed(a, 1, 2, 3)
    with made.start(spark):
        made.await_idle(SECONDS_MAX)
    with without(a, 2, 3):
        again = two(made.path)
        with pytest.raises(ChannelDamaged, match="read up to commit 3, but the newest in .* is 1"):
            again.start(spark)
        for call in (again.status, lambda: again.await_idle(SECONDS_MAX)):
            with pytest.raises(NotRunning):
                call()
    with again.start(spark):
        again.await_idle(SECONDS_MAX)
        with without(a, 2, 3):
            with pytest.raises(QueryFailed, match="has lost commits"):
                again.await_idle(SECONDS_MAX)
            status = again.status()["q"]
            assert (status.behind, status.running) == (0, False)
            assert "has lost commits" in status.failure
    feed(a, 4)
    with again.start(spark):
        again.await_idle(SECONDS_MAX)
    assert sorted(again.channel("c").rows()["x"].to_pylist()) == [1, 2, 3, 4]
