"""Directories that 0.1.0 made go on working, forever, or are refused with a clear way out.

`tests/data/make_0_1_0.py` made the archives. They are unpacked elsewhere than where they were made.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

from deltalake import DeltaTable

from streamproof.spark_bindings import SnapshotStatus, list_snapshots, restore_snapshot
from streamproof.spark_bindings.retention import vacuum
from tests.data.make_0_1_0 import SNAPSHOT, merged, pair, pipeline

ARCHIVES = Path(__file__).parents[1] / "data" / "0.1.0"


def unpack(name: str, place: Path) -> Path:
    """Unpack what 0.1.0 left; give its directory."""
    with tarfile.open(ARCHIVES / f"{name}.tar.gz") as packed:
        packed.extractall(place, filter="data")
    return place / name


def test_channels_and_snapshots_of_a_pipeline_can_be_read(tmp_path: Path) -> None:
    made = pipeline(unpack("pipeline", tmp_path))
    assert sorted(made.channel("sink").rows()["id"].to_pylist()) == [1, 2, 3, *range(100, 110)]
    assert sorted(made.channel("source").rows()["id"].to_pylist()) == [1, 2, 3, 4, 5]
    (found,) = made.snapshots()
    assert (found.id, found.status) == (SNAPSHOT, SnapshotStatus.COMPLETE)
    assert {part.channel: part.rows for part in found.channels}["other"] == 5


def test_a_pipeline_takes_rows_and_a_producer_goes_on_where_it_was(tmp_path: Path) -> None:
    made = pipeline(unpack("pipeline", tmp_path))
    source, row = made.channel("source"), {"id": 5, "turn": 0}
    rows = source.rows().slice(0, 1)
    before = source.log.last()
    assert source.append(rows, producer="bridge", sequence=5) is None
    assert source.append(rows, producer="bridge", sequence=6) == before + 1
    assert source.rows().to_pylist()[-2] == row


def test_a_snapshot_of_each_kind_can_be_restored(tmp_path: Path) -> None:
    for name, make in (("pipeline", pipeline), ("pair", pair)):
        restored = tmp_path / f"restored-{name}"
        restore_snapshot(unpack(name, tmp_path), SNAPSHOT, into=restored)
        assert make(restored).snapshots() == []
    place = unpack("merged", tmp_path)
    restore_snapshot(place / "pipeline", SNAPSHOT, into=tmp_path / "restored" / "pipeline")
    assert merged(tmp_path / "restored").channel("merged").rows().num_rows > 0


def test_rows_that_nobody_needs_can_be_removed(tmp_path: Path) -> None:
    place = unpack("pipeline", tmp_path)
    assert {part.channel: part.until for part in vacuum(place)} == {
        "source": 4,
        "middle": 4,
        "other": 5,
    }


def test_a_table_and_a_pair_can_be_read(tmp_path: Path) -> None:
    table = DeltaTable(unpack("merged", tmp_path) / "table").to_pyarrow_table()
    assert sorted(table["text"].to_pylist()) == ["ewr 0", "ewr 1", "jfk 0", "jfk 1"]
    place = unpack("pair", tmp_path)
    totals = pair(place).channel("totals").rows().to_pylist()
    assert max(row["total"] for row in totals if row["id"] == 0) == 8
    (found,) = list_snapshots(place)
    assert found.pairs == ("totals",)
