"""What a process records, batch by batch: a real channel and a handmade checkpoint, no Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.errors import InconsistentCut
from streamproof.spark_bindings.layout.events import EventLog
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.names import ProcessName, SnapshotId
from streamproof.spark_bindings.snapshots.chandy_lamport import Recording
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles
from streamproof.spark_bindings.storage.place import Place
from tests.spark.support.handmade import ONE, A, batch, spark_checkpoint


def recording_at(path: Path) -> tuple[Recording, SnapshotFiles]:
    """Record for a query that reads rows at positions 1 and 2, a marker at 3, and a row at 4."""
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    pipeline = Pipeline(path / "p", channels={"a": "x long", "b": "x long"}, queries=[query])
    a = pipeline.channel("a")
    snapshots = SnapshotFiles(path / "p" / "snapshots")
    for number in range(2):
        a.append(pa.table({"x": [number]}))
    a.append_marker_once(snapshots.request())
    a.append(pa.table({"x": [2]}))
    checkpoint = spark_checkpoint(path / "checkpoint", last=3)
    made = Recording(
        ProcessName("q"), Place.of(path / "kept"), checkpoint, inputs={A: a}, snapshots=snapshots
    )
    return made, snapshots


def test_a_batch_that_ends_at_a_marker_saves_its_state_and_sends_the_marker_on(
    tmp_path: Path,
) -> None:
    recording, snapshots = recording_at(tmp_path)
    sent: list[SnapshotId] = []
    for number in range(4):
        received = recording.begin(batch(number))
        assert received == {A: number + 1}
        recording.on_batch(batch(number), received, sent.append)
    assert sent == [ONE]
    state = json.loads((snapshots.place / ONE / "states" / "q.json").local.read_text())
    assert (state["batch"], state["received"]) == (2, {"a": 3})
    steps = EventLog(tmp_path / "kept" / "events.jsonl").read()
    # Before the first marker there is no snapshot, and afterwards none is left.
    assert {number: [event["event"] for event in step] for number, step in steps.items()} == {
        0: ["on_messages"],
        1: ["on_messages"],
        2: ["on_marker"],
        3: ["on_messages"],
    }


def test_a_batch_that_reads_past_a_marker_is_refused(tmp_path: Path) -> None:
    recording, _ = recording_at(tmp_path)
    received = {A: recording.begin(batch(3))[A]}
    (tmp_path / "checkpoint/offsets/2").unlink()
    (tmp_path / "checkpoint/offsets/1").rename(tmp_path / "checkpoint/offsets/2")
    with pytest.raises(InconsistentCut, match="past the marker at 3"):
        recording.on_batch(batch(3), received, lambda _: None)


def test_recorders_are_given_as_of_a_step(tmp_path: Path) -> None:
    files = RecorderFiles(tmp_path / "from", [A])
    for number, known in ((3, [ONE]), (5, [ONE, SnapshotId("000002")])):
        files.write(batch(number), files.with_snapshots(files.before(batch(number)), known))
    files.copy_as_of(batch(4), Place.of(tmp_path / "to"))
    assert [file.name for file in (tmp_path / "to").iterdir()] == ["3.json"]
    assert RecorderFiles(tmp_path / "to", [A]).before(batch(5)) == files.before(batch(5))
    files.copy_as_of(batch(2), Place.of(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
