"""A copy dies, freezes or is replaced while rows come in: the client sees one history, whole.

One copy is a driver process of its own, to be killed and frozen with its JVM; its twin runs here.
The query's output depends on the order in which two channels are merged, so that a twin which
merged otherwise would contradict what the client has seen.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.standby.copies import Copy
from streamproof.spark_bindings.standby.failpoints import PairFailpoint
from tests.spark import driver
from tests.spark.standby import copies
from tests.spark.standby.copies import await_in_step, await_primary, await_that, feed, is_complete

pytestmark = pytest.mark.timeout(900)


@pytest.mark.slow
def test_when_the_primary_is_killed_its_twin_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path)
    feed(pipeline, 0, 6)
    process = copies.begin(path, Copy.A)
    try:
        await_primary(path, Copy.A)
        twin = copies.Here(path, Copy.B, spark)
        await_that(lambda: is_complete(pipeline, 6), "the first output")
        await_in_step(path)
        feed(pipeline, 6, 10)
        copies.send(process, signal.SIGKILL)
        feed(pipeline, 10, 14)
        await_that(lambda: is_complete(pipeline, 14), "the output of the twin")
        twin.stop()
    finally:
        driver.end(process)
    assert twin.failure is None
    copies.check_history(pipeline, 14)


@pytest.mark.slow
@pytest.mark.parametrize("point", PairFailpoint, ids=lambda point: point.value)
def test_a_primary_that_dies_within_a_turn_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path, point: PairFailpoint
) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path)
    twin = copies.Here(path, Copy.B, spark)
    feed(pipeline, 0, 4)
    await_that(lambda: is_complete(pipeline, 4), "the first output")
    process = copies.begin(path, Copy.A, STREAMPROOF_FAILPOINT=f"{point.value}@A")
    try:
        await_that(lambda: copies.beats_of(path, Copy.A) is not None, "the copy that is to die")
        twin.stop()  # the other one becomes primary, and dies in its first turn
        feed(pipeline, 4, 6)
        assert process.wait(copies.SECONDS_MAX) == -signal.SIGKILL
        twin = copies.Here(path, Copy.B, spark)
        feed(pipeline, 6, 8)
        await_that(lambda: is_complete(pipeline, 8), "the output of the twin")
        twin.stop()
    finally:
        driver.end(process)
    assert twin.failure is None
    copies.check_history(pipeline, 8)


@pytest.mark.slow
def test_a_frozen_primary_is_replaced_and_ends_when_it_wakes_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path)
    process = copies.begin(path, Copy.A)
    try:
        await_primary(path, Copy.A)
        twin = copies.Here(path, Copy.B, spark)
        feed(pipeline, 0, 6)
        await_that(lambda: is_complete(pipeline, 6), "the first output")
        feed(pipeline, 6, 10)
        copies.send(process, signal.SIGSTOP)
        await_primary(path, Copy.B)
        feed(pipeline, 10, 14)
        copies.send(process, signal.SIGCONT)
        feed(pipeline, 14, 20)
        assert process.wait(copies.SECONDS_MAX) == 1
        assert "FencedDriver" in copies.log_of(path, Copy.A).read_text()
        await_that(lambda: is_complete(pipeline, 20), "the output of the twin")
        twin.stop()
    finally:
        driver.end(process)
    assert twin.failure is None
    copies.check_history(pipeline, 20)


@pytest.mark.slow
def test_a_lost_copy_is_replaced_while_rows_come_in_and_can_take_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path)
    first = copies.Here(path, Copy.B, spark)
    feed(pipeline, 0, 6)
    await_that(lambda: is_complete(pipeline, 6), "the first output")
    process = copies.begin(path, Copy.A)
    try:
        for number in range(6, 26):
            feed(pipeline, number, number + 1)
            await_that(lambda fed=number + 1: is_complete(pipeline, fed), "an output")  # type: ignore[misc]
        await_that(lambda: copies.beats_of(path, Copy.A) is not None, "a new copy")
        await_in_step(path)
        assert "is_transferred=True" in copies.log_of(path, Copy.A).read_text()
        first.stop()  # all that A knows of the first turns came with the survivor's state
        feed(pipeline, 26, 30)
        await_that(lambda: is_complete(pipeline, 30), "the output of the new copy")
        process.terminate()
        assert process.wait(copies.SECONDS_MAX) == 0
    finally:
        driver.end(process)
    assert first.failure is None
    copies.check_history(pipeline, 30)


@pytest.mark.slow
def test_a_copy_whose_rows_differ_ends_and_the_client_never_sees_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path)
    twin = copies.Here(path, Copy.B, spark)
    await_primary(path, Copy.B)
    process = copies.begin(path, Copy.A, **{copies.SKEW: "1"})
    try:
        await_that(lambda: copies.beats_of(path, Copy.A) is not None, "a copy that differs")
        feed(pipeline, 0, 4)
        assert process.wait(copies.SECONDS_MAX) == 1
        said = copies.log_of(path, Copy.A).read_text()
        assert "CopiesDiffer: turn" in said
        await_that(lambda: is_complete(pipeline, 4), "the output of the other one")
        twin.stop()
    finally:
        driver.end(process)
    assert twin.failure is None
    copies.check_history(pipeline, 4)


@pytest.mark.slow
def test_partitions_share_the_rows_and_each_is_a_pair_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path, partitions=2)
    feed(pipeline, 0, 10)
    pairs = [copies.Here(path, Copy.A, spark, partition=number, of=2) for number in range(2)]

    def is_whole() -> bool:
        return len(set(pipeline.channel("totals").rows().column("id").to_pylist())) == 11

    await_that(lambda: is_complete(pipeline, 10) and is_whole(), "all rows")
    for part in pairs:
        part.stop()
        assert part.failure is None
    copies.check_history(pipeline, 10)
    assert sorted(place.name for place in (path / "queries").iterdir()) == ["totals.0", "totals.1"]
    log = pipeline.channel("totals").log
    writers = {
        log.entry(Position(number)).information["streamproof.pair"].rpartition(":")[2]
        for number in range(1, log.last() + 1)
        if log.entry(Position(number)).files
    }
    assert writers == {"totals.0", "totals.1"}
