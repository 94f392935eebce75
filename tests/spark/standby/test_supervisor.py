"""Copies that fail are replaced, and a pair that loses both says so. The copies only beat."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.errors import (
    BothCopiesFailed,
    CopiesDiffer,
    CopyRuns,
    QueryFailed,
)
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.pairs import (
    Copy,
    Pair,
    PairDirectory,
    ProcessDirectory,
    pairs_of,
)
from streamproof.spark_bindings.layout.process_lock import holder, locked
from streamproof.spark_bindings.processes.process_status import ProcessStatus
from streamproof.spark_bindings.standby import child_process
from streamproof.spark_bindings.standby.supervisor import Supervisor
from streamproof.spark_bindings.storage.place import Place
from tests.spark.standby.support import copies, fake_copy
from tests.spark.standby.support.supervised import Supervised
from tests.spark.support.waiting import await_that

BOUND = 0.5
FOREVER = -1
Ends = Callable[[Copy], tuple[int, int]]
"""Gives a copy's exit code, and the beats after which it ends."""


def runs(copy: Copy) -> tuple[int, int]:
    return 0, FOREVER


@contextmanager
def supervised(
    path: Path,
    ends: Ends = runs,
    partitions: int = 1,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Supervised]:
    pipeline = copies.pair(path, partitions)

    def command(pair: Pair, copy: Copy, log: Place) -> list[str]:
        code, beats = ends(copy)
        beat = path / "queries" / pair.name / copy.value / "beat.json"
        beat.parent.mkdir(parents=True, exist_ok=True)
        program = [sys.executable, "-m", "tests.spark.standby.support.fake_copy"]
        return [*program, str(beat), str(code), str(beats)]

    supervisor = Supervisor(pipeline, command, BOUND, clock=clock)
    running = Supervised(supervisor)
    try:
        yield running
    finally:
        running.end()
    for status in supervisor.status().values():
        assert status.process is not None
        with pytest.raises(ProcessLookupError):
            os.kill(status.process, 0)


def copy_of(running: Supervised, copy: Copy) -> ProcessStatus:
    return running.status("totals")[copy]


def await_pair(running: Supervised, *, starts: tuple[int, int] = (1, 1)) -> None:
    """Wait until both copies run, and were started so often."""

    def is_paired() -> bool:
        found = running.status("totals").values()
        return all(c.is_beating for c in found) and starts == tuple(c.starts for c in found)

    await_that(is_paired, "a pair")


def kill(status: ProcessStatus, number: signal.Signals = signal.SIGKILL) -> None:
    assert status.process is not None
    os.killpg(status.process, number)


def test_a_copy_that_was_killed_is_started_again_and_so_is_the_other_later(tmp_path: Path) -> None:
    with supervised(tmp_path / "p") as running:
        await_pair(running)
        kill(copy_of(running, Copy.A))
        await_pair(running, starts=(2, 1))
        kill(copy_of(running, Copy.B))
        await_pair(running, starts=(2, 2))
        assert running.failure is None


def test_a_copy_is_in_sync_when_it_has_taken_a_turn_and_the_other_is_not_ahead(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "p" / "queries" / "totals"
    idle, behind = path / "A" / fake_copy.IDLE, path / "A" / fake_copy.BEHIND
    caplog.set_level("INFO", "streamproof.standby")

    def are_in_sync() -> list[bool]:
        return [copy_of(running, copy).is_in_sync for copy in Copy]

    with supervised(tmp_path / "p") as running:
        await_that(lambda: are_in_sync() == [True, True], "two copies")
        behind.touch()
        idle.touch()
        kill(copy_of(running, Copy.A))
        await_pair(running, starts=(2, 1))
        assert are_in_sync() == [False, True]
        idle.unlink()
        time.sleep(BOUND)
        assert are_in_sync() == [False, True]  # it has taken turns, but lacks some
        behind.unlink()
        await_that(lambda: are_in_sync() == [True, True], "two copies again")
    said = [record.getMessage() for record in caplog.records]
    assert sorted(text for text in said if "is in sync" in text) == [
        f"copy {name} of totals is in sync: it can take over at once" for name in "AAB"
    ]
    assert len([text for text in said if " runs, after " in text]) == 3


def test_a_frozen_copy_is_ended_and_started_again(tmp_path: Path) -> None:
    with supervised(tmp_path / "p") as running:
        await_pair(running)
        kill(copy_of(running, Copy.B), signal.SIGSTOP)
        await_pair(running, starts=(1, 2))


def test_a_pair_that_loses_both_copies_says_that_data_may_be_lost(tmp_path: Path) -> None:
    # It is told because they have ended, and not because they are silent: no time passes.
    with supervised(tmp_path / "p", clock=lambda: 0.0) as running:
        await_pair(running)
        for copy in Copy:
            kill(copy_of(running, copy), signal.SIGSTOP)  # so that it sees none of them end first
        for copy in Copy:
            kill(copy_of(running, copy))
        assert isinstance(running.failed(), BothCopiesFailed)
        assert str(running.failure).count("was killed by SIGKILL") == 2
        assert "may be lost" in str(running.failure)


def test_a_survivor_that_freezes_while_the_other_is_replaced_is_the_loss_of_both(
    tmp_path: Path,
) -> None:
    with supervised(tmp_path / "p") as running:
        await_pair(running)
        (tmp_path / "p/queries/totals/A" / fake_copy.NEVER).touch()
        kill(copy_of(running, Copy.A))
        await_that(lambda: copy_of(running, Copy.A).starts == 2, "a new copy")
        kill(copy_of(running, Copy.B), signal.SIGSTOP)
        assert isinstance(running.failed(), BothCopiesFailed)
        assert f"was silent for {child_process.SILENCE_TIMEOUTS_MAX * BOUND:g} s" in str(
            running.failure
        )


def test_losing_a_copy_of_one_partition_touches_its_pair_alone(tmp_path: Path) -> None:
    with supervised(tmp_path / "p", partitions=2) as running:
        pairs = [str(pair.name) for pair in pairs_of(copies.totals_query(2))]

        def are_paired() -> bool:
            return all(copy.is_beating for pair in pairs for copy in running.status(pair).values())

        await_that(are_paired, "two pairs")
        before = running.status(pairs[1])
        kill(running.status(pairs[0])[Copy.A])
        await_that(lambda: running.status(pairs[0])[Copy.A].starts == 2, "a new copy")
        await_that(are_paired, "two pairs again")
        after = running.status(pairs[1])
        assert {copy: (now.process, now.starts) for copy, now in after.items()} == {
            copy: (then.process, then.starts) for copy, then in before.items()
        }


def test_the_second_failure_before_the_first_copy_caught_up_is_one_of_both(tmp_path: Path) -> None:
    with supervised(tmp_path / "p") as running:
        await_pair(running)
        (tmp_path / "p/queries/totals/A" / fake_copy.NEVER).touch()  # it takes its time to catch up
        kill(copy_of(running, Copy.A))
        await_that(lambda: copy_of(running, Copy.A).starts == 2, "a new copy")
        assert running.failure is None
        kill(copy_of(running, Copy.B))
        assert isinstance(running.failed(), BothCopiesFailed)
        assert "copy A has not caught up yet" in str(running.failure)


def test_a_copy_that_hangs_in_its_start_is_started_again(tmp_path: Path) -> None:
    passed = 0.0
    with supervised(tmp_path / "p", clock=lambda: time.monotonic() + passed) as running:
        await_pair(running)
        (tmp_path / "p/queries/totals/A" / fake_copy.NEVER).touch()
        kill(copy_of(running, Copy.A))
        await_that(lambda: copy_of(running, Copy.A).starts == 2, "a new copy")
        passed = child_process.START_SECONDS_MAX
        await_that(lambda: copy_of(running, Copy.A).starts == 3, "another new copy")
        assert copy_of(running, Copy.B).is_beating
        assert running.failure is None


def test_copies_that_run_already_are_named_and_left_alone(tmp_path: Path) -> None:
    pipeline = copies.pair(tmp_path / "p")
    pair = Pair(pipeline.queries[0])
    own = PairDirectory.of(PipelineDirectory.open(tmp_path / "p"), pair).copy(Copy.B)
    with locked(own, "copy B of totals"), pytest.raises(CopyRuns, match=f"kill {os.getpid()}$"):
        Supervisor(pipeline, lambda *_: ["false"], BOUND).__enter__()
    assert holder(own) is None


def test_a_second_supervisor_is_told_of_the_first(tmp_path: Path) -> None:
    with supervised(tmp_path / "p"):
        second = Supervisor(copies.pair(tmp_path / "p"), lambda *_: ["false"], BOUND)
        with pytest.raises(CopyRuns, match=f"is run by process {os.getpid()}, .* End that one"):
            second.__enter__()
    assert holder(ProcessDirectory(Place.of(tmp_path / "p/supervisor"))) is None


@pytest.mark.parametrize(
    ("code", "error", "words"),
    [
        (1, CopiesDiffer, "gave other rows than the other copy"),
        (2, QueryFailed, "ended with exit code 2"),
    ],
)
def test_a_mistake_that_a_new_start_does_not_mend_stops_everything(
    tmp_path: Path, code: int, error: type[Exception], words: str
) -> None:
    with supervised(tmp_path / "p", lambda copy: (code, 3 if copy is Copy.B else FOREVER)) as run:
        assert isinstance(run.failed(), error)
        assert f"copy B of totals in pipeline {tmp_path / 'p'}" in str(run.failure)
        assert words in str(run.failure)


def test_a_copy_that_does_not_come_up_is_tried_again_after_pauses_and_the_other_goes_on(
    tmp_path: Path,
) -> None:
    with supervised(tmp_path / "p", lambda copy: (3, 0 if copy is Copy.B else FOREVER)) as run:
        await_that(lambda: copy_of(run, Copy.B).starts == 2, "a second start")
        assert copy_of(run, Copy.A).is_beating
        assert run.failure is None


def supervised_alone(path: Path, command: str) -> Supervised:
    alone = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    pipeline = Pipeline(path, channels={"a": "x long", "b": "x long"}, queries=[alone])
    return Supervised(Supervisor(pipeline, lambda *_: [], BOUND, lambda _: ["sh", "-c", command]))


def test_queries_without_replicas_are_started_again(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    running = supervised_alone(tmp_path / "p", f"echo >> {starts}; exit 3")
    await_that(lambda: starts.exists() and len(starts.read_text()) == 2, "two starts")
    running.end()
    assert running.failure is None


def test_a_mistake_in_a_query_without_replicas_stops_everything(tmp_path: Path) -> None:
    running = supervised_alone(tmp_path / "p", "exit 2")
    assert isinstance(running.failed(), QueryFailed)
    assert "queries without a standby in pipeline" in str(running.failure)
