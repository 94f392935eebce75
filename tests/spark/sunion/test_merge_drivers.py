"""Drivers of their own processes: killed anywhere, or side by side, they make the same table."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable

from tests.spark.support import driver, merge_driver
from tests.spark.support.merge_driver import Options
from tests.spark.support.merges import content, example, in_pieces, placed, spread
from tests.spark.support.merging import reference
from tests.spark.support.waiting import SECONDS_MAX

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


def prepare(place: Path, seed: int) -> None:
    for name, rows in example().items():
        spread(place, name, in_pieces(rows, seed, cuts=5))


def finish(place: Path) -> None:
    process = merge_driver.begin(place, Options())
    try:
        ended = process.wait(SECONDS_MAX)
        assert ended == 0, driver.log_of(place).read_text()[-4000:]
    finally:
        driver.end(process)


def stable(place: Path) -> bytes:
    """Read the stable rows of a table, check them against the oracle, and give their bytes."""
    rows = DeltaTable(place / "table").to_pyarrow_table()
    rows = rows.filter(pc.equal(rows["tuple_type"], "INSERTION")).sort_by("stable_id")
    assert placed(rows) == reference(example())[0]
    assert rows["stable_id"].to_pylist() == list(range(rows.num_rows))
    late = DeltaTable(Path(f"{place / 'table'}.late")).to_pyarrow_table()
    assert set(placed(late)) == reference(example())[1]
    assert late.num_rows == len(reference(example())[1])
    return content(rows)


def test_killed_drivers_and_replicas_make_the_same_table(tmp_path: Path) -> None:
    killed, replica = tmp_path / "killed", tmp_path / "replica"
    prepare(killed, seed=5)
    prepare(replica, seed=6)
    other = merge_driver.begin(replica, Options(files_per_batch=2, partitions=4))
    try:
        for batch, delay in ((0, 3.0), (1, 0.2), (2, 0.6), (3, 0.0), (4, 0.4)):
            process = merge_driver.begin(killed, Options())
            try:
                merge_driver.kill_in_batch(process, killed, batch, delay)
            finally:
                driver.end(process)
        finish(killed)
        assert other.wait(SECONDS_MAX) == 0
    finally:
        driver.end(other)
    assert stable(killed) == stable(replica)
