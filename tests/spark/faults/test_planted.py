"""The layer finds mistakes: each of these, planted in the bindings, is found at some crash.

A mistake is a sync that is left out, or two operations in the wrong order. It is in the way of the
work and, as it would be, of what goes on behind the crash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from streamproof import disk
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.layout import directory, output_buffer
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.pipelines.query_process import QueryProcess
from streamproof.spark_bindings.storage import json_files, parquet_files
from streamproof.spark_bindings.storage.synced_commits import SyncedCommits
from streamproof.spark_bindings.sunion import owned_table, table_files
from tests.spark.faults.crashes import Report, crash, record
from tests.spark.faults.workloads import WORKLOADS

Planted = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Mistake:
    """What is wrong, and the workload in which it is found.

    Attributes
    ----------
    each : how many operations there are from one crash to the next
    is_fast : whether it is soon found
    masked : why no crash shows it, if none does
    """

    workload: str
    plant: Planted
    each: int = 3
    is_fast: bool = False
    masked: str = ""


def left_out(owner: Any, name: str) -> Planted:
    """Do not do it."""
    return lambda: mock.patch.object(owner, name, return_value=None)


def instead(owner: Any, name: str, other: Callable[..., Any]) -> Planted:
    """Do this in its place."""
    return lambda: mock.patch.object(owner, name, other)


def _in_place(path: Path, content: bytes, **_: Any) -> None:
    disk.write_file(path, content)


def _made_in_place(path: Path, content: bytes) -> bool:
    if path.exists():
        return False
    disk.write_file(path, content)
    return True


def _without_names(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)


@contextmanager
def _directories_without_names() -> Iterator[None]:
    with mock.patch.object(disk, "make_directory", _without_names):
        yield


def _markers_first(self: QueryProcess, rows: Any, batch_id: Any) -> None:
    received = self._recording.begin(batch_id)
    self._recording.on_batch(batch_id, received, self._output.append_marker_once)
    self._output.append_once(rows, self.checkpoint.identity(), batch_id)


def _manifest_first(self: SnapshotFiles, name: Any, **what: Any) -> None:
    mark = self.place / name / "manifest.json"
    manifest = {"completed_at": "2026-01-01T00:00:00+00:00", "markers": what["markers"]}
    disk.write_file(mark.local, b"{}")
    parts = [vars_of(part) for part in what["channels"]]
    json_files.write_json(mark, {**manifest, "pairs": list(what["pairs"]), "channels": parts})


def vars_of(part: Any) -> dict[str, Any]:
    return {name: getattr(part, name) for name in part.__slots__}


MISTAKES = {
    "a-file-is-written-in-place": Mistake(
        "pipeline", instead(disk, "replace_file", _in_place), each=1
    ),
    "a-file-is-created-in-place": Mistake(
        "pipeline", instead(disk, "create_file", _made_in_place), each=1
    ),
    "a-data-file-is-not-synced": Mistake("pipeline", left_out(parquet_files, "sync_content")),
    "an-append-is-told-before-it-is-synced": Mistake("pipeline", left_out(ChannelLog, "sync")),
    "a-plan-is-not-synced": Mistake("pipeline", left_out(Checkpoint, "sync_plan")),
    "a-pipeline-has-its-name-before-its-files": Mistake(
        "pipeline", left_out(directory, "sync_below"), each=1
    ),
    "directories-have-no-name": Mistake("pipeline", _directories_without_names),
    "markers-are-sent-before-rows": Mistake(
        "pipeline", instead(QueryProcess, "on_batch", _markers_first), each=1
    ),
    "a-manifest-is-torn": Mistake(
        "pipeline", instead(SnapshotFiles, "complete", _manifest_first), each=1
    ),
    "a-kept-output-has-no-name": Mistake(
        *("pair", left_out(output_buffer, "sync_names"), 2),
        masked="a crash of the machine leaves the other copy's checkpoint, and it gives them again",
    ),
    "a-batch-counts-before-it-is-synced": Mistake(
        "table", left_out(SyncedCommits, "sync"), is_fast=True
    ),
    "a-table-s-file-is-not-synced": Mistake("table", left_out(table_files, "sync_content"), each=1),
    "a-table-s-file-has-no-name": Mistake("table", left_out(owned_table, "sync_names"), each=1),
}


def find(mistake: Mistake, place: Path) -> Report:
    """Plant a mistake, and crash; an error tells that it was found."""
    workload = WORKLOADS[mistake.workload]
    with ExitStack() as stack:
        stack.enter_context(workload.without_spark())
        with mistake.plant():
            tape = record(place / "recorded", workload.work)
        how = {"each": mistake.each, "lossy": 3}
        return crash(tape, place, workload.check, refusals=workload.refusals, **how)


def _marks(mistake: Mistake) -> Iterator[pytest.MarkDecorator]:
    if not mistake.is_fast:
        yield pytest.mark.slow
    if mistake.masked:
        yield pytest.mark.xfail(strict=True, reason=mistake.masked)


def cases() -> list[Any]:
    """Return the mistakes; those that are not soon found are slow."""
    return [
        pytest.param(mistake, id=name, marks=tuple(_marks(mistake)))
        for name, mistake in MISTAKES.items()
    ]


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("mistake", cases())
def test_a_mistake_is_found(mistake: Mistake, memory: Path, request: Any) -> None:
    # Markers ahead of rows are wrong without a crash, too: what a snapshot restores lacks the rows.
    with pytest.raises(AssertionError, match="a crash behind operation|: lost "):
        find(mistake, memory / request.node.callspec.id)
