"""A merge with a bound, in drivers of their own: killed in a failure, and in its correction.

The stable rows are the same as those of a driver that nothing happened to, to the byte.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from streamproof.protocols.dpc import Condition
from tests.spark.support import driver, merge_driver
from tests.spark.support.bounded import condition_of
from tests.spark.support.merge_driver import Options
from tests.spark.support.merges import content, placed
from tests.spark.support.merging import Row, reference, rows_of, write_file

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

EWR = rows_of([1, 12, 25, 60, 80])
JFK = rows_of([2, 13, 60, 80])
LAST = {"ewr": [Row(100, 5), Row(110, 6), Row(200, 7)], "jfk": [Row(95, 4), Row(200, 5)]}
EXPECTED = reference({"ewr": [*EWR, *LAST["ewr"]], "jfk": [*JFK, *LAST["jfk"]]})[0]
SHORT, LONG = Options(max_delay="10 seconds"), Options(max_delay="10 minutes")


def rows_in(place: Path) -> pa.Table:
    if not (place / "table" / "_delta_log").exists():
        return pa.table({"tuple_type": pa.array([], pa.string()), "stable_id": pa.nulls(0)})
    return DeltaTable(place / "table").to_pyarrow_table()


def counts(place: Path) -> Counter[str]:
    return Counter(rows_in(place)["tuple_type"].to_pylist())


def stable(place: Path) -> pa.Table:
    rows = rows_in(place)
    return rows.filter(pc.equal(rows["tuple_type"], "INSERTION")).sort_by("stable_id")


def run_until(place: Path, holds: Callable[[], bool], options: Options) -> subprocess.Popen[bytes]:
    """Start a driver, and wait for what it is to do."""
    process = merge_driver.begin(place, options)
    try:
        merge_driver.await_driver(holds, process, place)
    except BaseException:
        driver.end(process)
        raise
    return process


def committed(place: Path) -> int:
    """Return the newest batch that Spark knows to be done; -1 if there is none."""
    done = [int(path.name) for path in (place / "checkpoint" / "commits").glob("[0-9]*")]
    return max(done, default=-1)


def test_killed_in_a_failure_and_in_its_correction(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "killed"
    write_file(place, "ewr", EWR)
    write_file(place, "jfk", JFK[:1])
    # jfk has stalled: what ewr says comes out as tentative. The driver dies behind the table's
    # commit, and mostly ahead of Spark's own, so that the batch is repeated; later on a busy one.
    merge_driver.kill(run_until(place, lambda: counts(place)["TENTATIVE"] == 6, SHORT))
    write_file(place, "ewr", LAST["ewr"][:1])
    process = run_until(place, lambda: counts(place)["TENTATIVE"] > 6, LONG)
    try:
        assert counts(place) == {"TENTATIVE": 7}  # at once, since it is still in a failure
        # jfk is back: the old rows are revoked and corrected. The newest are not complete.
        write_file(place, "jfk", [*JFK[1:], LAST["jfk"][0]])
        merge_driver.await_driver(lambda: counts(place)["INSERTION"] > 0, process, place)
        merge_driver.kill(process)
    finally:
        driver.end(process)
    corrected, before = stable(place).num_rows, committed(place)
    write_file(place, "ewr", LAST["ewr"][1:2])
    merge_driver.kill(run_until(place, lambda: committed(place) > before, LONG))
    assert condition_of(spark, place / "checkpoint") is Condition.STABILIZATION
    assert counts(place) == {"INSERTION": corrected}
    write_file(place, "ewr", LAST["ewr"][2:])
    write_file(place, "jfk", LAST["jfk"][1:])
    finish(place, LONG)
    assert content(stable(place)) == content(stable(undisturbed(tmp_path / "other")))


def undisturbed(place: Path) -> Path:
    """Merge the same rows, cut otherwise, without a failure."""
    write_file(place, "ewr", [*EWR, *LAST["ewr"]])
    write_file(place, "jfk", JFK[:3])
    write_file(place, "jfk", [*JFK[3:], *LAST["jfk"]])
    finish(place, Options(files_per_batch=2, partitions=4, max_delay="10 minutes"))
    return place


def finish(place: Path, options: Options) -> None:
    """Let a driver merge all that is there."""
    driver.end(run_until(place, lambda: stable(place).num_rows == len(EXPECTED), options))
    assert placed(stable(place)) == EXPECTED
    assert stable(place)["stable_id"].to_pylist() == list(range(len(EXPECTED)))
    assert counts(place)["TENTATIVE"] == 0
