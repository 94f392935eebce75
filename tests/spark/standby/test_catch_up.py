"""A new copy begins in the state of the other if that one runs, else in its own; no row is lost."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from streamproof.spark_bindings.errors import PurgedCheckpoint
from streamproof.spark_bindings.layout.pairs import Copy, PairDirectory
from streamproof.spark_bindings.names import ChannelName, Position, Turn
from streamproof.spark_bindings.processes.heartbeat import Heart
from streamproof.spark_bindings.processes.order_log import Choice, OrderLog
from streamproof.spark_bindings.standby.catch_up import CaughtUp, catch_up
from streamproof.spark_bindings.storage.place import Place
from tests.spark.standby.support import giver

BOUND = 0.2


def pair(path: Path) -> PairDirectory:
    giver.channel_at(path)
    return PairDirectory(Place.of(path))


def checkpoint(pair: PairDirectory, copy: Copy, batch: int) -> None:
    """Make what a checkpoint has of its last two batches."""
    place = pair.copy(copy).checkpoint.place
    for number in range(max(batch - 1, 0), batch + 1):
        for kind in ("offsets", "commits"):
            (place / kind).local.mkdir(parents=True, exist_ok=True)
            (place / kind / str(number)).local.write_text(f"v1\n{{}}\n{copy.value}")
    (place / "metadata").local.write_text('{"id": "q"}')


def order(pair: PairDirectory, turns: range) -> None:
    for turn in turns:
        OrderLog(pair.order).settle(Turn(turn), Choice(ChannelName("a"), Position(turn)))


def begin(pair: PairDirectory, copy: Copy) -> CaughtUp:
    return catch_up(pair, copy, pair.place / "rows", BOUND)


def test_a_copy_begins_with_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    assert begin(pair(tmp_path), Copy.A) == CaughtUp(Turn(0), is_transferred=False, seconds=0.0)


def test_a_copy_that_can_follow_goes_on_where_the_other_does_not_run(tmp_path: Path) -> None:
    made = pair(tmp_path)
    checkpoint(made, Copy.A, 3)
    checkpoint(made, Copy.B, 7)
    order(made, range(2, 9))
    found = begin(made, Copy.A)
    assert (found.taken, found.is_transferred) == (4, False)


def test_a_copy_takes_the_state_of_the_other_if_that_one_runs(tmp_path: Path) -> None:
    made, stop = pair(tmp_path), Event()
    checkpoint(made, Copy.A, 3)
    checkpoint(made, Copy.B, 7)
    order(made, range(2, 9))
    giver.give(giver.giving(tmp_path, Copy.B), tmp_path, Copy.B, range(9))
    giver.kept(tmp_path, Copy.A).keep(giver.output(tmp_path, Copy.A, 3, [1]))
    heart = Heart(made.copy(Copy.B).beat)

    def beat() -> None:
        while not stop.wait(0.01):
            heart.beat(active=True, warm=True, turn=Turn(9))

    beating = Thread(target=beat)
    beating.start()
    try:
        found = begin(made, Copy.A)
    finally:
        stop.set()
        beating.join()
    assert (found.taken, found.is_transferred) == (8, True)
    assert giver.kept(tmp_path, Copy.A).turns() == [1, 2, 4, 5, 7]
    assert made.copy(Copy.A).checkpoint.last_committed() == 7
    assert (made.copy(Copy.A).checkpoint.place / "commits" / "7").local.read_text().endswith("B")
    assert made.copy(Copy.B).checkpoint.last_committed() == 7


@pytest.mark.parametrize("own", [None, 3], ids=["lost", "behind"])
def test_a_copy_that_cannot_follow_takes_the_state_of_the_other_copy_that_ended(
    tmp_path: Path, own: int | None
) -> None:
    made = pair(tmp_path)
    if own is not None:
        checkpoint(made, Copy.A, own)
    checkpoint(made, Copy.B, 7)
    order(made, range(6, 9))
    found = begin(made, Copy.A)
    assert (found.taken, found.is_transferred) == (8, True)


def test_a_transfer_that_fails_leaves_a_copy_as_it_was(tmp_path: Path) -> None:
    made = pair(tmp_path)
    checkpoint(made, Copy.A, 3)
    checkpoint(made, Copy.B, 7)
    order(made, range(6, 9))
    (made.copy(Copy.B).checkpoint.place / "offsets" / "7").local.unlink()
    with pytest.raises(PurgedCheckpoint):
        begin(made, Copy.A)
    assert made.copy(Copy.A).checkpoint.last_committed() == 3
