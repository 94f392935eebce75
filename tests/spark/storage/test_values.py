"""What is appended is what is read: NaN stays NaN, and a value that would change is refused."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import WrongRows
from streamproof.spark_bindings.names import ChannelName
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.schema import fit, stored_schema

NAN = float("nan")
BERLIN = ZoneInfo("Europe/Berlin")
NOON = dt.datetime(2024, 1, 1, 12)  # noqa: DTZ001 - a time without a zone is what is tried


def stored(kind: str, values: Any) -> list[Any]:
    """Return what a channel with one column of a type holds of a frame's or a table's column."""
    rows = values if isinstance(values, pa.Table) else pd.DataFrame({"x": values})
    found: list[Any] = fit(rows, stored_schema(f"x {kind}", "it"), "c")["x"].to_pylist()
    return found


def shown(value: Any) -> Any:
    """Let NaN be equal to itself."""
    if isinstance(value, list):
        return [shown(part) for part in value]
    if isinstance(value, dict):
        return {name: shown(part) for name, part in value.items()}
    return "NaN" if isinstance(value, float) and math.isnan(value) else value


def arrow(values: list[Any], kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"x": pa.array(values, kind)})


def objects(*values: Any) -> pd.Series[Any]:
    return pd.Series(list(values), dtype=object)


def test_nan_in_a_pandas_frame_stays_nan_in_a_double_column(tmp_path: Path) -> None:
    Channel.create(Place.of(tmp_path / "c"), stored_schema("x double, n long", "it"))
    channel = Channel(tmp_path / "c", ChannelName("c"), pipeline="p")
    channel.append(pd.DataFrame({"x": [1.5, NAN], "n": [1.0, NAN]}))
    rows = channel.rows()
    assert shown(rows["x"].to_pylist()) == [1.5, "NaN"]
    assert rows["n"].to_pylist() == [1, None]


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("double", objects(1.5, NAN, None, pd.NA), [1.5, "NaN", None, None]),
        ("double", pd.Series([1.5, None], dtype="Float64"), [1.5, None]),
        (
            "double",
            pd.Series(pa.array([NAN, None]), dtype=pd.ArrowDtype(pa.float64())),
            ["NaN", None],
        ),
        ("double", np.array([0.5, NAN], dtype=np.float32), [0.5, "NaN"]),
        ("double", np.array([0.5, NAN], dtype=">f8"), [0.5, "NaN"]),
        ("float", np.array([0.1, NAN], dtype=np.float32), [float(np.float32(0.1)), "NaN"]),
        ("array<double>", [[1.0, NAN, None], None, []], [[1.0, "NaN", None], None, []]),
        ("array<double>", [np.array([1.0, NAN]), (0.5, pd.NA)], [[1.0, "NaN"], [0.5, None]]),
        ("array<long>", [[1, NAN, None, pd.NA]], [[1, None, None, None]]),
        ("struct<a: double, b: long>", [{"a": NAN, "b": 1}], [{"a": "NaN", "b": 1}]),
        ("map<string,double>", [{"k": NAN}, None], [[["k", "NaN"]], None]),
        ("long", [1.0, NAN, None], [1, None, None]),
        ("long", pd.Series([1, None], dtype="Int64"), [1, None]),
        ("long", objects(1, NAN, pd.NA, None), [1, None, None, None]),
        ("long", objects(2**62 + 1, None), [2**62 + 1, None]),
        ("boolean", objects(True, None, NAN, False), [True, None, None, False]),
        ("boolean", pd.Series([True, None], dtype="boolean"), [True, None]),
        ("string", objects("a", None, NAN, pd.NA), ["a", None, None, None]),
        ("string", pd.Series(["a", None], dtype="category"), ["a", None]),
        ("string", pd.Series(["a", None], dtype="string"), ["a", None]),
        ("decimal(10,2)", [Decimal("1.50"), None], [Decimal("1.50"), None]),
        ("decimal(10,2)", objects(Decimal("1.50"), NAN), [Decimal("1.50"), None]),
        ("timestamp_ntz", [pd.Timestamp(NOON), pd.NaT], [NOON, None]),
        ("timestamp_ntz", objects(NOON, pd.NaT, pd.NA, None), [NOON, None, None, None]),
        ("date", [dt.date(2024, 1, 1), None], [dt.date(2024, 1, 1), None]),
        ("date", pd.Series([pd.Timestamp(2024, 1, 1), pd.NaT]), [dt.date(2024, 1, 1), None]),
        ("double", [], []),
        ("double", objects(None, None), [None, None]),
    ],
)
def test_a_column_of_a_frame_is_stored_as_it_is(kind: str, values: Any, expected: Any) -> None:
    found = stored(kind, values)
    assert (
        shown(
            [
                [list(pair) for pair in each] if kind[:3] == "map" and each else each
                for each in found
            ]
        )
        == expected
    )


def test_an_instant_keeps_its_place_in_time_whatever_its_zone() -> None:
    noon = dt.datetime(2024, 1, 1, 12, tzinfo=BERLIN)
    for values in (objects(noon), pd.Series([pd.Timestamp(noon)]), arrow([noon])):
        assert stored("timestamp", values)[0] == noon
    assert stored("timestamp", [NOON])[0] == NOON.replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("kind", "values", "message"),
    [
        ("float", [0.1], "stored as 0.1000.*does not fit float"),
        ("float", arrow([1e300]), "stored as inf"),
        ("double", [2**53 + 1], "9007199254740993"),
        ("double", objects(2**53 + 1, 0.5), "9007199254740993"),
        ("float", [2**24 + 1], "16777217"),
        ("int", [2**31], "not in range"),
        ("byte", [300], "not in range"),
        ("long", np.array([2**63], dtype=np.uint64), "not in range"),
        ("long", objects(2**70), "too large|too big|int"),
        ("long", [1.5], "truncated"),
        ("long", arrow(["01"]), "stored as 1"),
        ("boolean", [2, 0], "2 would be stored as True|true"),
        ("boolean", ["yes", "no"], "Failed to parse value: no"),
        ("boolean", objects(True, "no"), "bool"),
        ("long", objects(1, True), "bool"),
        ("decimal(10,2)", arrow([1.005]), "1.005 would be stored as"),
        ("decimal(10,2)", [Decimal("1.005")], "data loss"),
        ("decimal(4,2)", [Decimal("1234.00")], "precision|rescal|fit"),
        ("double", arrow([Decimal("0.12345678901234567890")]), "without loss"),
        ("date", [NOON], "would be stored as 2024-01-01"),
        ("date", objects(NOON), "would be stored as 2024-01-01"),
        ("date", arrow([NOON]), "would be stored as 2024-01-01"),
        ("date", objects(dt.date(2024, 1, 1), NOON), "among days"),
        ("timestamp", objects(NOON, NOON.replace(tzinfo=BERLIN)), "among times without a zone"),
        ("timestamp_ntz", objects(NOON.replace(tzinfo=BERLIN)), "Europe/Berlin would lose it"),
        ("timestamp_ntz", arrow([NOON.replace(tzinfo=BERLIN)]), "Europe/Berlin would lose it"),
        ("date", arrow([dt.datetime(2024, 1, 1, tzinfo=BERLIN)]), "Europe/Berlin would lose it"),
        ("timestamp", [pd.Timestamp("2024-01-01 00:00:00.000000001")], "lose data"),
        ("timestamp", objects(pd.Timestamp("2024-01-01 00:00:00.000000001")), "nanoseconds"),
        ("timestamp", [1_700_000_000], "unit would be guessed"),
        ("long", [NOON], "unit would be guessed"),
        ("date", arrow([5], pa.int32()), "unit would be guessed"),
        ("long", [dt.timedelta(days=1)], "unit would be guessed"),
        ("string", [dt.timedelta(days=1)], "its unit would be lost. Convert it"),
        ("string", arrow([dt.timedelta(days=1)]), "its unit would be lost. Convert it"),
        ("string", objects(dt.timedelta(days=1)), "its unit would be lost. Convert it"),
        ("array<string>", arrow([[dt.timedelta(days=1)]]), "its unit would be lost. Convert it"),
        ("string", pd.period_range("2020-01", periods=1, freq="M"), "its unit would be lost"),
        ("long", pd.period_range("2020-01", periods=1, freq="M"), "its unit would be lost"),
        ("struct<a: long>", [{"a": 1, "b": 2}], "fields a, b"),
        ("struct<a: long, b: long>", arrow([{"a": 1}]), "fields a and not"),
        ("array<float>", [[0.1]], "does not fit float"),
        ("array<struct<a: float>>", arrow([[{"a": 0.1}]]), "does not fit float"),
        ("map<string,float>", [{"k": 0.1}], "does not fit float"),
        ("double", [1 + 2j], "numpy|complex|[Uu]nsupported"),
    ],
)
def test_a_value_that_would_change_is_refused(kind: str, values: Any, message: str) -> None:
    with pytest.raises(WrongRows, match=f"column 'x': .*({message}).*Nothing was appended"):
        stored(kind, values)


def test_a_null_where_none_may_be_is_refused() -> None:
    schema = pa.schema([pa.field("x", pa.int64(), nullable=False)])
    with pytest.raises(WrongRows, match="declared to have none"):
        fit(pd.DataFrame({"x": [1.0, NAN]}), schema, "c")


@pytest.mark.parametrize("wrong", [None, [{"x": 1}], {"x": [1]}, "x"])
def test_what_is_no_frame_is_refused(wrong: object) -> None:
    with pytest.raises(WrongRows, match="no Arrow table or pandas frame"):
        fit(wrong, stored_schema("x long", "it"), "c")


INT = pa.int64()
NEVER = pa.field("a", INT, nullable=False)
LISTED = pa.list_(pa.field("element", INT, nullable=False))
MAPPED = pa.map_(pa.string(), pa.field("value", INT, nullable=False))


@pytest.mark.parametrize(
    ("kind", "loose", "good", "bad", "told"),
    [
        (pa.struct([NEVER]), pa.struct([("a", INT)]), {"a": 1}, {"a": None}, "nulls"),
        (pa.struct([NEVER]), pa.struct([("a", INT)]), {"a": 1}, None, "nulls"),
        (pa.struct([NEVER]), pa.struct([NEVER]), {"a": 1}, None, "x is null, and so is x.a"),
        (LISTED, pa.list_(INT), [1], [1, None], "nulls"),
        (MAPPED, pa.map_(pa.string(), INT), [("k", 1)], [("k", None)], "nulls"),
        (
            pa.list_(pa.struct([pa.field("m", LISTED)])),
            pa.list_(pa.struct([("m", pa.list_(INT))])),
            [{"m": [1]}, None, {"m": None}],
            [{"m": [None]}],
            r"x\[\].m\[\] has nulls, and is declared to have none",
        ),
        (
            pa.map_(pa.string(), pa.struct([NEVER])),
            pa.map_(pa.string(), pa.struct([NEVER])),
            [("k", {"a": 1})],
            [("k", None)],
            "x.value is null, and so is x.value.a",
        ),
    ],
)
def test_nulls_where_a_nested_type_has_none_are_refused(
    kind: Any, loose: Any, good: Any, bad: Any, told: str
) -> None:
    schema = pa.schema([("x", kind)])

    def given(*values: Any) -> pa.Table:
        return pa.table({"x": pa.array(values, loose)})

    unseen = given(good, bad, good).slice(2)
    for rows in (unseen, given(good), given(), pd.DataFrame({"x": [good]})):
        assert len(fit(rows, schema, "c")) == len(rows)
    with pytest.raises(WrongRows, match=told):
        fit(given(good, bad), schema, "c")
    with pytest.raises(WrongRows, match="column 'x': .*Nothing was appended"):
        fit(pd.DataFrame({"x": [good, bad]}), schema, "c")


@pytest.mark.parametrize("kind", [LISTED, MAPPED])
def test_a_list_that_is_null_has_no_parts(kind: Any) -> None:
    """Whatever is stored where it would be."""
    values, where = pa.array([1, None], INT), pa.array([0, 1, 2], pa.int32())
    hidden = pa.array([False, True])
    if kind is LISTED:
        array = pa.ListArray.from_arrays(where, values, type=kind, mask=hidden)
    else:
        keys = pa.array(["k", "l"])
        array = pa.MapArray.from_arrays(where, keys, values, type=kind, mask=hidden)
    assert fit(pa.table({"x": array}), pa.schema([("x", kind)]), "c")["x"].null_count == 1
