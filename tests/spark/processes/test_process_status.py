"""`streamproof status` tells which copy delivers, which could take over, and what does not run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from streamproof.models.kit.verdict import ExitCode
from streamproof.spark_bindings.errors import NotAPipeline
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import Copy, Pair, PairDirectory, ProcessDirectory
from streamproof.spark_bindings.layout.process_lock import locked
from streamproof.spark_bindings.names import ChannelName, Position, Turn
from streamproof.spark_bindings.processes import process_status as module
from streamproof.spark_bindings.processes.heartbeat import Heart
from streamproof.spark_bindings.processes.order_log import Choice, OrderLog
from streamproof.spark_bindings.processes.process_status import (
    ALONE,
    ProcessState,
    ProcessStatus,
    process_statuses,
)
from tests.spark.standby.support import copies
from tests.spark.support.handmade import spark_checkpoint, write

HERE = os.getpid()


@contextmanager
def beating(own: ProcessDirectory, *, active: bool, warm: bool, turn: int) -> Iterator[None]:
    """Hold a process's lock, and beat for it."""
    end = Event()

    def beat() -> None:
        heart = Heart(own.beat)
        while not end.wait(0.01):
            heart.beat(active=active, warm=warm, turn=Turn(turn))

    with locked(own, "a copy"):
        thread = Thread(target=beat)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()


def pair_of(path: Path) -> PairDirectory:
    """Make a pair that has chosen five turns."""
    pipeline = copies.pair(path)
    made = PairDirectory.of(PipelineDirectory.open(path), Pair(pipeline.queries[0]))
    order = OrderLog(made.order)
    for turn in range(5):
        order.settle(Turn(turn), Choice(ChannelName("left"), Position(turn)))
    return made


def ran(path: Path, *options: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["status", str(path), *options], env={"COLUMNS": "200"})
    return done.exit_code, done.output


@pytest.mark.parametrize(
    ("warm", "turn", "expected", "lacks"),
    [
        (True, 4, ProcessState.IN_SYNC, 1),
        (True, 2, ProcessState.BEHIND, 3),
        (False, 5, ProcessState.COLD, 0),
    ],
    ids=["in sync", "behind", "cold"],
)
def test_a_copy_that_beats_is_in_sync_when_it_is_warm_and_lacks_but_one_turn(
    tmp_path: Path, *, warm: bool, turn: int, expected: ProcessState, lacks: int
) -> None:
    pair = pair_of(tmp_path / "p")
    with (
        beating(pair.copy(Copy.A), active=True, warm=True, turn=5),
        beating(pair.copy(Copy.B), active=False, warm=warm, turn=turn),
    ):
        assert process_statuses(tmp_path / "p") == [
            ProcessStatus("totals", Copy.A, HERE, ProcessState.PRIMARY, is_warm=True),
            ProcessStatus("totals", Copy.B, HERE, expected, lacks, is_warm=warm),
        ]
        assert copies.pair(tmp_path / "p").processes() == process_statuses(tmp_path / "p")
        code, said = ran(tmp_path / "p", "--json")
        assert (code == ExitCode.GREEN) == (lacks <= 1) == json.loads(said)["whole"]
        assert json.loads(said)["processes"][1]["turns"] == lacks
        code, said = ran(tmp_path / "p")
        assert expected.value in said


def test_what_does_not_run_begins_or_is_silent_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_AFTER_SECONDS", 0.2)
    pair = pair_of(tmp_path / "p")
    alone = ProcessDirectory.alone(PipelineDirectory.open(tmp_path / "p"))
    with ExitStack() as held:
        held.enter_context(locked(pair.copy(Copy.A), "a frozen copy"))
        Heart(pair.copy(Copy.A).beat).beat(active=True, warm=True, turn=Turn(3))
        held.enter_context(locked(pair.copy(Copy.B), "one that begins"))
        alone.place.local.mkdir()
        assert process_statuses(tmp_path / "p") == [
            ProcessStatus("totals", Copy.A, HERE, ProcessState.SILENT, 2, is_warm=True),
            ProcessStatus("totals", Copy.B, HERE, ProcessState.STARTING),
            ProcessStatus(ALONE, None, None, ProcessState.STOPPED),
        ]
        assert ran(tmp_path / "p")[0] == ExitCode.UNDETERMINED


def test_commits_that_no_completed_batch_has_read_are_counted(tmp_path: Path) -> None:
    own = pair_of(tmp_path / "p").copy(Copy.B)
    copies.feed(copies.pair(tmp_path / "p"), 0, 4)
    assert [each.commits for each in process_statuses(tmp_path / "p")] == [4, 4]
    spark_checkpoint(own.checkpoint.place.local, last=0)
    for number, (channel, position) in enumerate([("left", 1), ("right", 2)]):
        offset = json.dumps({"channel": channel, "position": position})
        before = (own.checkpoint.place / "offsets/0").local.read_text() if number else "v1\n{}\n"
        write((own.checkpoint.place / "offsets/0").local, f"{before}{offset}\n")
    assert [each.commits for each in process_statuses(tmp_path / "p")] == [4, 1]


def test_a_pipeline_that_was_never_run_is_told_and_what_is_none_is_refused(tmp_path: Path) -> None:
    copies.pair(tmp_path / "p")
    code, said = ran(tmp_path / "p")
    assert code == ExitCode.UNDETERMINED
    assert "never been run by streamproof run, and this command tells of the processes" in said
    assert "pipeline.status() tells how far each query is" in " ".join(said.split())
    code, said = ran(tmp_path / "p", "--json")
    assert code == ExitCode.UNDETERMINED
    assert "pipeline.status()" in json.loads(said)["reason"]
    with pytest.raises(NotAPipeline):
        process_statuses(tmp_path)
    assert ran(tmp_path)[0] == ExitCode.WRONG_USE
