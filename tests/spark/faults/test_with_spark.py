"""What a loss of power leaves of Spark's own files: Spark goes on rightly, or refuses.

The work is recorded with a real session. What its JVM writes appears between our operations.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Replay
from tests.spark.faults.chains import Appended, Completed, Lost, Requested, check_kept
from tests.spark.faults.crashes import Report, crash
from tests.spark.faults.tape import Tape
from tests.spark.support.pipelines import chain, deficits, feed, is_done

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600), pytest.mark.usefixtures("conforms")]
PLACE = "original"
IDS = 12
BY_WORKERS = re.compile(r"rows-.*\.parquet")
"""Python workers write these, and sync them where nobody here sees it."""


def work(spark: SparkSession, tape: Tape) -> None:
    pipeline = chain(tape.root / PLACE)
    tape.note("created")
    with pipeline.start(spark):
        for begin in range(0, IDS, 4):
            feed(pipeline, begin, begin + 4)
            for number in (begin // 2, begin // 2 + 1):
                tape.note(Appended(number))
            if begin == 4:
                taken = pipeline.snapshot()
                tape.note(Requested(taken))
            pipeline.await_idle()
        pipeline.await_snapshot(taken)
        tape.note(Completed(taken))


@pytest.fixture(scope="module")
def tape(spark: SparkSession, memory: Path) -> Tape:
    (memory / "recorded").mkdir()
    made = Tape(memory / "recorded", synced_elsewhere=BY_WORKERS)
    with made.running():
        work(spark, made)
    return made


def run(spark: SparkSession, tape: Tape, place: Path, **how: Any) -> Report:
    def check(there: Path, facts: list[Any]) -> None:
        check_kept(there / PLACE, facts)
        pipeline = chain(there / PLACE)
        with pipeline.start(spark):
            feed(pipeline, 0, IDS)
            for snapshot in pipeline.snapshots():
                pipeline.await_snapshot(snapshot.id)
            pipeline.await_idle()
        wrong = deficits(spark, pipeline.path, {"source": range(IDS)})
        if wrong or not is_done(spark, pipeline.path, "second", range(IDS)):
            raise Lost(f"{wrong}")
        for snapshot in pipeline.snapshots():
            restored = pipeline.restore(
                snapshot.id, into=there / f"again-{snapshot.id}", replay=Replay.NONE
            )
            fed = restored.channel("source").rows().num_rows
            if wrong := deficits(spark, restored.path, {"source": range(fed)}):
                raise Lost(f"snapshot {snapshot.id}: {wrong}")

    return crash(tape, place, check, **how)


def test_a_crash_loses_nothing_that_spark_has_acknowledged(
    spark: SparkSession, tape: Tape, memory: Path
) -> None:
    each = len(tape.operations) // 12
    allowed = frozenset({"QueryFailed", "DamagedFile", "LostFiles"})
    report = run(spark, tape, memory, each=each, refusals=allowed)
    assert report.points > 12
