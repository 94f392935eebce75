"""Everything on a disk says its format; a later one is refused, and 0.1.0's says nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from streamproof.spark_bindings import Pipeline
from streamproof.spark_bindings.channels.provenance import BatchNotes, Made
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.errors import DamagedFile, NotAPipeline, UnknownFormat
from streamproof.spark_bindings.layout import incarnation
from streamproof.spark_bindings.names import BatchId, ChannelName, Position, Turn
from streamproof.spark_bindings.processes.order_log import Choice, OrderLog
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY, format_of
from streamproof.spark_bindings.storage.json_files import read_json, write_json, write_json_once
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.synced_commits import commit_file
from streamproof.spark_bindings.sunion.owned_table import OwnedTable
from streamproof.spark_bindings.sunion.table_files import TableFile
from streamproof.spark_bindings.sunion.tuple_type import TupleType
from tests.spark.support.handmade import write
from tests.spark.support.lives import feed, opened, two
from tests.spark.support.written_files import heartbeat, kept, recorders

LATER = FORMAT + 1


def raise_format(file: Path) -> None:
    """Let a file be of a later version."""
    said = json.loads(file.read_text())
    assert said[FORMAT_KEY] == FORMAT
    file.write_text(json.dumps({**said, FORMAT_KEY: LATER}))


def order_log(place: Path) -> Callable[[], object]:
    log = OrderLog(place)
    log.settle(Turn(0), Choice(ChannelName("a"), Position(1)))
    return lambda: log.choice(Turn(0))


def notes(place: Path) -> Callable[[], object]:
    files = BatchNotes(place, "q")
    files.write(Made("one", BatchId(0), {}), None, None)
    return files.newest


def incarnations(place: Path) -> Callable[[], object]:
    checkpoint = Checkpoint(place / "checkpoint")
    incarnation.supersede(checkpoint)
    return lambda: incarnation.present(checkpoint)


@pytest.mark.parametrize("make", [recorders, order_log, heartbeat, kept, notes, incarnations])
def test_files_of_a_query_or_a_copy(
    tmp_path: Path, make: Callable[[Path], Callable[[], object]]
) -> None:
    read = make(tmp_path / "place")
    assert read() is not None
    (file,) = (tmp_path / "place").rglob("*.json")
    raise_format(file)
    with pytest.raises(UnknownFormat, match=rf"{file.name} is of format 3; this version"):
        read()


def test_files_of_0_1_0_say_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file.json"
    file.write_text('{"n": 3}')
    assert read_json(Place.of(file), n=int) == {"n": 3}
    for write_one in (write_json, write_json_once):
        file.unlink()
        write_one(Place.of(file), {"n": 4})
        assert json.loads(file.read_text()) == {"n": 4, FORMAT_KEY: FORMAT}
        assert read_json(Place.of(file), n=int) == {"n": 4}


@pytest.mark.parametrize("found", [LATER, str(LATER), 0, -1, "two", None, 1.5, True, [1]])
def test_what_is_no_known_format(found: object) -> None:
    with pytest.raises(UnknownFormat, match="Use the version that wrote it"):
        format_of({FORMAT_KEY: found}, "a file")


def test_a_pipeline_file(tmp_path: Path) -> None:
    made = two(tmp_path / "p")
    file = made.path / "pipeline.json"
    said = json.loads(file.read_text())
    assert said["format"] == FORMAT  # where 0.1.0 looks, and refuses it
    for key in ("format", FORMAT_KEY):
        # Whatever else it has become: it is not called damaged.
        file.write_text(json.dumps({"id": said["id"], key: LATER}))
        with pytest.raises(UnknownFormat, match="is of format 3"):
            two(made.path)
    assert issubclass(UnknownFormat, NotAPipeline)


def test_a_commit_of_a_channel(tmp_path: Path) -> None:
    channel = two(tmp_path / "p").channel("a")
    feed(channel, 1)
    file = commit_file(channel.place, Position(1))
    text = file.local.read_text()
    assert f'"{FORMAT_KEY}":"{FORMAT}"' in text
    later = text.replace(f'"{FORMAT_KEY}":"{FORMAT}"', f'"{FORMAT_KEY}":"{LATER}"')
    file.local.write_text(later.replace('"stats"', '"statistics"'))  # whatever else it has become
    with pytest.raises(UnknownFormat, match="commit 1 of channel .* is of format '3'"):
        channel.rows()
    with pytest.raises(UnknownFormat):
        opened(channel)


def test_a_channel_that_a_later_version_has_made(tmp_path: Path) -> None:
    channel = two(tmp_path / "p").channel("a")
    file = commit_file(channel.place, Position(0))
    text, said = file.local.read_text(), f'"{FORMAT_KEY}":"{FORMAT}"'
    assert said in text
    file.local.write_text(text.replace(said, f'"{FORMAT_KEY}":"{LATER}"'))
    with pytest.raises(UnknownFormat, match="commit 0 of channel .* is of format '3'"):
        opened(channel)
    file.local.write_text(text.replace(f",{said}", ""))  # as 0.1.0 did
    assert FORMAT_KEY not in file.local.read_text()
    feed(opened(channel), 1)


@pytest.mark.parametrize("name", ["request.json", "manifest.json"])
def test_files_of_a_snapshot(tmp_path: Path, name: str) -> None:
    made: Pipeline = two(tmp_path / "p")
    snapshot = made.snapshot()
    place = made.path / "snapshots" / snapshot
    write_json(
        Place.of(place / "manifest.json"),
        {"completed_at": "2026-01-01", "markers": {}, "channels": []},
    )
    raise_format(place / name)
    with pytest.raises(UnknownFormat, match=name):
        made.snapshots()


def test_a_merged_table_of_a_later_version_or_cut(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    write((checkpoint.place / "metadata").local, '{"id": "one"}')
    schema = pa.schema([("x", pa.int64()), ("tuple_type", pa.string())])

    def table() -> OwnedTable:
        return OwnedTable(Place.of(tmp_path / "table"), schema, checkpoint, {TupleType.INSERTION})

    made = Made("one", BatchId(0), {})
    files: list[TableFile] = []
    table().apply(made, files)
    write((checkpoint.place / "offsets/0").local, "v1\n{}\n")
    assert table().is_applied(0)
    version = DeltaTable(tmp_path / "table").version()
    file = commit_file(Place.of(tmp_path / "table"), Position(version))
    text = file.local.read_text()
    file.local.write_text(text.splitlines()[0])
    with pytest.raises(DamagedFile, match="it says streamproof.transactions=1, and has 0"):
        table()
    file.local.write_text(text.replace(f'"{FORMAT_KEY}":"2"', f'"{FORMAT_KEY}":"3"'))
    with pytest.raises(UnknownFormat, match="the table .* is of format '3'"):
        table()
