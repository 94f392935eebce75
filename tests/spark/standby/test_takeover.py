"""A copy dies, freezes or is replaced while rows come in: the client sees one history, whole.

One copy is a driver process of its own, to be killed and frozen with its JVM; the other copy runs
here. The query's output depends on the order in which two channels are merged, so that a copy which
merged otherwise would contradict what the client has seen.
"""

from __future__ import annotations

import re
import signal
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Query, Standby
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.standby.copy_run import run_copy
from streamproof.spark_bindings.storage.failpoints import PairFailpoint
from tests.spark.standby.support import copies
from tests.spark.standby.support.copies import await_in_step, await_primary, pair_run
from tests.spark.support.waiting import SECONDS_MAX, await_that

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.usefixtures("conforms")]


def await_beat(run: copies.PairRun, copy: Copy) -> None:
    await_that(lambda: copies.beats_of(run.path, copy) is not None, f"a beat of copy {copy.value}")


def said(run: copies.PairRun, copy: Copy) -> str:
    return copies.log_of(run.path, copy).read_text()


def test_when_the_primary_is_killed_the_other_goes_on(spark: SparkSession, tmp_path: Path) -> None:
    with pair_run(tmp_path / "p", spark) as run:
        run.feed(6)
        primary = run.begin(Copy.A)
        await_primary(run.path, Copy.A)
        run.begin_here(Copy.B)
        run.await_output()
        await_in_step(run.path)
        run.feed(4)
        copies.send(primary, signal.SIGKILL)
        run.feed(4)
        run.await_output()


@pytest.mark.parametrize("point", PairFailpoint, ids=lambda point: point.value)
def test_a_primary_that_dies_within_a_turn_loses_and_doubles_nothing(
    spark: SparkSession, tmp_path: Path, point: PairFailpoint
) -> None:
    with pair_run(tmp_path / "p", spark) as run:
        first = run.begin_here(Copy.B)
        run.feed(4)
        run.await_output()
        dying = run.begin(Copy.A, STREAMPROOF_FAILPOINT=f"{point.value}@A")
        await_beat(run, Copy.A)
        first.stop()  # the other one becomes primary, and dies in its first turn
        run.feed(2)
        assert dying.wait(SECONDS_MAX) == -signal.SIGKILL
        run.begin_here(Copy.B)
        run.feed(2)
        run.await_output()


def test_a_frozen_primary_is_replaced_and_ends_when_it_wakes_up(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pair_run(tmp_path / "p", spark) as run:
        frozen = run.begin(Copy.A)
        await_primary(run.path, Copy.A)
        run.begin_here(Copy.B)
        run.feed(6)
        run.await_output()
        run.feed(4)
        copies.send(frozen, signal.SIGSTOP)
        await_primary(run.path, Copy.B)
        run.feed(4)
        copies.send(frozen, signal.SIGCONT)
        run.feed(6)
        assert frozen.wait(SECONDS_MAX) == 1
        assert "FencedDriver" in said(run, Copy.A)
        run.await_output()


def test_a_lost_copy_is_replaced_while_rows_come_in_and_can_take_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pair_run(tmp_path / "p", spark) as run:
        survivor = run.begin_here(Copy.B)
        run.feed(6)
        run.await_output()
        new = run.begin(Copy.A)
        for _ in range(20):
            run.feed(1)
            run.await_output()
        await_beat(run, Copy.A)
        await_in_step(run.path)
        assert "in the other copy's state" in said(run, Copy.A)
        survivor.stop()  # all that A knows of the first turns came with the survivor's state
        run.feed(4)
        run.await_output()
        new.terminate()
        assert new.wait(SECONDS_MAX) == 0


def test_a_copy_whose_rows_differ_ends_and_the_client_never_sees_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pair_run(tmp_path / "p", spark) as run:
        run.begin_here(Copy.B)
        await_primary(run.path, Copy.B)
        differing = run.begin(Copy.A, **{copies.SKEW: "1"})
        await_beat(run, Copy.A)
        run.feed(4)
        assert differing.wait(SECONDS_MAX) == 1
        assert re.search(
            r"CopiesDiffer: turn \d+ of lane 'totals' \(position \d+\) .*'total'", said(run, Copy.A)
        )
        run.await_output()


def test_partitions_share_the_rows_and_each_is_a_pair_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    with pair_run(tmp_path / "p", spark, partitions=2) as run:
        run.feed(10)
        for number in range(2):
            run.begin_here(Copy.A, number)
        run.await_output()
        rows = run.pipeline.channel("totals").rows
        await_that(lambda: len(set(rows().column("id").to_pylist())) == 11, "all rows")
    assert {place.name for place in (run.path / "queries").iterdir()} == {"totals.0", "totals.1"}
    log = run.pipeline.channel("totals").log
    writers = {
        log.entry(Position(number)).information["streamproof.pair"].rpartition(":")[2]
        for number in range(1, log.last() + 1)
        if log.entry(Position(number)).files
    }
    assert writers == {"totals.0", "totals.1"}


def test_a_copy_delivers_columns_of_any_name(spark: SparkSession, tmp_path: Path) -> None:
    names = ("x`y", "a.b", "streamproof_row_hash")
    schema = ", ".join(f"`{name.replace('`', '``')}` long" for name in names)
    query = Query("q", ("a",), "b", plan=lambda rows: rows, standby=Standby())
    made = Pipeline(tmp_path / "p", channels={"a": schema, "b": schema}, queries=[query])
    rows = [dict.fromkeys(names, 1), dict.fromkeys(names, 2)]
    made.channel("a").append(pa.Table.from_pylist(rows))
    stop, failed = Event(), list[Exception]()

    def run() -> None:
        try:
            run_copy(made, "q", Copy.A, lambda: spark, stop=stop)
        except Exception as error:  # noqa: BLE001 - shown below
            failed.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        delivered = made.channel("b")
        await_that(
            lambda: delivered.rows().num_rows == 2, "delivery", lambda: next(iter(failed), None)
        )
    finally:
        stop.set()
        thread.join(SECONDS_MAX)
    assert delivered.rows().to_pylist() == rows
