"""The client gets every turn once, whichever copy dies, freezes or wakes up, and from one history.

The copies are without Spark: they give made-up turns. The channel is a real one.
"""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.spark_bindings import Standby
from streamproof.spark_bindings.errors import CopiesDiffer, FencedDriver
from streamproof.spark_bindings.layout.pairs import INCARNATION_KEY, Copy, Pair
from streamproof.spark_bindings.names import Turn
from streamproof.spark_bindings.standby.client import ChannelClient
from streamproof.spark_bindings.standby.egress import CopyEgress
from streamproof.spark_bindings.storage.failpoints import PairFailpoint
from tests.spark.standby.support import giver
from tests.spark.standby.support.giver import (
    PAIR,
    channel_at,
    delivered,
    give,
    giving,
    kept,
    output,
)
from tests.spark.support import driver

TURNS = 8
EXPECTED = [row for turn in range(TURNS) for row in giver.ids_of(turn)]
POINTS = [PairFailpoint.OUTPUT_KEPT, PairFailpoint.CLIENT_ASKED, PairFailpoint.OUTPUT_DELIVERED]


def files_of(path: Path) -> set[str]:
    return {file.name for file in (path / "rows").glob("*.parquet")}


def incarnations(path: Path) -> list[int]:
    log = giver.channel_at(path).log
    entries = (log.entry(number) for number in range(1, log.last() + 1))
    return [int(entry.information[INCARNATION_KEY]) for entry in entries]


def committed_files(path: Path) -> set[str]:
    log = giver.channel_at(path).log
    entries = (log.entry(number) for number in range(1, log.last() + 1))
    return {file.path for entry in entries for file in entry.files}


def test_the_passive_copy_keeps_until_it_sees_the_delivery(tmp_path: Path) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    assert first.take_over()
    give(second, tmp_path, Copy.B, range(5))
    assert kept(tmp_path, Copy.B).turns() == [1, 2, 4]
    assert delivered(tmp_path) == []
    give(first, tmp_path, Copy.A, range(3))
    second.note()
    assert kept(tmp_path, Copy.B).turns() == [4]
    assert delivered(tmp_path) == [10, 11, 20, 21]
    give(first, tmp_path, Copy.A, range(3, TURNS))
    give(second, tmp_path, Copy.B, range(5, TURNS))  # these come after their delivery
    assert delivered(tmp_path) == EXPECTED
    assert kept(tmp_path, Copy.A).turns() == kept(tmp_path, Copy.B).turns() == []
    assert files_of(tmp_path) == committed_files(tmp_path)


@pytest.mark.parametrize(
    "ahead",
    [
        pytest.param(0, id="behind", marks=pytest.mark.slow),
        pytest.param(3, id="between"),
        pytest.param(TURNS, id="ahead", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.value)
def test_a_killed_primary_loses_and_doubles_nothing(
    tmp_path: Path, point: PairFailpoint, ahead: int
) -> None:
    second = giving(tmp_path, Copy.B)
    give(second, tmp_path, Copy.B, range(ahead))
    process = giver.begin(tmp_path, Copy.A, TURNS, f"{point.value}@A")
    try:
        _, said = process.communicate(timeout=driver.SECONDS_MAX)
        assert process.returncode == -signal.SIGKILL, said
    finally:
        end(process)
    second.note()
    assert second.take_over()
    second.deliver()
    give(second, tmp_path, Copy.B, range(ahead, TURNS))
    assert delivered(tmp_path) == EXPECTED
    assert kept(tmp_path, Copy.B).turns() == []


@pytest.mark.parametrize(
    ("point", "given"),
    [
        *((point, 2) for point in POINTS),
        # Nobody has delivered the turn that the frozen one is about to commit.
        (PairFailpoint.CLIENT_ASKED, 1),
    ],
    ids=[*(point.value for point in POINTS), "other-behind"],
)
def test_a_frozen_primary_that_wakes_up_is_refused(
    tmp_path: Path, point: PairFailpoint, given: int
) -> None:
    second = giving(tmp_path, Copy.B)
    process = giver.begin(tmp_path, Copy.A, TURNS, f"{point.value}@A", **giver.FROZEN)
    try:
        driver.await_frozen(process)
        give(second, tmp_path, Copy.B, range(given))
        assert second.take_over()
        second.deliver()
        os.killpg(process.pid, signal.SIGCONT)
        _, said = process.communicate(timeout=driver.SECONDS_MAX)
        assert "FencedDriver" in said
        give(second, tmp_path, Copy.B, range(given, TURNS))
    finally:
        end(process)
    assert delivered(tmp_path) == EXPECTED
    assert incarnations(tmp_path) == sorted(incarnations(tmp_path))  # it has committed no more


def test_the_client_takes_a_turn_once_however_often_it_is_delivered(tmp_path: Path) -> None:
    client = giver.client(tmp_path, Copy.A)
    assert client.take_over(1)
    made = output(tmp_path, Copy.A, 1)
    for _ in range(2):
        client.deliver(made, Turn(0), 1)
    assert delivered(tmp_path) == [10, 11]


@pytest.mark.parametrize("number", [0, 2], ids=["again", "too early"])
def test_turns_are_given_one_after_another(tmp_path: Path, number: int) -> None:
    first = giving(tmp_path, Copy.A)
    assert first.take_over()
    give(first, tmp_path, Copy.A, range(1))
    with pytest.raises(AssertionError):
        first.give(output(tmp_path, Copy.A, number))


def end(process: object) -> None:
    driver.end(process)  # type: ignore[arg-type]


def test_of_two_copies_that_take_over_at_once_one_does(tmp_path: Path) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    assert [first.take_over(), second.take_over()] == [True, False]
    assert [first.active, second.active] == [True, False]
    assert second.take_over()  # later, of its own right
    with pytest.raises(FencedDriver, match="primary 2"):
        first.note()


def test_a_copy_that_was_replaced_delivers_nothing_even_if_it_never_looks(tmp_path: Path) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    assert first.take_over()
    give(first, tmp_path, Copy.A, range(2))
    first.give(output(tmp_path, Copy.A, 2))
    second.note()
    assert second.take_over()
    with pytest.raises(FencedDriver, match="wanted to deliver turn 2 as primary 1"):
        first.deliver()
    assert delivered(tmp_path) == [10, 11]


def test_a_copy_that_begins_again_in_the_middle_of_a_turn_keeps_its_first_output(
    tmp_path: Path,
) -> None:
    give(giving(tmp_path, Copy.A), tmp_path, Copy.A, range(3))
    again = giving(tmp_path, Copy.A, taken=2)  # Spark has not committed batch 2, and repeats it
    assert again.take_over()
    give(again, tmp_path, Copy.A, range(2, TURNS))
    assert delivered(tmp_path) == EXPECTED
    assert files_of(tmp_path) == committed_files(tmp_path)


def test_a_primary_that_begins_again_does_not_delete_what_it_delivered(tmp_path: Path) -> None:
    first = giving(tmp_path, Copy.A)
    assert first.take_over()
    made = output(tmp_path, Copy.A, 1)
    first.give(output(tmp_path, Copy.A, 0))
    first.give(made)
    first.deliver()
    kept(tmp_path, Copy.A).keep(made)  # as after a crash between the delivery and forgetting it
    again = giving(tmp_path, Copy.A, taken=2)
    again.note()
    assert kept(tmp_path, Copy.A).turns() == []
    assert delivered(tmp_path) == [10, 11]


def test_what_was_delivered_while_a_copy_was_away_is_compared_when_it_begins(
    tmp_path: Path,
) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    give(second, tmp_path, Copy.B, range(5))
    assert first.take_over()
    give(first, tmp_path, Copy.A, range(TURNS))
    again = giving(tmp_path, Copy.B, taken=5)
    again.note()
    assert kept(tmp_path, Copy.B).turns() == []
    give(again, tmp_path, Copy.B, range(5, TURNS))
    assert files_of(tmp_path) == committed_files(tmp_path)


@pytest.mark.parametrize("ahead", [True, False], ids=["kept", "delivered-before"])
@pytest.mark.parametrize(
    ("ids", "shown"),
    [([10, 12], r"\{'id': 12\}.*\{'id': 11\}"), ([], r"did not: \[\]; the other way.*'id': 10")],
    ids=["another-row", "no-rows"],
)
def test_rows_that_differ_end_the_passive_copy(
    tmp_path: Path, ids: list[int], shown: str, *, ahead: bool
) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    assert first.take_over()
    second.give(output(tmp_path, Copy.B, 0))
    wrong = output(tmp_path, Copy.B, 1, ids)
    if ahead:
        second.give(wrong)
    give(first, tmp_path, Copy.A, range(2))
    with pytest.raises(CopiesDiffer, match=f"turn 1 of lane 'rows' .position 2.*{shown}"):
        (second.note if ahead else lambda: second.give(wrong))()
    assert delivered(tmp_path) == [10, 11]


def test_of_several_pairs_the_one_that_differs_is_told_by_its_lane(tmp_path: Path) -> None:
    query = replace(PAIR.query, standby=Standby(partitions=2, by="id"))
    channel = channel_at(tmp_path, lanes=2)
    first, second = (
        CopyEgress(
            copy,
            channel,
            ChannelClient(channel, Pair(query, 1), copy, "p"),
            kept(tmp_path, copy),
            Turn(0),
        )
        for copy in Copy
    )
    assert first.take_over()
    give(first, tmp_path, Copy.A, range(2))
    second.give(output(tmp_path, Copy.B, 0))
    with pytest.raises(CopiesDiffer, match=r"turn 1 of lane 'rows\.1' \(position 2\)"):
        second.give(output(tmp_path, Copy.B, 1, [10, 12]))


def test_a_copy_that_differs_is_told_though_the_rows_that_were_delivered_were_vacuumed(
    tmp_path: Path,
) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    assert first.take_over()
    give(first, tmp_path, Copy.A, range(2))
    second.give(output(tmp_path, Copy.B, 0))
    for name in committed_files(tmp_path):
        (tmp_path / "rows" / name).unlink()
    with pytest.raises(CopiesDiffer, match=r"turn 1 .*'id': 12.*vacuumed"):
        second.give(output(tmp_path, Copy.B, 1, [10, 12]))


def test_rows_where_the_primary_gave_none_are_found_by_the_next_delivery(tmp_path: Path) -> None:
    first, second = giving(tmp_path, Copy.A), giving(tmp_path, Copy.B)
    assert first.take_over()
    second.give(output(tmp_path, Copy.B, 0, [7]))
    give(first, tmp_path, Copy.A, range(2))
    with pytest.raises(CopiesDiffer, match="turn 0 .*not delivered"):
        second.note()


def test_a_new_copy_is_given_what_the_survivor_keeps(tmp_path: Path) -> None:
    survivor = giving(tmp_path, Copy.A)
    give(survivor, tmp_path, Copy.A, range(5))
    kept(tmp_path, Copy.A).copy_to(kept(tmp_path, Copy.B), Turn(4), "B-new")
    assert kept(tmp_path, Copy.B).turns() == [1, 2]
    kept(tmp_path, Copy.A).forget(Turn(1), ())  # its files are its own
    fresh = giving(tmp_path, Copy.B, taken=4)
    assert fresh.take_over()
    fresh.deliver()
    give(fresh, tmp_path, Copy.B, range(4, TURNS))
    assert delivered(tmp_path) == EXPECTED
