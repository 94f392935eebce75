"""`streamproof run`: pairs and queries without replicas, killed one by one, and all at once."""

from __future__ import annotations

import shutil
import signal
from math import isqrt
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.names import LaneName
from tests.spark.standby.support import command, copies
from tests.spark.standby.support.copies import feed, is_complete
from tests.spark.support.waiting import SECONDS_MAX, await_that

pytestmark = pytest.mark.usefixtures("conforms")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_pipeline_that_lost_all_its_copies_goes_on_from_its_last_snapshot(
    tmp_path: Path,
) -> None:
    pipeline = copies.pair(tmp_path / "p")
    feed(pipeline, 0, 4)
    with command.running(pipeline.path) as process:
        await_that(lambda: is_complete(pipeline, 4), "the first output")
        invoke("take", str(pipeline.path), "--wait", str(SECONDS_MAX))
        feed(pipeline, 4, 8)
        await_that(lambda: is_complete(pipeline, 8), "more output")
        process.send_signal(signal.SIGKILL)
        for copy in Copy:
            command.kill(pipeline.path, copy)
    (found,) = pipeline.snapshots()
    shutil.rmtree(pipeline.path / "queries")  # a disk that lied about what it had written
    invoke("restore", str(pipeline.path), "000001", "--into", str(tmp_path / "r"))
    restored = copies.pair(tmp_path / "r")
    feed(restored, 8, 10)
    with command.running(restored.path):
        await_that(lambda: is_complete(restored, 10), "output behind the snapshot")
    copies.check_history(restored, 10)
    # Up to the cut the client had been told the same; behind it, inputs are merged anew.
    cut = found.markers[LaneName("totals")]
    assert 0 < cut < pipeline.channel("totals").log.last()
    assert restored.channel("totals").rows(until=cut) == pipeline.channel("totals").rows(until=cut)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_queries_without_replicas_run_beside_pairs_and_are_started_again(tmp_path: Path) -> None:
    pipeline = copies.mixed(tmp_path / "p")
    feed(pipeline, 0, 4)
    with command.running(pipeline.path, "mixed"):
        await_that(lambda: sized(pipeline) == 4, "the first output")
        command.kill_alone(pipeline.path)
        invoke("take", str(pipeline.path))
        feed(pipeline, 4, 8)
        command.kill(pipeline.path, Copy.A)
        await_that(lambda: sized(pipeline) == 8, "more output")
        pipeline.await_snapshot("000001")
    restored = pipeline.restore("000001", into=tmp_path / "r")
    with command.running(restored.path, "mixed"):
        await_that(lambda: sized(restored) == 8, "output behind the snapshot")
    copies.check_history(restored, 8)
    totals, sizes = (restored.channel(name).rows().to_pylist() for name in ("totals", "sizes"))
    assert sizes == [{"id": r["id"], "size": r["total"] * r["number"]} for r in totals]


def sized(pipeline: Pipeline) -> int:
    """Return the largest total that has come through both queries."""
    rows = pipeline.channel("sizes").rows().to_pylist()
    return max((isqrt(row["size"]) for row in rows if row["id"] == 0), default=0)


def invoke(*arguments: str) -> None:
    ran = CliRunner().invoke(app, ["snapshot", *arguments], env={"COLUMNS": "500"})
    assert ran.exit_code == ExitCode.GREEN, ran.output
