"""A lane or a pair is a record; the name that files have for it is made, and read, in one place."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import streamproof.spark_bindings as bindings
from streamproof.spark_bindings.names import (
    ChannelName,
    Lane,
    LaneName,
    PairId,
    PairName,
    QueryName,
    lanes_of,
    number_of,
)

ROOT = Path(bindings.__file__).parent


@pytest.mark.parametrize("count", [1, 2, 12])
def test_a_name_says_which_lane_or_pair_it_is_of(count: int) -> None:
    lanes = lanes_of(ChannelName("totals"), count)
    assert [Lane.of(lane.name) for lane in lanes] == list(lanes)
    assert len({lane.name for lane in lanes}) == count
    pairs = [PairId(QueryName("q"), number_of(part, count)) for part in range(count)]
    assert [PairId.of(pair.name) for pair in pairs] == pairs


def test_files_have_the_names_that_they_had() -> None:
    assert [lane.name for lane in lanes_of(ChannelName("a"), 1)] == ["a"]
    assert [lane.name for lane in lanes_of(ChannelName("a"), 2)] == ["a.0", "a.1"]
    assert Lane.of(LaneName("a.1")) == Lane(ChannelName("a"), 1)
    assert PairId.of(PairName("q")) == PairId(QueryName("q"))
    assert PairId(QueryName("q"), 0).name == "q.0"


def test_a_directory_of_another_name_is_no_pair_of_a_query() -> None:
    assert PairId.of(PairName("q.old")).query != "q"


def test_no_other_module_takes_a_name_apart() -> None:
    apart = re.compile(r"\.r?(?:partition|split)\(\"\.\"\)\[0\](?! or name)")
    found = [path.name for path in ROOT.rglob("*.py") if apart.search(path.read_text())]
    assert found == []
