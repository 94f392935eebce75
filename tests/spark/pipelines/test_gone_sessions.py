"""A session that ends below a running pipeline: its calls say so, and its stop goes through."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import Pipeline, Query, spark_session
from streamproof.spark_bindings.errors import QueryFailed
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from tests.spark.support.waiting import SECONDS_MAX


def pipeline_at(place: Path) -> Pipeline:
    names, kind = ("a", "b", "c"), "n long"
    queries = [
        Query(f"q{number}", inputs=(names[number],), output=names[number + 1], plan=lambda x: x)
        for number in range(2)
    ]
    return Pipeline(place, channels=dict.fromkeys(names, kind), queries=queries)


def collectors() -> list[str]:
    return [each.name for each in threading.enumerate() if "streamproof-collector" in each.name]


def expect_gone(pipeline: Pipeline, told: str) -> None:
    """All calls say that no query runs, and why; nothing is left behind a stop."""
    with pytest.raises(QueryFailed, match=rf"no query of .* runs any more\. .*{told}"):
        pipeline.await_idle(SECONDS_MAX)
    for status in pipeline.status().values():
        assert not status.running
        assert told in status.failure
    pipeline.snapshot()
    assert collectors()
    pipeline.stop()
    assert not collectors()


def live(place: Path) -> None:
    """Lose two sessions: the first is stopped, and the JVM of the second is killed."""
    for number, told in enumerate(("its Spark session was stopped", "in a new process")):
        spark = spark_session(cores=2, memory="1g", settings={"spark.ui.enabled": "false"})
        pipeline = pipeline_at(place)
        pipeline.channel("a").append(pa.table({"n": [number]}))
        pipeline.start(spark).await_idle(SECONDS_MAX)
        assert pipeline.channel("c").rows()["n"].to_pylist() == list(range(number + 1))
        if number == 0:
            spark.stop()
        else:
            process = cast("Any", spark.sparkContext._gateway).proc
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        expect_gone(pipeline, told)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_that_has_ended_is_told_and_all_is_stopped(tmp_path: Path) -> None:
    code = f"from {__name__} import live; from pathlib import Path; live(Path({str(tmp_path)!r}))"
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_query_that_cannot_be_stopped_keeps_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("it does not listen")

    pipeline = pipeline_at(tmp_path / "p").start(spark)
    with (
        armed(RaceFailpoint.QUERY_STOPPING, fail, where="q0"),
        pytest.raises(QueryFailed, match="'q0' of .* could not be stopped .*not listen"),
    ):
        pipeline.stop()
    (left,) = spark.streams.active
    assert str(left.name).startswith("q0.")
    assert not collectors()
    left.stop()
