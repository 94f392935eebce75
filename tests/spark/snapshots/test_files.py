"""What is kept in files, without Spark: recorders, requests, copies of checkpoints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from streamproof.lang import Map
from streamproof.protocols.chandy_lamport import on_marker, on_messages
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint, begin_new_life
from streamproof.spark_bindings.errors import (
    FencedDriver,
    PurgedCheckpoint,
    UnknownFormat,
    WrongWiring,
)
from streamproof.spark_bindings.layout.events import EventLog
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, SnapshotFiles
from streamproof.spark_bindings.names import (
    Position,
    SnapshotId,
)
from streamproof.spark_bindings.snapshots.recorders import RecorderFiles
from streamproof.spark_bindings.storage import json_files
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, armed
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from tests.spark.support.handmade import ONE, A, B, Q, batch, names, spark_checkpoint, write

# --- small durable files -----------------------------------------------------------------------


def test_a_file_is_written_once(tmp_path: Path) -> None:
    file = tmp_path / "x" / "a.json"
    assert json_files.write_json_once(Place.of(file), {"n": 1})
    assert not json_files.write_json_once(Place.of(file), {"n": 2})
    assert json_files.read_json(Place.of(file)) == {"n": 1}
    json_files.write_json(Place.of(file), {"n": 3})
    assert json_files.read_json(Place.of(file)) == {"n": 3}
    assert [part.name for part in file.parent.iterdir()] == ["a.json"]


def test_a_file_is_copied_where_it_cannot_be_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a", "x")

    def link(*_: Any) -> None:
        raise OSError(18, "cross-device")

    monkeypatch.setattr(os, "link", link)
    store_at(tmp_path).copy("a", Place.of(tmp_path / "b" / "c"))
    assert (tmp_path / "b" / "c").read_text() == "x"


def test_a_repeated_step_is_logged_once_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    assert log.read() == {}
    for step in (0, 2, 2):
        log.write(step, [{"event": "on_messages", "channel": "a", "count": step}])
    log.write(3, [])
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"step": 4, "ev')
    assert list(log.read()) == [0, 2]


def test_events_say_their_format_and_those_of_a_later_one_are_refused(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    (tmp_path / "events.jsonl").write_text('{"step": 1, "events": [{"event": "of 0.1.0"}]}\n')
    log.write(2, [{"event": "on_messages"}])
    assert list(log.read()) == [1, 2]
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"streamproof.format": 3, "step": 3, "what": []}\n')
    with pytest.raises(UnknownFormat, match=r"events.jsonl is of format 3"):
        log.read()


# --- recorders ---------------------------------------------------------------------------------


def test_a_repeated_step_starts_from_the_same_recorders(tmp_path: Path) -> None:
    files = RecorderFiles(tmp_path, [A, B])
    before = files.with_snapshots(files.before(batch(5)), [ONE])
    after, effects = on_marker(before, ONE, A)
    assert len(effects) == 2
    files.write(batch(5), after)
    assert files.with_snapshots(files.before(batch(5)), [ONE]) == before
    assert files.before(batch(6)) == after
    later, _ = on_messages(after, B, 7)
    files.write(batch(9), later)
    assert files.before(batch(100))[ONE].log == Map.build(
        later[ONE].log, lambda channel: {A: 0, B: 7}[channel]
    )


def test_a_step_that_changes_nothing_writes_nothing(tmp_path: Path) -> None:
    files = RecorderFiles(tmp_path / "r", [A])
    files.write(batch(0), files.before(batch(0)))
    assert not (tmp_path / "r").exists()


def test_old_recorders_are_removed(tmp_path: Path) -> None:
    files = RecorderFiles(tmp_path, [A])
    recorders, _ = on_marker(files.with_snapshots(files.before(batch(0)), [ONE]), ONE, A)
    two = SnapshotId("000002")
    for number in range(40):
        known = [ONE] if number % 2 else [ONE, two]
        files.write(batch(number), files.with_snapshots(recorders, known))
    assert sorted(int(file.stem) for file in tmp_path.iterdir()) == list(range(32, 40))


# --- requests and records ----------------------------------------------------------------------


def test_ids_rise_and_are_never_shared(tmp_path: Path) -> None:
    one, two = (SnapshotFiles(tmp_path / "snapshots") for _ in range(2))
    assert [one.request(), two.request(), one.request()] == ["000001", "000002", "000003"]
    assert one.unfinished() == one.ids() == two.ids()
    assert names(tmp_path / "snapshots") == {f"{name}/request.json" for name in one.ids()}


def test_an_id_that_another_process_took_meanwhile_is_passed_over(tmp_path: Path) -> None:
    files, others = (SnapshotFiles(tmp_path / "snapshots") for _ in range(2))
    taken: list[str] = []
    with armed(RaceFailpoint.SNAPSHOT_NUMBERED, lambda _: taken.append(others.request())):
        assert files.request() == "000002"
    assert taken == ["000001"]


def test_a_recorded_state_is_written_once_and_a_different_one_is_refused(tmp_path: Path) -> None:
    files = SnapshotFiles(tmp_path / "snapshots")
    snapshot = files.request()
    state = RecordedState(batch(3), {A: Position(7)})
    for _ in range(2):
        files.save_state(snapshot, Q, state)
    with pytest.raises(FencedDriver, match="first record stays"):
        files.save_state(snapshot, Q, RecordedState(batch(4), {A: Position(7)}))
    assert files.state(snapshot, Q) == state


# --- checkpoints -------------------------------------------------------------------------------


def test_a_copy_holds_what_a_restart_after_the_batch_needs_and_nothing_newer(
    tmp_path: Path,
) -> None:
    checkpoint = spark_checkpoint(tmp_path / "ck", last=5)
    checkpoint.copy_as_of(batch(3), Place.of(tmp_path / "copy"))
    state = {f"state/0/0/{n}_f-{n - 1}.changelog" for n in range(1, 5)}
    crc = {f"state/0/0/.{n}_f-{n - 1}.changelog.crc" for n in range(1, 5)}
    assert names(tmp_path / "copy") == {
        *state,
        *crc,
        "metadata",
        *(f"{kind}/{n}" for kind in ("offsets", "commits") for n in (2, 3)),
        *(f"commits/.{n}.crc" for n in (2, 3)),
        "state/0/_metadata/v2/0",
        "state/0/_stateSchema/default/0_abc",
        "state/0/0/2_f-1.zip",
        "state/0/0/SSTs/000001-u.sst",
    }
    linked = tmp_path / "copy/state/0/0/SSTs/000001-u.sst"
    assert linked.stat().st_ino == (tmp_path / "ck/state/0/0/SSTs/000001-u.sst").stat().st_ino
    checkpoint.copy_as_of(batch(5), Place.of(tmp_path / "copy"))  # it is there: a repetition
    assert not (tmp_path / "copy/offsets/5").exists()


def test_a_purged_batch_is_reported_and_nothing_is_left_half(tmp_path: Path) -> None:
    checkpoint = spark_checkpoint(tmp_path / "ck", last=200, first=101)
    with pytest.raises(PurgedCheckpoint, match="minBatchesToRetain"):
        checkpoint.copy_as_of(batch(50), Place.of(tmp_path / "copy"))
    with pytest.raises(PurgedCheckpoint):
        checkpoint.received(batch(50))
    assert sorted(part.name for part in tmp_path.iterdir()) == ["ck"]


def test_a_file_that_is_deleted_while_it_is_linked_is_looked_for_again(tmp_path: Path) -> None:
    checkpoint = spark_checkpoint(tmp_path / "ck", last=5)
    older = "state/0/0/1_f-0.changelog"  # which Spark does not need: there is a whole state behind

    def purge(_: str) -> None:
        (tmp_path / "ck" / older).unlink()

    first = "state/0/0/.1_f-0.changelog.crc"  # of the directory that has been listed
    with armed(RaceFailpoint.CHECKPOINT_FILE_LINKED, purge, where=first):
        checkpoint.copy_as_of(batch(3), Place.of(tmp_path / "copy"))
    assert (tmp_path / "copy/state/0/0/2_f-1.zip").exists()
    assert not (tmp_path / "copy" / older).exists()


def test_a_restored_checkpoint_has_a_life_of_its_own(tmp_path: Path) -> None:
    spark_checkpoint(tmp_path / "ck", last=1).copy_as_of(batch(1), Place.of(tmp_path / "copy"))
    write(tmp_path / "copy/.metadata.crc")
    identity = begin_new_life(Place.of(tmp_path / "copy"), Place.of(tmp_path / "new"))
    assert Checkpoint(tmp_path / "new").identity() == identity != "old"
    assert Checkpoint(tmp_path / "copy").identity() == "old"
    assert not (tmp_path / "new/.metadata.crc").exists()
    assert names(tmp_path / "new") == names(tmp_path / "copy") - {".metadata.crc"}


def test_offsets_name_their_channels(tmp_path: Path) -> None:
    checkpoint = spark_checkpoint(tmp_path / "ck", last=1)
    both = [json.dumps({"channel": "b", "position": 4}), "-"]
    write(tmp_path / "ck/offsets/2", "\n".join(["v1", "{}", *both]))
    assert checkpoint.received(batch(-1)) == {}
    assert checkpoint.received(batch(1)) == {"a": 2}
    assert checkpoint.received(batch(2)) == {"b": 4}
    write(tmp_path / "ck/offsets/3", "\n".join(["v1", "{}", both[0], both[0]]))
    assert checkpoint.received(batch(3)) == {"b": 4}  # one source, in two places of the plan
    other = json.dumps({"channel": "b", "position": 5})
    write(tmp_path / "ck/offsets/3", "\n".join(["v1", "{}", both[0], other]))
    with pytest.raises(WrongWiring, match="two sources"):
        checkpoint.received(batch(3))
    with pytest.raises(PurgedCheckpoint, match="no metadata"):
        Checkpoint(tmp_path / "none").identity()
    assert Checkpoint(tmp_path / "none").last_committed() is None
