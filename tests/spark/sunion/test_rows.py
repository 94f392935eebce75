"""Rows as blobs: one schema wherever they come from, none too large, no time that wraps."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.sunion import pack, rows
from streamproof.spark_bindings.sunion.rows import (
    as_column,
    canonical,
    from_blob,
    in_blobs,
    to_blob,
)
from tests.spark.support.merging import SCHEMA, SETTINGS, Replica, Row, kinds, rows_of, table


def nested(zone: str, *, nullable: bool, large: bool = False) -> pa.DataType:
    """Return a type as Spark would for some time zone, nullability and setting."""
    time = pa.timestamp("us", zone)
    text = pa.large_string() if large else pa.string()
    inner = pa.struct([pa.field("at", time, nullable), pa.field("text", text, nullable)])
    return pa.map_(pa.string(), pa.field("value", pa.list_(pa.field("e", inner, nullable))))


def test_a_blob_is_small_where_rows_are_alike_and_whole_where_they_are_not() -> None:
    count = 10_000
    made = pa.table(
        {
            "seq": np.arange(count),
            "noise": np.random.default_rng(1).integers(-(2**63), 2**63 - 1, count),
            "text": pa.array([None, "x"] * (count // 2)),
            "nested": pa.array([[{"a": 1}], None] * (count // 2)),
        }
    )
    assert from_blob(to_blob(made)) == made
    assert from_blob(to_blob(made.slice(7, 5))) == made.slice(7, 5)
    assert from_blob(to_blob(made.slice(0, 0))).num_rows == 0
    assert to_blob(made.select(["seq"])).size < made["seq"].nbytes / 2 * 1.1
    assert to_blob(made.select(["noise"])).size < made["noise"].nbytes * 1.02
    assert as_column(to_blob(made)).to_pylist() == [to_blob(made).to_pybytes()]


def test_a_blob_of_before_compression_is_read() -> None:
    made, sink = table(rows_of([1, 2]), "ewr"), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, made.schema) as writer:
        writer.write(made)
    assert from_blob(sink.getvalue().to_pybytes()) == made


def test_a_blob_that_no_column_holds_is_refused() -> None:
    vast = pa.foreign_buffer(1, 2**31)  # nobody reads it
    with pytest.raises(WrongArgument, match="packs to 2,147,483,648 bytes"):
        as_column(vast)


def test_rows_of_any_plan_become_one_schema() -> None:
    values = [[("key", [{"at": 5, "text": "a"}])]]
    made = []
    for zone, nullable, large in (
        ("UTC", True, False),
        ("America/New_York", False, True),
        ("+05:30", True, True),
    ):
        fields = [
            pa.field("ts", pa.timestamp("us", zone), nullable),
            pa.field("nested", nested(zone, nullable=nullable, large=large), nullable),
            pa.field("bin", pa.large_binary() if large else pa.binary(), nullable),
        ]
        random.Random(len(made)).shuffle(fields)
        arrays = {
            "ts": pa.array([7], pa.timestamp("us", zone)),
            "nested": pa.array(values, nested(zone, nullable=nullable, large=large)),
            "bin": pa.array([b"b"], pa.large_binary() if large else pa.binary()),
        }
        made.append(canonical(pa.table([arrays[f.name] for f in fields], pa.schema(fields))))
    assert made[0].schema.names == ["bin", "nested", "ts"]
    assert pa.concat_tables(made).num_rows == 3
    assert all(part.equals(made[0]) for part in made)


def test_canonical_rows_are_not_touched() -> None:
    made = canonical(table(rows_of([1, 2]), "ewr"))
    assert canonical(made) is made


def test_blobs_are_cut_by_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BYTES_PER_BLOB", 1_000)
    texts = ["x" * size for size in (10, 5_000, 10, 400, 10, 700, 20)]
    found = list(in_blobs(pa.table({"text": texts})))
    assert [text for part in found for text in part["text"].to_pylist()] == texts
    assert all(part.nbytes <= 1_000 or part.num_rows == 1 for part in found)
    assert len(found) < len(texts)
    assert [part.num_rows for part in in_blobs(pa.table({"text": []}))] == [0]


def test_huge_rows_go_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BYTES_PER_BLOB", 200)
    monkeypatch.setattr(pack, "BYTES_PER_BLOB", 200)
    replica = Replica()
    replica.batch(ewr=rows_of(range(60)))
    assert len(replica.blobs) > 6  # several of a bucket
    replica.batch(jfk=rows_of(range(60)))
    assert [row.second for row in replica.rows()] == [second // 2 for second in range(100)]


def test_a_time_before_all_others_does_not_wrap() -> None:
    replica = Replica()
    times = pa.array([-(2**63), 0, 2**62], SCHEMA.field("ts").type)
    columns = {"ts": times, "seq": [0, 1, 2], "text": ["a", "b", "c"]}
    said = replica.merge({"ewr": [pa.table(columns, schema=SCHEMA)]})
    assert kinds(said) == ["LATE"]
    assert said[0].rows["text"].to_pylist() == ["a"]
    assert kinds(replica.batch(jfk=[Row(0, 0), Row(100, 1)])) == ["INSERTION", "BOUNDARY"]


def test_times_before_1970_and_in_year_9999_are_times() -> None:
    replica = Replica()
    years = (-60_000_000_000, -1, 0, 253_402_300_799, 253_402_300_899)
    for name in ("ewr", "jfk"):
        parts = [
            pa.table(
                {
                    "ts": pa.array([second * 1_000_000], SCHEMA.field("ts").type),
                    "seq": [position],
                    "text": [f"{name} {position}"],
                },
                schema=SCHEMA,
            )
            for position, second in enumerate(years)
        ]
        replica.merge({name: parts})
    stable = [emission.rows for emission in replica.said if emission.rows is not None]
    times = [time for part in stable for time in part["ts"].cast("int64").to_pylist()]
    assert times == [second * 1_000_000 for second in years[:-1] for _ in range(2)]


def test_a_bucket_of_a_microsecond() -> None:
    replica = Replica(replace(SETTINGS, bucket_us=1, lateness_us=0))
    replica.batch(ewr=rows_of(range(200)), jfk=rows_of(range(0, 400, 2)))
    replica.batch(ewr=rows_of([500], 200), jfk=rows_of([500], 200))
    assert len(replica.rows()) == 400
