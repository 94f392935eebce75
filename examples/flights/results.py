"""What the flights pipeline has found, in a form that can be compared; and an oracle without Spark.

Compared is what must not depend on how the rows were cut into batches: of `carrier_hours` and
`plane_delays`, whose queries run in update mode, the latest row of each key; of `legs` and
`raised`, which are only appended to, every row, as often as it is there. How often a total was
corrected on its way is not compared.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from queries import CARRIER_HOUR_MINUTES, DAY_BEGINS_HOURS, PLANE_MINUTES

from streamproof.spark_bindings import Pipeline

KEYS = {"carrier_hours": ["carrier", "hour"], "plane_delays": ["tailnum"]}
"""The channels of change rows, and what identifies a row in them."""
RESULTS = ("carrier_hours", "legs", "plane_delays", "raised")
Results = Mapping[str, pd.DataFrame]


def results(pipeline: Pipeline) -> Results:
    """Read what a pipeline has found."""
    return {name: result(pipeline, name) for name in RESULTS}


def result(pipeline: Pipeline, name: str, until: int | None = None) -> pd.DataFrame:
    """Read what a query has found, or had by a position of its output channel."""
    rows = pipeline.channel(name).rows(until=until).to_pandas()
    if name in KEYS:
        rows = rows.drop_duplicates(KEYS[name], keep="last")
    return _canonical(rows)


def expected(departures: pd.DataFrame) -> Results:
    """Compute the same with pandas, from the departures: no streams, no state, no Spark."""
    hours = departures.assign(hour=departures["scheduled"].dt.floor("h"))
    hours["late"] = hours["dep_delay"].clip(lower=0)
    carrier_hours = hours.groupby(["carrier", "hour"], as_index=False).agg(
        flights=("flight", "size"), departed=("dep_delay", "count"), delay=("late", "sum")
    )
    legs = _expected_legs(departures)
    plane_delays = legs.groupby("tailnum", as_index=False).agg(
        departures=("flight", "size"), carried=("carried", "sum")
    )
    late_hours = carrier_hours[carrier_hours["delay"] >= CARRIER_HOUR_MINUTES]
    late_planes = plane_delays[plane_delays["carried"] >= PLANE_MINUTES]
    raised = pd.DataFrame(
        {
            "kind": ["carrier"] * len(late_hours) + ["plane"] * len(late_planes),
            "subject": [*late_hours["carrier"], *late_planes["tailnum"]],
            "hour": [*late_hours["hour"], *[pd.NaT] * len(late_planes)],
        }
    )
    frames = (carrier_hours, legs, plane_delays, raised)
    return {name: _canonical(rows) for name, rows in zip(RESULTS, frames, strict=True)}


def _expected_legs(departures: pd.DataFrame) -> pd.DataFrame:
    flown = departures[departures["dep_delay"].notna()]
    order = ["tailnum", "scheduled", "carrier", "flight", "origin"]
    flown = flown.sort_values([*order, "dep_delay", "arr_delay"])
    day = (flown["scheduled"] - pd.Timedelta(hours=DAY_BEGINS_HOURS)).dt.floor("D")
    previous = flown.groupby(["tailnum", day])["arr_delay"].shift().fillna(0)
    carried = previous.where(previous < flown["dep_delay"], flown["dep_delay"]).clip(lower=0)
    return flown.assign(carried=carried)[[*order, "dep_delay", "carried"]]


def differences(one: Results, other: Results) -> dict[str, pd.DataFrame]:
    """List, per channel, the rows that one side has more often than the other; empty if none."""
    return {name: _difference(one[name], other[name]) for name in RESULTS}


def _difference(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    if one.equals(other):
        return one.iloc[:0]
    columns = sorted(one.columns)
    # Equal rows get numbers, so that a row which is there twice is not the same as once.
    left, right = (
        side.assign(copy=side.groupby(columns, dropna=False).cumcount()) for side in (one, other)
    )
    merged = left.merge(right, how="outer", on=[*columns, "copy"], indicator="only_in")
    found = merged[merged["only_in"] != "both"].drop(columns="copy")
    sides = {"left_only": "first", "right_only": "second"}
    return found.assign(only_in=found["only_in"].astype(str).map(sides))


def _canonical(rows: pd.DataFrame) -> pd.DataFrame:
    """Return columns and rows an order, and values types, that do not depend on their origin."""
    rows = rows[sorted(rows.columns)].copy()
    for name in rows:
        if pd.api.types.is_datetime64_any_dtype(rows[name].dtype) or name == "hour":
            rows[name] = pd.to_datetime(rows[name], utc=True).astype("datetime64[us, UTC]")
        elif pd.api.types.is_numeric_dtype(rows[name].dtype):
            rows[name] = rows[name].astype("Int64")
    return rows.sort_values(list(rows.columns), ignore_index=True)
