"""What is wrong with a pipeline's definition, or its directory, is said at the call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StringType, StructType

from streamproof import spark_bindings
from streamproof.spark_bindings import Pipeline, Query, errors
from streamproof.spark_bindings.errors import (
    NotAPipeline,
    NotRunning,
    WrongArgument,
    WrongSchema,
    WrongWiring,
)

SCHEMAS = {"a": "x long", "b": "x long", "c": "x long"}


def query(name: str, *inputs: str, output: str, **more: Any) -> Query:
    return Query(name, inputs=inputs, output=output, plan=lambda *frames: frames[0], **more)


def make(path: Path, *queries: Query, channels: Any = None) -> Pipeline:
    return Pipeline(path, channels=channels or SCHEMAS, queries=queries)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ([], "needs one of each"),
        ([("q", ["a"], "z")], "not declared"),
        ([("q", ["a"], "b"), ("r", ["a"], "b")], "written by two queries, 'q' and 'r'"),
        ([("q", ["a"], "b"), ("q", ["a"], "c")], "two queries are called 'q'"),
        ([("q", ["b"], "c"), ("r", ["c"], "b")], "no source channel leads to 'q', 'r'"),
        ([("q", ["a", "a"], "b")], "each once"),
        ([("q", [], "b")], "at least one"),
        ([("../q", ["a"], "b")], "becomes a directory"),
    ],
    ids=["none", "unknown", "two-writers", "two-names", "unreachable", "twice", "no-input", "name"],
)
def test_wrong_wiring_is_refused_before_anything_is_created(
    tmp_path: Path, queries: list[tuple[str, list[str], str]], message: str
) -> None:
    with pytest.raises(WrongWiring, match=message):
        make(tmp_path / "p", *(query(name, *inputs, output=out) for name, inputs, out in queries))
    assert not (tmp_path / "p").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": "a"}, "inputs=\\['a'\\]"),
        ({"plan": 3}, "A plan is a function"),
        ({"output_mode": "upsert"}, 'Write: output_mode="append"'),
        ({"processing_time": -1}, "processing_time=-1"),
        ({"processing_time": 0.0001}, "no whole number of milliseconds"),
    ],
    ids=["inputs", "plan", "mode", "negative", "too fine"],
)
def test_a_query_with_a_wrong_type_is_refused(arguments: dict[str, Any], message: str) -> None:
    good = {"name": "q", "inputs": ("a",), "output": "b", "plan": lambda rows: rows}
    with pytest.raises(WrongArgument, match=message):
        Query(**{**good, **arguments})


@pytest.mark.parametrize(
    "limits",
    [{"processing_time": "200 days"}, {"commits_per_batch_max": 0}, {"rows_per_batch_max": -5}],
    ids=str,
)
def test_a_query_that_would_never_advance_is_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(WrongWiring, match="never advance"):
        query("q", "a", output="b", **limits)


def test_wrong_arguments_of_a_pipeline_are_refused(tmp_path: Path) -> None:
    for channels, queries in ((["a"], []), (SCHEMAS, ["q"])):
        with pytest.raises(WrongArgument):
            Pipeline(tmp_path / "p", channels=channels, queries=queries)


def test_a_directory_that_is_no_pipeline_is_refused_and_not_touched(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(NotAPipeline, match="is not a pipeline: it has no pipeline.json"):
        make(tmp_path, query("q", "a", output="b"))
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]


def test_a_pipeline_of_another_format_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "p", query("q", "a", output="b"))
    file = tmp_path / "p" / "pipeline.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format": 9}))
    with pytest.raises(NotAPipeline, match="format 9"):
        make(tmp_path / "p", query("q", "a", output="b"))


def test_a_pipeline_is_opened_again_as_it_was(tmp_path: Path) -> None:
    one = make(tmp_path / "p", query("q", "a", output="b"))
    assert one.channel("a").append(pa.table({"x": [1]})) == 1
    two = make(tmp_path / "p", query("q", "a", output="b"))
    assert two.channel("a").rows()["x"].to_pylist() == [1]
    with pytest.raises(WrongWiring, match="other channels or queries"):
        make(tmp_path / "p", query("q", "a", output="c"))
    with pytest.raises(WrongSchema, match="channel 'b' stores"):
        make(tmp_path / "p", query("q", "a", output="b"), channels={**SCHEMAS, "b": "y string"})


def test_the_order_in_which_channels_and_queries_are_named_does_not_count(tmp_path: Path) -> None:
    one, two = query("q", "a", output="b"), query("r", "b", "a", output="c")
    first = make(tmp_path / "p", one, two)
    first.channel("a").append(pa.table({"x": [1]}))
    name = first.snapshot()
    for channels in (
        dict(reversed(SCHEMAS.items())),
        {"b": "x long", "c": "x long", "a": "x long"},
    ):
        again = make(tmp_path / "p", two, one, channels=channels)
        assert again.channel("a").rows()["x"].to_pylist() == [1]
        assert [each.id for each in again.snapshots()] == [name]
    for other in ([one, query("r", "a", "b", output="c")], [one, query("r", "b", output="c")]):
        with pytest.raises(WrongWiring, match="other channels or queries"):
            make(tmp_path / "p", *other)
    with pytest.raises(WrongWiring, match="other channels or queries"):
        make(tmp_path / "p", one, two, channels={**SCHEMAS, "d": "x long"})


def test_an_empty_directory_becomes_a_pipeline(tmp_path: Path) -> None:
    make(tmp_path, query("q", "a", output="b"))
    assert (tmp_path / "pipeline.json").exists()


def test_a_channel_that_there_is_not_is_named(tmp_path: Path) -> None:
    with pytest.raises(WrongWiring, match="it has a, b, c"):
        make(tmp_path / "p", query("q", "a", output="b")).channel("d")


def test_a_pipeline_that_does_not_run_says_so(tmp_path: Path) -> None:
    pipeline = make(tmp_path / "p", query("q", "a", output="b"))
    for call in (pipeline.await_idle, pipeline.status):
        with pytest.raises(NotRunning, match="start"):
            call()
    pipeline.stop()


def test_a_cycle_that_no_source_feeds_is_refused(tmp_path: Path) -> None:
    channels = dict.fromkeys("abcde", "x long")
    fine = [query("q", "a", "c", output="b"), query("r", "b", output="c")]
    make(tmp_path / "fine", *fine, channels=channels)
    with pytest.raises(WrongWiring, match="'s', 't'"):
        make(
            tmp_path / "p",
            *fine,
            query("s", "e", output="d"),
            query("t", "d", output="e"),
            channels=channels,
        )


def test_every_public_name_is_found_and_no_other() -> None:
    assert sorted(spark_bindings._HOMES) == spark_bindings.__all__ == sorted(spark_bindings.__all__)
    assert all(getattr(spark_bindings, name) is not None for name in spark_bindings.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Pipelin'"):
        _ = spark_bindings.Pipelin


def test_every_error_of_the_bindings_is_public() -> None:
    classes = (value for value in vars(errors).values() if isinstance(value, type))
    own = [found.__name__ for found in classes if found.__module__ == errors.__name__]
    assert errors.__all__ == sorted(own)


NO_CHANNELS = [
    *("x variant", "x array<variant>", "x struct<v:variant>", "x char(3)"),
    *("x string collate UTF8_LCASE", "x array<string collate UTF8_LCASE>"),
    StructType().add("x", StringType("UTF8_LCASE")),
    *(pa.schema([("x", kind)]) for kind in (pa.timestamp("ns"), pa.json_(), pa.bool8())),
    *(pa.schema([("x", kind)]) for kind in (pa.struct([]), pa.list_(pa.timestamp("ns", "UTC")))),
]


@pytest.mark.parametrize("schema", NO_CHANNELS, ids=str)
def test_types_that_no_channel_can_keep_are_refused_before_there_is_one(
    tmp_path: Path, schema: Any
) -> None:
    channels = {"a": schema, "b": "x long"}
    with pytest.raises(WrongSchema, match="schema of channel 'a' cannot be used"):
        make(tmp_path / "p", query("q", "a", output="b"), channels=channels)
    assert not (tmp_path / "p").exists()
