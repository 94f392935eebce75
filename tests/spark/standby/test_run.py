"""`streamproof run`: what it refuses, and that a pair outlives its copies, which are killed."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings import Pipeline, Query, Standby
from streamproof.spark_bindings.errors import CopyRuns, NotAPipeline, WrongWiring
from streamproof.spark_bindings.layout.pairs import Copy, Pair, PairDirectory
from streamproof.spark_bindings.layout.process_lock import locked
from streamproof.spark_bindings.names import ChannelName, PairName
from streamproof.spark_bindings.processes.order_log import OrderLog
from streamproof.spark_bindings.snapshots.vacuum import vacuum
from streamproof.spark_bindings.standby.copy_run import find_pair
from streamproof.spark_bindings.standby.pipeline_file import load_pipeline
from tests.spark.standby.support import command, copies
from tests.spark.standby.support.copies import beats_of, feed, is_complete
from tests.spark.support.waiting import SECONDS_MAX, await_that

pytestmark = pytest.mark.usefixtures("conforms")

NO_SESSION = """from pyspark.errors import PySparkRuntimeError

raise PySparkRuntimeError(errorClass="SESSION_OR_CONTEXT_NOT_EXISTS", messageParameters={})
"""
"""What `@F.udf("long")` ends in where there is no session."""
FILE = "from pathlib import Path\nfrom tests.spark.standby.support import copies\n\n"


def write(path: Path, text: str) -> str:
    (path / "mine.py").write_text(FILE + text, encoding="utf-8")
    return str(path / "mine.py")


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "which is no Pipeline"),
        ("PIPELINE = 3", [], "PIPELINE = 3, which is no Pipeline"),
        ("\n1 / 0", [], "mine.py, line 5, cannot be run: ZeroDivisionError: division by zero. So"),
        (
            NO_SESSION,
            [],
            "no Spark session yet",
        ),
        ("PIPELINE = copies.pair", [], "TypeError"),
        ("PIPELINE = copies.pair(Path('{place}/p'))", ["--query", "totals"], "both --query"),
        (
            "PIPELINE = copies.pair(Path('{place}/p'))",
            ["--query", "totals", "--copy", "C"],
            "C is neither A nor B",
        ),
        (
            "PIPELINE = lambda: copies.pair(Path('{place}/p'))",
            ["--query", "other", "--copy", "A"],
            "no query 'other' with a standby",
        ),
        (
            "PIPELINE = copies.pair(Path('{place}/p'))",
            ["--query", "totals", "--copy", "A", "--partition", "1"],
            "a partition 1",
        ),
    ],
    ids=["nothing", "number", "fails", "session", "call", "half", "copy", "query", "partition"],
)
def test_what_cannot_be_run_is_wrong_use(
    tmp_path: Path, text: str, options: list[str], message: str
) -> None:
    file = write(tmp_path, text.replace("{place}", str(tmp_path)))
    ran = CliRunner().invoke(app, ["run", file, *options], env={"COLUMNS": "200"})
    assert ran.exit_code == ExitCode.WRONG_USE
    assert message in ran.output


def test_a_file_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["run", str(tmp_path / "none.py")])
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "there is no file" in ran.output


def test_the_example_is_a_pipeline_that_can_be_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = copies.ROOT / "examples/takeover/standby.py"
    for target in (file, f"{file}:PIPELINE", f"{file}:shop"):
        found = load_pipeline(target)
        assert found.path == tmp_path / "shop"
        assert find_pair(found, "revenue").name == "revenue"
    with pytest.raises(NotAPipeline, match="has revenue_of = None.*NAME"):
        load_pipeline(f"{file}:revenue_of")
    odd = tmp_path / "a:b"
    odd.write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    assert load_pipeline(odd).path == tmp_path / "shop"


PARTS = Standby(partitions=2, by="x")


def alone(path: Path, standby: Standby | None = None) -> Pipeline:
    query = Query("q", inputs=["a"], output="b", plan=lambda rows: rows, standby=standby)
    return Pipeline(path, channels={"a": "x long", "b": "x long"}, queries=[query])


def directory(pipeline: Pipeline) -> PairDirectory:
    return PairDirectory.of(pipeline._directory, Pair(pipeline.queries[0]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"partitions": 0}, "partitions=0"),
        ({"partitions": 2}, "by=None"),
        ({"by": "x"}, "Give both, or neither"),
        ({"partitions": 2, "by": "x", "bounds": (1, 2)}, r"bounds=\(1, 2\).* 1 values"),
        ({"partitions": 3, "by": "x", "bounds": (2, 2)}, "that ascend"),
        ({"partitions": 3, "by": "x", "bounds": (2, "a")}, "that ascend"),
        ({"partitions": 2, "by": "x", "bounds": {2}}, r"bounds=\{2\}"),
        ({"partitions": 2, "by": "x", "bounds": "2"}, "bounds='2'"),
        ({"bounds": (2,)}, "by=None"),
    ],
)
def test_a_standby_that_makes_no_pairs_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(WrongWiring, match=message):
        Standby(**more)


def test_bounds_may_be_any_sequence() -> None:
    assert Standby(2, by="x", bounds=[3]) == Standby(2, by="x", bounds=(3,))


def test_a_pair_does_not_start_as_a_query(tmp_path: Path) -> None:
    pipeline = alone(tmp_path / "p", Standby())
    with pytest.raises(WrongWiring, match="streamproof run"):
        pipeline.start(None)  # type: ignore[arg-type]


def test_a_query_does_not_become_a_pair_or_the_other_way_or_in_other_partitions(
    tmp_path: Path,
) -> None:
    (tmp_path / "one/queries/q/checkpoint").mkdir(parents=True)
    (tmp_path / "one/queries").rename(tmp_path / "queries")
    (tmp_path / "one").rmdir()
    one = alone(tmp_path / "one", Standby())
    (tmp_path / "queries").rename(tmp_path / "one/queries")
    with pytest.raises(WrongWiring, match="it has run otherwise"):
        directory(one)
    two = alone(tmp_path / "two", Standby())
    assert directory(two).place.name == PairName("q")
    OrderLog(directory(two).order).begin(ChannelName("a"))
    with pytest.raises(WrongWiring, match="it has run otherwise"):
        alone(tmp_path / "two").snapshot()
    with pytest.raises(WrongWiring, match="it has run otherwise"):
        directory(alone(tmp_path / "two", PARTS))


def test_a_pair_whose_plan_was_refused_may_become_a_query_or_have_other_partitions(
    tmp_path: Path,
) -> None:
    pair = directory(alone(tmp_path / "p", Standby()))
    with locked(pair.copy(Copy.A), "copy A of q"):
        pass
    parts = directory(alone(tmp_path / "p", PARTS))
    assert not pair.place.local.exists()
    one = alone(tmp_path / "p")
    one.snapshot()
    assert not parts.place.local.exists()
    assert vacuum(one.path)[0].until == 0


def test_rows_are_not_divided_otherwise_once_a_pair_has_run(tmp_path: Path) -> None:
    pipeline = alone(tmp_path / "p", PARTS)
    other = replace(PARTS, bounds=(3,))
    pair = directory(alone(tmp_path / "p", other))  # it has not run yet
    OrderLog(pair.order).begin(ChannelName("a"))
    with pytest.raises(WrongWiring, match="by the hash of 'x', but .* 'x' that begin at 3"):
        directory(pipeline)
    assert directory(alone(tmp_path / "p", other)) == pair


def test_a_copy_is_run_by_one_process(tmp_path: Path) -> None:
    pipeline = alone(tmp_path / "p", Standby())
    own = directory(pipeline).copy(Copy.A)
    with locked(own, "copy A of q"), pytest.raises(CopyRuns, match="copy A of q"):
        locked(own, "copy A of q").__enter__()
    with locked(own, "copy A of q"):
        pass


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_supervised_pair_outlives_each_of_its_copies(tmp_path: Path) -> None:
    path = tmp_path / "p"
    pipeline = copies.pair(path)
    feed(pipeline, 0, 4)
    fed = 4
    with command.running(path) as process:
        for _ in range(2):  # the primary is killed, and then the one that took over
            await_that(lambda end=fed: is_complete(pipeline, end), "output")  # type: ignore[misc]
            copies.await_in_step(path)
            (primary,) = [c for c in Copy if (beats_of(path, c) or {}).get("active")]
            command.kill(path, primary)
            feed(pipeline, fed, fed + 4)
            fed += 4
        await_that(lambda: is_complete(pipeline, fed), "output")
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0, command.log_of(path).read_text()
    copies.check_history(pipeline, fed)
    said = command.log_of(path).read_text()
    assert "was killed by SIGKILL; its log is" in said
    assert "in the other copy's state" in said
