"""What is no value of a parameter is refused where it is given, in our own words."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from streamproof.lang import StreamproofError
from streamproof.spark_bindings import (
    Pipeline,
    Query,
    SignedBy,
    Standby,
    list_snapshots,
    prune_snapshots,
    remove_snapshot,
    restore_snapshot,
    show_snapshot,
    spark_session,
    take_snapshot,
    vacuum,
)
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.standby.copy_run import find_pair, run_copy
from streamproof.spark_bindings.standby.supervisor import Supervisor
from streamproof.spark_bindings.standby.unreplicated_run import run_unreplicated
from streamproof.spark_bindings.sunion import late_rows, reconcile, stable_only, sunion

NAN, INFINITE = float("nan"), float("inf")
STRANGE: list[Any] = [
    *(None, True, False, -1, 1.5, NAN, INFINITE, -INFINITE, 10**30, "", "5", "abc", "1 month"),
    *([], (), {}, [1], ("a", "a"), {"a": None}, object(), dt.timedelta(0), pd.NaT, b"x", b""),
]
"""Whatever a parameter takes, most of these are not it."""

Give = Callable[[Any], object]


def refused(give: Give, *right: object, others: tuple[Any, ...] = ()) -> None:
    """Check that all strange values are refused but those which are right."""
    for value in (*STRANGE, *others):
        if any(value is one or (type(value) is type(one) and value == one) for one in right):
            continue
        with pytest.raises(StreamproofError) as found:
            give(value)
        assert ". " in str(found.value), value  # what happened, and what to do


def a_query(**other: Any) -> Query:
    return Query(**({"name": "q", "inputs": ("a",), "output": "b", "plan": len} | other))


def a_standby(**other: Any) -> Standby:
    return Standby(**({"partitions": 2, "by": "k"} | other))


QUERY: dict[str, tuple[object, ...]] = {
    "name": ("abc",),
    "inputs": (),
    "output": ("abc",),
    "plan": (),
    "output_mode": (),
    "processing_time": (1.5, dt.timedelta(0)),
    "commits_per_batch_max": (),
    "rows_per_batch_max": (None,),
    "standby": (None,),
}


@pytest.mark.parametrize("name", QUERY)
def test_what_a_query_cannot_be_is_refused_where_it_is_declared(name: str) -> None:
    refused(lambda value: a_query(**{name: value}), *QUERY[name])


@pytest.mark.parametrize(
    ("name", "right", "others"),
    [
        ("partitions", (), (0, 1, 1001)),
        ("by", ("abc", "5", "1 month"), (1,)),
        ("bounds", ((), [], [1]), ((None,), (NAN,), (object(),), (pd.NaT,), ("a", 1), ([],))),
    ],
)
def test_what_pairs_cannot_be_is_refused_where_it_is_declared(
    name: str, right: tuple[object, ...], others: tuple[Any, ...]
) -> None:
    refused(lambda value: a_standby(**{name: value}), *right, others=others)


def test_zero_is_no_limit_of_a_batch() -> None:
    for name in ("commits_per_batch_max", "rows_per_batch_max"):
        with pytest.raises(StreamproofError, match="limits of at least 1"):
            a_query(**{name: 0})
    assert a_query(processing_time=0).processing_time_ms == 0
    assert a_query(processing_time="750 ms").processing_time_ms == 750
    assert a_query(standby=a_standby(bounds=(dt.date(2020, 1, 1),))).partitions == 2


def a_pipeline(place: Path, **other: Any) -> Pipeline:
    wired: dict[str, Any] = {"channels": {"a": "x long", "b": "x long"}, "queries": [a_query()]}
    return Pipeline(place, **(wired | other))


def test_what_a_pipeline_cannot_be_is_refused_and_nothing_is_created(tmp_path: Path) -> None:
    place = tmp_path / "p"
    refused(lambda value: a_pipeline(place, channels=value))
    refused(lambda value: a_pipeline(place, queries=value), others=(a_query(),))
    refused(lambda value: a_pipeline(place, channels={"a": value, "b": "x long"}))
    refused(a_pipeline, "5", "abc", "1 month")
    with pytest.raises(StreamproofError, match="called 'q'"):
        a_pipeline(place, queries=[a_query(), a_query()])
    assert list(tmp_path.iterdir()) == []


def test_what_a_pipeline_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    pipeline = a_pipeline(tmp_path / "p")
    snapshot = pipeline.snapshot()
    before = sorted(pipeline.path.rglob("*"))
    refused(pipeline.channel)
    refused(lambda value: pipeline.await_snapshot(value, 0))
    refused(lambda value: pipeline.await_snapshot(snapshot, value), 1.5, dt.timedelta(0))
    refused(pipeline.await_idle)
    refused(lambda value: pipeline.restore(value, into=tmp_path / "r"))
    refused(lambda value: pipeline.restore(snapshot, into=tmp_path / "r", replay=value))
    refused(lambda value: pipeline.restore(snapshot, into=value))
    refused(lambda value: pipeline.start(None, certificate=value))  # type: ignore[arg-type]
    refused(pipeline.start)
    refused(SignedBy, "", "5", "abc", "1 month")
    assert sorted(pipeline.path.rglob("*")) == before


def test_what_a_channel_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    channel = a_pipeline(tmp_path / "p").channel("a")
    rows = pa.table({"x": [1]})
    refused(channel.append)
    refused(lambda value: channel.append(rows, producer=value, sequence=1), "5", "abc", "1 month")
    refused(lambda value: channel.append(rows, producer="p", sequence=value))
    refused(lambda value: channel.rows(after=value))
    refused(lambda value: channel.rows(until=value), None)
    refused(channel.stream)
    assert channel.log.last() == 0


def test_what_cannot_be_done_to_a_directory_is_refused(tmp_path: Path) -> None:
    pipeline = a_pipeline(tmp_path / "p")
    snapshot = pipeline.snapshot()
    for call in (list_snapshots, take_snapshot, vacuum, lambda path: prune_snapshots(path, 1)):
        refused(call)
    for call in (show_snapshot, remove_snapshot):
        refused(lambda value, call=call: call(value, snapshot))
        refused(lambda value, call=call: call(pipeline.path, value))
    refused(lambda value: restore_snapshot(value, snapshot, into=tmp_path / "r"))
    refused(lambda value: prune_snapshots(pipeline.path, value), 10**30, others=(0,))
    refused(lambda value: vacuum(pipeline.path, dry_run=value), True, False)
    refused(lambda value: vacuum(pipeline.path, keep=value), None, {})
    refused(lambda value: vacuum(pipeline.path, outside=value), None, {})
    refused(lambda value: vacuum(pipeline.path, keep={"b": value}), 10**30)
    refused(lambda value: vacuum(pipeline.path, outside={"b": value}))
    assert not (tmp_path / "r").exists()


def test_a_time_of_silence_is_a_number_of_seconds(tmp_path: Path) -> None:
    pipeline = a_pipeline(tmp_path / "p", queries=[a_query(standby=Standby())])

    def session() -> SparkSession:
        raise AssertionError("it is refused before there is a session")

    def copy(value: Any) -> None:
        run_copy(pipeline, "q", Copy.A, session, suspect_after_seconds=value)

    for run in (
        copy,
        lambda value: run_unreplicated(pipeline, None, suspect_after_seconds=value),  # type: ignore[arg-type]
        lambda value: Supervisor(pipeline, lambda *_: (), value),
    ):
        refused(run, 1.5, others=(0,))
    refused(lambda value: find_pair(pipeline, "q", value), others=(1,))


@pytest.mark.parametrize(
    ("name", "right", "others"),
    [
        ("application", ("5", "abc", "1 month"), ()),
        ("cores", (), (0, 10**6)),
        ("memory", (), ("0g", "1", "1.5g", "1 g", "1p", "-1g")),
        ("java", (), ("automatic", 0)),
        ("settings", (None, {}), ({1: "x"}, {"x": []})),
    ],
)
def test_what_no_session_can_be_started_with_is_refused(
    name: str, right: tuple[object, ...], others: tuple[Any, ...]
) -> None:
    refused(lambda value: spark_session(**{name: value}), *right, others=others)


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> DataFrame:
    """Return a stream that can be merged."""
    return spark.readStream.format("rate").load().selectExpr("timestamp ts", "value seq", "value k")


def a_merge(rows: DataFrame, **other: Any) -> DataFrame:
    settings = {"time": "ts", "position": "seq", "bucket": "1 second", "lateness": "0 seconds"}
    given = {"inputs": {"a": rows, "b": rows}} | settings | other
    return sunion(given.pop("inputs"), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "right", "others"),
    [
        ("inputs", (), ({1: None}, {"a.b": None})),
        ("time", (), ("seq",)),
        ("position", (), ("ts",)),
        ("bucket", (1.5,), ("0 s", "-1 s", "1 fortnight", "0.1 us", "40000 days", 0)),
        ("lateness", (1.5, dt.timedelta(0)), ("-1 s", "1 fortnight", "40000 days", -1)),
        ("max_delay", (1.5, None), ("0 s", "-1 s", "40000 days", 0)),
        ("policy", (None,), ("proceed", 0)),
        ("margin", (None,), (0, 0.001, 1.01)),
        ("partition_by", (None,), (["k", "k"], ["nothing"], {"k"}, "k")),
        ("partitions", (None,), (0, 1, 1001)),
        ("certificate", (), ("ignored",)),
    ],
)
def test_what_a_merge_cannot_be_is_refused_where_it_is_declared(
    rows: DataFrame, name: str, right: tuple[object, ...], others: tuple[Any, ...]
) -> None:
    given = {"max_delay": "1 hour"} if name in ("policy", "margin") else {}
    refused(lambda value: a_merge(rows, **given, **{name: value}), *right, others=others)


def test_what_no_merge_says_is_refused(rows: DataFrame, tmp_path: Path) -> None:
    for call in (stable_only, late_rows):
        refused(call, others=(rows,))
    refused(lambda value: reconcile(value, tmp_path / "t", tmp_path / "c"), others=(rows,))
    merged = a_merge(rows)
    for name in ("processingTime", "once", "availableNow", "continuous", "every"):
        trigger = {"once": (True,), "availableNow": (True,)}.get(name, ())
        refused(
            lambda value, name=name: reconcile(
                merged, tmp_path / "t", tmp_path / "c", **{name: value}
            ),
            *trigger,
            others=(1, "1 fortnight", "-1 second"),
        )
    for name in ("table", "checkpoint", "late"):
        places = {"table": tmp_path / "t", "checkpoint": tmp_path / "c", "every": "1 s"}
        refused(
            lambda value, name=name, places=places: reconcile(merged, **(places | {name: value}))
        )
    assert list(tmp_path.iterdir()) == []
