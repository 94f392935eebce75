"""A producer that begins to count anew is told; one that repeats itself is not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import ReusedSequence, WrongArgument
from streamproof.spark_bindings.names import Position
from streamproof.spark_bindings.storage.commit_lines import copy_without_rows
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.synced_commits import commit_file
from tests.spark.support.lives import opened


@pytest.fixture
def channel(tmp_path: Path) -> Channel:
    pipeline = Pipeline(
        tmp_path / "p",
        channels={"a": "x double", "b": "x double"},
        queries=[Query("q", ("a",), "b", plan=lambda rows: rows)],
    )
    return pipeline.channel("a")


def rows(*numbers: float) -> pa.Table:
    return pa.table({"x": pa.array(numbers, pa.float64())})


def test_a_bridge_whose_checkpoint_is_new(channel: Channel) -> None:
    for sequence in range(3):
        assert channel.append(rows(sequence), producer="bridge", sequence=sequence)
    with pytest.raises(ReusedSequence, match="1 other rows were appended with it, at position 1"):
        channel.append(rows(7), producer="bridge", sequence=0)
    with pytest.raises(ReusedSequence, match='producer=f"bridge-'):
        opened(channel).append(rows(1, 2), producer="bridge", sequence=1)
    assert channel.append(rows(7), producer="bridge-2", sequence=0) == 4
    assert channel.rows()["x"].to_pylist() == [0, 1, 2, 7]


def test_a_number_that_was_left_out(channel: Channel) -> None:
    assert channel.append(rows(1), producer="bridge", sequence=1) == 1
    assert channel.append(rows(5), producer="bridge", sequence=5) == 2
    with pytest.raises(ReusedSequence, match="no rows were ever appended with it"):
        channel.append(rows(3), producer="bridge", sequence=3)


@pytest.mark.parametrize("sequence", [True, -1, 2**63, 1.0, "5"])
def test_a_number_that_the_log_cannot_keep_is_refused(channel: Channel, sequence: Any) -> None:
    with pytest.raises(WrongArgument, match="which numbers no append"):
        channel.append(rows(1), producer="bridge", sequence=sequence)
    assert channel.append(rows(1), producer="bridge", sequence=2**63 - 1) == 1


def test_a_repetition_gives_none(channel: Channel) -> None:
    given = [rows(1), rows(math.nan, -0.0), rows(), rows(4, 5)]
    for again in (False, True):
        for sequence, table in enumerate(given):
            found = channel.append(table, producer="bridge", sequence=sequence)
            assert found == (None if again else sequence + 1)
    other = opened(channel)
    assert other.append(given[3].slice(0), producer="bridge", sequence=3) is None
    with pytest.raises(ReusedSequence):
        other.append(rows(5, 4), producer="bridge", sequence=3)
    with pytest.raises(ReusedSequence):
        other.append(rows(1), producer="bridge", sequence=2)  # which had none


def test_producers_do_not_disturb_each_other(channel: Channel) -> None:
    for producer in ("one", "two"):
        assert channel.append(rows(len(producer)), producer=producer, sequence=0)
    assert channel.append(rows(3), producer="one", sequence=0) is None


def test_rows_that_were_left_out_of_a_clone_cannot_be_compared(
    channel: Channel, tmp_path: Path
) -> None:
    assert channel.append(rows(1), producer="bridge", sequence=0) == 1
    file = commit_file(channel.place, Position(1))
    copy_without_rows(file, Place.of(tmp_path / "commit"))
    (tmp_path / "commit").replace(file.local)
    assert opened(channel).append(rows(1), producer="bridge", sequence=0) is None
