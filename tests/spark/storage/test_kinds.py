"""Every file on a disk is of a known kind, and each of ours says its format.

`kinds` lists them. What is looked at is made by the workloads of the tests of faults, at each of
their steps; by a real Spark, in a slow test; and by 0.1.0.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from unittest import mock

import pytest
from pyspark.sql import SparkSession

from streamproof.spark_bindings import restore_snapshot
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from tests.data import make_0_1_0 as made_by
from tests.spark.faults import chains, engine, pairs, tables
from tests.spark.faults.crashes import no_syncs
from tests.spark.support.archives import unpack
from tests.spark.support.handmade import write
from tests.spark.support.kinds import MERGE_CHECKPOINT, PIPELINE, TABLE, Kind, Kinds, Strange, look
from tests.spark.support.lives import feed, two
from tests.spark.support.pipelines import chain
from tests.spark.support.rounds import ORIGINAL, Rounds
from tests.spark.support.waiting import SECONDS_MAX
from tests.spark.support.written_files import heartbeat, kept, recorders

PLACES: dict[str, Kinds] = {
    "original": PIPELINE,
    "copy": PIPELINE,
    "checkpoint": MERGE_CHECKPOINT,
    "table": TABLE,
    "late": TABLE,
    "table.late": TABLE,
    "pipeline": PIPELINE,
}
"""What lies where the workloads are done, and below what 0.1.0's script makes."""


def look_at(place: Path, *, is_old: bool = False) -> set[str]:
    """Look at all that is somewhere; give the patterns of what there is."""
    found: set[str] = set()
    for root in place.iterdir():
        if not root.name.startswith("."):  # nothing was there before it was whole
            found |= look(root, PLACES[root.name], is_old=is_old)
    return found


def work_of(workload: ModuleType, place: Path) -> set[str]:
    """Do what a workload does; give the patterns of what there was whenever Spark had written."""
    found, put = set[str](), engine.put
    place.mkdir()

    def put_and_look(path: Path, text: str) -> None:
        put(path, text)
        found.update(look_at(place))

    with workload.without_spark(), no_syncs(), mock.patch.object(engine, "put", put_and_look):
        workload.work(SimpleNamespace(root=place, note=lambda _: None))
    return found | look_at(place)


def others(place: Path) -> set[str]:
    """Make what is not there at any of these steps."""
    made = two(place / "original")
    feed(made.channel("a"), *range(6))
    feed(made.channel("b"), *range(5))
    Rounds(made, ORIGINAL).play(6)
    PipelineDirectory.open(made.path).snapshots.abandon(made.snapshot(), "it takes too long")
    heartbeat(made.path / "alone")
    for query in ("q", "q/A"):
        recorders(made.path / "queries" / query / "recorders")
    kept(made.path / "queries" / "q" / "A" / "kept")
    return look_at(place)


def test_each_file_says_its_format_or_is_of_others(tmp_path: Path) -> None:
    found = others(tmp_path / "others")
    for workload in (chains, pairs, tables):
        found |= work_of(workload, tmp_path / workload.__name__)
    theirs = {Kind.SPARK, Kind.DELTA, Kind.PASSING}
    listed = {**PIPELINE, **MERGE_CHECKPOINT, **TABLE}
    ours = {pattern for pattern, kind in listed.items() if kind not in theirs}
    # What a table's inputs read is noted where Spark runs: the slow test below looks at it.
    assert ours - found == {r"streamproof_inputs\.json"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("queries/first/new.json", f'{{"{FORMAT_KEY}": {FORMAT}}}'),
        ("queries/first/checkpoint/new", ""),
        ("queries/first/checkpoint/state/0/0/new.json", "{}"),
        ("channels/sink/_streamproof_new.json", f'{{"{FORMAT_KEY}": {FORMAT}}}'),
        ("snapshots/000001/parts/first.json", f'{{"{FORMAT_KEY}": {FORMAT}}}'),
        ("new", ""),
        ("queries/first/batches/100.json", "{}"),
        ("queries/first/batches/100.json", f'{{"{FORMAT_KEY}": {FORMAT + 1}}}'),
        ("queries/first/events.jsonl", f'\n{{"{FORMAT_KEY}": {FORMAT}}}\n{{"step": 1}}\n'),
        ("queries/first/checkpoint/offsets/100", 'v1\n{}\n{"channel": "source", "position": 1}'),
        ("channels/sink/_delta_log/00000000000000000100.json", '{"commitInfo": {}}'),
    ],
)
def test_a_new_kind_of_file_and_one_without_a_format_are_found(
    tmp_path: Path, name: str, text: str
) -> None:
    place = chain(tmp_path / "original").path
    assert look(place, PIPELINE)
    write(place / name, text)
    with pytest.raises(Strange, match=re.escape(name)):
        look(place, PIPELINE)


@pytest.mark.parametrize("name", ["pipeline", "pair", "merged"])
def test_what_0_1_0_has_left_is_of_known_kinds(tmp_path: Path, name: str) -> None:
    place = unpack(name, tmp_path)
    if name == "merged":
        assert look_at(place, is_old=True)
    else:
        assert look(place, PIPELINE, is_old=True)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(900)
def test_what_spark_leaves_is_of_known_kinds(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("pipeline", "merged", "pair"):
        place = tmp_path / name
        getattr(made_by, f"make_{name}")(spark, place)
        home = place / "pipeline" if name == "merged" else place
        restored = tmp_path / f"again-{name}"
        restore_snapshot(home, made_by.SNAPSHOT, into=restored)
        if name == "pipeline":
            again = made_by.pipeline(restored)
            with again.start(spark):
                again.await_idle(SECONDS_MAX)
        if name == "merged":
            look_at(place)
        for path in (home, restored):
            assert look(path, PIPELINE)
